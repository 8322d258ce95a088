"""The strategies give what the border takes, and all of it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TypeVar

import pytest
import xarray as xr
from hypothesis import Phase, find as find_least, given, settings, strategies as st

import plausibly
from kit_components import Words, changed
from plausibly.data.annotations import check_table
from plausibly.data.plausibilities import check_plausibilities
from plausibly.data.validate import check_predictions
from plausibly.errors import MissingExtra
from plausibly.testing import data, strategies
from refusals import refused

Drawn = TypeVar("Drawn")

FEW = settings(max_examples=15)
ANY = settings(max_examples=500, phases=[Phase.generate])  # any example will do


def example_of(
    tables: st.SearchStrategy[Drawn], wanted: Callable[[Drawn], object] = lambda _: True
) -> Drawn:
    """Return something that the strategy gives and that is as wanted; fails where there is none."""
    return find_least(tables, lambda example: bool(wanted(example)), settings=ANY)


@pytest.mark.parametrize("kind", data.ANSWERS)
@FEW
@given(drawn=st.data())
def test_tables_are_whole_and_can_be_aggregated(kind: str, drawn: st.DataObject) -> None:
    table = drawn.draw(strategies.annotation_tables(kind))
    check_table(table, frozenset({kind}))
    shares = check_plausibilities(plausibly.aggregate(table))
    assert shares.sizes["label"] == table.sizes["label"] <= 4


def test_tables_have_unknown_annotators_ranks_and_one_label() -> None:
    tables = strategies.annotation_tables("partial-ranking")
    example_of(tables, lambda table: (table.response_annotator < 0).any())
    example_of(tables, lambda table: table.sizes["label"] == 1)
    example_of(tables, lambda table: (table.mention_block > 1).any())


@FEW
@given(strategies.annotation_tables("single-label", unknown=False, max_examples=2))
def test_tables_of_known_annotators_and_few_examples(table: xr.Dataset) -> None:
    assert (table.response_annotator >= 0).all()
    assert table.sizes["example"] <= 2


def test_a_kind_of_ones_own_brings_its_answers() -> None:
    own = changed(Words, name="own")
    table = example_of(strategies.annotation_tables(own, answers=st.sampled_from))
    assert table.attrs["kind"] == "own"
    hint = "hint annotation_tables(kind, answers=lambda labels: a strategy of answers)"
    with refused("kit-data-missing", hint):
        example_of(strategies.annotation_tables(own))


@FEW
@given(strategies.predictions(), strategies.predictions(scale="logit", dtype="float32"))
def test_predictions_pass_the_border(shares: xr.DataArray, logits: xr.DataArray) -> None:
    check_predictions(shares)
    assert check_predictions(logits).attrs["scale"] == "logit"
    assert logits.dtype == "float32"


def test_predictions_have_ties_and_zeros_and_both_widths() -> None:
    every = strategies.predictions(max_examples=2, max_labels=2)
    example_of(every, lambda p: (p == 0).any())
    example_of(every, lambda p: p.sizes["label"] > 1 and len(set(p.values[0].tolist())) == 1)
    narrow = example_of(every, lambda p: p.dtype == "float32")
    wide = example_of(every, lambda p: p.dtype == "float64")
    assert max(*narrow.shape, *wide.shape) <= 2


def test_the_extra_is_named_where_hypothesis_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hypothesis.strategies", None)
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    with refused("extra-missing", 'pip install "plausibly[testing]"', kind=MissingExtra):
        strategies.predictions()
