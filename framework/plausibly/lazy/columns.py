"""Columns of numbers, a few for each example, that are computed when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.arrays import Floats
from plausibly.extras import require
from plausibly.labelled import borders, names
from plausibly.labelled.text import text_array
from plausibly.lazy.chunks import Held, named_chunks

if TYPE_CHECKING:
    import dask.array

_WHOSE = "plausibilities"


@attrs.frozen(eq=False)
class _Checking:
    """Checks plausibilities of one chunk.

    Attributes
    ----------
    labels : tuple of str
    examples : int
        How many there are in all chunks.
    """

    labels: tuple[str, ...]
    examples: int

    def __call__(self, values: Floats, texts: NDArray[np.str_]) -> Floats:
        if not len(texts):
            return values
        whole = len(texts) == self.examples
        coords = {names.EXAMPLE: texts, names.LABEL: text_array(self.labels)}
        checked: Floats = borders.check_plausibilities(
            xr.DataArray(values, coords, (names.EXAMPLE, names.LABEL)),
            whose=_WHOSE if whole else f"{_WHOSE}, {texts[0]} to {texts[-1]}",
        ).values
        return checked


def checked_later(plausibilities: xr.DataArray) -> xr.DataArray:
    """Return plausibilities in the same chunks, each of which is checked when it is read.

    Parameters
    ----------
    plausibilities : DataArray, (example, label), in chunks

    Raises
    ------
    InputError
        ``label-axis-split``, and what is said of dims, names and types of any array; when a chunk
        is read, what `borders.check_plausibilities` finds in it.
    """
    da = require("dask.array", extra="dask", whose="an array in chunks")
    array = named_chunks(plausibilities, _WHOSE, _WHOSE)
    texts = array[names.EXAMPLE].values
    cut = array.variable.chunksizes[names.EXAMPLE]
    checked = da.blockwise(
        _Checking(tuple(array[names.LABEL].values.tolist()), len(texts)),
        "el",
        array.data,
        "el",
        da.from_array(texts, chunks=(cut,)),
        "e",
        dtype=array.dtype,
        meta=np.empty((0, 0), dtype=array.dtype),
    )
    return array.copy(data=checked)


def columns_later(
    what: Callable[..., NDArray[np.float64]],
    array: xr.DataArray,
    asks: Sequence[object],
    shape: tuple[int, int],
    *,
    beside: xr.DataArray | None = None,
) -> dask.array.Array:
    """Return columns over the chunks of an array, computed when they are asked for.

    Parameters
    ----------
    what : callable
        Takes the entries of a chunk, those of the same chunk of `beside` where it is given, and
        what is asked of it; returns (example, *shape).
    array : DataArray, (example, label[, alpha]), in chunks of whole rows
    asks : sequence
        What is asked of each chunk, in their order.
    shape : (int, int)
        How many columns there are.
    beside : DataArray, (example, label), optional
        In the same chunks.
    """
    da = require("dask.array", extra="dask", whose="an array in chunks")
    held = np.empty(len(asks), dtype=object)
    held[:] = [Held(asked) for asked in asks]
    parts: list[object] = [] if beside is None else [beside.data, "el"]
    found: dask.array.Array = da.blockwise(
        _together,
        "eqa",
        array.data,
        "elk"[: array.ndim],
        *parts,
        # Without a name of its own Dask would hash everything that is asked.
        da.from_array(held, chunks=1, name=False),
        "e",
        what=what,
        dtype=np.float64,
        concatenate=True,
        align_arrays=False,
        adjust_chunks={"e": array.variable.chunksizes[names.EXAMPLE]},
        new_axes=dict(zip("qa", shape, strict=True)),
        meta=np.empty((0, 0, 0)),
    )
    return found


def _together(
    *parts: NDArray[Any],  # Any: flags, numbers, and one object
    what: Callable[..., NDArray[np.float64]],
) -> NDArray[np.float64]:
    return what(*parts[:-1], parts[-1][0].held)


def values_later(
    what: Callable[[Sequence[NDArray[np.float64]]], dict[str, NDArray[Any]]],  # Any: any numbers
    columns: dask.array.Array,
    like: xr.Dataset,
) -> dict[str, tuple[tuple[str, ...], dask.array.Array]]:
    """Return variables that are computed from all columns when the first is asked for.

    Parameters
    ----------
    what : callable
        Takes the columns of each chunk; returns the values of all variables by name.
    columns : Dask array, (example, ...)
        From `columns_later`.
    like : Dataset
        Variables of the same names, dims, shapes and types.
    """
    dask = require("dask", extra="dask", whose="an array in chunks")
    da = require("dask.array", extra="dask", whose="an array in chunks")
    untyped: Any = columns  # Any: Dask says nothing of what this method returns
    # As they are: optimised apart from the columns themselves they would be computed twice.
    blocks = untyped.to_delayed(optimize_graph=False).ravel().tolist()
    whole = dask.delayed(what, pure=False)(blocks)
    return {
        str(name): (
            tuple(map(str, one.dims)),
            da.from_delayed(whole[name], shape=one.shape, dtype=one.dtype),
        )
        for name, one in like.data_vars.items()
    }
