"""Masses, ranks and draws: exact integers, those of plain loops; uniforms belong to names."""

from __future__ import annotations

import math
from fractions import Fraction
from hashlib import blake2b

import numpy as np
import pytest
from hypothesis import example, given, strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from plausibly.kernels import blocks, ranks
from plausibly.kernels.coverage import along_order, majority_vote
from plausibly.kernels.draws import draw_labels
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
from plausibly.kernels.places import Rule, by_places
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.ranks import (
    Ranks,
    from_ordered,
    hull,
    least_true,
    order_statistic,
    to_ordered,
    weighted_rank,
)
from plausibly.kernels.types import Floats, Ints
from scores_oracles import filled, uneven_rows

# ---- masses: integers, and ratios on the right side of every short decimal


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


# ---- ranks, sums by place, hulls and order statistics


Width = type[np.float32] | type[np.float64]
WIDTHS = pytest.mark.parametrize("dtype", [np.float32, np.float64])
FLOATS = {
    np.float32: st.floats(allow_nan=False, width=32) | st.sampled_from([0.0, -0.0, 0.5, 1.0]),
    np.float64: st.floats(allow_nan=False) | st.sampled_from([0.0, -0.0, 0.5, 1.0]),
}


def assert_ranks(pool: Floats, queries: Floats) -> None:
    """Ranks by table are those of a plain search."""
    for side in ("left", "right"):
        result = Ranks(pool).of(queries, side)
        assert result.dtype == np.int64
        assert (result == np.searchsorted(pool, queries, side=side)).all()
        assert (Ranks(pool).of(queries[::2], side) == result[::2]).all()


@WIDTHS
@given(data=st.data())
def test_ranks_of_any_floats(dtype: Width, data: st.DataObject) -> None:
    """With a table for the smallest pool too, and in blocks of seven."""
    pool = np.sort(data.draw(arrays(dtype, st.integers(0, 60), elements=FLOATS[dtype])))
    others = data.draw(arrays(dtype, st.integers(0, 30), elements=FLOATS[dtype]))
    with np.errstate(over="ignore"):  # past the largest float comes infinity
        queries = np.concatenate([pool, np.nextafter(pool, dtype(np.inf)), others])
    pool.flags.writeable = queries.flags.writeable = False
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranks, "_LEAST_POOL", 1)
        patch.setattr(ranks, "_LEAST_QUERIES", 0)
        patch.setattr(blocks, "_CELLS", 7)
        assert_ranks(pool, queries)


@WIDTHS
@pytest.mark.parametrize("shape", ["skewed", "tied", "one value", "wide", "negative"])
def test_ranks_in_large_pools(shape: str, dtype: Width) -> None:
    generator = np.random.default_rng(7)
    size = 30 * ranks._LEAST_POOL
    floats: dict[str, NDArray[np.float64]] = {
        "skewed": generator.beta(0.05, 2, size),
        "tied": generator.integers(0, 40, size) / 40,
        "one value": np.full(size, 0.25, np.float64),
        "wide": generator.normal(size=size) * np.exp(generator.normal(size=size) * 15),
        "negative": -generator.exponential(size=size),
    }
    scores: Floats = floats[shape].astype(dtype)
    scores[:2] = dtype(-0.0), dtype(0.0)
    if shape == "wide":
        scores[2:4] = -np.inf, np.inf
    queries = generator.permutation(np.concatenate([scores, (scores * 1.01).astype(dtype)]))
    assert_ranks(np.sort(scores), queries.reshape(-1, 2))


# ---- sums and counts by place


RULES: dict[str, Rule] = {
    "below": lambda found, _: found.below,
    "tied": lambda found, _: found.tied,
    "rank": lambda found, _: found.rank.astype(np.float64),
    "above": lambda found, _: found.above.astype(np.float64),
    "largest": lambda found, _: found.largest,
}


def by_loops(name: str, rows: Floats) -> Floats:
    """Return the answers of a rule about each label of each example; sums run from the least."""

    def of_label(row: list[float], own: float) -> float:
        if any(value != value for value in row):
            return float("nan")
        below = 0.0
        for value in sorted(row):
            below += value if value < own else 0.0
        return {
            "below": below,
            "tied": row.count(own) * own,
            "rank": float(sum(value >= own for value in row)),
            "above": float(sum(value > own for value in row)),
            "largest": max(row),
        }[name]

    answers = [[of_label(row, own) for own in row] for row in rows.tolist()]
    return np.array(answers).astype(rows.dtype)


