"""Packed plausibilities at the border: the checks of the dense form, and no dense array."""

from __future__ import annotations

import xarray as xr

from plausibly.data import borders, names
from plausibly.data.packed import check_packed, is_packed
from plausibly.data.text import name_texts, text_array
from plausibly.kernels.types import Floats


def as_checked(
    plausibilities: xr.DataArray | xr.Dataset, *, whose: str = "plausibilities"
) -> xr.DataArray | xr.Dataset:
    """Return plausibilities as the framework reads them, packed where they are.

    Parameters
    ----------
    plausibilities : DataArray or Dataset
        As `borders.check_plausibilities` takes them.
    whose : str
        What the messages call them.

    Raises
    ------
    InputError
        What `borders.check_plausibilities` and `check_packed` raise.
    """
    if isinstance(plausibilities, xr.Dataset) and is_packed(plausibilities):
        return check_packed_plausibilities(plausibilities, whose=whose)
    return borders.check_plausibilities(plausibilities, whose=whose)


def check_packed_plausibilities(packed: xr.Dataset, *, whose: str = "plausibilities") -> xr.Dataset:
    """Return packed plausibilities as the framework reads them; the caller's are not changed.

    Parameters
    ----------
    packed : Dataset
    whose : str
        What the messages call them.

    Returns
    -------
    Dataset
        Dims in order, float32 or float64 as given, names as text. A coordinate ``denominator``
        stays only if every plausibility is a whole number of its units.

    Raises
    ------
    InputError
        What `check_packed` raises, and ``plausibilities-do-not-sum`` (tolerance 1e-6), naming the
        examples.
    """
    packed = check_packed(packed)
    weight: Floats = packed[names.WEIGHT].values
    rows = checked_rows(weight, packed.drop_vars(names.LABEL), whose)
    for dim in (names.EXAMPLE, names.LABEL_NAME):
        if packed[dim].dtype.kind != "U":
            texts = text_array(name_texts(packed.indexes[dim]))
            packed = packed.assign_coords({dim: texts})
    if names.DENOMINATOR in packed.coords:
        packed = packed.drop_vars(names.DENOMINATOR)
    if names.DENOMINATOR in rows.coords:
        packed = packed.assign_coords({names.DENOMINATOR: rows[names.DENOMINATOR].variable})
    return packed.assign({names.WEIGHT: ((names.EXAMPLE, names.SLOT), rows.values)})


def checked_rows(weight: Floats, about: xr.Dataset | xr.DataArray, whose: str) -> xr.DataArray:
    """Return weights (example, slot), checked as the plausibilities of labels called by slots.

    Parameters
    ----------
    weight : ndarray, (example, slot)
    about : Dataset or DataArray
        With the coordinates of the examples.
    whose : str
        What the messages call them.

    Raises
    ------
    InputError
        What `borders.check_plausibilities` raises.
    """
    coords = {name: item for name, item in about.coords.items() if item.dims == (names.EXAMPLE,)}
    rows = xr.DataArray(weight, dims=(names.EXAMPLE, names.LABEL), coords=coords)
    slots = [str(slot) for slot in range(weight.shape[1])]
    return borders.check_plausibilities(rows.assign_coords({names.LABEL: slots}), whose=whose)
