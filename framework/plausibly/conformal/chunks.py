"""Arrays in chunks of examples: recognised, checked without being read, read in one pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.data import names
from plausibly.data.names import (
    Named,
    Names,
    float_type,
    named_array,
    read_coordinates,
    several,
    text_array,
)
from plausibly.data.validate import Predictions, known_scale
from plausibly.errors import InputError
from plausibly.extras import require
from plausibly.kernels.types import Numbers

if TYPE_CHECKING:
    import dask.array

T = TypeVar("T")
A = TypeVar("A")

_SHOWN = 4


@attrs.frozen
class Chunk:
    """Consecutive examples, [start, stop), in one chunk."""

    place: int
    start: int
    stop: int


def named_chunks(array: xr.DataArray, whose: str, what: str) -> Named:
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
    found = named_array(read_coordinates(array), whose, what)
    rows = whole_rows(found.array, whose, what)
    return attrs.evolve(found, array=rows.astype(float_type(rows.dtype), copy=False))


def predictions_in_chunks(predictions: xr.DataArray, scale: str | None = None) -> Predictions:
    """Return predictions under checked names, each chunk of which is checked when it is read."""
    whose = "predictions"
    found = named_chunks(predictions, whose, whose)
    scale = known_scale(found.array, whose, scale)
    return Predictions(
        array=found.array.assign_attrs({names.SCALE: scale}),
        examples=found.examples,
        labels=found.labels,
        scale=scale,
    )


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


def chunks_of(array: xr.DataArray) -> list[Chunk]:
    """Return the chunks over ``example`` that have any."""
    sizes = array.variable.chunksizes[names.EXAMPLE]
    ends = np.cumsum(sizes).tolist()
    spans = zip(sizes, ends, strict=True)
    return [Chunk(k, end - size, end) for k, (size, end) in enumerate(spans) if size]


@attrs.frozen(eq=False)
class Part:
    """The examples of one chunk, and what messages call it."""

    examples: Names
    whose: str

    @classmethod
    def of(cls, examples: Names, chunk: Chunk, whose: str) -> Part:
        """Return the examples of one chunk."""
        some = examples.take(slice(chunk.start, chunk.stop))
        if len(some) == len(examples):
            return cls(some, whose)
        return cls(some, f"{whose}, {some.texts[0]} to {some.texts[-1]}")

    def array(
        self,
        values: Numbers,
        labels: Sequence[str],
        columns: Mapping[str, object] | None = None,
    ) -> xr.DataArray:
        """Return values (example, label) of the chunk under their names."""
        coords: dict[str, object] = {
            names.EXAMPLE: text_array(self.examples.texts),
            names.LABEL: text_array(labels),
            **(columns or {}),
        }
        return xr.DataArray(values, coords, (names.EXAMPLE, names.LABEL))


def each_chunk(
    work: Callable[..., object],
    arrays: Sequence[xr.DataArray],
    asks: Iterable[tuple[Chunk, object]],
    shared: object = None,
) -> list[Any]:  # Any: Dask says nothing of what it delays
    """Return ``work(*values, asked[, shared])`` of each of some chunks, computed when needed."""
    dask = require("dask", extra="dask", whose="an array in chunks")
    # As they are: optimised by themselves they would be read again by what else needs them.
    blocks = [array.data.to_delayed(optimize_graph=False).ravel() for array in arrays]
    call = dask.delayed(work, pure=False, traverse=False)
    more = [] if shared is None else [dask.delayed(shared, pure=False, traverse=False)]
    return [call(*(each[chunk.place] for each in blocks), asked, *more) for chunk, asked in asks]


def reduced(
    work: Callable[[NDArray[Any], A], T],  # Any: the entries of any array
    array: xr.DataArray,
    asks: Sequence[tuple[Chunk, A]],
) -> Sequence[T]:
    """Return one small result for each of some chunks: all are computed in one pass."""
    if not asks:
        return ()
    dask = require("dask", extra="dask", whose="an array in chunks")
    found: tuple[T, ...] = dask.compute(*each_chunk(work, [array], asks))
    return found


def mapped(
    work: Callable[..., NDArray[Any]],  # Any: flags or numbers
    arrays: Sequence[xr.DataArray],
    asks: Sequence[tuple[Chunk, object]],
    dtype: np.dtype[Any] | type[np.generic],  # Any: as above
    shape: tuple[int, ...],
    *,
    axis: int = 0,
    shared: object = None,
) -> dask.array.Array:
    """Return what is made of each chunk along an axis, computed when it is asked for.

    The part of a chunk has the dims `shape`, with its examples at `axis`.
    """
    da = require("dask.array", extra="dask", whose="an array in chunks")
    parts = []
    for (chunk, _), made in zip(asks, each_chunk(work, arrays, asks, shared), strict=True):
        size = (*shape[:axis], chunk.stop - chunk.start, *shape[axis:])
        parts.append(da.from_delayed(made, shape=size, dtype=dtype))
    found: dask.array.Array = da.concatenate(parts, axis=axis)
    return found
