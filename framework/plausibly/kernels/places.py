"""Places of the labels of an example in the order of their probabilities."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TypeAlias

import attrs
import numpy as np

from plausibly.kernels.blocks import map_blocks
from plausibly.kernels.types import Bools, Floats, Ints


@attrs.frozen(eq=False)
class Places:
    """Probabilities of some examples from the least to the largest, (example, place)."""

    ordered: Floats

    @cached_property
    def _ties(self) -> tuple[Ints, Bools]:
        """Examples with probabilities that are equal, and where theirs are larger than before."""
        step = self.ordered[:, 1:] != self.ordered[:, :-1]
        rows = np.flatnonzero(~step.all(axis=1))
        return rows, step[rows]

    @cached_property
    def _tied_first(self) -> Ints:
        """The place of the first label with this probability, of examples with ties."""
        rows, step = self._ties
        first = np.zeros((rows.size, self.ordered.shape[1]), dtype=np.intp)
        np.multiply(step, np.arange(1, self.ordered.shape[1]), out=first[:, 1:])
        return np.maximum.accumulate(first, axis=1, out=first)

    @cached_property
    def first(self) -> Ints:
        """The place of the first label with this probability."""
        return self._places(self._tied_first)

    @cached_property
    def last(self) -> Ints:
        """The place of the last label with this probability."""
        rows, step = self._ties
        end = self.ordered.shape[1] - 1
        last = np.full((rows.size, end + 1), end, dtype=np.intp)
        last[:, :-1] = np.where(step, np.arange(end), end)
        return self._places(np.minimum.accumulate(last[:, ::-1], axis=1)[:, ::-1])

    def _places(self, tied: Ints) -> Ints:
        """Return places (example, place), or (1, place) where no example has ties."""
        rows, _ = self._ties
        index = np.arange(self.ordered.shape[1])[None, :]
        if not rows.size:
            return index
        places = np.repeat(index, len(self.ordered), axis=0)
        places[rows] = tied
        return places

    @property
    def below(self) -> Floats:
        """Sum of the probabilities that are less than this one, in float64."""
        sums: Floats = np.zeros(self.ordered.shape, dtype=np.float64)
        sums[:, 1:] = self.ordered[:, :-1]
        np.cumsum(sums, axis=1, out=sums)
        rows, _ = self._ties
        if rows.size:
            sums[rows] = np.take_along_axis(sums[rows], self._tied_first, axis=1)
        return sums

    @property
    def tied(self) -> Floats:
        """Sum of the probabilities that are equal to this one, itself among them, in float64."""
        sums: Floats = np.multiply(self.last - self.first + 1, self.ordered, dtype=np.float64)
        return sums

    @property
    def above(self) -> Ints:
        """Number of labels whose probability is larger, broadcast to (example, place)."""
        counts: Ints = self.ordered.shape[1] - 1 - self.last
        return counts

    @property
    def rank(self) -> Ints:
        """Labels as probable or more, broadcast to (example, place): 1 is the likeliest."""
        counts: Ints = self.ordered.shape[1] - self.first
        return counts

    @property
    def largest(self) -> Floats:
        """The largest probability of each example, (example, 1), in float64."""
        return self.ordered[:, -1:].astype(np.float64)


Rule: TypeAlias = Callable[[Places, Floats | None], Floats]
"""From places and a uniform per example, (example, 1), to scores (example, place)."""


def by_places(probabilities: Floats, uniform: Floats | None, rule: Rule) -> Floats:
    """Return what a rule says of the places of all labels, (..., label), in their order and dtype.

    Parameters
    ----------
    probabilities : ndarray, (..., label)
        Where one is NaN, so are all scores of its example.
    uniform : ndarray, (..., 1), or None
    rule : callable
        Called with some examples at a time, so that temporaries stay small, and in several threads.
    """
    rows = probabilities.reshape(-1, probabilities.shape[-1])
    draws = None if uniform is None else uniform.reshape(-1, 1)
    scores = np.empty(rows.shape, dtype=probabilities.dtype)

    def fill(block: slice) -> None:
        order = np.argsort(rows[block], axis=1)
        ordered = np.take_along_axis(rows[block], order, axis=1)
        # A huge penalty gives -inf, which still compares.
        with np.errstate(over="ignore", invalid="ignore"):
            values = rule(Places(ordered), None if draws is None else draws[block])
            lost = np.isnan(ordered[:, -1:])
            if lost.any():
                values = np.where(lost, np.nan, values)
            np.put_along_axis(scores[block], order, values, axis=1)

    map_blocks(fill, rows.shape)
    return scores.reshape(probabilities.shape)
