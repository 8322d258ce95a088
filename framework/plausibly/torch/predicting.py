"""Batch by batch: the module in evaluation mode, its outputs where they stay."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Literal

import attrs
import numpy as np
import xarray as xr

from plausibly.data import validate
from plausibly.data.names import EXAMPLE, LABEL, NUMBERED, name_texts, text_array
from plausibly.errors import InputError, warn
from plausibly.extras import require
from plausibly.io.label_tables import Names, table_from
from plausibly.kernels.types import Floats
from plausibly.torch import batches
from plausibly.torch.batches import Batch, Examples, Module

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
    said = batches.spoken(examples)
    if said is not None or examples is None:
        batches.check_order(loader)
    found = _Result(labels=len(order), expected=_length(loader, said))
    where = device if device is not None else _device_of(module)
    with _evaluating(module), torch.no_grad():
        for number, batch in enumerate(loader, start=1):
            outputs = batches.outputs_of(module, batches.moved(batch, where), call, number)
            values = batches.values_of(outputs, order, number)
            names = batches.names_of(batch, examples, said, found.rows, len(values), number)
            batches.check_finite(values, names, order, number)
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
        raise batches.names_differ(len(said), found.rows, "the loader gave")
    array = xr.DataArray(
        found.values(),
        dims=(EXAMPLE, LABEL),
        coords={EXAMPLE: (EXAMPLE, text_array(found.names)), LABEL: (LABEL, text_array(order))},
        name="predictions",
        attrs={NUMBERED: 1} if examples is None else {},
    )
    if scale == "logit":
        _warn_if_normalised(array.values)
    return validate.check_predictions(array, whose=batches.WHOSE, scale=scale)


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
            whose=batches.WHOSE,
            stacklevel=3,
        )
