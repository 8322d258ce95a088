"""Plausibilities and scores of calibration examples in chunks."""

from __future__ import annotations

from functools import partial
from typing import Any, NoReturn

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.conformal.array_predictor import Scoring
from plausibly.conformal.chunks import Part, chunks_of, map_chunks, named_chunks, reduced
from plausibly.data import validate
from plausibly.data.names import float_type
from plausibly.data.plausibilities import Form, check_plausibilities, sparse_dataset
from plausibly.data.validate import Predictions
from plausibly.errors import InputError
from plausibly.kernels import blocks
from plausibly.kernels.sparse import Dense, Sparse, gather
from plausibly.kernels.types import Floats, FloatType, Ints


def _checked(array: xr.DataArray, source: str) -> Floats:
    """Return the plausibilities of one chunk, or raise what is wrong with them."""
    checked: Floats = check_plausibilities(array, source=source).values
    return checked


def checked_chunks(plausibilities: xr.DataArray, *, source: str = "plausibilities") -> xr.DataArray:
    """Return plausibilities in the same chunks, each of which is checked when it is read."""
    named = named_chunks(plausibilities, source, "plausibilities")
    array = named.array
    return array.copy(data=map_chunks(_checked, array, named.examples, array.dtype, source=source))


def gathered(plausibilities: Form, *, source: str = "plausibilities") -> xr.Dataset:
    """Return the sparse form of plausibilities in chunks, which are read once."""
    if isinstance(plausibilities, xr.Dataset):
        return plausibilities.compute()
    named = named_chunks(plausibilities, source, "plausibilities")
    array, labels = named.array, named.labels.texts

    def above_zero(values: Floats, part: Part) -> Sparse:
        return Dense(_checked(part.array(values, labels), part.source)).above_zero()

    asks = [(chunk, chunk.part(named.examples, source)) for chunk in chunks_of(array)]
    slots = gather(reduced(above_zero, array, asks))
    return sparse_dataset(slots, array.coords.to_dataset(), array.attrs)


@attrs.frozen(eq=False)
class Ask:
    """Requested scores of one chunk: places in the chunk, and labels."""

    part: Part
    row: Ints
    label: Ints


def scored(
    values: NDArray[Any],  # Any: real numbers
    ask: Ask,
    *,
    labels: tuple[str, ...],
    scoring: Scoring,
) -> tuple[Floats, Floats, int]:
    """Return the scores asked of one chunk, the largest of each example, and its hard rows."""
    part, floats = ask.part, np.ascontiguousarray(values, float_type(values.dtype))
    # Names were checked when all were together: they are read where something is wrong.
    if not validate.are_sound(floats, scoring.scale):
        array = part.array(floats, labels)
        validate.check_predictions(array, source=part.source, scale=scoring.scale)
    order = np.argsort(ask.row, kind="stable")
    ends = np.cumsum(np.bincount(ask.row, minlength=len(floats)))
    filled = np.empty(len(order), dtype=floats.dtype)
    largest = np.empty(len(floats), dtype=floats.dtype)
    first = 0
    for rows in blocks.row_blocks(floats.shape):
        scores: Floats = floats[rows]
        if not scoring.identity:
            scores = scoring.scores(scores, part.examples.take(rows))
        last = int(ends[rows.stop - 1])
        atoms = order[first:last]
        filled[atoms] = scores[ask.row[atoms] - rows.start, ask.label[atoms]]
        largest[rows] = blocks.largest(scores)
        first = last
    hard = validate.hard_rows(floats) if scoring.scale == "probability" else 0
    # Adding zero turns -0.0 into 0.0, which compare equal but are different bits.
    zero = floats.dtype.type(0)
    return np.add(filled, zero, out=filled), np.add(largest, zero, out=largest), hard


@attrs.frozen(kw_only=True, eq=False)
class ChunkedScores:
    """Scores (example, label) that are computed where they are asked for.

    Earlier passes have filled `largest_of`, by place of the example, and `hard`, by place of the
    chunk; the scores of some examples share them with those of all.
    """

    predictions: Predictions
    scoring: Scoring
    source: str
    rows: NDArray[np.intp]
    largest_of: Floats
    hard: dict[int, int] = attrs.field(factory=dict)

    @classmethod
    def of(cls, predictions: Predictions, scoring: Scoring, source: str) -> ChunkedScores:
        """Return the scores of all examples."""
        size = len(predictions.examples)
        return cls(
            predictions=predictions,
            scoring=scoring,
            source=source,
            rows=np.arange(size),
            largest_of=np.zeros(size, dtype=predictions.array.dtype),
        )

    @property
    def dtype(self) -> FloatType:
        """Float type of the scores."""
        return self.largest_of.dtype

    def take(self, rows: NDArray[np.intp]) -> ChunkedScores:
        """Return the scores of some examples."""
        return attrs.evolve(self, rows=self.rows[rows])

    def at(self, row: Ints, label: Ints) -> Floats:
        """Return the scores of pairs of example and label, of any shape; chunks are read once."""
        array, examples = self.predictions.array, self.predictions.examples
        places = self.rows[row].reshape(-1)
        codes = np.asarray(label).reshape(-1)
        chunks = chunks_of(array)
        # Numbers of chunks are small, and sorted by their digits.
        numbers = np.arange(len(chunks), dtype=np.min_scalar_type(len(chunks)))
        of = np.repeat(numbers, [chunk.stop - chunk.start for chunk in chunks])[places]
        ends = np.cumsum(np.bincount(of, minlength=len(chunks)))
        asks, slots = [], []
        for chunk, wanted in zip(
            chunks, np.split(np.argsort(of, kind="stable"), ends[:-1]), strict=True
        ):
            if wanted.size or chunk.place not in self.hard:
                part = chunk.part(examples, self.source)
                asks.append((chunk, Ask(part, places[wanted] - chunk.start, codes[wanted])))
                slots.append(wanted)
        values = np.empty(len(places), dtype=self.dtype)
        work = partial(scored, labels=tuple(self.predictions.labels.texts), scoring=self.scoring)
        answers = reduced(work, array, asks)
        for (chunk, _), wanted, (scores, largest, hard) in zip(asks, slots, answers, strict=True):
            values[wanted] = scores
            self.largest_of[chunk.start : chunk.stop] = largest
            self.hard[chunk.place] = hard
        return values.reshape(row.shape)

    def largest(self) -> Floats:
        """Return the largest score of each example, (example,)."""
        none = np.empty(0, dtype=np.intp)
        self.at(none, none)
        if self.scoring.scale == "probability":
            hard = sum(self.hard.values())
            shape = self.predictions.array.shape
            validate.warn_if_hard(hard, shape, self.source)
        return self.largest_of[self.rows]

    def dense(self) -> NoReturn:
        """Raise ``scores-in-chunks``: all of them at once are larger than memory."""
        raise InputError(
            "scores-in-chunks",
            f"all scores of {self.source} were asked for at once, and they are in chunks",
            expected="a calibrator that asks for scores at labels: scores_at, scores_of",
            hint="predictions.load(), where they fit into memory",
            source=self.source,
        )
