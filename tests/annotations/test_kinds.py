"""Answers that each kind reads and refuses, and the messages."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import labelled_records as lr
import plausibly
from call_files import each_call
from plausibly.data.select import to_frame
from plausibly.errors import InputError
from plausibly.plugin import Annotation, AnnotationTable, build_table
from plausibly_builtins.label_set.sets import LabelSet
from plausibly_builtins.partial_ranking.points import PartialRanking
from plausibly_builtins.single_label.votes import SingleLabel
from plausibly_builtins.soft_label.weights import SoftLabel
from refusals import refused

SKIPS: list[object] = [None, math.nan, np.float64("nan"), pd.NA]


def mentions(table: AnnotationTable) -> list[tuple[object, ...]]:
    frame = to_frame(table).drop(columns=["example", "annotator"])
    return [tuple(row) for row in frame.itertuples(index=False)]


@pytest.mark.parametrize("skip", [*SKIPS, ""])
@pytest.mark.parametrize(("kind", "answer"), [(SingleLabel(), "a"), (PartialRanking(), ["a"])])
def test_an_empty_answer_is_a_skip(kind: Annotation, answer: object, skip: object) -> None:
    table = kind.build([("e", "r", answer), ("e", "q", skip)], None)
    assert table.sizes["response"] == 2
    assert table.sizes["mention"] == 1
    assert "not counted: 1 skipped" in " ".join(str(table).split())
    kind.validate(table)


@pytest.mark.parametrize("empty", [*SKIPS, "", [], (), set()])
def test_an_empty_label_set_needs_a_word(empty: object) -> None:
    records: lr.Records = [("e", "r", ["a"]), ("e", "q", empty), ("f", None, empty)]
    result = "found an empty set; 2 such responses, about e, f"
    with refused("answer-empty", "example e, annotator q", result, 'hint empty="drop"'):
        LabelSet().build(records, None)
    dropped = LabelSet(empty="drop").build(records, None)
    assert "not counted: 2 empty" in str(dropped)
    assert dropped["label"].values.tolist() == ["a"]
    named = LabelSet(empty="none of these").build(records, None)
    assert named["label"].values.tolist() == ["a", "none of these"]
    assert named.sizes["mention"] == 3
    with pytest.raises(InputError, match='says "none of these"'):
        LabelSet(empty="none of these").build(records, ["a"])


def test_a_label_set_is_a_set() -> None:
    first = LabelSet().build([("e", "r", ["b", "a", "b"]), ("f", "r", (1, "1"))], None)
    second = LabelSet().build([("e", "r", {"a", "b"}), ("f", "r", frozenset({"1"}))], None)
    xr.testing.assert_identical(first, second)
    assert first.sizes["mention"] == 3


def test_a_ranking_takes_lone_labels_and_blocks() -> None:
    first = PartialRanking().build([("e", "r", ["b", ["c", "a"], {"d"}])], None)
    second = PartialRanking().build([("e", "r", [["b"], ("a", "c"), "d"])], None)
    xr.testing.assert_identical(first, second)
    assert mentions(first) == [("b", 1), ("a", 2), ("c", 2), ("d", 3)]
    assert first["mention_block"].dtype == np.int16


def test_soft_labels_keep_weights_as_given_and_leave_out_zeros() -> None:
    table = SoftLabel().build([("e", "r", {"b": 3, "a": 0.5, "z": 0})], None)
    assert mentions(table) == [("a", 0.5), ("b", 3.0)]
    assert table["label"].values.tolist() == ["a", "b", "z"]


def test_numbers_and_text_are_the_same_names() -> None:
    numbers: lr.Records = [(7, 1, 0), (np.int64(8), np.str_("1"), True)]
    text: lr.Records = [("7", "1", "0"), ("8", "1", "True")]
    xr.testing.assert_identical(SingleLabel().build(numbers, None), SingleLabel().build(text, None))


def test_text_stays_as_written() -> None:
    odd = ["NA", "None", "nan", " a", "a ", "A", "a", "007", "7", "é", "e\u0301"]
    table = SingleLabel().build([(name, name, name) for name in odd], None)
    for dim in ("example", "annotator", "label"):
        assert table[dim].values.tolist() == sorted(odd)


def test_a_second_response_is_refused() -> None:
    records: lr.Records = [(e, "w17", "a") for e in ("t9", "t1", "t2", "t3") for _ in range(3)]
    pieces = ("example t1, annotator w17 answers again", "found 8 responses too many")
    with refused("response-twice", *pieces) as caught:
        SingleLabel().build([*records, ("t4", "w17", "a"), ("t1", "w20", "a")], None)
    assert caught.value.details == {"records": [1, 2, 4, 5, 7, 8, 10, 11]}


def test_a_label_outside_the_declared_ones_is_refused() -> None:
    records: lr.Records = [("e", "w17", "mellanoma"), ("f", "w17", "q"), ("e", None, "mellanoma")]
    with refused("label-unknown", "found 2 labels outside (3 votes)") as caught:
        SingleLabel().build([*records, ("g", "w17", "melanoma")], ["melanoma", "naevus"])
    assert caught.value.details == {"labels": ["mellanoma", "q"], "votes": 3, "records": [0, 1, 2]}


@pytest.mark.parametrize("label", ["task", "worker", "label", "example", "annotator", "response"])
def test_a_label_may_be_called_like_a_column(label: str) -> None:
    table = SingleLabel().build([("1", "a", label), ("1", "b", label)], None)
    result = plausibly.aggregate(table, "dawid-skene")
    assert result["label"].values.tolist() == [label]
    assert result.values.tolist() == [[pytest.approx(1.0)]]


def test_no_response_at_all_is_refused() -> None:
    with refused("annotations-empty", "found none"):
        SingleLabel().build([], ["a"])


def invalid(kind: str, **columns: object) -> AnnotationTable:
    """Return a table whose codes are fine and whose responses break the kind."""
    inputs: dict[str, object] = {
        "response_example": [0, 0],
        "response_annotator": [0, 1],
        "mention_response": [0, 0, 1],
        "mention_label": [0, 1, 0],
        **columns,
    }
    return build_table(kind, examples=["e"], annotators=["q", "r"], labels=["a", "b"], **inputs)  # type: ignore[arg-type]  # columns by name


test_each_call_gives_its_text = each_call(__file__, globals())
