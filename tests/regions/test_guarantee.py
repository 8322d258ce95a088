"""Guarantees of regions by enumeration; closed forms on the cut simplex, by linear programs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from random import Random

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray
from scipy.optimize import linprog

from exact_checks import Bag, random_bag
from plausibly.conformal import regions as simplex
from plausibly.conformal.regions import PlausibilityRegion, calibrate_region
from plausibly.plots.regions import vertices
from tables import labelled

pytestmark = pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")

Missed = Callable[[Bag, int, Sequence[Fraction]], Sequence[bool]]
"""True if the guarantee at each alpha is broken for one test example of a bag."""


def arrays(bag: Bag, rows: Sequence[int]) -> tuple[xr.DataArray, xr.DataArray]:
    """Return predictions and plausibilities of some examples."""
    names = [f"case {i}" for i in rows]
    scores = np.array([bag.scores[i] for i in rows], dtype=np.float64)
    masses = np.array([bag.masses[i] for i in rows]).astype(float)
    return labelled(scores, names, attrs={"scale": "any"}), labelled(masses, names)


def left_out(bag: Bag, test: int) -> tuple[PlausibilityRegion, xr.DataArray, xr.DataArray]:
    """Return the region of all examples but one, and that one."""
    rest = [i for i in range(bag.size) if i != test]
    return (calibrate_region(*arrays(bag, rest)), *arrays(bag, [test]))


def vector_missed(bag: Bag, test: int, alphas: Sequence[Fraction]) -> list[bool]:
    """Return whether the test example's plausibilities are outside its region."""
    region, predictions, answers = left_out(bag, test)
    return [not kept for kept in region.contains(predictions, answers, alphas).values[0]]


def vote_missed(bag: Bag, test: int, alphas: Sequence[Fraction]) -> list[bool]:
    """Return whether a label that is voted, alone or tied, is missing from the vote set."""
    region, predictions, _ = left_out(bag, test)
    sets = region.vote_sets(predictions, alphas).transpose("alpha", "example", "label")
    masses = bag.masses[test]
    voted = [k for k, mass in enumerate(masses) if mass == max(masses)]
    return [not inside[0, voted].all() for inside in sets.values]


def mass_missed(leave_out: Fraction) -> Missed:
    """Return whether the label set leaves out more than `leave_out`."""

    def missed(bag: Bag, test: int, alphas: Sequence[Fraction]) -> list[bool]:
        region, predictions, _ = left_out(bag, test)
        sets = region.label_sets(predictions, alphas, leave_out=leave_out)
        inside = sets.transpose("alpha", "example", "label").values[:, 0].tolist()
        masses = bag.masses[test]
        outside = [[m for m, kept in zip(masses, row, strict=True) if not kept] for row in inside]
        return [sum(row, Fraction(0)) > leave_out for row in outside]

    return missed


MISSED = {
    "vector": vector_missed,
    "tied votes": vote_missed,
    "1/10": mass_missed(Fraction(1, 10)),
    "1/3": mass_missed(Fraction(1, 3)),
    "1/2": mass_missed(Fraction(1, 2)),
}


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("missed", MISSED.values(), ids=MISSED)
def test_what_is_guaranteed_is_broken_no_more_often_than_alpha(missed: Missed, seed: int) -> None:
    """Each example is once the test example, at every alpha i/N."""
    random = Random(seed)
    bag = random_bag(random, random.choice((3, 4, 5)), 3, 4, (1, 2, 3))
    alphas = [Fraction(i, bag.size) for i in range(1, bag.size)]
    by_test = [missed(bag, test, alphas) for test in range(bag.size)]
    for alpha, broken in zip(alphas, zip(*by_test, strict=True), strict=True):
        assert Fraction(sum(broken), bag.size) <= alpha


@pytest.mark.parametrize("seed", range(4))
def test_p_values_are_the_fractions_of_the_definition(seed: int) -> None:
    """Halves and quarters are exact in floats, so that ties of fractions are ties of floats."""
    bag = random_bag(Random(seed), 6, 3, 3, (1, 2, 4))
    means = [
        sum((m * s for m, s in zip(*row, strict=True)), Fraction(0))
        for row in zip(bag.masses, bag.scores, strict=True)
    ]
    for test, mean in enumerate(means):
        rest = means[:test] + means[test + 1 :]
        exact = Fraction(sum(s <= mean for s in rest) + 1, bag.size)
        region, predictions, answers = left_out(bag, test)
        assert region.p_values(predictions, answers).item() == float(exact)
        alphas = [Fraction(step, 2 * bag.size) for step in range(1, 2 * bag.size)]
        thresholds = region.threshold(alphas).values
        inside = region.contains(predictions, answers, alphas).values[0]
        for alpha, tau, kept in zip(alphas, thresholds, inside, strict=True):
            rank = math.floor(alpha * bag.size)
            assert tau == (float(sorted(rest)[rank - 1]) if rank else -math.inf)
            assert kept == (exact > alpha) == (float(mean) >= tau)


Array = NDArray[np.float64]
few = settings(max_examples=25)


@st.composite
def cuts(draw: st.DrawFn, labels: int = 5) -> tuple[Array, float]:
    """Scores of one example, and a threshold at or below the largest."""
    size = draw(st.integers(2, labels))
    scores = draw(st.lists(st.integers(-8, 8), min_size=size, max_size=size))
    row = np.array(scores, dtype=np.float64) / 4
    tau = draw(st.integers(-40, int(row.max() * 16))) / 16
    return row, tau


