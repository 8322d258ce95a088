"""Intervals of weighted means: their formulas by loops, and how often they hold the truth."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.special import stdtrit

from plausibly.evaluation.intervals import METHODS, IntervalMethod, interval
from plausibly.kernels.types import Ints

from . import studies as oracle


def test_weights_of_one_change_nothing() -> None:
    rng = np.random.default_rng(0)
    values, clusters, ones = rng.random(60), np.arange(60) // 3, np.ones(60)
    for method in ("t", "betting", "auto"):
        for codes in (None, clusters):
            plain = interval(values, clusters=codes, method=method)
            weighed = interval(values, weights=ones, clusters=codes, method=method)
            for end in ("mean", "low", "high"):
                assert getattr(weighed, end) == pytest.approx(getattr(plain, end), abs=1e-9)
    binary = (values < 0.8).astype(float)
    assert interval(binary) == interval(binary, weights=ones)


def test_the_interval_of_a_ratio_by_loops() -> None:
    rng = np.random.default_rng(1)
    values, weights, clusters = rng.random(40), rng.random(40), np.arange(40) // 4
    ratio, error, freedom = oracle.cluster_t(values.tolist(), clusters.tolist(), weights.tolist())
    found = interval(values, weights=weights, clusters=clusters, method="t")
    assert found.mean == pytest.approx(ratio)
    assert found.high - ratio == pytest.approx(float(stdtrit(freedom, 0.975)) * error)


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), st.integers(0, 4)), min_size=1),
    st.sampled_from(METHODS),
)
def test_it_holds_the_mean_and_stays_between_0_and_1(
    rows: list[tuple[float, float, int]], method: IntervalMethod
) -> None:
    values, weights, clusters = (np.array(column) for column in zip(*rows, strict=True))
    found = interval(values, weights=weights, clusters=clusters, method=method)
    if weights.max() == 0:
        assert math.isnan(found.mean)
        return
    assert 0 <= found.low <= found.mean <= found.high <= 1
    assert found.low < found.high


def test_rows_of_weight_0_say_nothing() -> None:
    values, weights = np.array([0.2, 0.9, 0.4]), np.array([0.5, 0.0, 0.25])
    for method in METHODS:
        assert interval(values, weights=weights, method=method) == interval(
            values[[0, 2]], weights=weights[[0, 2]], method=method
        )


def _covers(method: IntervalMethod, binary: bool, clusters: Ints | None, runs: int = 200) -> float:
    rng = np.random.default_rng(7)
    held = 0
    for _ in range(runs):
        x = rng.random(80) if clusters is None else rng.random(40)[clusters]
        weights = x**3 * rng.random(80)
        chance = 1 - x / 3  # E[w y] / E[w] = (1/4 - 1/15) / (1/4)
        values = (rng.random(80) < chance).astype(float) if binary else chance
        found = interval(values, weights=weights, clusters=clusters, method=method)
        held += found.low <= 11 / 15 <= found.high
    return held / runs


@pytest.mark.parametrize("clusters", [None, np.arange(80) // 2], ids=["alone", "in pairs"])
@pytest.mark.parametrize(("method", "binary"), [("auto", True), ("auto", False), ("wilson", True)])
def test_ninety_five_of_a_hundred_intervals_hold_the_ratio(
    method: IntervalMethod, binary: bool, clusters: Ints | None
) -> None:
    assert _covers(method, binary, clusters) >= 0.92


def test_betting_holds_for_every_size() -> None:
    assert _covers("betting", True, None, runs=150) >= 0.95
