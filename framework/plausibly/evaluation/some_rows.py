"""A few examples at a time: neither p-values nor plausibilities of all labels of all examples."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import xarray as xr

from plausibly.conformal.predictor import ConformalPredictor
from plausibly.data import names, validate
from plausibly.data.named import is_lazy
from plausibly.data.names import positions
from plausibly.data.plausibilities import slots_of
from plausibly.kernels.sparse import Slots, packed_pairs
from plausibly.kernels.types import Floats, Ints

_CELLS = 1 << 18  # of what is in hand at once


def as_predictions(predictions: xr.DataArray) -> xr.DataArray:
    """Return predictions (example, label), checked; those in chunks when they are read.

    Parameters
    ----------
    predictions : DataArray, (example, label)

    Raises
    ------
    InputError
        What `borders.check_predictions` raises, and ``label-axis-split``.
    """
    if not is_lazy(predictions):
        return validate.check_predictions(predictions)
    from plausibly.conformal.chunks import named_chunks

    model = named_chunks(predictions, "predictions", "predictions")
    return model.assign_attrs({names.SCALE: validate.known_scale(model, "predictions")})


def p_value_rows(
    predictor: ConformalPredictor, predictions: xr.DataArray
) -> Iterator[tuple[slice, Floats]]:
    """Yield slices of examples with their p-values (some, label), labels as in the predictor.

    Parameters
    ----------
    predictor : ConformalPredictor
    predictions : DataArray, (example, label)
        From `as_predictions`; each chunk is read once.
    """
    labels = list(map(str, predictions[names.LABEL].values))
    wanted = list(predictor.labels)
    code = slice(None) if labels == wanted else positions(labels, wanted)
    lazy = is_lazy(predictions)
    sizes = predictions.variable.chunksizes.get(names.EXAMPLE, (predictions.sizes[names.EXAMPLE],))
    end = 0
    for size in sizes:
        start, end = end, end + size
        part = predictions.isel({names.EXAMPLE: slice(start, end)})
        part = part.load() if lazy else part
        for rows in few_rows((size, len(labels))):
            found = predictor.p_values(part.isel({names.EXAMPLE: rows}))
            values: Floats = found.transpose(names.EXAMPLE, names.LABEL).values
            yield slice(start + rows.start, start + rows.stop), values[:, code]


def few_rows(shape: tuple[int, int]) -> Iterator[slice]:
    """Yield slices of the rows of an array of this shape that hold about `_CELLS` cells each."""
    step = max(1, _CELLS // max(1, shape[1]))
    for start in range(0, shape[0], step):
        yield slice(start, min(start + step, shape[0]))


def opinions_of(plausibilities: xr.DataArray | xr.Dataset) -> Floats | Slots:
    """Return plausibilities in the form in which they were given, (example, label)."""
    if isinstance(plausibilities, xr.Dataset):
        return slots_of(plausibilities)
    values: Floats = plausibilities.values
    return values


def about_examples(plausibilities: xr.DataArray | xr.Dataset) -> xr.DataArray:
    """Return an array that has the coordinates of the examples."""
    if isinstance(plausibilities, xr.Dataset):
        return plausibilities[names.WEIGHT]
    return plausibilities


def above_zero(opinions: Floats | Slots) -> Slots:
    """Return what is above zero of plausibilities in either form."""
    if isinstance(opinions, Slots):
        return opinions
    row, label = np.nonzero(opinions)
    return packed_pairs(row, label, opinions[row, label], opinions.shape)


def voted(opinions: Floats | Slots) -> Ints:
    """Return the code of the first most plausible label of each example, (example,)."""
    found: Ints
    if isinstance(opinions, Slots):
        place = np.argmax(opinions.weight, axis=1)
        found = opinions.label[np.arange(len(place)), place].astype(np.intp)
        return found
    found = np.argmax(opinions, axis=1)
    return found
