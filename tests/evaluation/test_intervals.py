"""Intervals: known values, ends, and how often they hold what they should."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray
from scipy import special, stats

from call_files import each_call
from plausibly.evaluation.intervals import METHODS, IntervalMethod, interval
from plausibly.evaluation.result import ends
from plausibly.kernels.types import Ints

from . import studies as oracle


def binary(ones: int, size: int) -> NDArray[np.float64]:
    return np.array([1.0] * ones + [0.0] * (size - ones))


@pytest.mark.parametrize(("ones", "size"), [(90, 100), (1, 7), (0, 5), (12, 12), (3720, 3721)])
def test_binary_outcomes_get_wilson(ones: int, size: int) -> None:
    expected = stats.binomtest(ones, size).proportion_ci(0.95, method="wilson")
    result = interval(binary(ones, size))
    assert result.mean == pytest.approx(ones / size)
    assert (result.low, result.high) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert result.low < result.high


def test_fractional_outcomes_get_t() -> None:
    values = np.random.default_rng(3).integers(0, 5, 40) / 4
    expected = stats.ttest_1samp(values, 0.5).confidence_interval(0.9)
    result = interval(values, confidence=0.9)
    assert (result.low, result.high) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert interval(values, clusters=np.arange(40), confidence=0.9) == result


@pytest.mark.parametrize("weighted", [False, True])
def test_clusters_are_left_out_one_at_a_time(weighted: bool) -> None:
    rng = np.random.default_rng(5)
    values, clusters = rng.integers(0, 9, 60) / 8, rng.integers(0, 11, 60)
    weights = rng.random(60) if weighted else None
    mean, error, freedom = oracle.cluster_t(
        values.tolist(), clusters.tolist(), None if weights is None else weights.tolist()
    )
    reach = float(stats.t.ppf(0.975, freedom)) * error
    result = interval(values, weights=weights, clusters=clusters)
    assert (result.mean, result.low, result.high) == pytest.approx(
        (mean, mean - reach, mean + reach), abs=1e-12
    )


def test_wilson_with_clusters_has_the_effective_number_of_examples() -> None:
    values, clusters = np.repeat(binary(27, 30), 4), np.repeat(np.arange(30), 4)
    result = interval(values, clusters=clusters)
    quantile, p, n = float(stats.t.ppf(0.975, 29)), 0.9, 30 * (29 / 30) ** 2  # the jackknife
    middle = (p + quantile**2 / (2 * n)) / (1 + quantile**2 / n)
    root = math.sqrt(p * (1 - p) / n + quantile**2 / (4 * n * n))
    reach = quantile * root / (1 + quantile**2 / n)
    assert (result.low, result.high) == pytest.approx((middle - reach, middle + reach), abs=1e-12)
    sure = interval(np.ones(120), clusters=clusters)
    assert sure.low < interval(np.ones(120)).low
    assert sure.high == 1.0


@pytest.mark.parametrize("value", [0.0, 0.75, 1.0])
@pytest.mark.parametrize("size", [1, 2, 50])
@pytest.mark.parametrize("method", METHODS)
def test_equal_values_never_give_a_width_of_zero(
    value: float, size: int, method: IntervalMethod
) -> None:
    result = interval(np.full(size, value), method=method)
    assert result.low < result.high
    assert 0.0 <= result.low <= value <= result.high <= 1.0
    noise = np.resize([0.0, 1e-16, 3e-8], size)  # how float32 rows sum to 1 is not a spread
    noisy = interval(np.clip(value + noise, 0, 1), method=method)
    assert noisy.high - noisy.low > 0.9 * (result.high - result.low)


@pytest.mark.parametrize("size", [1, 5, 200])
def test_without_spread_the_bound_is_clopper_and_pearsons_at_the_ends(size: int) -> None:
    exact = float(special.betaincinv(size, 1, 0.025))
    sure = interval(np.ones(size), method="t")
    assert (sure.low, sure.high) == pytest.approx((exact, 1.0), abs=1e-12)
    assert sure.high == 1.0
    never = interval(np.zeros(size), method="t")
    assert (never.low, never.high) == pytest.approx((0.0, 1 - exact), abs=1e-12)
    assert never.low == 0.0


def test_without_spread_the_bound_solves_the_divergence() -> None:
    result = interval(np.full(20, 0.75))
    for end in (result.low, result.high):
        divergence = 0.75 * math.log(0.75 / end) + 0.25 * math.log(0.25 / (1 - end))
        assert 20 * divergence == pytest.approx(math.log(40), rel=1e-9)


@given(
    st.lists(st.integers(0, 12), min_size=1, max_size=30),
    st.sampled_from(METHODS),
    st.booleans(),
    st.none() | st.lists(st.floats(0, 1), min_size=30, max_size=30),
    st.sampled_from([0.5, 0.95, 0.999]),
)
def test_inside_the_possible_range_around_the_mean(
    twelfths: list[int],
    method: IntervalMethod,
    clustered: bool,
    weights: list[float] | None,
    confidence: float,
) -> None:
    values = np.array(twelfths) / 12
    clusters = np.arange(len(values)) // 3 if clustered else None
    mass = None if weights is None else np.array(weights[: len(values)])
    result = interval(values, weights=mass, clusters=clusters, method=method, confidence=confidence)
    if mass is not None and mass.max() == 0:
        assert math.isnan(result.mean)
        return
    assert 0.0 <= result.low <= result.mean <= result.high <= 1.0
    assert result.low < result.high
    larger = interval(
        6 * values, weights=mass, clusters=clusters, method=method, confidence=confidence, top=6
    )
    scaled = (6 * result.mean, 6 * result.low, 6 * result.high)
    assert (larger.mean, larger.low, larger.high) == pytest.approx(scaled, abs=1e-6)


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize(("clusters", "repeats"), [(10, 300), (50, 150)])
def test_clusters_of_very_different_sizes(clusters: int, repeats: int, binary: bool) -> None:
    rng, truth, hits = np.random.default_rng(clusters), 0.774, 0
    for _ in range(repeats):
        codes = np.repeat(np.arange(clusters), rng.choice([1, 60], clusters))
        inside = rng.beta(4 * truth, 4 - 4 * truth, clusters)[codes]
        votes = 1 if binary else 4
        values = rng.binomial(votes, inside) / votes
        result = interval(values, clusters=codes)
        hits += result.low <= truth <= result.high
    assert hits / repeats >= 0.92 - 2 * math.sqrt(0.95 * 0.05 / repeats)


@pytest.mark.parametrize(("truth", "size", "widest"), [(0.96, 20, 0.22), (0.987, 50, 0.10)])
def test_few_misses_do_not_make_an_interval_short(truth: float, size: int, widest: float) -> None:
    rng, repeats, hits, width = np.random.default_rng(size), 500, 0, 0.0
    for _ in range(repeats):
        missed = rng.random(size) < 2 * (1 - truth)
        result = interval(1 - missed * rng.random(size))
        hits += result.low <= truth <= result.high
        width += (result.high - result.low) / repeats
    assert hits / repeats >= 0.93
    assert width < widest


def betting_by_loops(values: list[float], miss: float, grid: int) -> tuple[float, float]:
    """Hedged capital on a grid of means, from the definition."""
    kept = []
    for step in range(1, grid):
        m = step / grid
        up = down = 1.0
        mean, spread = 0.5, 0.25
        total, squares = 0.5, 0.25
        for t, x in enumerate(values, start=1):
            bet = math.sqrt(2 * math.log(2 / miss) / (len(values) * spread))
            up *= 1 + min(bet, 0.5 / m) * (x - m)
            down *= 1 - min(bet, 0.5 / (1 - m)) * (x - m)
            total += x
            mean = total / (t + 1)
            squares += (x - mean) ** 2
            spread = squares / (t + 1)
        if max(up / 2, down / 2) < 1 / miss:
            kept.append(m)
    return kept[0], kept[-1]


def test_betting_is_the_hedged_capital() -> None:
    values = np.random.default_rng(2).integers(0, 5, 40) / 4
    low, high = betting_by_loops(values.tolist(), 0.05, 2000)
    result = interval(values, method="betting")
    assert result.low == pytest.approx(low, abs=1 / 2000)
    assert result.high == pytest.approx(high, abs=1 / 2000)


def test_printed_ends_enclose_the_interval() -> None:
    assert ends(0.8974, 0.9321) == "0.897 to 0.933"
    assert ends(0.7, 0.7) == "0.700 to 0.700"
    assert ends(-0.0214, 0.0001) == "-0.022 to 0.001"
    assert ends(0.0, 1.0) == "0.000 to 1.000"
    rng = np.random.default_rng(0)
    for low, high in np.sort(rng.uniform(size=(200, 2)), axis=1).tolist():
        shown = [float(end) for end in ends(low, high).split(" to ")]
        assert shown[0] <= low <= high <= shown[1]
        assert shown[1] - shown[0] <= high - low + 0.002


# ---- weighted


@pytest.mark.parametrize("clusters", [None, np.arange(80) // 2], ids=["alone", "in pairs"])
@pytest.mark.parametrize(
    ("method", "binary"), [("auto", True), ("auto", False), ("wilson", True), ("betting", True)]
)
def test_ninety_five_of_a_hundred_intervals_hold_the_ratio(
    method: IntervalMethod, binary: bool, clusters: Ints | None
) -> None:
    rng = np.random.default_rng(7)
    held = 0
    for _ in range(200):
        x = rng.random(80) if clusters is None else rng.random(40)[clusters]
        weights = x**3 * rng.random(80)
        chance = 1 - x / 3  # E[w y] / E[w] = (1/4 - 1/15) / (1/4)
        values = (rng.random(80) < chance).astype(float) if binary else chance
        result = interval(values, weights=weights, clusters=clusters, method=method)
        held += result.low <= 11 / 15 <= result.high
    assert held / 200 >= (0.95 if method == "betting" else 0.92)


RANDOM = np.random.default_rng(1).random(120)
NEARLY = np.append(np.ones(110), np.full(10, 0.5))
PLACES = np.arange(120)
MISSED = [np.append(np.full(90, end), np.full(k, 0.5)) for end in (0.0, 1.0) for k in (9, 10)]
VALUES, WEIGHTS = np.array([0.2, 0.9, 0.4]), np.array([0.5, 0.0, 0.25])
SIX, THREE = np.array([1.0, 0.5, 0.25, 0.75, 1.0, 1.0]), np.array([7, 7, 3, 3, 5, 5])


test_each_call_gives_its_text = each_call(__file__, globals())
