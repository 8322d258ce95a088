"""What regions guarantee, by enumeration: every example of a bag is once the new one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from random import Random

import attrs
import numpy as np
import pytest
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
"""True if the guarantee at each alpha is broken for one test example of a bag."""


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


pytestmark = pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")

TENTH, HALF = Fraction(1, 10), Fraction(1, 2)


def bags(count: int, seed: int = 0) -> list[Bag]:
    random = Random(seed)
    return [random_bag(random, random.choice((3, 4, 5)), 3, 4, (1, 2, 3)) for _ in range(count)]


@pytest.mark.parametrize("bag", bags(20))
def test_the_whole_vector_is_covered(bag: Bag) -> None:
    assert excess(bag, vector_missed) <= 0


@pytest.mark.parametrize("bag", bags(12, seed=1))
@pytest.mark.parametrize("leave_out", [TENTH, Fraction(1, 3), HALF])
def test_label_sets_leave_out_no_more_than_they_say(bag: Bag, leave_out: Fraction) -> None:
    assert excess(bag, mass_missed(leave_out)) <= 0


@pytest.mark.parametrize("bag", bags(20, seed=2))
def test_every_vote_is_covered_tied_ones_as_well(bag: Bag) -> None:
    assert excess(bag, vote_missed) <= 0


@pytest.mark.parametrize("seed", range(4))
def test_p_values_are_the_fractions_of_the_definition(seed: int) -> None:
    """Halves and quarters are exact in floats, so that ties of fractions are ties of floats."""
    bag = random_bag(Random(seed), 6, 3, 3, (1, 2, 4))
    for test in range(bag.size):
        rest = [bag.expected(i) for i in range(bag.size) if i != test]
        exact = Fraction(sum(s <= bag.expected(test) for s in rest) + 1, bag.size)
        region, predictions, lam = bag.left_out(test)
        assert region.p_values(predictions, lam).item() == float(exact)
        alphas = [Fraction(step, 2 * bag.size) for step in range(1, 2 * bag.size)]
        thresholds = region.threshold(alphas).values
        inside = region.contains(predictions, lam, alphas).values[0]
        for alpha, tau, kept in zip(alphas, thresholds, inside, strict=True):
            rank = math.floor(alpha * bag.size)
            assert tau == (float(sorted(rest)[rank - 1]) if rank else -math.inf)
            assert kept == (exact > alpha) == (float(bag.expected(test)) >= tau)
