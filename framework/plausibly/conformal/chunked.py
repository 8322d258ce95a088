"""Plausibilities and scores of calibration examples in chunks."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NoReturn

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.calibration.examples import Examples
from plausibly.conformal.array_predictor import Scoring
from plausibly.conformal.chunks import Chunk, Part, chunks_of, map_chunks, named_chunks, reduced
from plausibly.data import validate
from plausibly.data.names import Names, float_type
from plausibly.data.plausibilities import Form, check_plausibilities, sparse_dataset
from plausibly.data.validate import Predictions
from plausibly.errors import InputError
from plausibly.kernels import blocks
from plausibly.kernels.sparse import Dense, Sparse, gather
from plausibly.kernels.types import Floats, FloatType, Ints


def _checked(array: xr.DataArray, whose: str) -> Floats:
    """Return the plausibilities of one chunk, or raise what is wrong with them."""
    checked: Floats = check_plausibilities(array, whose=whose).values
    return checked


def checked_chunks(plausibilities: xr.DataArray, *, whose: str = "plausibilities") -> xr.DataArray:
    """Return plausibilities in the same chunks, each of which is checked when it is read."""
    named = named_chunks(plausibilities, whose, "plausibilities")
    array = named.array
    return array.copy(data=map_chunks(_checked, array, named.examples, array.dtype, whose=whose))


def gathered(plausibilities: Form, *, whose: str = "plausibilities") -> xr.Dataset:
    """Return the sparse form of plausibilities in chunks, which are read once."""
    if isinstance(plausibilities, xr.Dataset):
        return plausibilities.compute()
    named = named_chunks(plausibilities, whose, "plausibilities")
    array, labels = named.array, named.labels.texts

    def above_zero(values: Floats, part: Part) -> Sparse:
        return Dense(_checked(part.array(values, labels), part.whose)).above_zero()

    asks = [(chunk, chunk.part(named.examples, whose)) for chunk in chunks_of(array)]
    slots = gather(reduced(above_zero, array, asks))
    return sparse_dataset(slots, array.coords.to_dataset(), array.attrs)


@attrs.frozen(kw_only=True, eq=False)
class RowScores:
    """How rows become scores: small enough to go to every process."""

    labels: tuple[str, ...]
    scoring: Scoring

    def checked(self, values: NDArray[Any], part: Part) -> Floats:  # Any: real numbers
        """Return the predictions of one chunk, (example, label), contiguous."""
        floats: Floats = np.ascontiguousarray(values, float_type(values.dtype))
        # Names were checked when all were together: they are read where something is wrong.
        if not validate.are_sound(floats, self.scoring.scale):
            array = part.array(floats, self.labels)
            validate.check_predictions(array, whose=part.whose, scale=self.scoring.scale)
        return floats

    def blocks(self, checked: Floats, part: Part) -> Iterator[tuple[slice, Floats]]:
        """Yield slices of rows with their scores (example, label)."""
        for rows in blocks.row_blocks(checked.shape):
            some = checked[rows]
            if not self.scoring.identity:
                some = self.scoring.scores(some, Examples(part.examples.take(rows)))
            yield rows, some


@attrs.frozen(eq=False)
class Ask:
    """Which scores of one chunk are wanted: places in the chunk, and labels."""

    part: Part
    row: Ints
    label: Ints


@attrs.frozen(eq=False)
class Answer:
    """What is kept of one chunk."""

    scores: Floats
    largest: Floats
    hard: int


def scored(rows: RowScores, values: Floats, ask: Ask) -> Answer:
    """Return what is asked of one chunk."""
    checked = rows.checked(values, ask.part)
    order = np.argsort(ask.row, kind="stable")
    ends = np.cumsum(np.bincount(ask.row, minlength=len(checked)))
    found = np.empty(len(order), dtype=checked.dtype)
    largest = np.empty(len(checked), dtype=checked.dtype)
    first = 0
    for block, scores in rows.blocks(checked, ask.part):
        last = int(ends[block.stop - 1])
        atoms = order[first:last]
        found[atoms] = scores[ask.row[atoms] - block.start, ask.label[atoms]]
        largest[block] = blocks.largest(scores)
        first = last
    hard = validate.hard_rows(checked) if rows.scoring.scale == "probability" else 0
    # Adding zero turns -0.0 into 0.0, which compare equal but are different bits.
    zero = checked.dtype.type(0)
    return Answer(np.add(found, zero, out=found), np.add(largest, zero, out=largest), hard)


@attrs.frozen(eq=False)
class _Seen:
    """What earlier passes have found: by place of the example, and by place of the chunk."""

    largest: Floats
    hard: dict[int, int]


@attrs.frozen(kw_only=True, eq=False)
class ChunkedScores:
    """Scores (example, label) that are computed where they are asked for."""

    predictions: xr.DataArray
    examples: Names
    row_scores: RowScores
    rows: NDArray[np.intp]
    whose: str
    _seen: _Seen

    @classmethod
    def of(cls, predictions: Predictions, row_scores: RowScores, whose: str) -> ChunkedScores:
        """Return the scores of all examples."""
        size = len(predictions.examples)
        return cls(
            predictions=predictions.array,
            examples=predictions.examples,
            row_scores=row_scores,
            rows=np.arange(size),
            whose=whose,
            seen=_Seen(np.zeros(size, dtype=predictions.array.dtype), {}),
        )

    @property
    def dtype(self) -> FloatType:
        """Float type of the scores."""
        return np.dtype(self.predictions.dtype)

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, rows: NDArray[np.intp]) -> ChunkedScores:
        """Return the scores of some examples."""
        return attrs.evolve(self, rows=self.rows[rows])

    def at(self, row: Ints, label: Ints) -> Floats:
        """Return the scores of pairs of example and label, of any shape; chunks are read once."""
        places = self.rows[row].reshape(-1)
        codes = np.asarray(label).reshape(-1)
        chunks = chunks_of(self.predictions)
        of_chunk = _by_chunk(places, chunks)
        asks, slots = [], []
        for chunk, wanted in zip(chunks, of_chunk, strict=True):
            if not wanted.size and chunk.place in self._seen.hard:
                continue
            part = chunk.part(self.examples, self.whose)
            asks.append((chunk, Ask(part, places[wanted] - chunk.start, codes[wanted])))
            slots.append(wanted)
        found = np.empty(len(places), dtype=self.dtype)
        answers = reduced(partial(scored, self.row_scores), self.predictions, asks)
        for (chunk, _), wanted, answer in zip(asks, slots, answers, strict=True):
            found[wanted] = answer.scores
            self._seen.largest[chunk.start : chunk.stop] = answer.largest
            self._seen.hard[chunk.place] = answer.hard
        return found.reshape(row.shape)

    def largest(self) -> Floats:
        """Return the largest score of each example, (example,)."""
        none = np.empty(0, dtype=np.intp)
        self.at(none, none)
        if self.row_scores.scoring.scale == "probability":
            hard = sum(self._seen.hard.values())
            validate.warn_if_hard(hard, self.predictions.shape, self.whose, stacklevel=4)
        return self._seen.largest[self.rows]

    def dense(self) -> NoReturn:
        """Raise ``scores-in-chunks``: nobody gets all of them at once."""
        raise InputError(
            "scores-in-chunks",
            f"all scores of {self.whose} were asked for at once, and they are in chunks",
            expected="a calibrator that asks for scores at labels: scores_at, scores_of",
            do="predictions.load(), where they fit into memory",
            whose=self.whose,
        )


def _by_chunk(places: Ints, chunks: list[Chunk]) -> list[NDArray[np.intp]]:
    """Return, for each chunk, where among the places of examples those are that it holds."""
    sizes = [chunk.stop - chunk.start for chunk in chunks]
    # Numbers of chunks are small, and sorted by their digits.
    numbers = np.arange(len(chunks), dtype=np.min_scalar_type(len(chunks)))
    chunk = np.repeat(numbers, sizes)[places]
    ends = np.cumsum(np.bincount(chunk, minlength=len(chunks)))
    return np.split(np.argsort(chunk, kind="stable"), ends[:-1])
