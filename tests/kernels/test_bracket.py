"""Order statistics between two bounds: those of a sort, whatever the numbers and their order."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from plausibly.arrays import Floats
from plausibly.kernels import bracket, radix, threads
from plausibly.kernels.bracket import least, order_statistic

SIZE = 1 << 15
STRETCH = SIZE // int(SIZE ** (2 / 3))  # of the numbers of which one may give a bound
EDGES = [0.0, -0.0, np.inf, -np.inf, 1.0, -1.0, 1e-45, -1e-45]
NUMBERS = st.sampled_from([np.float32, np.float64]).flatmap(
    lambda dtype: arrays(
        dtype,
        st.integers(1, 60),
        elements=st.sampled_from([float(np.float32(one)) for one in EDGES])
        | st.floats(allow_nan=False, width=32),
    )
)


def of_kind(kind: str) -> Floats:
    """Return numbers of a kind that bounds may go wrong with."""
    spread = np.random.default_rng(0).normal(size=SIZE)
    found: dict[str, Floats] = {
        "spread": spread,
        "rising": np.sort(spread),
        "falling": np.sort(spread)[::-1],
        "with the period of the stretches": np.tile(spread[:STRETCH], SIZE // STRETCH + 1)[:SIZE],
        "all equal": np.full(SIZE, -0.25),
        "two values": np.where(spread > 1, 0.75, -0.5),
        "signed zeros": np.where(spread > 0, 0.0, -0.0),
        "a zero in three": np.where(spread > 0.4, spread, -0.0),
        "infinite ends": np.where(abs(spread) > 1, np.inf * spread, spread),
        "wide": np.exp(spread * 80),
    }
    return found[kind]


KINDS = [
    "spread",
    "rising",
    "falling",
    "with the period of the stretches",
    "all equal",
    "two values",
    "signed zeros",
    "a zero in three",
    "infinite ends",
    "wide",
]


@pytest.fixture
def cut_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks and parts that cut a few thousand numbers too."""
    monkeypatch.setattr(threads, "cores", lambda: 3)
    monkeypatch.setattr(bracket, "_WORTH", 5000)
    monkeypatch.setattr(bracket, "_BLOCK", 1 << 12)


@given(NUMBERS, st.integers(1, 60))
@settings(max_examples=80, deadline=None)
def test_it_is_what_partition_finds(values: Floats, rank: int) -> None:
    rank = min(rank, len(values))
    kept = values.copy()
    found = order_statistic(values, rank)
    assert found == np.partition(values, rank - 1)[rank - 1]
    assert found.dtype == values.dtype
    assert not (found == 0 and np.signbit(found))
    assert values.tobytes() == kept.tobytes()
    assert least(values) == values.min()


@pytest.mark.usefixtures("cut_small")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_at_every_end_without_counts_of_bits(
    kind: str, dtype: type[np.float32], monkeypatch: pytest.MonkeyPatch
) -> None:
    with np.errstate(over="ignore"):
        values = of_kind(kind).astype(dtype)
    values.setflags(write=False)
    ordered = np.sort(values)
    monkeypatch.setattr(radix, "order_statistic", None)
    for rank in (1, 2, SIZE // 100, SIZE // 10, SIZE // 3, SIZE // 2, SIZE - 1, SIZE):
        found = order_statistic(values, rank)
        assert found.tobytes() == (ordered[rank - 1] + dtype(0)).tobytes(), rank


@pytest.mark.parametrize(("low", "high"), [(-9, -8), (8, 9), (-9, -9), (0.1, 0.2), (-0.2, -0.1)])
def test_bounds_that_miss_only_take_longer(
    low: float, high: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    values, counted = of_kind("spread"), radix.order_statistic
    times: list[int] = []

    def counts(flat: Floats, rank: int) -> np.float64:
        times.append(rank)
        return np.float64(counted(flat, rank))

    monkeypatch.setattr(radix, "order_statistic", counts)
    ends = bracket._Bounds(np.float64(low), np.float64(high), 0.0)
    monkeypatch.setattr(bracket, "_bounds", lambda flat, rank: ends)
    assert order_statistic(values, SIZE // 2) == np.sort(values)[SIZE // 2 - 1]
    assert times == [SIZE // 2]


@pytest.mark.usefixtures("cut_small")
@pytest.mark.parametrize("kept", [1 << 10, 1 << 14, 1 << 15])
def test_too_many_between_the_bounds_are_not_kept(
    kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = of_kind("spread")
    monkeypatch.setattr(bracket, "_KEPT", kept)
    everything = bracket._Bounds(np.float64(-np.inf), np.float64(np.inf), 0.0)
    monkeypatch.setattr(bracket, "_bounds", lambda flat, rank: everything)
    assert order_statistic(values, SIZE // 3) == np.sort(values)[SIZE // 3 - 1]


def test_ranks_outside_are_infinite() -> None:
    values = np.array([0.5, 0.25], dtype=np.float32)
    assert order_statistic(values, 0) == -np.inf
    assert order_statistic(values, 3) == np.inf
    assert order_statistic(values[:0], 1) == np.inf
    assert order_statistic(values, 0).dtype == np.float32


@pytest.mark.usefixtures("cut_small")
def test_any_shape_and_any_steps() -> None:
    values = of_kind("spread")[:28_000].reshape(40, 700)
    for seen in (values, values.T, values[:, ::2], values[::-1, 1:], values.ravel()[::-3]):
        assert order_statistic(seen, seen.size // 4) == np.sort(seen, None)[seen.size // 4 - 1]
        assert least(seen) == seen.min()


@pytest.mark.usefixtures("cut_small")
def test_the_least_number_is_nan_where_one_is() -> None:
    values = of_kind("spread")
    values[-7] = np.nan
    assert np.isnan(least(values))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["spread", "rising", "two values"])
def test_memory_stays_a_small_part_of_the_numbers(kind: str, dtype: type[np.float32]) -> None:
    values = np.tile(of_kind(kind), 1 << 6)
    values = (np.sort(values) if kind == "rising" else values).astype(dtype)
    order_statistic(values[:SIZE], 7)
    tracemalloc.start()
    found = order_statistic(values, values.size // 2)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found == np.partition(values, values.size // 2 - 1)[values.size // 2 - 1] + 0
    assert most < 2.5 * 2**20
