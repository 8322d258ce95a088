"""Order statistics by counts of bits: those of a sort, for any numbers and any cuts."""

from __future__ import annotations

import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from plausibly.arrays import Floats
from plausibly.kernels import radix
from plausibly.kernels.bits import from_bits, ordered_bits
from plausibly.kernels.radix import Histogram, order_statistic, order_statistic_of

EDGES = [0.0, -0.0, np.inf, -np.inf, 1.0, -1.0, 0.5, 1e-45, -1e-45, 2**-126, -(2**-126)]
NUMBERS = st.sampled_from([np.float32, np.float64]).flatmap(
    lambda dtype: arrays(
        dtype,
        st.integers(1, 40),
        elements=st.sampled_from([float(np.float32(one)) for one in EDGES])
        | st.floats(allow_nan=False, width=32),
    )
)


@given(NUMBERS, st.integers(1, 40))
@settings(max_examples=60, deadline=None)
def test_it_is_what_partition_finds(values: Floats, rank: int) -> None:
    rank = min(rank, len(values))
    found = order_statistic(values, rank)
    assert found == np.partition(values, rank - 1)[rank - 1]
    assert found.dtype == values.dtype
    assert not (found == 0 and np.signbit(found))


@given(NUMBERS)
@settings(max_examples=40, deadline=None)
def test_bits_and_back(values: Floats) -> None:
    for value, bits in zip(values, ordered_bits(values).tolist(), strict=True):
        assert from_bits(bits, values.dtype) == value


def test_every_cut_of_twelve_numbers_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.array([0.5, -0.0, 0.0, 1e-40, -3, -1e-40, 0.5, np.inf, 0.25, 0.2500001, -np.inf, 2])
    values = values.astype(np.float32)
    ordered = np.sort(values)
    # By 8 bits at a time: the same steps, with 256 places to add up instead of 65,536.
    monkeypatch.setattr(radix, "_DIGIT", 8)
    monkeypatch.setattr(radix, "_RANGES", 256)
    for cut in range(2048):
        places = [0, *(place for place in range(1, 12) if cut >> place - 1 & 1), 12]
        parts = [values[low:high] for low, high in pairwise(places)]
        rank = cut % 12 + 1

        def counted(empty: Histogram, parts: list[Floats] = parts) -> list[Histogram]:
            return [empty.add(part) for part in parts]

        assert order_statistic_of(counted, rank, values.dtype) == ordered[rank - 1]


def test_ranks_outside_are_infinite() -> None:
    values = np.array([0.5, 0.25])
    assert order_statistic(values, 0) == -np.inf
    assert order_statistic(values, 3) == np.inf
    assert order_statistic(values[:0], 1) == np.inf


def test_a_zero_is_not_of_the_range_below_it() -> None:
    # The last pattern of that range is the one of -0.0, which no number has.
    values = np.array([-1e-45, -1e-45, 0.0, -0.0], dtype=np.float32)
    assert [float(order_statistic(values, rank)) for rank in range(1, 5)] == [
        *[float(np.float32(-1e-45))] * 2,
        0.0,
        0.0,
    ]


def test_histograms_of_other_ranges_are_not_added_up() -> None:
    first = Histogram(np.dtype(np.float32)).add(np.ones(3, dtype=np.float32))
    with pytest.raises(ValueError, match="histograms of the ranges"):
        first.merge(first.refine(1)[0])
    with pytest.raises(ValueError, match="histograms of the ranges"):
        first.merge(Histogram(np.dtype(np.float64)))


@pytest.mark.parametrize("kind", ["spread", "tied", "crowded"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_memory_does_not_grow_with_the_numbers(
    kind: str, dtype: type[np.float32], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(radix, "_BLOCK", 1 << 14)
    values = np.random.default_rng(0).random(1 << 20).astype(dtype)
    if kind == "tied":
        values = np.round(values, 2)
    elif kind == "crowded":
        values = 1 + values * np.finfo(dtype).eps * 2**14
    order_statistic(values, 7)
    tracemalloc.start()
    found = order_statistic(values, 300_000)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found == np.partition(values, 299_999)[299_999]
    assert most < 4 * 2**20
