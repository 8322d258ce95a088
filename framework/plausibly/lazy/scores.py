"""Scores of calibration examples whose predictions are in chunks: only what is asked is kept."""

from __future__ import annotations

from typing import NoReturn

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.arrays import Floats, FloatType, Ints
from plausibly.conformal.asking import score_uniforms
from plausibly.conformal.examples import Examples
from plausibly.conformal.scoring import scores_of
from plausibly.errors import InputError
from plausibly.keys import Keys
from plausibly.labelled import borders, names
from plausibly.labelled.text import name_texts, text_array
from plausibly.lazy.chunks import Chunk, called, chunks_of, reduced
from plausibly.protocols import ScoreFunction


@attrs.frozen(eq=False)
class Scoring:
    """How one chunk is scored: small enough to go to every process.

    Attributes
    ----------
    labels : tuple of str
    scale : str
    score : ScoreFunction
    called : str
        Its name, for messages.
    keys : Keys
    """

    labels: tuple[str, ...]
    scale: str
    score: ScoreFunction
    called: str
    keys: Keys

    def __call__(self, values: Floats, ask: Ask) -> Answer:
        """Return what is asked of one chunk.

        Parameters
        ----------
        values : ndarray, (example, label)
        ask : Ask

        Raises
        ------
        InputError
            What `borders.check_predictions` finds in it.
        """
        checked = borders.check_predictions(
            xr.DataArray(
                values,
                dims=(names.EXAMPLE, names.LABEL),
                coords={
                    names.EXAMPLE: text_array(ask.examples),
                    names.LABEL: text_array(self.labels),
                },
            ),
            whose=ask.whose,
            scale=self.scale,
            whole=False,
        ).values
        examples = Examples(ask.examples)
        uniform = score_uniforms(self.score, self.keys, examples, checked)
        scores = scores_of(checked, self.scale, self.score, self.called, uniform)
        hard = borders.hard_rows(checked) if self.scale == "probability" else 0
        return Answer(scores[ask.row, ask.label], scores.max(axis=1), hard)


@attrs.frozen(eq=False)
class Ask:
    """Which scores of one chunk are wanted: as few bytes as can be, since they travel.

    Attributes
    ----------
    named : bytes
        Names of all examples in the chunk, a zero byte between them.
    whose : str
        What messages call the chunk.
    row, label : ndarray of int, (atom,)
        Places in the chunk.
    """

    named: bytes
    whose: str
    row: Ints
    label: Ints

    @classmethod
    def of(cls, examples: list[str], whose: str, row: Ints, label: Ints, labels: int) -> Ask:
        """Return what is asked about these examples."""
        narrow = (np.min_scalar_type(max(0, size - 1)) for size in (len(examples), labels))
        places = [column.astype(dtype) for column, dtype in zip((row, label), narrow, strict=True)]
        return cls("\0".join(examples).encode("utf-8", "surrogatepass"), whose, *places)

    @property
    def examples(self) -> list[str]:
        """Names of all examples in the chunk."""
        return self.named.decode("utf-8", "surrogatepass").split("\0")


@attrs.frozen(eq=False)
class Answer:
    """What is kept of one chunk.

    Attributes
    ----------
    scores : ndarray, (atom,)
    largest : ndarray, (example,)
    hard : int
        How many rows are only 0 and 1.
    """

    scores: Floats
    largest: Floats
    hard: int


@attrs.frozen(eq=False)
class _Seen:
    """What earlier passes have found: by place of the example, and by place of the chunk."""

    largest: Floats
    hard: dict[int, int]


@attrs.frozen(kw_only=True, eq=False)
class ChunkedScores:
    """Scores (example, label) that are computed where they are asked for.

    Attributes
    ----------
    predictions : DataArray, (example, label), in chunks
        From `named_chunks`.
    scoring : Scoring
    rows : ndarray of int, (example,)
        Places in `predictions` of the examples that are meant.
    whose : str
        What messages call the predictions.
    """

    predictions: xr.DataArray
    scoring: Scoring
    rows: NDArray[np.intp]
    whose: str
    _seen: _Seen

    @classmethod
    def of(cls, predictions: xr.DataArray, scoring: Scoring, whose: str) -> ChunkedScores:
        """Return the scores of all examples.

        Parameters
        ----------
        predictions : DataArray, (example, label), in chunks
        scoring : Scoring
        whose : str
        """
        examples = predictions.sizes[names.EXAMPLE]
        return cls(
            predictions=predictions,
            scoring=scoring,
            rows=np.arange(examples),
            whose=whose,
            seen=_Seen(np.zeros(examples, dtype=predictions.dtype), {}),
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
        """Return the scores of pairs of example and label, of any shape; chunks are read once.

        Parameters
        ----------
        row : ndarray of int
            Places among these examples.
        label : ndarray of int
            Codes of the labels, of the same shape.
        """
        places = self.rows[row].reshape(-1)
        codes = np.asarray(label).reshape(-1)
        order = np.argsort(places, kind="stable")
        ordered = places[order]
        asks, slots = [], []
        for chunk in chunks_of(self.predictions):
            low, high = np.searchsorted(ordered, (chunk.start, chunk.stop))
            if low == high and chunk.place in self._seen.hard:
                continue
            wanted = order[low:high]
            ask = self._ask(chunk, places[wanted] - chunk.start, codes[wanted])
            asks.append((chunk, ask))
            slots.append(wanted)
        found = np.empty(len(places), dtype=self.dtype)
        answers = reduced(self.scoring, self.predictions, asks)
        for (chunk, _), wanted, answer in zip(asks, slots, answers, strict=True):
            found[wanted] = answer.scores
            self._seen.largest[chunk.start : chunk.stop] = answer.largest
            self._seen.hard[chunk.place] = answer.hard
        return found.reshape(row.shape)

    def _ask(self, chunk: Chunk, row: Ints, label: Ints) -> Ask:
        examples = name_texts(self.predictions.indexes[names.EXAMPLE][chunk.start : chunk.stop])
        whose = called(self.predictions, chunk, self.whose)
        labels = self.predictions.sizes[names.LABEL]
        return Ask.of(examples, whose, row, label, labels)

    def largest(self) -> Floats:
        """Return the largest score of each example, (example,).

        Whatever was not read yet is read, so that every chunk has been checked afterwards.
        """
        none = np.empty(0, dtype=np.intp)
        self.at(none, none)
        if self.scoring.scale == "probability":
            hard = sum(self._seen.hard.values())
            borders.warn_if_hard(hard, self.predictions.shape, self.whose, stacklevel=4)
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
