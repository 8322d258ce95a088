"""An array under names: the checks that predictions and plausibilities share."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, NoReturn

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.data import names
from plausibly.data.names import checked_names, does, name_texts, quoted, several, text_index
from plausibly.errors import InputError, counted, listed
from plausibly.kernels.types import Bools, Floats, FloatType


def is_lazy(array: object) -> bool:
    """Return whether an array, or something in a Dataset, is in chunks that are not read yet."""
    if isinstance(array, xr.DataArray):
        # For an array in memory `chunks` would take as long as all other checks of one row.
        in_memory = isinstance(getattr(array.variable, "_data", None), np.ndarray)
        return not in_memory and array.chunks is not None
    if isinstance(array, xr.Dataset):
        return any(one.chunks is not None for one in array.variables.values())
    return False


def named_floats(array: object, whose: str, what: str, *, draws: bool = False) -> xr.DataArray:
    """Return ([draw,] example, label) floats under text names, contiguous."""
    found = named_array(array, whose, what, draws=draws)
    return with_values(found, contiguous(found), name=found.name, attrs=found.attrs)


def contiguous(array: xr.DataArray) -> Floats:
    """Return the numbers of an array as contiguous floats; those that are so are not copied."""
    values: NDArray[Any] = array.values  # Any: the kinds of numbers are checked by now
    return np.ascontiguousarray(values, float_type(values.dtype))


def with_values(
    array: xr.DataArray,
    values: NDArray[Any],  # Any: numbers or flags
    *,
    name: Hashable,
    attrs: Mapping[Any, Any] | None = None,  # Any: as xarray has it
    scalars: Mapping[str, float] | None = None,
) -> xr.DataArray:
    """Return other values under the names of an array, which shares its coordinates."""
    coordinates = dict(array.coords.variables)
    for key, value in (scalars or {}).items():
        coordinates[key] = xr.Variable((), np.asarray(value), fastpath=True)
    # As xarray itself makes the result of a ufunc: nothing is copied or looked for among the names
    # again, which for one row would take several times as long as all else.
    return xr.DataArray(
        xr.Variable(array.dims, values, attrs, fastpath=True),
        coordinates,
        name=name,
        indexes=dict(array.xindexes),
        fastpath=True,
    )


def float_type(dtype: np.dtype[Any]) -> FloatType:  # Any: any real numbers
    """Return the float type in which numbers are read: float32 stays, all else is float64."""
    narrow = dtype.kind == "f" and dtype.itemsize == np.dtype(np.float32).itemsize
    return np.dtype(np.float32) if narrow else np.dtype(np.float64)


def named_array(array: object, whose: str, what: str, *, draws: bool = False) -> xr.DataArray:
    """Return ([draw,] example, label) real numbers under text names; the numbers are not read."""
    if not isinstance(array, xr.DataArray):
        raise InputError(
            f"{what}-unlabelled",
            f"{whose}: {type(array).__name__} has no names for its rows and columns",
            expected="a DataArray with the dims example and label",
            got=type(array).__name__,
            do='xarray.DataArray(values, dims=("example", "label"), '
            'coords={"example": ids, "label": labels})',
            whose=whose,
        )
    wanted = (names.EXAMPLE, names.LABEL)
    dims = (names.DRAW, *wanted) if draws and names.DRAW in array.dims else wanted
    if set(array.dims) != set(dims):
        raise _dims_differ(array, wanted, whose, what)
    array = array if array.dims == dims else array.transpose(*dims)
    indexed = array.xindexes
    for dim in wanted:
        if dim not in indexed:
            raise _unnamed(array, dim, whose, what)
        array = _with_names(array, dim, whose)
    if array.dtype.kind not in "fiub":
        raise InputError(
            "numbers-expected",
            f"{whose}: the entries are not real numbers",
            expected="floats",
            got=f"dtype {array.dtype}",
            do=f"{what}.astype(float)",
            whose=whose,
        )
    if not array.size:
        raise InputError(
            f"{what}-empty",
            f"{whose}: there is nothing in it",
            expected="one example and one label, or more",
            got=", ".join(several(array.sizes[dim], str(dim)) for dim in array.dims),
            do="look at what was selected or read",
            whose=whose,
        )
    return array


def _dims_differ(array: xr.DataArray, wanted: tuple[str, str], whose: str, what: str) -> InputError:
    lost = [dim for dim in wanted if dim not in array.dims]
    surplus = [str(dim) for dim in array.dims if dim not in wanted]
    do = f"{what}.expand_dims({lost[0]}=[...])" if lost else ""
    if lost and surplus:
        do = f'{what}.rename({{"{surplus[0]}": "{lost[0]}"}})'
    elif surplus == [names.DRAW]:
        do = f'take the mean over draws: {what}.mean("draw"), or calibrate on annotations (-a)'
    elif surplus:
        do = f"take one entry of each other dim: {what}.isel({surplus[0]}=0)"
    return InputError(
        "dims-differ",
        f"{does(whose, 'have')} the dims {listed(array.dims) or 'none'}",
        expected="example and label",
        got=f"no {listed(lost)}" if lost else f"{listed(surplus)} besides",
        do=do,
        whose=whose,
    )


def _unnamed(array: xr.DataArray, dim: str, whose: str, what: str) -> InputError:
    return InputError(
        f"{dim}s-unnamed",
        f"{does(whose, 'have')} {several(array.sizes[dim], dim)} and no {dim} names",
        expected="names in order; an order is never guessed",
        do=f"{what}.assign_coords({dim}=[...])",
        whose=whose,
    )


def _with_names(array: xr.DataArray, dim: str, whose: str) -> xr.DataArray:
    """Return the array with checked names along a dim, as text."""
    found = checked_names(array, dim, whose=whose)
    if array.coords.variables[dim].dtype.kind == "U":
        return array
    return array.assign_coords(xr.Coordinates.from_xindex(text_index(found.texts, dim)))


def span(numbers: Floats, to: str = "to") -> str:
    """Return the range of the numbers in four digits."""
    low, high = f"{float(numbers.min()):.4g}", f"{float(numbers.max()):.4g}"
    return low if low == high else f"{low} {to} {high}"


def _rows(array: xr.DataArray, mask: Bools) -> list[str]:
    return name_texts(array.indexes[names.EXAMPLE][np.flatnonzero(mask)])


def refuse_rows(
    name: str,
    array: xr.DataArray,
    mask: Bools,
    fault: str,
    whose: str,
    *,
    expected: str,
    got: str = "",
    do: str,
) -> NoReturn:
    """Raise `InputError` about the examples in `mask`."""
    rows = _rows(array, mask)
    raise InputError(
        name,
        f"{whose}: {counted(len(rows))} of {several(mask.size, 'row')} {fault} ({listed(rows)})",
        expected=expected,
        got=got,
        do=do,
        whose=whose,
        details={"examples": rows},
    )


def check_finite(array: xr.DataArray, whose: str, name: str) -> None:
    """Raise `InputError` where an entry is NaN or infinite."""
    values: Floats = array.values
    # the extremes are finite exactly if all entries are: no mask of the size of the array
    if np.isfinite(values.min()) and np.isfinite(values.max()):
        return
    bad: Bools = ~np.isfinite(values)
    word = "NaN" if np.isnan(values[bad]).all() else "NaN or infinite numbers"
    flat = bad.reshape(-1, *bad.shape[-2:]).any(axis=0)
    labels = name_texts(array.indexes[names.LABEL][np.flatnonzero(flat.any(axis=0))])
    rows = _rows(array, np.any(flat, axis=1))
    do = 'predict these again, or --bad-rows drop (bad_rows="drop"), which is recorded'
    raise InputError(
        name,
        f"{whose}, {word} in {several(len(rows), 'row')} ({listed(rows)})",
        expected="finite numbers",
        got=f"{counted(int(bad.sum()))} {word} in {listed(map(quoted, labels))}",
        do="mend these rows" if name.startswith("plaus") else do,
        whose=whose,
        details={"examples": rows, "labels": labels},
    )


def read_coordinates(array: xr.DataArray) -> xr.DataArray:
    """Return the array with those of its coordinates in memory that were in chunks."""
    read = {name: one.compute() for name, one in array.coords.items() if one.chunks is not None}
    return array.assign_coords(read) if read else array
