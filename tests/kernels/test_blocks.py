"""Row blocks, threads and slots: every row once, in order, with the bits of one dense block."""

from __future__ import annotations

import math
import multiprocessing.process
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray

from plausibly.kernels import blocks, coverage, draws
from plausibly.kernels.blocks import map_blocks, row_blocks
from plausibly.kernels.coverage import TIES, aggregated, majority_vote, sizes
from plausibly.kernels.draws import draw_labels
from plausibly.kernels.places import by_places
from plausibly.kernels.ranks import Ranks
from plausibly.kernels.sparse import Dense
from plausibly.kernels.types import Floats

EXAMPLES = 83


def cut(patch: pytest.MonkeyPatch, cells: int = 32, cores: int = 3) -> None:
    """Make blocks small, and threads worth it."""
    patch.setattr(blocks, "_CELLS", cells)
    patch.setattr(blocks, "_TIMES", 1)
    patch.setattr(blocks, "_WORTH", 1)
    patch.setattr("os.sched_getaffinity", lambda _: set(range(cores)), raising=False)


@pytest.fixture(params=[1, 2, 5])
def cores(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    number: int = request.param
    cut(monkeypatch, 1, number)
    return number


@given(
    st.lists(st.integers(0, 40), min_size=1, max_size=3).map(tuple),
    st.integers(1, 50),
    st.integers(1, 9),
)
def test_blocks_divide_the_rows_and_hold_few_cells(
    shape: tuple[int, ...], cells: int, number: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        cut(patch, cells, number)
        parts = list(row_blocks(shape))
        assert map_blocks(lambda rows: rows, shape) == parts
    assert [place for rows in parts for place in range(shape[0])[rows]] == list(range(shape[0]))
    width = int(np.prod(shape[1:]))
    sizes = [rows.stop - rows.start for rows in parts]
    assert all(size == 1 or size * width <= cells for size in sizes)


def test_several_threads_are_at_work_where_there_are_cores(cores: int) -> None:
    # No thread passes before all are there; with one core there is one.
    together = threading.Barrier(min(cores, 3), timeout=20)
    assert len(map_blocks(lambda _: together.wait(), (min(cores, 3),))) == min(cores, 3)


def test_work_in_another_thread_or_process_is_divided_no_further(
    cores: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def names() -> set[str]:
        return set(map_blocks(lambda _: threading.current_thread().name, (40,)))

    with ThreadPoolExecutor(1) as pool:
        assert len(pool.submit(names).result()) == 1
    assert blocks.spare() == cores
    monkeypatch.setattr(multiprocessing.process, "parent_process", lambda: object())
    assert blocks.spare() == 1


def test_cores_are_those_that_this_process_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 3, 5}, raising=False)
    monkeypatch.setattr("os.cpu_count", lambda: 7)
    assert blocks.spare() == 3
    # Few cells are not worth a thread.
    names = map_blocks(lambda _: threading.current_thread().name, (1000, 10))
    assert set(names) == {threading.current_thread().name}
    monkeypatch.delattr("os.sched_getaffinity")
    assert blocks.spare() == 7
    monkeypatch.setattr("os.cpu_count", lambda: None)
    assert blocks.spare() == 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("labels", "share"), [(3, 1.0), (10, 0.4), (257, 0.01), (257, 0.9)])
def test_blocks_and_threads_change_no_bit(
    labels: int, share: float, dtype: type[np.float32], monkeypatch: pytest.MonkeyPatch
) -> None:
    generator = np.random.default_rng(labels)
    masses = generator.random((EXAMPLES, labels)) * (generator.random((EXAMPLES, labels)) < share)
    masses[np.arange(EXAMPLES), generator.integers(0, labels, EXAMPLES)] = 0.3
    shares: Floats = (masses / masses.sum(axis=1, keepdims=True)).astype(dtype)
    sparse = Dense(shares).above_zero()
    sets = np.random.default_rng(1).random(shares.shape) < 0.4
    uniforms = np.random.default_rng(2).random((EXAMPLES, 5))
    pool = np.sort(np.random.default_rng(3).random(2_000).astype(dtype))
    queries = np.random.default_rng(4).random((EXAMPLES, 120)).astype(dtype)
    kernels: list[Callable[[], NDArray[np.generic]]] = [
        lambda: aggregated(sets, shares),
        lambda: aggregated(sets, sparse),
        lambda: aggregated(np.asfortranarray(sets), np.asfortranarray(shares)),
        lambda: sizes(sets),
        *(partial(majority_vote, sets, shares, ties) for ties in set(TIES) - {"random"}),
        lambda: majority_vote(sets, (masses > 0) * 1.0, "random", uniforms[:, 0]),
        lambda: draw_labels(shares, uniforms),
        lambda: draw_labels(sparse, uniforms),
        lambda: Ranks(pool).of(queries, "left"),
        lambda: by_places(shares, None, lambda result, _: result.below),
    ]
    whole = [kernel().tobytes() for kernel in kernels]
    assert whole[0] == whole[1] == whole[2]
    for cells, number in ((1, 2), (999, 7)):
        cut(monkeypatch, cells, number)
        assert [kernel().tobytes() for kernel in kernels] == whole


