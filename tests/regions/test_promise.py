"""What regions promise, by enumeration: every example of a bag is once the new one."""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random

import numpy as np
import pytest

from plausibly.conformal import regions
from plausibly.conformal.regions import PlausibilityRegion
from plausibly.kernels.ranks import order_statistic
from regions_world import (
    Bag,
    excess,
    mass_missed,
    random_bag,
    vector_missed,
    vote_missed,
)

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


# Rules that look right and are not: the enumeration above has to see each of them.


def test_a_rank_without_the_new_example_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def without_one(
        self: PlausibilityRegion, expected: np.ndarray[tuple[int], np.dtype[np.float64]]
    ) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return np.searchsorted(self.ordered, expected, side="right").astype(np.int64)

    monkeypatch.setattr(PlausibilityRegion, "_counts", without_one)
    assert max(excess(bag, vector_missed) for bag in bags(10)) > 0


def test_ties_counted_as_below_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def strictly(
        self: PlausibilityRegion, expected: np.ndarray[tuple[int], np.dtype[np.float64]]
    ) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return np.searchsorted(self.ordered, expected, side="left").astype(np.int64) + 1

    monkeypatch.setattr(PlausibilityRegion, "_counts", strictly)
    assert max(excess(bag, vector_missed) for bag in bags(10)) > 0


def test_a_threshold_one_rank_up_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "plausibly.conformal.regions.order_statistic",
        lambda ordered, rank: order_statistic(ordered, rank + 1),
    )
    assert max(excess(bag, vote_missed) for bag in bags(20, seed=2)) > 0
    assert max(excess(bag, mass_missed(TENTH)) for bag in bags(12, seed=1)) > 0


def test_the_vote_of_the_best_label_alone_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        regions, "votable", lambda scores, tau: scores == scores.max(axis=1, keepdims=True)
    )
    assert max(excess(bag, vote_missed) for bag in bags(20, seed=2)) > 0


def test_labels_above_the_threshold_alone_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Labels whose own score conforms are not all that a conforming vector rests on."""
    monkeypatch.setattr(regions, "plausible_above", lambda scores, tau, mass: scores >= tau)
    assert max(excess(bag, mass_missed(TENTH)) for bag in bags(12, seed=1)) > 0


@pytest.mark.parametrize("alpha", [0.1, 0.3])
def test_simulated_coverage_is_the_level(alpha: float) -> None:
    """Without ties coverage is exactly 1 - floor(alpha N)/N: 400 worlds of n = 19."""
    rng = np.random.default_rng(5)
    n, worlds = 19, 400
    missed = 0
    for _ in range(worlds):
        scores = rng.normal(size=(n + 1, 4))
        lam = rng.dirichlet(np.ones(4), n + 1)
        expected = regions.expected_scores(scores, lam)
        tau = np.sort(expected[:-1])[math.floor(Fraction(str(alpha)) * (n + 1)) - 1]
        missed += bool(expected[-1] < tau)
    margin = 3.3 * math.sqrt(alpha * (1 - alpha) / worlds)
    assert abs(missed / worlds - alpha) < margin
