"""Ranks, sums by place, hulls and order statistics: those of plain loops, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from plausibly.kernels import blocks, ranks
from plausibly.kernels.coverage import along_order
from plausibly.kernels.places import Rule, by_places
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