@pytest.mark.parametrize("labels", [1, 255, 256])
def test_sizes_of_all_labels_and_of_no_examples(labels: int) -> None:
    assert sizes(np.ones((2, labels), dtype=bool)).tolist() == [labels, labels]
    none = np.empty((0, labels))
    assert aggregated(none > 0, none).shape == sizes(none > 0).shape == (0,)
    assert draw_labels(none, np.empty((0, 3))).shape == (3, 0)


# ---- kernels over slots: whatever ties, zeros and order there are


WEIGHTS = np.array([0.1, 0.1, 0.3, 0.7, 1e-30])


@st.composite
def rows(draw: st.DrawFn) -> Floats:
    """Return an array (example, label) whose rows have something, with ties and zeros."""
    shape = (draw(st.integers(1, 40)), draw(st.sampled_from([1, 2, 7, 33, 150, 1000])))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    share = draw(st.sampled_from([0.01, 0.3, 1.0]))
    values = rng.choice(WEIGHTS, shape) if draw(st.booleans()) else rng.random(shape)
    values = np.where(rng.random(shape) < share, values, 0)
    values[values.max(axis=1) == 0, -1] = 1
    # Sums above 1 count as 1, and would all be alike.
    values /= values.sum(axis=1, keepdims=True)
    result: Floats = values.astype(draw(st.sampled_from([np.float32, np.float64])))
    return result


@given(rows(), st.integers(0, 2**32 - 1))
def test_sparse_kernels_give_the_bits_of_the_dense_array(values: Floats, seed: int) -> None:
    rng = np.random.default_rng(seed)
    sparse = Dense(values).above_zero()
    assert sparse.dense().tobytes() == values.tobytes()
    assert sparse.shape == values.shape
    np.testing.assert_array_equal(sparse.filled, np.count_nonzero(values, axis=1))
    uniforms = rng.random((len(values), 7))
    uniforms[:, 0], uniforms[:, 1] = 0, np.nextafter(1, 0)
    labels = draws.draw_labels(values, uniforms)
    np.testing.assert_array_equal(draws.draw_labels(sparse, uniforms), labels)
    assert (values[np.arange(len(values)), labels] > 0).all()
    sets = rng.random(values.shape) < 0.7
    dense = coverage.aggregated(sets, values)
    assert coverage.aggregated(sets, sparse).tobytes() == dense.tobytes()
    for policy in coverage.TIES:
        uniform = rng.random(len(values)) if policy == "random" else None
        expected = coverage.majority_vote(sets, values, policy, uniform)
        assert coverage.majority_vote(sets, sparse, policy, uniform).tobytes() == expected.tobytes()
    every = np.arange(len(values))
    pairs = zip(sparse.by_label(every), Dense(values).by_label(every), strict=True)
    assert all(mine.tobytes() == theirs.tobytes() for mine, theirs in pairs)
    np.testing.assert_array_equal(coverage.tie_counts(sparse), coverage.tie_counts(values))


def test_sums_are_those_of_real_numbers() -> None:
    terms = np.random.default_rng(0).random((5, 20_000)) / 20_000
    sums = [math.fsum(row) for row in terms.tolist()]
    np.testing.assert_allclose(coverage.row_sums(terms), sums, rtol=0, atol=1e-13)


@given(rows(), st.integers(0, 2**32 - 1))
def test_labels_in_another_order(values: Floats, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(values.shape[1])
    turned = np.ascontiguousarray(values[:, order])
    sparse, expected = Dense(values).above_zero().ordered(order), Dense(turned).above_zero()
    assert Dense(values).ordered(order).dense().tobytes() == turned.tobytes()
    np.testing.assert_array_equal(sparse.label, expected.label)
    np.testing.assert_array_equal(sparse.weight, expected.weight)
