"""The door of PyTorch: what a module says of the examples of a loader, as predictions.

Needs the extra ``torch``, when it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal, TypeAlias

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.data import validate
from plausibly.data.names import EXAMPLE, LABEL, NUMBERED, name_texts, several, text_array
from plausibly.errors import InputError, counted, listed, warn
from plausibly.extras import require
from plausibly.io.label_tables import Names, table_from
from plausibly.kernels.types import Floats

__all__ = ["predictions"]


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
    """Return what the module gives for a batch."""
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
    """Return the numbers of one batch, (example, label)."""
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


_WITHIN = 1e-3


def predictions(
    module: Module,
    loader: Iterable[Batch],
    *,
    labels: Names,
    examples: Examples | None = None,
    scale: Literal["logit", "probability", "independent"] = "logit",
    device: object = None,
    call: Callable[[Module, Batch], object] | None = None,
) -> xr.DataArray:
    """Return what a module says of each example of a loader.

    The module is in evaluation mode and without gradients meanwhile; afterwards every part of it
    is in the mode in which it was. One batch and the result are in memory.

    Parameters
    ----------
    module : torch.nn.Module
    loader : torch.utils.data.DataLoader, or iterable of batches
        A batch is a tensor, a sequence whose first item is what the module takes, or, with `call`,
        anything. It must keep the order of the examples, unless its batches name them.
    labels : sequence of str, Path, str or Dataset
        Names of the outputs, in order.
    examples : sequence, str, int or callable, optional
        Names of all examples, in the order of the loader; or where a batch has its names: the key
        or place of the item, or a function of the batch. Else they are ``"0"``, ``"1"``, …
    scale : {"logit", "probability", "independent"}
        What the outputs are.
    device : str or torch.device, optional
        Where tensors of a batch are moved to; by default to where the module's first parameter is.
        The module is not moved.
    call : callable, optional
        ``call(module, batch)`` returns the outputs, such as
        ``lambda model, batch: model(batch["pixels"])``. By default the module is called with the
        batch, or its first item. Outputs with an attribute ``logits`` are taken by it.

    Returns
    -------
    DataArray, (example, label)
        float32, or float64 where the module gives it; attribute ``scale``.

    Raises
    ------
    MissingExtra
        ``extra-missing`` without PyTorch.
    InputError
        ``loader-shuffles``, ``loader-empty``, ``batch-unfit``, ``outputs-shape``,
        ``outputs-not-finite``, ``names-differ``, ``example-twice``, with the number of the batch;
        what `plausibly.data.validate.check_predictions` says.

    Warns
    -----
    PlausiblyWarning
        ``logits-look-normalised`` where all rows of logits are probabilities.
    """
    torch = require("torch", extra="torch", whose="plausibly.torch")
    order = name_texts(table_from(labels, LABEL)[LABEL].values)
    said = spoken(examples)
    if said is not None or examples is None:
        check_order(loader)
    found = _Result(labels=len(order), expected=_length(loader, said))
    where = device if device is not None else _device_of(module)
    with _evaluating(module), torch.no_grad():
        for number, batch in enumerate(loader, start=1):
            outputs = outputs_of(module, moved(batch, where), call, number)
            values = values_of(outputs, order, number)
            names = names_of(batch, examples, said, found.rows, len(values), number)
            check_finite(values, names, order, number)
            found.add(values, names, number)
    if not found.rows:
        raise InputError(
            "loader-empty",
            "the loader gave no batch",
            expected="one or more batches",
            got="none",
            do="look at its data set; an iterator is empty after it was read once",
            whose="the loader",
        )
    if said is not None and len(said) != found.rows:
        raise names_differ(len(said), found.rows, "the loader gave")
    array = xr.DataArray(
        found.values(),
        dims=(EXAMPLE, LABEL),
        coords={EXAMPLE: (EXAMPLE, text_array(found.names)), LABEL: (LABEL, text_array(order))},
        name="predictions",
        attrs={NUMBERED: 1} if examples is None else {},
    )
    if scale == "logit":
        _warn_if_normalised(array.values)
    return validate.check_predictions(array, whose=WHOSE, scale=scale)


@attrs.define(kw_only=True)
class _Result:
    """Rows as they come; where their number is known, they are written where they stay."""

    labels: int
    expected: int
    _batch_of: dict[str, int] = attrs.field(factory=dict, init=False)
    _buffer: Floats | None = attrs.field(default=None, init=False)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self._batch_of)

    @property
    def names(self) -> list[str]:
        """Names of the examples, in order."""
        return list(self._batch_of)

    def add(self, values: Floats, names: Sequence[str], number: int) -> None:
        """Add the rows of one batch."""
        start, stop = self.rows, self.rows + len(values)
        for name in names:
            if name in self._batch_of:
                raise _twice(name, self._batch_of[name], number)
            self._batch_of[name] = number
        if self._buffer is None:
            self._buffer = np.empty((max(self.expected, stop), self.labels), values.dtype)
        if stop > len(self._buffer):
            grown = np.empty((max(stop, 2 * len(self._buffer)), self.labels), self._buffer.dtype)
            grown[:start] = self._buffer[:start]
            self._buffer = grown
        self._buffer[start:stop] = values

    def values(self) -> Floats:
        """Return all rows, (example, label)."""
        return np.empty((0, self.labels)) if self._buffer is None else self._buffer[: self.rows]


def _length(loader: object, said: Sequence[str] | None) -> int:
    """Return how many rows there will be, if that is known, else 0."""
    if said is not None:
        return len(said)
    try:
        return len(loader.dataset)  # type: ignore[attr-defined]  # where it is a DataLoader
    except (AttributeError, TypeError):
        return 0


def _device_of(module: Module) -> object:
    parameters = getattr(module, "parameters", None)
    first = next(iter(parameters()), None) if callable(parameters) else None
    return getattr(first, "device", None)


@contextmanager
def _evaluating(module: Module) -> Iterator[None]:
    """Put a module in evaluation mode, and each part of it back to where it was."""
    if not hasattr(module, "modules"):  # a plain function
        yield
        return
    modes = [(part, part.training) for part in module.modules()]
    module.eval()
    try:
        yield
    finally:
        for part, mode in modes:
            part.training = mode  # `train` would set all the parts below as well


def _twice(name: str, first: int, again: int) -> InputError:
    return InputError(
        "example-twice",
        f"the loader gives example {name} twice",
        expected="each example once",
        got=f"batch {again}" if first == again else f"batches {first} and {again}",
        do="a sampler without replacement, or names that differ",
        whose="the loader",
        details={"examples": [name]},
    )


def _warn_if_normalised(values: Floats) -> None:
    alike = bool((values >= 0).all()) and np.allclose(values.sum(axis=1), 1, atol=_WITHIN)
    if alike and values.shape[1] > 1:
        warn(
            "logits-look-normalised",
            "the module's logits are all between 0 and 1, and sum to 1",
            expected="logits, or another scale: else softmax is taken twice",
            got="probabilities, it seems",
            do='scale="probability"',
            whose=WHOSE,
            stacklevel=3,
        )
