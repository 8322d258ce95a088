"""Ranks by table are those of a plain search, to the last one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from plausibly.kernels import blocks, ranks
from plausibly.kernels.ranks import Ranks, Side
from plausibly.kernels.types import Floats

SIDES: tuple[Side, ...] = ("left", "right")
FLOATS = {
    np.float32: st.floats(allow_nan=False, width=32) | st.sampled_from([0.0, -0.0, 0.5, 1.0]),
    np.float64: st.floats(allow_nan=False) | st.sampled_from([0.0, -0.0, 0.5, 1.0]),
}


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a table for the smallest pool too, and walk in blocks of seven."""
    monkeypatch.setattr(ranks, "_LEAST_POOL", 1)
    monkeypatch.setattr(ranks, "_LEAST_QUERIES", 0)
    monkeypatch.setattr(blocks, "_CELLS", 7)


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(data=st.data())
def test_any_floats(dtype: type[np.float32] | type[np.float64], data: st.DataObject) -> None:
    pool = np.sort(data.draw(hnp.arrays(dtype, st.integers(1, 60), elements=FLOATS[dtype])))
    others = data.draw(hnp.arrays(dtype, st.integers(0, 30), elements=FLOATS[dtype]))
    with np.errstate(over="ignore"):  # past the largest float comes infinity
        queries = np.concatenate([pool, np.nextafter(pool, dtype(np.inf)), others])
    pool.flags.writeable = queries.flags.writeable = False
    for side in SIDES:
        found = Ranks(pool).of(queries, side)
        assert (found == np.searchsorted(pool, queries, side=side)).all()
        assert (Ranks(pool).of(queries[::2], side) == found[::2]).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", ["skewed", "tied", "one value", "wide", "negative"])
def test_large_pools(shape: str, dtype: type[np.float32] | type[np.float64]) -> None:
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
    pool = np.sort(scores)
    queries = generator.permutation(np.concatenate([scores, (scores * 1.01).astype(dtype)]))
    queries = queries[: 2 * (len(queries) // 2)].reshape(-1, 2)
    for side in SIDES:
        found = Ranks(pool).of(queries, side)
        assert found.dtype == np.int64
        assert (found == np.searchsorted(pool, queries, side=side)).all()


def test_no_pool_and_no_queries() -> None:
    empty = np.empty(0)
    assert Ranks(empty).of(np.ones(3), "right").tolist() == [0, 0, 0]
    assert Ranks(np.ones(3)).of(empty, "right").shape == (0,)