@pytest.mark.parametrize("labels", [1, 2, 10, 32, 33, 70])
@WIDTHS
@pytest.mark.parametrize("name", RULES)
def test_few_and_many_labels(
    name: str, dtype: Width, labels: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In blocks that end amid the rows, some of which have ties, infinity or no number."""
    monkeypatch.setattr(blocks, "_CELLS", 9 * labels)
    rows, _ = uneven_rows(40, labels, 5, dtype)
    rows[3] = rows[3, 0]
    rows[7, 0], rows[11, -1] = np.inf, np.nan
    rows.flags.writeable = False
    for values in (rows, np.where(rows < 0.01, dtype(-0.0), rows)):
        result = by_places(values, None, RULES[name])
        np.testing.assert_array_equal(result, by_loops(name, values))
        assert result.dtype == dtype


# ---- hulls


@pytest.mark.parametrize("dtype", [bool, np.float32, np.float64, np.int64])
def test_at_every_threshold_a_hull_is_the_hull_of_the_set(dtype: type) -> None:
    integers = np.random.default_rng(0).integers(-4, 5, (40, 7))
    values: Floats | Ints = (integers > 0 if dtype is bool else integers).astype(dtype)
    result = hull(values)
    assert result.dtype == dtype
    assert (result >= values).all()
    np.testing.assert_array_equal(hull(result), result)
    for tau in np.unique(values):
        np.testing.assert_array_equal(result >= tau, filled(values >= tau))


# ---- the order of floats


@WIDTHS
@given(data=st.data())
def test_the_order_of_floats_is_the_order_of_integers(dtype: Width, data: st.DataObject) -> None:
    first, second = dtype(data.draw(FLOATS[dtype])), dtype(data.draw(FLOATS[dtype]))
    assert (to_ordered(first) < to_ordered(second)) == (first < second)
    assert from_ordered(to_ordered(first), np.dtype(dtype)) == first
    assert to_ordered(dtype(0.0)) == to_ordered(dtype(-0.0)) == 0
    step = from_ordered(to_ordered(first) + 1, np.dtype(dtype))
    with np.errstate(over="ignore"):  # past the largest float comes infinity
        assert first == np.inf or step == np.nextafter(first, dtype(np.inf))


@given(st.integers(-(2**63), 2**63), st.integers(1, 2**64))
def test_the_least_integer_of_a_monotone_condition(low: int, span: int) -> None:
    edge = low + 1 + span // 3
    assert least_true(lambda value: value >= edge, low, low + span + 1) == edge


def test_order_statistics_at_both_ends() -> None:
    ordered = np.array([0.25, 0.5, 0.5], dtype=np.float32)
    values = [order_statistic(ordered, rank) for rank in range(-1, 5)]
    assert [float(value) for value in values] == [-np.inf, -np.inf, 0.25, 0.5, 0.5, np.inf]
    assert all(value.dtype == np.float32 for value in values)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=10), st.integers(-3, 60))
def test_the_rank_at_which_a_mass_is_reached(masses: list[int], mass: int) -> None:
    cumulative = np.concatenate([[0], np.cumsum(masses)])
    reached = [r for r in range(len(masses) + 1) if sum(masses[:r]) >= mass]
    expected = 0 if mass <= 0 else (reached or [len(masses) + 1])[0]
    assert weighted_rank(cumulative, mass) == expected


def test_steps_along_the_order_are_counted_to_sets_with_labels_alone() -> None:
    sets = np.array([[False, False, False], [True, False, False]])
    plausibilities = np.array([[0.25, 0.25, 0.5], [0.25, 0.25, 0.5]])
    missed, steps, holes = along_order(sets, plausibilities, np.arange(3))
    assert (missed.tolist(), steps.tolist(), holes.tolist()) == ([1, 0.75], [0, 1.25], [0, 0])


# ---- draws follow the plausibilities


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("labels", "filled"),
    [(3, 1.0), (32, 0.3), (33, 0.05), (33, 1.0), (419, 0.01), (419, 0.2), (1000, 0.9)],
)
def test_a_draw_is_the_first_label_whose_cumulative_mass_exceeds_the_uniform(
    labels: int, filled: float, dtype: type[np.float32] | type[np.float64]
) -> None:
    generator = np.random.default_rng(labels)
    masses = generator.random((900, labels)) * (generator.random((900, labels)) < filled)
    masses[np.arange(900), generator.integers(0, labels, 900)] += 0.25
    masses = (masses / masses.sum(axis=1, keepdims=True)).astype(dtype)
    uniforms = generator.random((900, 6))
    uniforms[:, 0], uniforms[:, 1] = 0.0, np.nextafter(1.0, 0.0)
    cumulative = np.cumsum(masses, axis=1, dtype=np.float64)
    middle = cumulative[:, labels // 2] / cumulative[:, -1]  # where sums in float32 would differ
    uniforms[:, 2] = np.minimum(middle, uniforms[:, 1])
    scaled = uniforms * cumulative[:, -1:]
    expected = (scaled[:, :, None] >= cumulative[:, None, :]).sum(axis=2)
    last = labels - 1 - (masses[:, ::-1] > 0).argmax(axis=1)
    codes = draw_labels(masses, uniforms)
    assert (codes == np.minimum(expected, last[:, None]).T).all()
    assert codes.dtype == np.int32
    alone = [draw_labels(masses[row : row + 1], uniforms[row : row + 1]) for row in range(9)]
    assert (np.concatenate(alone, axis=1) == codes[:, :9]).all()


@pytest.mark.parametrize("labels", [3, 32, 33, 70])
def test_a_product_that_rounds_up_to_the_total_stays_on_a_plausible_label(labels: int) -> None:
    # As it does only where the total is so small that numbers stand far apart.
    for plausible in (0, 1, labels - 2):
        masses = np.zeros((5, labels))
        masses[:, plausible] = masses[0, labels // 2 :] = 5e-324  # the first has many to draw from
        codes = draw_labels(masses, np.full((5, 2), 0.75))
        assert (codes[:, 1:] == plausible).all()


@given(st.integers(0, 2**32), st.lists(st.text(), min_size=1, max_size=20, unique=True))
def test_uniforms_belong_to_names(seed: int, names: list[str]) -> None:
    hashes = hash_names(names)
    keys = Keys(seed).child("stream")
    whole = keys.uniform(hashes, 7)
    assert np.all((whole >= 0) & (whole < 1))
    np.testing.assert_array_equal(keys.uniform(hashes[::-1], 3), whole[::-1, :3])
    for row, name in enumerate(names):
        np.testing.assert_array_equal(keys.uniform(hash_names([name]), 7), whole[[row]])
    for another in (Keys(seed).child("other"), Keys(seed + 1).child("stream")):
        assert not np.array_equal(another.uniform(hashes, 7), whole)


@pytest.mark.parametrize("seed", [None, 1.0, "1", np.random.default_rng(1)])
def test_a_seed_is_a_whole_number(seed: int) -> None:
    with pytest.raises(TypeError, match="seed"):
        Keys(seed)
    assert Keys(np.int64(3)) == Keys(3)


def test_names_are_text_and_hashes_are_pinned() -> None:
    """blake2b of UTF-8, eight bytes, little end first: files rely on it."""
    assert hash_names([7])[0] == hash_names(["7"])[0] == 0x828F78CECA1750E7
    digest = blake2b("é".encode(), digest_size=8).digest()
    assert hash_names(["é"])[0] == int.from_bytes(digest, "little") == 0x2F19F3EF8BBF1ACB
    pinned = Keys(1, "/a").uniform(hash_names(["x"]), 2)[0]
    assert [value.hex() for value in pinned] == ["0x1.30e6050413f33p-1", "0x1.f457923cdb1a1p-1"]
    assert len(set(hash_names(range(10_000)).tolist())) == 10_000
    assert hash_names([]).shape == (0,)


def test_uniforms_are_uniform_and_uncorrelated() -> None:
    draws = Keys(0).uniform(hash_names(range(20_000)), 4)
    for column in draws.T:
        gaps = np.abs(np.sort(column) - (np.arange(20_000) + 0.5) / 20_000)
        # Kolmogorov-Smirnov at about one in a million.
        assert gaps.max() < 2.7 / np.sqrt(20_000)
    correlation = np.corrcoef(draws.T) - np.eye(4)
    neighbours = np.corrcoef(draws[:-1, 0], draws[1:, 0])[0, 1]
    assert max(np.abs(correlation).max(), abs(neighbours)) < 5 / np.sqrt(20_000)


@given(count=st.integers(2, 40), data=st.data())
def test_a_uniform_picks_among_tied_labels_exactly(count: int, data: st.DataObject) -> None:
    """Also next to k / count, where a product of doubles is rounded up to k."""
    border = data.draw(st.integers(1, count - 1)) / count
    below = math.nextafter(border, 0)
    uniform = data.draw(st.sampled_from([below, border]) | st.floats(0, 1, exclude_max=True))
    chosen = np.arange(count) == math.floor(Fraction(uniform) * count)
    tied = np.full((1, count), 1 / count)
    assert majority_vote(chosen[None], tied, "random", np.array([uniform])) == 1
