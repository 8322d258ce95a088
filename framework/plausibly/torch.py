"""Predictions of a PyTorch module on the examples of a loader.

Needs the extra ``torch``, when it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal, TypeAlias

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.data import validate
from plausibly.data.names import LABEL, NUMBERED, name_texts, several
from plausibly.errors import InputError, counted, listed, warn
from plausibly.extras import require
from plausibly.io.label_tables import Names, named_predictions, table_from
from plausibly.kernels.types import Floats

__all__ = ["predictions"]


Tensor: TypeAlias = Any  # torch is an extra
Module: TypeAlias = Any  # as above
Batch: TypeAlias = Any  # any batch of a loader
Examples: TypeAlias = Iterable[object] | str | int | Callable[[Batch], Iterable[object]]

_MODULE, _LOADER = "the module", "the loader"


def _texts(values: Any) -> list[str]:  # Any: names in a list, an array or a tensor
    return name_texts(values.tolist() if hasattr(values, "tolist") else values)


def _check_order(loader: object) -> None:
    """Refuse a loader that shuffles, since rows would get the names of others."""
    batch_sampler = getattr(loader, "batch_sampler", None)
    samplers = (getattr(loader, "sampler", None), getattr(batch_sampler, "sampler", None))
    kinds = {kind.__name__ for sampler in samplers for kind in type(sampler).__mro__}
    shuffling = kinds & {"RandomSampler", "SubsetRandomSampler", "WeightedRandomSampler"}
    if shuffling:
        raise InputError(
            "loader-shuffles",
            "the loader shuffles, and its batches do not name their examples",
            expected="the order of the examples, or their names in each batch",
            found=listed(sorted(shuffling)),
            hint='DataLoader(..., shuffle=False), or examples="key" of the names in a batch',
            source=_LOADER,
        )


def _moved(batch: Batch, device: object) -> Batch:
    """Return a batch with its tensors on a device, wherever they stand in it."""
    if device is None:
        return batch
    if hasattr(batch, "to"):
        return batch.to(device)
    if isinstance(batch, Mapping):
        return {key: _moved(item, device) for key, item in batch.items()}
    if isinstance(batch, (list, tuple)):
        return [_moved(item, device) for item in batch]
    return batch


def _outputs(
    module: Module, batch: Batch, call: Callable[[Module, Batch], object] | None, number: int
) -> Tensor:
    outputs: Tensor = batch
    if call is not None:
        outputs = call(module, batch)
    elif hasattr(batch, "detach"):
        outputs = module(batch)
    elif isinstance(batch, (list, tuple)) and batch:
        outputs = module(batch[0])
    outputs = getattr(outputs, "logits", outputs)
    if not hasattr(outputs, "detach"):
        raise _batch_unfit(outputs, f"the module gives no tensor of batch {number}")
    return outputs.detach()


def _batch_unfit(outputs: object, what: str) -> InputError:
    keys = f" with {listed(outputs)}" if isinstance(outputs, Mapping) else ""
    return InputError(
        "batch-unfit",
        what,
        expected="a tensor, or a sequence that begins with one; or `call`, which returns one",
        found=f"{type(outputs).__name__}{keys}",
        hint='call=lambda model, batch: model(batch["key"])',
        source=_LOADER,
    )


def _values(outputs: Tensor, order: Sequence[str], number: int) -> Floats:
    if str(outputs.dtype) in ("torch.float16", "torch.bfloat16"):  # numpy has no bfloat16
        outputs = outputs.float()
    values: NDArray[Any] = outputs.cpu().numpy()  # Any: checked here
    if values.ndim != 2 or values.shape[1] != len(order) or values.dtype.kind != "f":
        raise InputError(
            "outputs-shape",
            f"the module gives {values.dtype} of shape {values.shape} for batch {number}",
            expected=f"floats (examples, {len(order)}): one output per label",
            found=str(values.shape),
            hint="labels= with as many names as outputs; one logit of two labels needs call=",
            source=_MODULE,
        )
    return values


def _check_lengths(names: Sequence[str], rows: int, source: str) -> None:
    if len(names) != rows:
        raise InputError(
            "names-differ",
            f"examples= has {several(len(names), 'name')}, and {source} has {several(rows, 'row')}",
            expected="one name per row",
            found=counted(len(names)),
            hint="name all examples of the data set; DataLoader(..., drop_last=False)",
            source="examples",
        )


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
    """Return the predictions of a module on each example of a loader.

    The module runs in evaluation mode and without gradients; afterwards every part of it is in its
    mode again. One batch of inputs is in memory at a time.

    Parameters
    ----------
    module : torch.nn.Module
    loader : torch.utils.data.DataLoader, or iterable of batches
        A batch is a tensor, a sequence whose first item is the input of the module, or anything
        with `call`. The loader must keep the order of the examples, unless batches name them.
    labels : sequence of str, Path, str or Dataset
        Names of the outputs, in order.
    examples : sequence, str, int or callable, optional
        Names of all examples, in the order of the loader; or the key or place of the names in a
        batch, or a function of the batch. By default ``"0"``, ``"1"``, …
    scale : {"logit", "probability", "independent"}
        Scale of the outputs.
    device : str or torch.device, optional
        Device of the batches; by default that of the first parameter of the module.
    call : callable, optional
        ``call(module, batch)`` returns the outputs, or an object that has them as ``logits``. By
        default the module is called with the batch, or its first item.

    Returns
    -------
    DataArray, (example, label)
        float32, or float64 where the module returns it; attribute ``scale``.

    Raises
    ------
    InputError
        ``loader-shuffles``, ``batch-unfit``, ``outputs-shape``, ``names-differ``, and those of
        predictions: ``array-empty``, ``numbers-not-finite``, ``example-twice``.

    Warns
    -----
    PlausiblyWarning
        ``logits-look-normalised`` where all rows of logits are probabilities.
    """
    torch = require("torch", extra="torch", source="plausibly.torch")
    order = name_texts(table_from(labels, LABEL)[LABEL].values)
    by_batch = isinstance(examples, (str, int)) or callable(examples)
    if not by_batch:
        _check_order(loader)
    blocks: list[Floats] = [np.empty((0, len(order)), np.float32)]
    names: list[str] = []
    parameters = getattr(module, "parameters", None)
    first_of = next(iter(parameters()), None) if callable(parameters) else None
    where = getattr(first_of, "device", None) if device is None else device
    with _evaluating(module), torch.no_grad():
        for number, batch in enumerate(loader, start=1):
            values = _values(_outputs(module, _moved(batch, where), call, number), order, number)
            blocks.append(values)
            if by_batch:
                try:
                    own = _texts(examples(batch) if callable(examples) else batch[examples])
                except (KeyError, IndexError, TypeError):
                    what = f"batch {number} has no item {examples!r}"
                    raise _batch_unfit(batch, what) from None
                _check_lengths(own, len(values), f"batch {number}")
                names += own
    values = np.concatenate(blocks)
    if not by_batch:
        names = list(map(str, range(len(values)))) if examples is None else _texts(examples)
        _check_lengths(names, len(values), "the loader")
    sums = names and np.allclose(values.sum(axis=1), 1, atol=1e-3)
    if scale == "logit" and len(order) > 1 and sums and (values >= 0).all():
        warn(
            "logits-look-normalised",
            "the module's logits are all between 0 and 1, and sum to 1",
            expected="logits, or another scale: else softmax is taken twice",
            found="probabilities, it seems",
            hint='scale="probability"',
            source=_MODULE,
        )
    numbered = {NUMBERED: 1} if examples is None else {}
    array = named_predictions(values, names, order, numbered)
    return validate.check_predictions(array, source=_MODULE, scale=scale)


@contextmanager
def _evaluating(module: Module) -> Iterator[None]:
    """Put a module in evaluation mode, and restore the mode of each part."""
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
