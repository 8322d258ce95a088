"""Plausibilities in chunks: checked where they are read, or what is above zero kept of each."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.conformal.chunks import Chunk, chunks_of, mapped, named_chunks, reduced
from plausibly.conformal.rows import Named
from plausibly.data import names, validate
from plausibly.data.known import names_of
from plausibly.data.names import text_array
from plausibly.data.plausibilities import of_slots
from plausibly.kernels.sparse import Slots, packed_pairs
from plausibly.kernels.types import Floats


@attrs.frozen(eq=False)
class _Checking:
    """How one chunk is checked.

    Attributes
    ----------
    labels : tuple of str
    """

    labels: tuple[str, ...]

    def __call__(self, values: Floats, named: Named | None) -> Floats:
        """Return the plausibilities of one chunk, or raise what is wrong with them."""
        if named is None:  # no examples
            return values
        coords = {
            names.EXAMPLE: text_array(named.texts),
            names.LABEL: text_array(self.labels),
        }
        checked: Floats = validate.check_plausibilities(
            xr.DataArray(values, coords, (names.EXAMPLE, names.LABEL)), whose=named.whose
        ).values
        return checked

    def packed(self, values: Floats, named: Named) -> Slots:
        """Return what is above zero in one chunk, checked."""
        checked = self(values, named)
        row, label = np.nonzero(checked)
        return packed_pairs(row, label, checked[row, label], checked.shape)


def _read(
    plausibilities: xr.DataArray, whose: str
) -> tuple[xr.DataArray, _Checking, list[tuple[Chunk, Named]]]:
    """Return plausibilities under text names, how chunks are checked, and what each is called."""
    array = named_chunks(plausibilities, whose, "plausibilities")
    examples = names_of(array, names.EXAMPLE)
    asks = [(chunk, Named.of(examples, chunk, whose)) for chunk in chunks_of(array)]
    return array, _Checking(names_of(array, names.LABEL).row), asks


def checked_chunks(plausibilities: xr.DataArray, *, whose: str = "plausibilities") -> xr.DataArray:
    """Return plausibilities in the same chunks, each of which is checked when it is read.

    Parameters
    ----------
    plausibilities : DataArray, (example, label), in chunks
    whose : str

    Raises
    ------
    InputError
        ``label-axis-split``, and what is said of dims, names and types of any array; when a chunk
        is read, what `borders.check_plausibilities` finds in it.
    """
    array, checking, asks = _read(plausibilities, whose)
    return array.copy(data=mapped(checking, array, asks, array.dtype.type))


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
    array, checking, asks = _read(plausibilities, whose)
    parts = list(reduced(checking.packed, array, asks))
    width = max(part.weight.shape[1] for part in parts)
    slots = Slots(
        np.concatenate([_widened(part.weight, width, 0) for part in parts]),
        np.concatenate([_widened(part.label, width, names.NO_LABEL) for part in parts]),
        array.sizes[names.LABEL],
    )
    return of_slots(slots, array.coords.to_dataset(), array.attrs)


def _widened(values: NDArray[Any], width: int, padding: int) -> NDArray[Any]:  # Any: either part
    lacking = width - values.shape[1]
    return np.pad(values, ((0, 0), (0, lacking)), constant_values=padding)
