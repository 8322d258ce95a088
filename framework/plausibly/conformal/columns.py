"""Columns of numbers, a few for each example, that are computed when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.conformal.chunks import Chunk, of_each
from plausibly.data import names
from plausibly.extras import require

if TYPE_CHECKING:
    import dask.array


def columns_later(
    what: Callable[..., NDArray[np.float64]],
    arrays: Sequence[xr.DataArray],
    asks: Sequence[object],
    shape: tuple[int, int],
) -> dask.array.Array:
    """Return columns over the chunks of arrays, computed when they are asked for.

    Parameters
    ----------
    what : callable
        Takes the entries of a chunk of each array, and what is asked of it; returns
        (example, *shape).
    arrays : sequence of DataArray, (example, ...)
        In the same chunks over ``example``, and in one over each other dim.
    asks : sequence
        What is asked of each chunk, in their order.
    shape : (int, int)
        How many columns there are.
    """
    cut = arrays[0].variable.chunksizes[names.EXAMPLE]
    each = [(Chunk(place, 0, 0), asked) for place, asked in enumerate(asks)]
    sizes = (cut, *((size,) for size in shape))
    return of_each(what, arrays, each, chunks=sizes, dtype=np.float64)


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
