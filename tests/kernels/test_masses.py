"""Masses are integers, and ratios fall on the right side of every short decimal."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import example, given, strategies as st

from plausibly.kernels.masses import (
    FLOAT_BITS,
    common_masses,
    exact_units,
    float_bits,
    ones,
    ordered_sum,
    raised_units,
    settle,
    share,
    storable_masses,
)

DECIMALS = st.integers(1, 9).flatmap(
    lambda digits: st.integers(1, 10**digits - 1).map(lambda units: Fraction(units, 10**digits))
)


@given(DECIMALS, st.integers(1, 2**80), st.integers(-3, 3))
@example(Fraction(3, 10), 2**61, 0)
@example(Fraction(29, 100), 100 * 2**70, 1)
@example(Fraction(123_456_789, 10**9), 1_000_000_890_109_891, 1)  # 1e-24 above the decimal
def test_shares_decide_as_the_exact_ratio(alpha: Fraction, total: int, off: int) -> None:
    """Next to alpha, where doubles cannot tell ratios apart, the integers decide."""
    numerator = min(max(int(alpha * total) + off, 0), total)
    dtype = np.dtype(np.int64) if total < 2**62 else np.dtype(object)
    ratio = float(share(np.array([numerator], dtype=dtype), total)[0])
    assert (ratio > float(alpha)) == (Fraction(numerator, total) > alpha)
    assert abs(ratio - numerator / total) <= 4 * np.spacing(ratio)


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=5), st.integers(10**6, 10**15))
def test_shares_are_nearest_doubles_away_from_decimals(numerators: list[int], total: int) -> None:
    ratios = share(np.array(numerators), total)
    exact = np.array([numerator / total for numerator in numerators])
    assert np.all(np.abs(ratios - exact) <= np.spacing(exact))
    assert share(np.zeros((2, 0, 3), dtype=np.int64), 7).shape == (2, 0, 3)
    assert share(np.array([[1, 2]], dtype=object), 2**70).shape == (1, 2)


def test_settling_moves_only_what_is_next_to_a_decimal() -> None:
    ratios = np.array([0.1, 0.123456789123, np.nextafter(0.5, 1), 0.5])
    settled = settle(ratios, lambda at, _: (1, 1, 0, -1)[at])
    assert settled[0] == np.nextafter(0.1, 1)
    assert settled[1] == ratios[1]
    assert settled[2] == 0.5
    assert settled[3] == np.nextafter(0.5, 0)
    assert ratios[0] == 0.1


@given(
    st.lists(st.lists(st.integers(0, 30), min_size=3, max_size=3), min_size=1, max_size=12),
    st.sampled_from(["float32", "float64"]),
)
def test_counts_come_back_exactly(rows: list[list[int]], dtype: str) -> None:
    assert exact_units(np.array([[0.5, 0.25]]), np.array([4])) is None  # the total is missed
    counts = np.array(rows) + np.array([1, 0, 0])
    totals = counts.sum(axis=1)
    shares = (counts / totals[:, None]).astype(dtype)
    units = exact_units(shares, totals)
    assert units is not None
    np.testing.assert_array_equal(units, counts)
    assert (
        exact_units(shares, totals + 1) is None
        or (counts * (totals + 1)[:, None] % totals[:, None] == 0).all()
    )


@given(st.lists(st.floats(0, 1), min_size=2, max_size=6))
def test_float_masses_are_rounded_up(row: list[float]) -> None:
    shares = np.array([row])
    assert float_bits(len(shares)) == FLOAT_BITS
    units, item = raised_units(shares, FLOAT_BITS), 2**FLOAT_BITS
    for value, unit in zip(row, units[0], strict=True):
        assert Fraction(value) <= Fraction(int(unit), item) < Fraction(value) + Fraction(1, item)


def test_float_masses_never_pass_62_bits() -> None:
    bits = float_bits(2**23)
    assert bits == 38
    assert 2**bits * (2**23 + 1) < 2**62
    assert raised_units(np.ones((2**23, 1), dtype=np.float32), bits).max() == 2**bits


@given(st.lists(st.integers(1, 60), min_size=1, max_size=30), st.randoms(use_true_random=False))
def test_common_masses_are_exact_fractions(totals: list[int], random: object) -> None:
    denominator = np.array(totals)
    row = np.repeat(np.arange(len(totals)), 2)
    units = np.stack([denominator // 2, denominator - denominator // 2], axis=1).ravel()
    masses, item = common_masses(units, row, denominator, times=1)
    for mass, unit, example_ in zip(masses, units, row, strict=True):
        assert Fraction(int(mass), item) == Fraction(int(unit), totals[example_])
    assert sum(int(mass) for mass in masses) == item * len(totals)
    assert (masses.dtype == object) == (item * (len(totals) + 1) >= 2**62)


def test_ones_are_counted() -> None:
    assert ones(2, np.int16).tolist() == [1, 1]
    assert ones(2, np.int16).dtype == np.int16
    for count in (0, 1, 3):
        sums = ordered_sum(np.arange(count), ones(count, np.float64), 4)
        assert sums.tolist() == [1.0] * count + [0.0] * (4 - count)
        assert sums.dtype == np.float64


def test_masses_that_a_double_cannot_hold_are_stored_a_little_larger() -> None:
    """Of an example that weighs a million, and of one that weighs less than one."""
    units, denominator = np.array([2**60, 1]), np.array([2**40 + 1, 3])
    masses, totals = storable_masses(units, np.array([0, 1]), denominator)
    assert masses.dtype == totals.dtype == np.int64
    assert masses.max() < 2**53
    for place in range(2):
        stored = Fraction(int(masses[place]), int(totals[place]))
        exact = Fraction(int(units[place]), int(denominator[place]))
        assert 0 <= stored - exact < Fraction(1, int(totals[place]))
