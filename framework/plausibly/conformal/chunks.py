"""Arrays in chunks of examples: recognised, checked without being read, read in one pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from uuid import uuid4

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.data import names
from plausibly.data.named import float_type, named_array
from plausibly.data.names import several
from plausibly.errors import InputError
from plausibly.extras import require

if TYPE_CHECKING:
    import dask.array

T = TypeVar("T")
A = TypeVar("A")

_SHOWN = 4
_NAME = "plausibly"


@attrs.frozen
class Chunk:
    """Consecutive examples, [start, stop), in one chunk."""

    place: int
    start: int
    stop: int


def named_chunks(array: xr.DataArray, whose: str, what: str) -> xr.DataArray:
    """Return an array (example, label) under text names, whose numbers are not read."""
    if names.AUGMENTATION in array.dims or names.DRAW in array.dims:
        dim = names.AUGMENTATION if names.AUGMENTATION in array.dims else names.DRAW
        raise InputError(
            "chunks-unfit",
            f"{whose}: chunks and the dim {dim} do not go together",
            expected="one row an example, over example and label",
            got=", ".join(map(str, array.dims)),
            do=f"{what}.load(), or {what}.isel({dim}=0)",
            whose=whose,
        )
    found = whole_rows(named_array(read_coordinates(array), whose, what), whose, what)
    return found.astype(float_type(found.dtype), copy=False)


def whole_rows(array: xr.DataArray, whose: str, what: str) -> xr.DataArray:
    """Return the array, or raise ``label-axis-split`` where its rows are cut."""
    cut = array.variable.chunksizes[names.LABEL]
    if len(cut) > 1:
        shown = " + ".join(map(str, cut[:_SHOWN])) + (" + …" if len(cut) > _SHOWN else "")
        raise InputError(
            "label-axis-split",
            f'{whose}: the Dask array cuts "label" into {several(len(cut), "chunk")}',
            expected="one chunk",
            got=shown,
            do=f'{what}.chunk({{"label": -1}}), or open it with chunks={{"label": -1}}',
            whose=whose,
        )
    return array


def read_coordinates(array: xr.DataArray) -> xr.DataArray:
    """Return the array with those of its coordinates in memory that were in chunks."""
    read = {name: one.compute() for name, one in array.coords.items() if one.chunks is not None}
    return array.assign_coords(read) if read else array


def chunks_of(array: xr.DataArray) -> list[Chunk]:
    """Return the chunks over ``example`` that have any."""
    sizes = array.variable.chunksizes[names.EXAMPLE]
    ends = np.cumsum(sizes).tolist()
    spans = zip(sizes, ends, strict=True)
    return [Chunk(k, end - size, end) for k, (size, end) in enumerate(spans) if size]


def reduced(
    what: Callable[[NDArray[Any], A], T],  # Any: the entries of any array
    array: xr.DataArray,
    asks: Sequence[tuple[Chunk, A]],
) -> Iterator[T]:
    """Return one small result for each of some chunks: all are computed in one pass."""
    if not asks:
        return iter(())
    # Any: Dask says nothing of what its methods return
    found: Any = of_each(
        partial(_kept, what), [array], asks, chunks=((1,) * len(asks),), dtype=object
    )
    held: list[Held[T]] = found.compute().tolist()
    return (one.held for one in held)


def of_each(
    what: Callable[..., NDArray[Any]],  # Any: objects, flags or numbers
    arrays: Sequence[xr.DataArray],
    asks: Sequence[tuple[Chunk, object]],
    *,
    chunks: tuple[tuple[int, ...], ...],
    dtype: type[np.generic] | type[object],
    axis: int = 0,
) -> dask.array.Array:
    """Return an array of one chunk for each of some chunks, computed when it is asked for."""
    da = require("dask.array", extra="dask", whose="an array in chunks")
    graphs = require("dask.highlevelgraph", extra="dask", whose="an array in chunks")
    name = f"{_NAME}-{uuid4().hex}"
    sources = [array.data for array in arrays]
    first = (0,) * axis, (0,) * (len(chunks) - axis - 1)
    tasks = {
        (name, *first[0], place, *first[1]): (
            _called,
            what,
            Held(asked),
            *((one.name, chunk.place, *(0,) * (one.ndim - 1)) for one in sources),
        )
        for place, (chunk, asked) in enumerate(asks)
    }
    graph = graphs.HighLevelGraph.from_collections(name, tasks, dependencies=sources)
    found: dask.array.Array = da.Array(
        graph, name, chunks, meta=np.empty((0,) * len(chunks), dtype=dtype)
    )
    return found


@attrs.frozen(eq=False)
class Held(Generic[T]):
    """One object in an array of objects, which numpy would otherwise take apart."""

    held: T


def _called(
    what: Callable[..., NDArray[Any]],  # Any: objects, flags or numbers
    asked: Held[object],
    *values: NDArray[Any],  # Any: as above
) -> NDArray[Any]:  # Any: as above
    return what(*values, asked.held)


def _kept(
    what: Callable[[NDArray[Any], A], T],  # Any: the entries of any array
    values: NDArray[Any],  # Any: as above
    asked: A,
) -> NDArray[np.object_]:
    found = np.empty(1, dtype=object)
    found[0] = Held(what(values, asked))
    return found


def mapped(
    what: Callable[..., NDArray[Any]],  # Any: flags or numbers
    array: xr.DataArray,
    asks: Sequence[tuple[Chunk, object]],
    dtype: type[np.generic],
    *,
    alphas: int | None = None,
) -> dask.array.Array:
    """Return an array over the same chunks that is computed when it is asked for."""
    cut = array.variable.chunksizes[names.EXAMPLE]
    every: list[tuple[Chunk, object]] = [(Chunk(place, 0, 0), None) for place in range(len(cut))]
    for chunk, asked in asks:
        every[chunk.place] = (chunk, asked)
    sizes = (cut, (array.sizes[names.LABEL],))
    if alphas is None:
        return of_each(what, [array], every, chunks=sizes, dtype=dtype)
    return of_each(what, [array], every, chunks=((alphas,), *sizes), dtype=dtype, axis=1)
