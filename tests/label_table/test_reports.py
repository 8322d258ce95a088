"""Reports of users of other tools that a table of labels answers, and damaged tables."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import plausibly
from io_files import csv_text, refusal, written
from plausibly.data.labels import Hierarchy, aliases_of
from plausibly.data.names import name_texts
from plausibly.errors import InputError


def read(folder: Path, labels: str, votes: str) -> dict[str, list[float]]:
    """Return the plausibilities by example of a crowd table with a table of labels."""
    table = plausibly.read_annotations(
        written(folder, "votes.csv", f"task,worker,label\n{votes}"),
        "crowd-table",
        written(folder, "labels.csv", labels),
    )
    lam = plausibly.aggregate(table, unanswered="drop")
    return dict(zip(name_texts(lam["example"].values), lam.values.tolist(), strict=True))


def test_report_28_numbers_instead_of_names_need_a_map(tmp_path: Path) -> None:
    """An export that writes the ids of labels: a table with these as aliases is the map."""
    votes = "a,1,7\na,2,12\nb,1,7\n"
    mapped = read(tmp_path, "label,alias\ncat,7\ndog,12\n", votes)
    assert mapped == {"a": [0.5, 0.5], "b": [1, 0]}
    error = refusal(lambda: read(tmp_path, "label\ncat\ndog\n", votes))
    assert (error.name, '"7"' in error.what) == ("label-unknown", True)


def test_report_3_zero_false_and_no_are_one_only_if_said(tmp_path: Path) -> None:
    votes = "a,1,0\na,2,False\na,3,1\na,4,no\n"
    said = read(tmp_path, "label,alias\nno,0|False\nyes,1|True\n", votes)
    assert said == {"a": [0.75, 0.25]}
    apart = read(tmp_path, "label\n0\nFalse\nno\n1\n", votes)
    assert apart == {"a": [0.25] * 4}


def test_report_9_a_label_that_nobody_named(tmp_path: Path) -> None:
    said = read(tmp_path, "label,alias\na,A\nb,B\nc,C\n", "x,1,A\nx,2,C\n")
    assert said == {"x": [0.5, 0, 0.5]}


def test_report_10_only_real_missing_is_missing(tmp_path: Path) -> None:
    """An alias ``nan`` is text like any other; an empty cell is a skip."""
    said = read(tmp_path, "label,alias\nnot a number,nan|NaN\nok,\n", "x,1,nan\nx,2,\nx,3,ok\n")
    assert said == {"x": [0.5, 0.5]}


def test_report_4_letters_and_numbers_of_two_teams(tmp_path: Path) -> None:
    """Two files in two spellings, one column map, one table of labels."""
    labels = written(tmp_path, "labels.csv", "label,alias\npositive,1|pos\nnegative,0|neg\n")
    one = written(tmp_path, "one.csv", "item,performer,label\nx,a,1\ny,a,0\n")
    two = written(tmp_path, "two.csv", "task,worker,label\nx,b,pos\ny,b,pos\n")
    parts = [
        plausibly.read_annotations(
            one, "crowd-table", labels, columns={"task": "item", "worker": "performer"}
        ),
        plausibly.read_annotations(two, "crowd-table", labels),
    ]
    lam = plausibly.aggregate(plausibly.concat(parts))
    np.testing.assert_array_equal(lam.values, [[1, 0], [0.5, 0.5]])


def test_a_taxonomy_in_which_some_stop_half_way(tmp_path: Path) -> None:
    """Label Studio lets annotators choose any level: two stop at a label above others."""

    def annotation(number: int, *path: str) -> dict[str, object]:
        value = {"from_name": "dx", "type": "taxonomy", "value": {"taxonomy": [list(path)]}}
        return {"id": number, "completed_by": number, "result": [value]}

    tasks = [
        {"id": 1, "data": {}, "annotations": [annotation(1, "Skin", "Dermatitis", "Eczema")]},
        {"id": 2, "data": {}, "annotations": [annotation(2, "Skin", "Dermatitis")]},
        {"id": 3, "data": {}, "annotations": [annotation(3, "Skin"), annotation(4, "Other")]},
    ]
    export = written(tmp_path, "export.json", json.dumps(tasks))
    rows = [["label", "parent", "alias"], ["eczema", "Dermatitis", "Eczema"]]
    rows += [["contact", "Dermatitis", ""], ["tinea", "Skin", ""], ["Dermatitis", "Skin", ""]]
    labels = written(tmp_path, "labels.csv", csv_text([*rows, ["Skin", "", ""], ["Other", "", ""]]))
    table = plausibly.read_annotations(export, "label-studio", labels)
    lam = plausibly.aggregate(table, "spread")
    assert name_texts(lam["label"].values) == ["eczema", "contact", "tinea", "Other"]
    expected = [[1, 0, 0, 0], [1 / 2, 1 / 2, 0, 0], [1 / 6, 1 / 6, 1 / 6, 1 / 2]]
    np.testing.assert_array_equal(lam.values, expected)
    assert lam["denominator"].values.tolist() == [1, 2, 6]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_table_from_a_spreadsheet(tmp_path: Path, end: str) -> None:
    text = end.join(["\ufefflabel;alias;parent", 'a;"x | y";top', "top;;", ""])
    table = plausibly.read_labels(written(tmp_path, "l.csv", text))
    assert aliases_of(table) == {"x": "a", "y": "a"}
    assert Hierarchy.of_table(table).above == (1,)


def test_a_very_long_alias(tmp_path: Path) -> None:
    long = "e" * 100_000
    assert read(tmp_path, f"label,alias\na,{long}\nb,\n", f"x,1,{long}\n") == {"x": [1, 0]}


_cells = st.sampled_from(["", "a", "b", "c", "a|b", "d | e", r"f\|g", "1", "2", "-1", "x", "|"])


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(
        st.tuples(st.sampled_from(["a", "b", "c", "d"]), _cells, _cells, _cells),
        min_size=1,
        max_size=4,
    ),
    cut=st.integers(0, 200),
)
def test_any_table_is_read_right_or_refused_by_name(
    tmp_path: Path, rows: list[tuple[str, str, str, str]], cut: int
) -> None:
    text = csv_text([["label", "alias", "parent", "order"], *rows])
    for content in (text, text.encode()[:cut], b"\xff" + text.encode()):
        path = written(tmp_path, "labels.csv", content)
        refused = ""
        try:
            table = plausibly.read_labels(path)
        except InputError as error:
            refused = str(error)
        assert not refused or "labels.csv" in refused
        if refused or content != text:
            continue
        labels = [row[0] for row in rows]
        assert name_texts(table["label"].values) == labels
        aliases = aliases_of(table)
        assert not set(aliases) & set(labels)
        assert set(aliases.values()) <= set(labels)
        assert all(row[2] in ("", *labels) for row in rows)
        numbers = [float(row[3]) for row in rows if row[3]]
        assert len(set(numbers)) == len(numbers)
        tree = Hierarchy.of_table(table)
        assert {labels[code] for code in tree.above} == {row[2] for row in rows} - {""}