def largest(direction: Array, row: Array, tau: float, ties: int | None = None) -> float:
    """Return the largest direction . lambda over the region, by a linear program; -inf if empty.

    With `ties`, only over vectors in which that label has the largest plausibility.
    """
    upper, limits = [-row], [-tau]
    if ties is not None:
        units = np.eye(len(row))
        upper += list(units - units[ties])
        limits += [0] * len(row)
    ones = np.ones((1, len(row)))
    result = linprog(-direction, A_ub=np.array(upper), b_ub=limits, A_eq=ones, b_eq=[1])
    return -math.inf if result.fun is None else -float(result.fun)


@few
@given(cuts())
def test_bounds_are_those_of_a_linear_program(cut: tuple[Array, float]) -> None:
    row, tau = cut
    most = simplex.simplex_maximum(row[None], tau)[0]
    least = simplex.simplex_minimum(row[None], tau)[0]
    for k, unit in enumerate(np.eye(len(row))):
        assert most[k] == pytest.approx(largest(unit, row, tau), abs=1e-7)
        assert least[k] == pytest.approx(-largest(-unit, row, tau), abs=1e-7)


@few
@given(cuts(), st.sampled_from([(1, 10), (1, 4), (1, 3), (1, 2), (9, 10)]))
def test_label_sets_are_the_smallest_that_leave_out_so_little(
    cut: tuple[Array, float], share: tuple[int, int]
) -> None:
    row, tau = cut
    mass = Fraction(*share)
    kept = set(np.flatnonzero(simplex.plausible_above(row[None], tau, mass)[0]))
    for outside in product([0.0, 1.0], repeat=len(row)):
        worst = largest(np.array(outside), row, tau)
        inside = set(np.flatnonzero(np.equal(outside, 0)))
        if inside == kept:
            assert worst <= float(mass) + 1e-7
        elif worst < float(mass) - 1e-7:
            assert kept <= inside


@few
@given(cuts())
def test_votable_labels_are_those_of_a_linear_program(cut: tuple[Array, float]) -> None:
    row, tau = cut
    votable = simplex.votable(row[None], tau)[0]
    for k in range(len(row)):
        best = largest(row, row, -1e9, ties=k)  # the largest expected score with k on top
        if abs(best - tau) > 1e-7:
            assert votable[k] == (best > tau)
        else:
            assert votable[k] or best < tau


@few
@given(cuts(4), st.integers(0, 2**32 - 1))
def test_the_region_is_the_hull_of_its_corners(cut: tuple[Array, float], seed: int) -> None:
    row, tau = cut
    corners = vertices(row, tau)
    np.testing.assert_allclose(corners.sum(axis=1), 1)
    assert (corners @ row >= tau - 1e-12).all()
    directions = np.random.default_rng(seed).normal(size=(5, len(row)))
    for direction in directions:
        assert (corners @ direction).max() == pytest.approx(largest(direction, row, tau), abs=1e-7)


@pytest.mark.parametrize(("labels", "parts"), [(1, 3), (2, 1), (2, 5), (3, 5), (4, 6), (5, 3)])
def test_the_grid_holds_the_simplex_and_no_other_point(labels: int, parts: int) -> None:
    points = simplex.grid(labels, parts)
    assert len(points) == math.comb(parts + labels - 1, parts)
    whole = np.rint(points * parts).astype(int)
    assert {tuple(point) for point in whole} == {
        point for point in np.ndindex(*[parts + 1] * labels) if sum(point) == parts
    }
    np.testing.assert_array_equal(points, whole / parts)


def test_a_label_of_plausibility_zero_counts_nothing() -> None:
    scores = np.array([[-np.inf, 1.0, 2.0]])
    vectors = np.array([[0.0, 0.5, 0.5], [0.5, 0.5, 0.0]])
    np.testing.assert_array_equal(simplex.expected_scores(scores, vectors), [1.5, -np.inf])
    assert simplex.simplex_maximum(scores, 1.5).tolist() == [[0.0, 0.5, 1.0]]
    assert simplex.simplex_minimum(scores, 1.5).tolist() == [[0.0, 0.0, 0.5]]
    assert simplex.plausible_above(scores, 1.5, Fraction(1, 10)).tolist() == [[False, True, True]]
    assert simplex.votable(scores, 1.5).tolist() == [[False, True, True]]


@pytest.mark.parametrize("tau", [-math.inf, 0.5])
def test_scores_that_are_all_minus_infinity_warn_of_nothing(tau: float) -> None:
    scores = np.full((1, 2), -np.inf)
    empty = tau > -math.inf
    assert np.isnan(simplex.simplex_maximum(scores, tau)).all() == empty
    assert np.isnan(simplex.simplex_minimum(scores, tau)).all() == empty
    assert simplex.plausible_above(scores, tau, Fraction(1, 10)).all() != empty
    assert simplex.votable(scores, tau).all() != empty


def test_rows_that_sum_to_one_nearly_score_like_rows_that_do() -> None:
    scores = np.array([[3.0, 5.0]])
    vectors = np.array([[0.25, 0.75]])
    exact = simplex.expected_scores(scores, vectors)
    np.testing.assert_allclose(simplex.expected_scores(scores, vectors * (1 - 1e-6)), exact, 1e-15)


def test_rounding_bounds_the_error_of_expected_scores() -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(50, 40))
    vectors = rng.dirichlet(np.ones(40), 50)
    computed = simplex.expected_scores(scores, vectors)
    bound = simplex.rounding(scores)[:, 0]
    for row, weights, value, error in zip(scores, vectors, computed, bound, strict=True):
        parts = [Fraction(float(weight)) for weight in weights]
        pairs = zip(parts, row, strict=True)
        exact = sum((w * Fraction(float(s)) for w, s in pairs), Fraction(0)) / sum(parts)
        assert abs(Fraction(float(value)) - exact) <= Fraction(float(error))
