"""One batch: what the module is given of it, what it gives back, and the names of its examples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from plausibly.data.names import name_texts, several
from plausibly.errors import InputError, counted, listed
from plausibly.kernels.types import Floats

Tensor: TypeAlias = Any  # torch is an extra
Module: TypeAlias = Any  # as above
Batch: TypeAlias = Any  # whatever a loader gives
Examples: TypeAlias = Iterable[object] | str | int | Callable[[Batch], Iterable[object]]

WHOSE = "the module"
_HALVES = ("torch.float16", "torch.bfloat16")


def spoken(examples: Examples | None) -> list[str] | None:
    """Return the names that were given for all examples at once."""
    if examples is None or isinstance(examples, (str, int)) or callable(examples):
        return None
    return _texts(examples)


def _texts(found: Any) -> list[str]:  # Any: names in a list, an array or a tensor
    return name_texts(found.tolist() if hasattr(found, "tolist") else found)


def check_order(loader: object) -> None:
    """Refuse a loader that shuffles, since rows would get the names of others."""
    batch_sampler = getattr(loader, "batch_sampler", None)
    samplers = (getattr(loader, "sampler", None), getattr(batch_sampler, "sampler", None))
    kinds = {kind.__name__ for sampler in samplers for kind in type(sampler).__mro__}
    if kinds & {"RandomSampler", "SubsetRandomSampler", "WeightedRandomSampler"}:
        raise InputError(
            "loader-shuffles",
            "the loader shuffles, and its batches do not name their examples",
            expected="the order of the examples, or their names in each batch",
            got=listed(sorted(kind for kind in kinds if "Random" in kind)),
            do='DataLoader(..., shuffle=False), or examples="key" of the names in a batch',
            whose="the loader",
        )


def moved(batch: Batch, device: object) -> Batch:
    """Return a batch with its tensors on a device, wherever they stand in it."""
    if device is None:
        return batch
    if hasattr(batch, "to"):
        return batch.to(device)
    if isinstance(batch, Mapping):
        return {key: moved(item, device) for key, item in batch.items()}
    if isinstance(batch, (list, tuple)):
        return [moved(item, device) for item in batch]
    return batch


def outputs_of(
    module: Module, batch: Batch, call: Callable[[Module, Batch], object] | None, number: int
) -> Tensor:
    """Return what the module gives for a batch.

    Raises
    ------
    InputError
        ``batch-unfit``.
    """
    if call is not None:
        outputs: Tensor = call(module, batch)
    elif hasattr(batch, "detach"):
        outputs = module(batch)
    elif isinstance(batch, (list, tuple)) and batch:
        outputs = module(batch[0])
    else:
        raise _batch_unfit(batch, f"batch {number} is no tensor, nor does it begin with one")
    outputs = getattr(outputs, "logits", outputs)
    if not hasattr(outputs, "detach"):
        raise _batch_unfit(outputs, f"the module gives no tensor of batch {number}")
    return outputs


def _batch_unfit(found: object, what: str) -> InputError:
    keys = f" with {listed(found)}" if isinstance(found, Mapping) else ""
    return InputError(
        "batch-unfit",
        what,
        expected="one tensor of outputs a batch",
        got=f"{type(found).__name__}{keys}",
        do='call=lambda model, batch: model(batch["key"])',
        whose="the loader",
    )


def values_of(outputs: Tensor, order: Sequence[str], number: int) -> Floats:
    """Return the numbers of one batch, (example, label).

    Raises
    ------
    InputError
        ``outputs-shape``.
    """
    outputs = outputs.detach()
    if str(outputs.dtype) in _HALVES:  # of which numpy has one at most
        outputs = outputs.float()
    values: NDArray[Any] = outputs.cpu().numpy()  # Any: checked here
    if values.ndim != 2 or values.shape[1] != len(order) or values.dtype.kind != "f":
        one = len(order) == 2 and values.dtype.kind == "f" and values.size == len(values)
        raise InputError(
            "outputs-shape",
            f"the module gives {values.dtype} of shape {values.shape} for batch {number}",
            expected=f"floats (examples, {len(order)}): one output a label",
            got=str(values.shape),
            do="call=lambda model, batch: torch.nn.functional.pad(model(batch).reshape(-1, 1), "
            "(1, 0)), if it is the logit of the second label"
            if one
            else f"labels= with as many names as outputs; there are {len(order)}",
            whose=WHOSE,
            details={"batch": number, "shape": list(values.shape)},
        )
    return values


def names_of(
    batch: Batch,
    examples: Examples | None,
    said: Sequence[str] | None,
    start: int,
    rows: int,
    number: int,
) -> list[str]:
    """Return the names of the examples of one batch."""
    if examples is None:
        return [str(place) for place in range(start, start + rows)]
    if said is not None:
        if start + rows > len(said):
            raise names_differ(len(said), start + rows, f"the loader has given by batch {number}")
        return list(said[start : start + rows])
    try:
        found = examples(batch) if callable(examples) else batch[examples]
    except (KeyError, IndexError, TypeError):
        raise _batch_unfit(batch, f"batch {number} has no item {examples!r}") from None
    names = _texts(found)
    if len(names) != rows:
        raise names_differ(len(names), rows, f"the module gives for batch {number}")
    return names


def names_differ(names: int, rows: int, of: str) -> InputError:
    """Return the error about more or fewer names than rows."""
    return InputError(
        "names-differ",
        f"examples= has {several(names, 'name')}, and {of} {several(rows, 'row')}",
        expected="one name a row",
        got=counted(names),
        do="name all examples of the data set; DataLoader(..., drop_last=False)",
        whose="examples",
    )


def check_finite(values: Floats, names: Sequence[str], order: Sequence[str], number: int) -> None:
    """Raise ``outputs-not-finite``, naming the batch and its examples."""
    if np.isfinite(values).all():
        return
    rows, columns = (places.tolist() for places in np.nonzero(~np.isfinite(values)))
    bad = list(dict.fromkeys(names[row] for row in rows))
    raise InputError(
        "outputs-not-finite",
        f"the module gives numbers that are not finite for {several(len(bad), 'example')} of "
        f"batch {number}",
        expected="numbers",
        got=f"{values[rows[0], columns[0]]} for {order[columns[0]]} of {listed(bad)}",
        do="look at these inputs; of half precision try model.float()",
        whose=WHOSE,
        details={"batch": number, "examples": bad},
    )
