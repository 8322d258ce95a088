"""Work in parts: the order of items, the first error, and slices that divide a size."""

from __future__ import annotations

import multiprocessing.process
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, strategies as st

from plausibly.kernels import blocks
from plausibly.kernels.blocks import at_once, parts


@pytest.fixture(params=[1, 2, 5])
def cores(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    number: int = request.param
    monkeypatch.setattr(blocks, "cores", lambda: number)
    return number


def test_what_is_made_stands_in_the_order_of_the_items(cores: int) -> None:
    assert at_once(lambda item: item * item, iter(range(20))) == [n * n for n in range(20)]
    assert at_once(str, []) == []


def test_several_threads_are_at_work_where_there_are_cores(cores: int) -> None:
    # Nobody passes before all are there: with one core there is nobody to wait for.
    together = threading.Barrier(min(cores, 3), timeout=20)
    assert len(at_once(lambda _: together.wait(), range(min(cores, 3)))) == min(cores, 3)


def test_the_error_of_the_first_item_is_raised(cores: int) -> None:
    def refuse(item: int) -> int:
        if item >= 3:
            raise ValueError(item)
        return item

    with pytest.raises(ValueError, match=r"^3$"):
        at_once(refuse, range(9))


def test_work_in_another_thread_is_divided_no_further(cores: int) -> None:
    with ThreadPoolExecutor(1) as pool:
        names = pool.submit(at_once, lambda _: threading.current_thread().name, range(4)).result()
        assert len(set(names)) == 1
        assert pool.submit(parts, 100, 1).result() == [slice(0, 100)]


def test_work_in_a_process_among_others_is_divided_no_further(
    cores: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert blocks.spare() == cores
    monkeypatch.setattr(multiprocessing.process, "parent_process", lambda: object())
    assert blocks.spare() == 1
    assert parts(100, 1) == [slice(0, 100)]


def test_what_holds_here_holds_in_the_threads(cores: int) -> None:
    with np.errstate(divide="raise"):
        found = at_once(lambda _: np.geterr()["divide"], range(5))
    assert found == ["raise"] * 5


@given(st.integers(0, 200), st.integers(1, 50), st.integers(1, 9))
def test_parts_divide_a_size_and_none_is_too_small(size: int, least: int, number: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "cores", lambda: number)
        found = parts(size, least)
    assert [place for part in found for place in range(size)[part]] == list(range(size))
    assert len(found) <= number
    assert len(found) == 1 or min(part.stop - part.start for part in found) >= least


def test_cores_are_those_that_this_process_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 3, 5}, raising=False)
    monkeypatch.setattr("os.cpu_count", lambda: 7)
    assert blocks.cores() == 3
    monkeypatch.delattr("os.sched_getaffinity")
    assert blocks.cores() == 7
    monkeypatch.setattr("os.cpu_count", lambda: None)
    assert blocks.cores() == 1
