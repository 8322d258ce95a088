"""Facts about rows are those of numpy, whatever the blocks, the threads and the odd entries."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as arrays

from plausibly.data import validate as module
from plausibly.data.validate import all_whole, hard_rows, off_whole, row_facts, sound
from plausibly.kernels import blocks

SHAPES = st.tuples(st.integers(1, 9), st.integers(1, 4)) | st.tuples(
    st.integers(1, 3), st.integers(1, 6), st.integers(1, 3)
)
FLOATS = st.floats(-4, 4) | st.sampled_from([np.nan, np.inf, -np.inf])
SMALL = pytest.mark.parametrize("cells", [1, 3, 1 << 16])


@SMALL
@given(data=st.data())
def test_extremes_and_sums(cells: int, data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from([np.float64, np.float32]))
    values = data.draw(arrays.arrays(np.float64, SHAPES, elements=FLOATS)).astype(dtype)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_CELLS", cells)
        patch.setattr(module, "_WORTH", cells)
        patch.setattr(blocks, "cores", lambda: 3)
        found = row_facts(values)
    with np.errstate(invalid="ignore"):
        sums = values.sum(axis=-1, dtype=np.float64)
    np.testing.assert_array_equal(found.least, values.min())
    np.testing.assert_array_equal(found.most, values.max())
    np.testing.assert_array_equal(found.sums, sums)


@SMALL
@given(data=st.data())
def test_rows_that_are_off_whole_numbers(cells: int, data: st.DataObject) -> None:
    shape = data.draw(SHAPES)
    total = data.draw(arrays.arrays(np.int64, shape[-2], elements=st.integers(1, 7)))
    counts = data.draw(arrays.arrays(np.int64, shape, elements=st.integers(0, 7)))
    off = data.draw(arrays.arrays(np.float64, shape, elements=st.sampled_from([0, 0, 0.1, 0.4])))
    values = (counts + off) / total[:, None]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_CELLS", cells)
        patch.setattr(module, "_WORTH", cells)
        patch.setattr(blocks, "cores", lambda: 3)
        found = off_whole(values, total, 1e-6)
    np.testing.assert_array_equal(found > 1e-6, off.max(axis=-1) > 0)
    np.testing.assert_allclose(found[found > 1e-6], off.max(axis=-1)[found > 1e-6], atol=1e-9)


@SMALL
@given(data=st.data())
def test_what_is_sound_is_so_in_full(cells: int, data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from([np.float64, np.float32]))
    shape = data.draw(SHAPES)
    total = data.draw(arrays.arrays(np.int64, shape[-2], elements=st.integers(1, 7)))
    counts = data.draw(arrays.arrays(np.int64, shape, elements=st.integers(0, 7)))
    counts[..., 0] += total - counts.sum(axis=-1)
    values = (counts / total[:, None]).astype(dtype)
    odd = data.draw(st.none() | st.sampled_from([np.nan, np.inf, -np.inf, 0.125, 1e-5, -1e-9]))
    if odd is not None:
        place = tuple(data.draw(st.integers(0, size - 1)) for size in shape)
        values[place] += odd
    within = data.draw(st.sampled_from([1e-6, 0.01]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_CELLS", cells)
        patch.setattr(module, "_WORTH", cells)
        patch.setattr(blocks, "cores", lambda: 3)
        distributions, whole = sound(values, within, total, 1e-6)
        assert sound(values, within) == (distributions, False)
    with np.errstate(invalid="ignore"):
        off = np.abs(values.sum(axis=-1, dtype=np.float64) - 1)
        rest = values * total[:, None].astype(np.float64)
        rest = np.abs(rest - np.rint(rest))
    assert distributions == bool(values.min() >= 0 and off.max() <= within)
    assert whole == (distributions and bool(rest.max() <= 1e-6))


def test_a_row_at_the_edge_is_left_to_the_facts() -> None:
    values = np.full((2, 1 << 16), (1 + 1e-6) / (1 << 16))
    assert np.abs(values.sum(axis=1) - 1).max() <= 1e-6
    assert sound(values, 1e-6) == (False, False)
    assert sound(values, 2e-6) == (True, False)
    assert sound(values.astype(np.float32), 2e-6) == (True, False)


def test_counts_of_huge_totals_are_whole_within_their_rounding() -> None:
    total = np.array([10**12, 3 * 10**12 + 1])
    values = np.array([[10**11 + 7, 9 * 10**11 - 7], [10**12, 2 * 10**12 + 1]]) / total[:, None]
    assert sound(values, 1e-6, total, 1e-6)[0]
    assert all_whole(values, total, 1e-6)
    assert not all_whole(values, np.array([7, 9]), 1e-6)


@SMALL
@given(rows=st.lists(st.lists(st.sampled_from([0, 0.5, 1]), min_size=2, max_size=2), min_size=1))
def test_hard_rows_until_enough_are_not(cells: int, rows: list[list[float]]) -> None:
    values = np.array(rows, np.float64)
    hard = sum(set(row) <= {0, 1} for row in rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_CELLS", cells)
        assert hard_rows(values) == hard
        for enough in range(len(rows) + 1):
            found = hard_rows(values, enough=enough)
            assert found == hard if len(rows) - hard <= enough else found <= hard
