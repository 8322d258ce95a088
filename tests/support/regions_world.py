"""Bags of examples for plausibility regions: whole-number scores and plausibilities as fractions.

The scale `any` with the score `probability` makes the scores the numbers of the predictions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from random import Random

import attrs
import numpy as np
import xarray as xr

from plausibly.conformal.regions import PlausibilityRegion, calibrate_region

Vector = tuple[Fraction, ...]


@attrs.frozen
class Bag:
    """`scores[i][k]` and `plausibilities[i][k]` of N examples."""

    scores: tuple[tuple[int, ...], ...]
    plausibilities: tuple[Vector, ...]

    @property
    def size(self) -> int:
        return len(self.scores)

    def expected(self, i: int) -> Fraction:
        """Return the expected score of example i with its own plausibilities."""
        pairs = zip(self.plausibilities[i], self.scores[i], strict=True)
        return sum((mass * score for mass, score in pairs), Fraction(0))

    def arrays(self, rows: Sequence[int]) -> tuple[xr.DataArray, xr.DataArray]:
        """Return predictions and plausibilities of some examples."""
        coords = {
            "example": [f"case {i}" for i in rows],
            "label": [f"label {k}" for k in range(len(self.scores[0]))],
        }
        values = np.array([self.scores[i] for i in rows], dtype=np.float64)
        masses = np.array([[float(m) for m in self.plausibilities[i]] for i in rows])
        predictions = xr.DataArray(values, coords, ("example", "label"), attrs={"scale": "any"})
        return predictions, xr.DataArray(masses, coords, ("example", "label"))

    def left_out(self, test: int) -> tuple[PlausibilityRegion, xr.DataArray, xr.DataArray]:
        """Return the region of all examples but one, and that one."""
        rest = [i for i in range(self.size) if i != test]
        return (calibrate_region(*self.arrays(rest)), *self.arrays([test]))


def random_bag(random: Random, size: int, labels: int, values: int, parts: Sequence[int]) -> Bag:
    """Return a bag; plausibilities are shares of one of so many votes."""
    scores, masses = [], []
    for _ in range(size):
        scores.append(tuple(random.randrange(values) for _ in range(labels)))
        count = random.choice(parts)
        votes = [random.randrange(labels) for _ in range(count)]
        masses.append(tuple(Fraction(votes.count(k), count) for k in range(labels)))
    return Bag(tuple(scores), tuple(masses))


Missed = Callable[[Bag, int, Sequence[Fraction]], Sequence[bool]]
"""Whether the promise at each alpha is broken for one test example of a bag."""


def excess(bag: Bag, missed: Missed) -> Fraction:
    """Return the largest P(missed) - alpha over alphas i/N, each example once the test example."""
    alphas = [Fraction(i, bag.size) for i in range(1, bag.size)]
    by_test = [missed(bag, test, alphas) for test in range(bag.size)]
    return max(
        Fraction(sum(row[place] for row in by_test), bag.size) - alpha
        for place, alpha in enumerate(alphas)
    )


def vector_missed(bag: Bag, test: int, alphas: Sequence[Fraction]) -> list[bool]:
    """Return whether the test example's plausibilities are outside its region."""
    region, predictions, lam = bag.left_out(test)
    inside = region.contains(predictions, lam, alphas)
    return [not kept for kept in inside.values[0]]


def vote_missed(bag: Bag, test: int, alphas: Sequence[Fraction]) -> list[bool]:
    """Return whether a label that is voted, alone or tied, is missing from the vote set."""
    region, predictions, _ = bag.left_out(test)
    sets = region.vote_sets(predictions, alphas).transpose("alpha", "example", "label")
    masses = bag.plausibilities[test]
    voted = [k for k, mass in enumerate(masses) if mass == max(masses)]
    return [not inside[0, voted].all() for inside in sets.values]


def mass_missed(leave_out: Fraction) -> Missed:
    """Return whether the label set leaves out more than `leave_out`."""

    def missed(bag: Bag, test: int, alphas: Sequence[Fraction]) -> list[bool]:
        region, predictions, _ = bag.left_out(test)
        sets = region.label_sets(predictions, alphas, leave_out=leave_out)
        found = []
        for inside in sets.transpose("alpha", "example", "label").values[:, 0]:
            pairs = zip(bag.plausibilities[test], inside, strict=True)
            found.append(sum((mass for mass, kept in pairs if not kept), Fraction(0)) > leave_out)
        return found

    return missed
