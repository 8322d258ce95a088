"""Rows of tables: their order, what is said of each, and what is asked of them at once."""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as arrays

from plausibly.data import (
    AnnotationTable,
    Rows,
    annotations as order,
    ordered_sum,
    rows,
    validate as module,
)
from plausibly.data.names import text_array, text_index
from plausibly.data.rows import sums_by_label, whole
from plausibly.data.validate import all_whole, hard_rows, off_whole, row_facts, sound
from plausibly.kernels import blocks
from plausibly.kernels.random import Names
from plausibly.kernels.utf8 import Utf8


@given(
    st.lists(st.tuples(st.integers(0, 3), st.floats(0, 1e9)), min_size=1, max_size=30),
    st.randoms(use_true_random=False),
)
def test_a_sum_is_the_same_in_every_order(terms: list[tuple[int, float]], random: Random) -> None:
    def total(pairs: list[tuple[int, float]]) -> list[float]:
        cells, values = zip(*pairs, strict=True)
        sums: list[float] = ordered_sum(np.array(cells), np.array(values), 4).tolist()
        return sums

    shuffled = random.sample(terms, len(terms))
    assert total(shuffled) == total(terms)
    for cell, found in enumerate(total(terms)):
        exact = math.fsum(value for where, value in terms if where == cell)
        assert found == pytest.approx(exact, rel=1e-14)


def test_the_order_would_matter_without_care() -> None:
    values = np.array([0.1, 0.2, 0.3])
    cells = np.zeros(3, int)
    assert np.bincount(cells, values)[0] != np.bincount(cells, values[::-1])[0]
    assert ordered_sum(cells, values, 1)[0] == ordered_sum(cells, values[::-1], 1)[0]


@given(st.lists(st.integers(0, 2**40), max_size=20))
def test_whole_numbers_add_exactly(terms: list[int]) -> None:
    values = np.array(terms, float)
    assert whole(values)
    found = ordered_sum(np.zeros(len(terms), int), values, 1)
    assert Fraction(found[0]) == sum(terms)


def test_what_is_not_whole() -> None:
    assert not whole(np.array([0.5]))
    assert not whole(np.array([2.0**52, 2.0**52]))  # their sums could round
    assert whole(np.array([]))


def test_columns_that_a_table_lacks_are_filled(table: AnnotationTable) -> None:
    rows = Rows.of(table.drop_vars(["response_weight", "mention_block", "mention_weight"]))
    assert rows.weight.tolist() == [1.0] * 6
    assert rows.block.tolist() == [1] * 7
    assert rows.share.tolist() == [1.0] * 7
    assert rows.counts
    assert rows.votes.tolist() == [2, 2, 1]
    assert rows.mentions.tolist() == [2, 1, 1, 1, 0, 2]


def test_sums_over_mentions(table: AnnotationTable) -> None:
    rows = Rows.of(table)
    assert not rows.counts
    assert rows.votes.tolist() == [3, 2, 1]
    assert rows.by_example(rows.share).tolist() == [2.5, 2, 2]
    assert rows.by_label(rows.share).tolist() == [[1, 1.5, 0], [1, 0, 1], [1, 1, 0]]
    named = rows.plausibilities(np.zeros((3, 3)), denominator=np.array([1, 2, 3]))
    assert set(named.coords) == {"example", "label", "patient", "risk", "denominator"}
    assert named.attrs == {"left_out": '{"unfinished": 3}'}


@pytest.mark.parametrize("cells", [1, 8, 1 << 15])
@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2), st.floats(0, 1e6)), max_size=40),
    st.booleans(),
    st.randoms(use_true_random=False),
)
def test_sums_by_label_are_those_of_all_cells_at_once(
    cells: int, terms: list[tuple[int, int, float]], counts: bool, random: Random
) -> None:
    random.shuffle(terms)
    terms.sort(key=lambda term: term[0])
    example, label, given_terms = (np.array([term[k] for term in terms]) for k in range(3))
    values = np.floor(given_terms) if counts else given_terms.astype(float)
    example, label = example.astype(np.int32), label.astype(np.int32)
    total = np.arange(2.0, 8.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "_CELLS", cells)
        patch.setattr(blocks, "cores", lambda: 3)
        plain = sums_by_label(example, label, values, (6, 3))
        shared = sums_by_label(example, label, values, (6, 3), total)
    whole_row = ordered_sum(example.astype(np.int64) * 3 + label, values, 18).reshape(6, 3)
    assert plain.tolist() == whole_row.tolist()
    assert shared.tolist() == (whole_row / total[:, None]).tolist()


def test_no_labels_have_no_sums() -> None:
    none = np.zeros(0, np.int32)
    assert sums_by_label(none, none, np.zeros(0), (2, 0)).shape == (2, 0)


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


@pytest.mark.parametrize("most", [63, 20, 3])
@given(
    st.lists(st.tuples(*[st.integers(0, 30)] * 3), max_size=60), st.randoms(use_true_random=False)
)
def test_codes_in_order(most: int, rows: list[tuple[int, int, int]], random: Random) -> None:
    random.shuffle(rows)
    codes = [np.array([row[k] for row in rows], np.int32) for k in range(3)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(order, "_MOST", most)  # bits that one number holds
        found = order.in_order(*codes)
    assert list(zip(*(column.tolist() for column in found), strict=True)) == sorted(rows)


def _utf8(texts: list[str]) -> Utf8:
    each = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, each)])
    return Utf8(np.frombuffer(b"".join(each), np.uint8), ends, lambda: texts)


@pytest.mark.parametrize(
    "texts", [["a", "bcd"], [], [""], ["é😀", "7"], ["\ud800", "x"], ["a\0b"]], ids=repr
)
def test_an_index_is_that_of_the_text_array(texts: list[str]) -> None:
    plain = xr.Dataset(coords={"example": ("example", text_array(texts))})
    index = text_index(Names(texts), "example")
    found = xr.Dataset(coords=xr.Coordinates(index.create_variables(), {"example": index}))
    assert found.identical(plain)
    assert found["example"].dtype == plain["example"].dtype
    assert found["example"].values.dtype == plain["example"].values.dtype
    assert found.indexes["example"].dtype == plain.indexes["example"].dtype
    assert found.indexes["example"].equals(plain.indexes["example"])
    if "\ud800" in texts or "a\0b" in texts:
        return
    index = text_index(Names(_utf8(texts)), "example")
    by_bytes = xr.Dataset(coords=xr.Coordinates(index.create_variables(), {"example": index}))
    assert by_bytes.identical(plain)
    assert by_bytes["example"].dtype == plain["example"].dtype
    assert by_bytes.indexes["example"].dtype == plain.indexes["example"].dtype
    assert Names(_utf8(texts)).joined() == Names(texts).joined()
