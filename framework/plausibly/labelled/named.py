"""An array under names: the checks that predictions and plausibilities share."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.arrays import Bools, Floats, FloatType
from plausibly.errors import InputError, counted, listed
from plausibly.labelled import names
from plausibly.labelled.text import check_names, does, name_texts, quoted, several, text_array


def is_lazy(array: object) -> bool:
    """Return whether an array, or something in a Dataset, is in chunks that are not read yet."""
    if isinstance(array, xr.DataArray):
        return array.chunks is not None
    if isinstance(array, xr.Dataset):
        return any(one.chunks is not None for one in array.variables.values())
    return False


def named_floats(array: object, whose: str, what: str, *, draws: bool = False) -> xr.DataArray:
    """Return ([draw,] example, label) floats under text names, contiguous."""
    found = named_array(array, whose, what, draws=draws)
    values: NDArray[Any] = found.values  # Any: the kinds of numbers are checked by now
    return found.copy(data=np.ascontiguousarray(values, float_type(values.dtype)))


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
    for dim in wanted:
        array = _named(array, dim, whose, what)
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


def _named(array: xr.DataArray, dim: str, whose: str, what: str) -> xr.DataArray:
    size = array.sizes[dim]
    if dim not in array.indexes:
        raise InputError(
            f"{dim}s-unnamed",
            f"{does(whose, 'have')} {several(size, dim)} and no {dim} names",
            expected="names in order; an order is never guessed",
            do=f"{what}.assign_coords({dim}=[...])",
            whose=whose,
        )
    texts = name_texts(array.indexes[dim])
    check_names(texts, dim, whose=whose)
    if array.coords[dim].dtype.kind == "U":
        return array
    return array.assign_coords({dim: text_array(texts)})


def span(numbers: Floats, to: str = "to") -> str:
    """Return the range of the numbers in four digits."""
    low, high = float(numbers.min()), float(numbers.max())
    return f"{low:.4g}" if low == high else f"{low:.4g} {to} {high:.4g}"


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
