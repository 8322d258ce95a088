"""Closed forms on the cut simplex, against linear programs, subsets and points."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray
from scipy.optimize import linprog

from plausibly.conformal import regions as simplex
from plausibly.plots.regions import vertices

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
        for other in range(len(row)):
            constraint = np.zeros(len(row))
            constraint[other] += 1
            constraint[ties] -= 1
            upper.append(constraint)
            limits.append(0)
    found = linprog(
        -direction, A_ub=np.array(upper), b_ub=limits, A_eq=np.ones((1, len(row))), b_eq=[1]
    )
    return -math.inf if found.fun is None else -float(found.fun)


def subsets(size: int) -> list[tuple[int, ...]]:
    return list(chain.from_iterable(combinations(range(size), r) for r in range(size + 1)))


@few
@given(cuts())
def test_bounds_are_those_of_a_linear_program(cut: tuple[Array, float]) -> None:
    row, tau = cut
    most, least = (
        simplex.simplex_maximum(row[None], tau)[0],
        simplex.simplex_minimum(row[None], tau)[0],
    )
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
    found = set(np.flatnonzero(simplex.plausible_above(row[None], tau, mass)[0]))
    for subset in subsets(len(row)):
        outside = np.ones(len(row))
        outside[list(subset)] = 0
        worst = largest(outside, row, tau)
        if set(subset) == found:
            assert worst <= float(mass) + 1e-7
        elif worst < float(mass) - 1e-7:
            assert found <= set(subset)


@few
@given(cuts())
def test_votable_labels_are_those_of_a_linear_program(cut: tuple[Array, float]) -> None:
    row, tau = cut
    found = simplex.votable(row[None], tau)[0]
    for k in range(len(row)):
        best = largest(row, row, -1e9, ties=k)  # the largest expected score with k on top
        if abs(best - tau) > 1e-7:
            assert found[k] == (best > tau)
        else:
            assert found[k] or best < tau


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
    assert len(points) == simplex.grid_size(labels, parts) == math.comb(parts + labels - 1, parts)
    whole = np.rint(points * parts).astype(int)
    assert {tuple(point) for point in whole} == {
        point for point in np.ndindex(*[parts + 1] * labels) if sum(point) == parts
    }
    np.testing.assert_array_equal(points, whole / parts)


def test_a_label_of_plausibility_zero_counts_nothing() -> None:
    scores = np.array([[-np.inf, 1.0, 2.0]])
    lam = np.array([[0.0, 0.5, 0.5], [0.5, 0.5, 0.0]])
    np.testing.assert_array_equal(simplex.expected_scores(scores, lam), [1.5, -np.inf])
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
    lam = np.array([[0.25, 0.75]])
    exact = simplex.expected_scores(scores, lam)
    np.testing.assert_allclose(simplex.expected_scores(scores, lam * (1 - 1e-6)), exact, 1e-15)


def test_rounding_bounds_the_error_of_expected_scores() -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(50, 40))
    lam = rng.dirichlet(np.ones(40), 50)
    computed = simplex.expected_scores(scores, lam)
    bound = simplex.rounding(scores)[:, 0]
    for row, weights, value, error in zip(scores, lam, computed, bound, strict=True):
        parts = [Fraction(float(weight)) for weight in weights]
        pairs = zip(parts, row, strict=True)
        exact = sum((w * Fraction(float(s)) for w, s in pairs), Fraction(0)) / sum(parts)
        assert abs(Fraction(float(value)) - exact) <= Fraction(float(error))
