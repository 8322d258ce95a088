"""Arrays in chunks of examples: checked without being read, and read in one pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.conformal.array_predictor import Scoring
from plausibly.data import names, validate
from plausibly.data.names import (
    Named,
    Names,
    float_type,
    name_texts,
    named_array,
    read_coordinates,
    several,
    text_array,
)
from plausibly.data.plausibilities import Form, check_plausibilities, sparse_dataset
from plausibly.data.validate import Predictions, known_scale
from plausibly.errors import InputError
from plausibly.extras import require
from plausibly.kernels.blocks import row_blocks
from plausibly.kernels.sparse import Dense, Sparse, gather
from plausibly.kernels.types import Floats, FloatType, Ints, Numbers

if TYPE_CHECKING:
    import dask.array

T = TypeVar("T")


def named_chunks(array: xr.DataArray, source: str) -> Named:
    """Return an array (example, label) under text names, whose numbers are not read."""
    if names.AUGMENTATION in array.dims or names.DRAW in array.dims:
        dim = names.AUGMENTATION if names.AUGMENTATION in array.dims else names.DRAW
        raise InputError(
            "chunks-unfit",
            f"{source}: chunks and the dim {dim} do not go together",
            expected="one row per example, over example and label",
            found=", ".join(map(str, array.dims)),
            hint=f"{source}.load(), or {source}.isel({dim}=0)",
            source=source,
        )
    named = named_array(read_coordinates(array), source, source, lazy=True)
    rows = whole_rows(named.array, source, source)
    return attrs.evolve(named, array=rows.astype(float_type(rows.dtype), copy=False))


def predictions_in_chunks(predictions: xr.DataArray, scale: str | None = None) -> Predictions:
    """Return predictions under checked names, each chunk of which is checked when it is read."""
    named = named_chunks(predictions, "predictions")
    scale = known_scale(named.array, "predictions", scale)
    return Predictions(
        array=named.array.assign_attrs({names.SCALE: scale}),
        examples=named.examples,
        labels=named.labels,
        scale=scale,
        numbered=names.NUMBERED in named.array.attrs,
    )


def whole_rows(array: xr.DataArray, source: str, what: str) -> xr.DataArray:
    """Return the array, or raise ``label-axis-split`` where its rows are cut."""
    cut = array.variable.chunksizes[names.LABEL]
    if len(cut) > 1:
        raise InputError(
            "label-axis-split",
            f'{source}: the Dask array cuts "label" into {several(len(cut), "chunk")}',
            expected="one chunk, with all labels of an example",
            hint=f'{what}.chunk({{"label": -1}}), or open it with chunks={{"label": -1}}',
            source=source,
        )
    return array


@attrs.frozen(eq=False)
class Part:
    """The examples of one chunk, and what messages call it."""

    examples: Names
    source: str

    @classmethod
    def of(cls, some: Names, total: int, source: str) -> Part:
        """Return some of all examples."""
        part = "" if len(some) == total else f", {some.texts[0]} to {some.texts[-1]}"
        return cls(some, source + part)

    def array(self, values: Numbers, labels: Sequence[str]) -> xr.DataArray:
        """Return values (example, label) of the chunk under their names."""
        coords = {names.EXAMPLE: text_array(self.examples.texts), names.LABEL: text_array(labels)}
        return xr.DataArray(values, coords, (names.EXAMPLE, names.LABEL))


@attrs.frozen
class Chunk:
    """Consecutive examples, [start, stop), in one chunk."""

    place: int
    start: int
    stop: int

    def part(self, examples: Names, source: str) -> Part:
        """Return those of all examples that are in the chunk."""
        return Part.of(examples.take(slice(self.start, self.stop)), len(examples), source)


def chunks_of(array: xr.DataArray) -> list[Chunk]:
    """Return the chunks over ``example`` that have any."""
    sizes = array.variable.chunksizes[names.EXAMPLE]
    ends = np.cumsum(sizes).tolist()
    spans = zip(sizes, ends, strict=True)
    return [Chunk(k, end - size, end) for k, (size, end) in enumerate(spans) if size]


def reduced(
    work: Callable[..., T], arrays: Sequence[xr.DataArray], asks: Sequence[tuple[Chunk, object]]
) -> Sequence[T]:
    """Return ``work(*values, asked)`` of each of some chunks: all are computed in one pass."""
    if not asks:
        return ()
    dask = require("dask", extra="dask", source="an array in chunks")
    # As they are: optimised by themselves they would be read again by what else needs them.
    blocks = [array.data.to_delayed(optimize_graph=False).ravel() for array in arrays]
    call = dask.delayed(work, pure=False, traverse=False)
    made = [call(*(each[chunk.place] for each in blocks), asked) for chunk, asked in asks]
    results: tuple[T, ...] = dask.compute(*made)
    return results


def map_chunks(
    work: Callable[..., NDArray[Any]],  # Any: flags or numbers
    array: xr.DataArray,
    examples: Names,
    dtype: np.dtype[Any] | type[np.generic],  # Any: as above
    *columns: NDArray[np.generic],
    source: str,
    planes: int | None = None,
    **shared: object,
) -> dask.array.Array:
    """Return ``work(part, source, *columns, **shared)`` of each chunk, computed when needed.

    A chunk gets its examples of `array` (example, label) and of each column (example,). With
    `planes` the result has a dim of that size before the others.
    """
    da = require("dask.array", extra="dask", source="an array in chunks")
    delayed = require("dask", extra="dask", source="an array in chunks").delayed
    labels, total = name_texts(array.indexes[names.LABEL]), len(examples)
    more = () if planes is None else (planes,)

    def of_chunk(
        values: Numbers, texts: NDArray[np.str_], *some: NDArray[np.generic], **rest: object
    ) -> NDArray[Any]:  # Any: as above
        if not len(values):
            return np.empty((*more, *values.shape), dtype)
        part = Part.of(Names.of(texts.tolist()), total, source)
        return work(part.array(values, labels), part.source, *some, **rest)

    cut = (array.variable.chunksizes[names.EXAMPLE],)
    along = (text_array(examples.texts), *columns)
    mapped: dask.array.Array = da.blockwise(
        of_chunk,
        "pel" if more else "el",
        array.data,
        "el",
        *(item for column in along for item in (da.from_array(column, cut, name=False), "e")),
        new_axes={"p": planes} if more else {},
        dtype=dtype,
        meta=np.empty((0,) * (2 + len(more)), dtype),
        # Delayed, so that they travel once and not with each chunk.
        **{name: delayed(column, pure=False, traverse=False) for name, column in shared.items()},
    )
    return mapped


def _checked(array: xr.DataArray, source: str) -> Floats:
    """Return the plausibilities of one chunk, or raise what is wrong with them."""
    return check_plausibilities(array, source=source).values


def checked_chunks(plausibilities: xr.DataArray) -> xr.DataArray:
    """Return plausibilities in the same chunks, each of which is checked when it is read."""
    source = "plausibilities"
    named = named_chunks(plausibilities, source)
    array = named.array
    return array.copy(data=map_chunks(_checked, array, named.examples, array.dtype, source=source))


def gathered(plausibilities: Form) -> xr.Dataset:
    """Return the sparse form of plausibilities in chunks, which are read once."""
    if isinstance(plausibilities, xr.Dataset):
        return plausibilities.compute()
    source = "plausibilities"
    named = named_chunks(plausibilities, source)
    array, labels = named.array, named.labels.texts

    def above_zero(values: Floats, part: Part) -> Sparse:
        return Dense(_checked(part.array(values, labels), part.source)).above_zero()

    asks = [(chunk, chunk.part(named.examples, source)) for chunk in chunks_of(array)]
    return sparse_dataset(
        gather(reduced(above_zero, [array], asks)), array.coords.to_dataset(), array.attrs
    )


def scored(
    values: NDArray[Any],  # Any: real numbers
    wanted: tuple[Part, Ints, Ints],
    *,
    labels: tuple[str, ...],
    scoring: Scoring,
) -> tuple[Floats, Floats]:
    """Return the scores of rising rows and labels of one chunk, and the largest of each example."""
    (part, row, label), floats = wanted, np.ascontiguousarray(values, float_type(values.dtype))
    # Names were checked when all were together: they are read where something is wrong.
    if not validate.are_sound(floats, scoring.scale):
        array = part.array(floats, labels)
        validate.check_predictions(array, source=part.source, scale=scoring.scale)
    filled, largest = np.empty(len(row), floats.dtype), np.empty(len(floats), floats.dtype)
    for rows in row_blocks(floats.shape):
        scores: Floats = floats[rows]
        if not scoring.identity:
            scores = scoring.scores(scores, part.examples.take(rows))
        inside = slice(*np.searchsorted(row, (rows.start, rows.stop)))
        filled[inside] = scores[row[inside] - rows.start, label[inside]]
        largest[rows] = scores.max(axis=1)
    # Adding zero turns -0.0 into 0.0, which compare equal but are different bits.
    zero = floats.dtype.type(0)
    return filled + zero, largest + zero


@attrs.frozen(kw_only=True, eq=False)
class ChunkedScores:
    """Scores (example, label) that are computed where they are asked for.

    Each pass fills `largest_of`, NaN where no chunk was read; the scores of some examples share it
    with those of all.
    """

    predictions: Predictions
    scoring: Scoring
    rows: NDArray[np.intp]
    largest_of: Floats

    @classmethod
    def of(cls, predictions: Predictions, scoring: Scoring) -> ChunkedScores:
        """Return the scores of all examples."""
        size = len(predictions.examples)
        return cls(
            predictions=predictions,
            scoring=scoring,
            rows=np.arange(size),
            largest_of=np.full(size, np.nan, dtype=predictions.array.dtype),
        )

    @property
    def dtype(self) -> FloatType:
        return self.largest_of.dtype

    def take(self, rows: NDArray[np.intp]) -> ChunkedScores:
        return attrs.evolve(self, rows=self.rows[rows])

    def at(self, row: Ints, label: Ints) -> Floats:
        """Return the scores of pairs of example and label, of any shape; chunks are read once."""
        array, examples = self.predictions.array, self.predictions.examples
        places, codes = self.rows[row].reshape(-1), np.asarray(label).reshape(-1)
        order = np.argsort(places, kind="stable")
        chunks = chunks_of(array)
        ends = np.searchsorted(places[order], [chunk.stop for chunk in chunks])
        asks, slots = [], []
        for chunk, wanted in zip(chunks, np.split(order, ends[:-1]), strict=True):
            if wanted.size or np.isnan(self.largest_of[chunk.start]):
                part = chunk.part(examples, "predictions")
                asks.append((chunk, (part, places[wanted] - chunk.start, codes[wanted])))
                slots.append(wanted)
        values = np.empty(len(places), dtype=self.dtype)
        work = partial(scored, labels=tuple(self.predictions.labels.texts), scoring=self.scoring)
        answers = reduced(work, [array], asks)
        for (chunk, _), wanted, (scores, largest) in zip(asks, slots, answers, strict=True):
            values[wanted] = scores
            self.largest_of[chunk.start : chunk.stop] = largest
        return values.reshape(row.shape)

    def largest(self) -> Floats:
        none = np.empty(0, dtype=np.intp)
        self.at(none, none)
        return self.largest_of[self.rows]

    def dense(self) -> NoReturn:
        """Raise ``scores-in-chunks``: all of them at once are larger than memory."""
        raise InputError(
            "scores-in-chunks",
            "all scores of predictions in chunks are needed at once",
            expected="a calibrator that reads scores at labels: scores_at, scores_of",
            hint="predictions.load(), where they fit into memory",
            source="predictions",
        )
