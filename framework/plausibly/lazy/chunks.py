"""Arrays in chunks of examples: told from others, checked without being read, read in one pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.errors import InputError
from plausibly.extras import require
from plausibly.labelled import names
from plausibly.labelled.named import float_type, named_array
from plausibly.labelled.text import name_texts, several

if TYPE_CHECKING:
    import dask.array

T = TypeVar("T")
A = TypeVar("A")

_SHOWN = 4


@attrs.frozen
class Chunk:
    """Consecutive examples, [start, stop), in one chunk.

    Attributes
    ----------
    place : int
        Which of the chunks it is.
    start, stop : int
    """

    place: int
    start: int
    stop: int


def named_chunks(array: xr.DataArray, whose: str, what: str) -> xr.DataArray:
    """Return an array (example, label) under text names, whose numbers are not read.

    Parameters
    ----------
    array : DataArray, (example, label), in chunks
        Coordinates that are in chunks themselves are read: they are small.
    whose : str
        What the messages call it.
    what : {"predictions", "plausibilities"}

    Raises
    ------
    InputError
        ``label-axis-split`` where the labels of one example are in several chunks, and what is
        said of dims, names and types of any array.
    """
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


def called(array: xr.DataArray, chunk: Chunk, whose: str) -> str:
    """Return what messages call a chunk: by its first example and its last."""
    if chunk.stop - chunk.start == array.sizes[names.EXAMPLE]:
        return whose
    ends = name_texts(array.indexes[names.EXAMPLE][[chunk.start, chunk.stop - 1]])
    return f"{whose}, {ends[0]} to {ends[1]}"


def reduced(
    what: Callable[[NDArray[Any], A], T],  # Any: the entries of any array
    array: xr.DataArray,
    asks: Sequence[tuple[Chunk, A]],
) -> Iterator[T]:
    """Return one small result for each of some chunks: all are computed in one pass.

    Parameters
    ----------
    what : callable
        Takes the entries of a chunk, and what is asked of it.
    array : DataArray, (example, label[, alpha])
    asks : sequence of (Chunk, object)
        The chunks that are read, with what is asked of each.
    """
    if not asks:
        return iter(())
    da = require("dask.array", extra="dask", whose="an array in chunks")
    source = array.data.blocks[[chunk.place for chunk, _ in asks]]
    column = np.empty(len(asks), dtype=object)
    column[:] = [Held(asked) for _, asked in asks]
    axes = "elk"[: array.ndim]
    found = da.blockwise(
        _asked,
        "e",
        source,
        axes,
        # Without a name of its own Dask would hash everything that is asked.
        da.from_array(column, chunks=1, name=False),
        "e",
        what=what,
        dtype=object,
        concatenate=True,
        align_arrays=False,
        adjust_chunks={"e": 1},
        meta=np.empty(0, dtype=object),
    )
    held: list[Held[T]] = found.compute().tolist()
    return (one.held for one in held)


@attrs.frozen(eq=False)
class Held(Generic[T]):
    """One object in an array of objects, which numpy would otherwise take apart."""

    held: T


def _asked(
    values: NDArray[Any],  # Any: the entries of any array
    asked: NDArray[np.object_],
    what: Callable[[NDArray[Any], A], T],  # Any: as above
) -> NDArray[np.object_]:
    found = np.empty(1, dtype=object)
    found[0] = Held(what(values, asked[0].held))
    return found


def mapped(
    what: Callable[..., NDArray[Any]],  # Any: flags or numbers
    array: xr.DataArray,
    columns: Sequence[NDArray[np.generic]],
    dtype: type[np.generic],
    *,
    alphas: int | None = None,
) -> dask.array.Array:
    """Return an array over the same chunks that is computed when it is asked for.

    Parameters
    ----------
    what : callable
        Takes the entries (example, label) of a chunk and its part of each column, and returns
        (example, label), or (alpha, example, label) where `alphas` is given.
    array : DataArray, (example, label), in chunks
    columns : sequence of ndarray, (example,)
    dtype : type
        Of the result.
    alphas : int, optional
    """
    da = require("dask.array", extra="dask", whose="an array in chunks")
    cut = array.variable.chunksizes[names.EXAMPLE]
    parts: list[object] = []
    for column in columns:
        parts += [da.from_array(column, chunks=(cut,)), "e"]
    axes, shape = ("el", (0, 0)) if alphas is None else ("ael", (0, 0, 0))
    found: dask.array.Array = da.blockwise(
        what,
        axes,
        array.data,
        "el",
        *parts,
        dtype=dtype,
        concatenate=True,
        new_axes=None if alphas is None else {"a": alphas},
        meta=np.empty(shape, dtype=dtype),
    )
    return found
