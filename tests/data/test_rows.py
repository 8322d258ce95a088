"""Sums and sorting without an order, the columns of aggregators, and one index of names."""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, strategies as st

from plausibly.data.annotations import AnnotationTable, Rows
from plausibly.data.names import text_array, text_index
from plausibly.data.records import in_order
from plausibly.kernels.sums import ordered_sum, whole


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


@given(st.lists(st.integers(0, 2**40), max_size=20))
def test_whole_numbers_add_exactly(terms: list[int]) -> None:
    values = np.array(terms, float)
    assert whole(values)
    assert not whole(np.append(values, 0.5))
    assert not whole(np.append(values, [2.0**52, 2.0**52]))  # their sums could round
    found = ordered_sum(np.zeros(len(terms), int), values, 1)
    assert Fraction(found[0]) == sum(terms)


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
    shared = rows.by_label(rows.share, np.array([2.0, 1.0, 4.0]))
    assert shared.tolist() == [[0.5, 0.75, 0], [1, 0, 1], [0.25, 0.25, 0]]
    named = rows.plausibilities(np.zeros((3, 3)), denominator=np.array([1, 2, 3]))
    assert set(named.coords) == {"example", "label", "patient", "risk", "denominator"}
    assert named.attrs == {"left_out": '{"unfinished": 3}'}


CODES = st.integers(0, 30) | st.integers(2**40, 2**40 + 30)  # three of these do not fit in 63 bits


@given(st.lists(st.tuples(*[CODES] * 3), max_size=60), st.randoms(use_true_random=False))
def test_codes_in_order(rows: list[tuple[int, int, int]], random: Random) -> None:
    random.shuffle(rows)
    found = in_order(*(np.array([row[k] for row in rows], np.int64) for k in range(3)))
    assert list(zip(*(column.tolist() for column in found), strict=True)) == sorted(rows)


@pytest.mark.parametrize(
    "texts", [["a", "bcd"], [], [""], ["é😀", "7"], ["\ud800", "x"], ["a\0b"]], ids=repr
)
def test_an_index_is_that_of_the_text_array(texts: list[str]) -> None:
    plain = xr.Dataset(coords={"example": ("example", text_array(texts))})
    index = text_index(texts, "example")
    found = xr.Dataset(coords=xr.Coordinates(index.create_variables(), {"example": index}))
    assert found.identical(plain)
    assert found["example"].dtype == plain["example"].dtype
    assert found["example"].values.dtype == plain["example"].values.dtype
    assert found.indexes["example"].dtype == plain.indexes["example"].dtype
    assert found.indexes["example"].equals(plain.indexes["example"])
