"""Row blocks and threads: every row once, in order, and the bits of one block in one thread."""

from __future__ import annotations

import multiprocessing.process
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray

from plausibly.kernels import blocks
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
