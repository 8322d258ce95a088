"""The chance of a block against sums over orders, and its derivatives against differences."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rankings_oracles as ro
from plausibly_builtins.partial_ranking.plackett_luce import log_chances, moments

utilities = st.lists(st.floats(-40.0, 40.0), min_size=1, max_size=6)


@given(utilities)
def test_every_order_is_counted_once(phi: list[float]) -> None:
    found = log_chances(np.array([phi]))[0]
    assert found == pytest.approx(ro.every_order(phi, 1.0), rel=1e-13, abs=1e-14)


@given(st.lists(st.floats(-20.0, 20.0), min_size=7, max_size=10))
def test_large_blocks_by_what_is_left(phi: list[float]) -> None:
    found = log_chances(np.array([phi]))[0]
    assert found == pytest.approx(ro.by_subsets(phi, 1.0), rel=1e-12, abs=1e-13)


def test_utilities_that_are_no_floats() -> None:
    """Far below or above all others, as logarithms: nothing overflows."""
    at = np.array([[-2000.0, 50.0], [2000.0, 1500.0], [-900.0, -900.0]])
    log_chance, gradient, curvature = moments(at)
    assert log_chance == pytest.approx([-2000.0, 0.0, math.log(2.0) - 1800.0], rel=1e-9)
    assert np.isfinite(curvature).all()
    assert gradient == pytest.approx(np.array([[1.0, 0.0], [0.0, 0.0], [1.0, 1.0]]), abs=1e-9)


@pytest.mark.parametrize("size", [2, 5, 10, 32, 200])
def test_equal_utilities_in_closed_form(size: int) -> None:
    """Of b + 1 labels of one utility, the one below is last with chance 1 / (b + 1)."""
    found = log_chances(np.zeros((1, size)))[0]
    assert found == pytest.approx(-math.log(size + 1), rel=1e-13)
    tiny = log_chances(np.full((1, size), -300.0))[0]
    assert tiny == pytest.approx(math.lgamma(size + 1) - 300.0 * size, rel=1e-13)


@given(st.lists(st.floats(-6.0, 6.0), min_size=1, max_size=5))
def test_derivatives(phi: list[float]) -> None:
    at, step = np.array([phi]), 1e-5
    log_chance, gradient, curvature = moments(at)
    assert log_chance == pytest.approx(log_chances(at), abs=1e-14)
    for place in range(len(phi)):
        off = np.zeros_like(at)
        off[0, place] = step
        slope = (log_chances(at + off) - log_chances(at - off)) / (2 * step)
        assert gradient[:, place] == pytest.approx(slope, abs=1e-8)
        bend = (moments(at + off)[1] - moments(at - off)[1]) / (2 * step)
        assert curvature[:, place] == pytest.approx(bend, abs=1e-8)


def test_many_blocks_are_each_what_they_are_alone() -> None:
    phi = np.random.default_rng(3).normal(size=(500, 4)) * 5
    together = moments(phi)
    for at in (0, 17, 499):
        alone = moments(phi[at : at + 1])
        for one, of_many in zip(alone, together, strict=True):
            assert np.array_equal(one[0], of_many[at])
