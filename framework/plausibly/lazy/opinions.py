"""Plausibilities in chunks: only what is above zero is kept of each."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.arrays import Floats
from plausibly.kernels.slots import Slots, packed_pairs
from plausibly.labelled import borders, names
from plausibly.labelled.known import names_of
from plausibly.labelled.packed import of_slots
from plausibly.labelled.text import text_array
from plausibly.lazy.chunks import chunks_of, named_chunks, reduced
from plausibly.lazy.rows import Named


@attrs.frozen(eq=False)
class _Packing:
    """How one chunk is packed.

    Attributes
    ----------
    labels : tuple of str
    """

    labels: tuple[str, ...]

    def __call__(self, values: NDArray[Any], named: Named) -> Slots:  # Any: real numbers
        """Return what is above zero in one chunk, or raise what is wrong with it."""
        checked: Floats = borders.check_plausibilities(
            xr.DataArray(
                values,
                dims=(names.EXAMPLE, names.LABEL),
                coords={
                    names.EXAMPLE: text_array(named.texts),
                    names.LABEL: text_array(self.labels),
                },
            ),
            whose=named.whose,
        ).values
        row, label = np.nonzero(checked)
        return packed_pairs(row, label, checked[row, label], checked.shape)


def packed_chunks(
    plausibilities: xr.DataArray | xr.Dataset, *, whose: str = "plausibilities"
) -> xr.Dataset:
    """Return the packed form of plausibilities in chunks, which are read once.

    Parameters
    ----------
    plausibilities : DataArray, (example, label), or Dataset, in chunks
        A Dataset is read as it is: packed plausibilities and annotations are small.
    whose : str

    Returns
    -------
    Dataset
        Packed plausibilities in memory: the bits that `plausibly.pack` makes of the whole array.

    Raises
    ------
    InputError
        What `borders.check_plausibilities` finds in a chunk, and ``label-axis-split``.
    """
    if isinstance(plausibilities, xr.Dataset):
        return plausibilities.compute()
    array = named_chunks(plausibilities, whose, "plausibilities")
    labels = names_of(array, names.LABEL).row
    texts = names_of(array, names.EXAMPLE).texts
    asks = [(chunk, Named.of(texts, chunk, whose)) for chunk in chunks_of(array)]
    parts = list(reduced(_Packing(labels), array, asks))
    width = max(part.weight.shape[1] for part in parts)
    slots = Slots(
        np.concatenate([_widened(part.weight, width, 0) for part in parts]),
        np.concatenate([_widened(part.label, width, names.NO_LABEL) for part in parts]),
        len(labels),
    )
    return of_slots(slots, array.coords.to_dataset(), array.attrs)


def _widened(values: NDArray[Any], width: int, padding: int) -> NDArray[Any]:  # Any: either part
    lacking = width - values.shape[1]
    return np.pad(values, ((0, 0), (0, lacking)), constant_values=padding)
