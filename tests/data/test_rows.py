"""Sums that have no order, and the columns that aggregators work on."""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given, strategies as st

from plausibly.data.annotations import AnnotationTable, Rows
from plausibly.kernels import blocks
from plausibly.kernels.sums import ordered_sum, sums_by_label, whole


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
        patch.setattr(blocks, "_CELLS", cells)
        patch.setattr(blocks, "_WORTH", 1)
        patch.setattr(blocks, "spare", lambda: 3)
        plain = sums_by_label(example, label, values, (6, 3))
        shared = sums_by_label(example, label, values, (6, 3), total)
    whole_row = ordered_sum(example.astype(np.int64) * 3 + label, values, 18).reshape(6, 3)
    assert plain.tolist() == whole_row.tolist()
    assert shared.tolist() == (whole_row / total[:, None]).tolist()


def test_no_labels_have_no_sums() -> None:
    none = np.zeros(0, np.int32)
    assert sums_by_label(none, none, np.zeros(0), (2, 0)).shape == (2, 0)
