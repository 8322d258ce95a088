"""Crowd tables: one row a vote."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, strategies as st

import plausibly
from crowd_votes import votes_of
from io_files import csv_text, refusal, result_or_refusal, said, warned, written
from plausibly.io.text import write_columns
from plausibly_builtins.readers.crowd_table import CrowdTable

HEADER = "task,worker,label\n"
VOTES = HEADER + "t1,a,cat\nt1,b,dog\nt2,a,dog\n"


def read(path: Path, labels: list[str] | None = None, **options: object) -> xr.Dataset:
    return plausibly.read_annotations(path, "crowd-table", labels, **options)


# ---- what is read


def test_votes_are_read(tmp_path: Path) -> None:
    table = read(written(tmp_path, "votes.csv", VOTES))
    assert table.attrs["kind"] == "single-label"
    assert votes_of(table) == {
        ("t1", "a", ("cat",)): 1,
        ("t1", "b", ("dog",)): 1,
        ("t2", "a", ("dog",)): 1,
    }
    assert table["label"].values.tolist() == ["cat", "dog"]
    assert plausibly.aggregate(table).sel(example="t1").values.tolist() == [0.5, 0.5]


def test_columns_may_stand_in_any_order_among_others(tmp_path: Path) -> None:
    path = written(tmp_path, "v.csv", "time,answer,item,rater\n1,cat,t1,a\n2,dog,t1,b\n")
    table = read(path, columns={"task": "item", "worker": "rater", "label": "answer"})
    assert votes_of(table) == {("t1", "a", ("cat",)): 1, ("t1", "b", ("dog",)): 1}
    path = written(tmp_path, "v.csv", "label,item,worker\ncat,t1,a\ndog,t1,b\n")
    assert votes_of(read(path, columns={"task": "item"})) == votes_of(table)


def test_files_without_header(tmp_path: Path) -> None:
    path = written(tmp_path, "v.tsv", "a\tt1\tcat\nb\tt1\tdog\n")
    expected = {("t1", "a", ("cat",)): 1, ("t1", "b", ("dog",)): 1}
    positions = {"task": "2", "worker": "1", "label": "3"}
    assert votes_of(read(path, columns=positions)) == expected
    assert votes_of(read(path, columns=positions, header=False)) == expected
    ordered = written(tmp_path, "o.csv", "t1,a,cat\nt1,b,dog\n")
    assert votes_of(read(ordered, header=False)) == expected
    # Columns whose names are numbers are names, where the header has them.
    named = written(tmp_path, "n.csv", "2,1,3\nt1,a,cat\nt1,b,dog\n")
    assert votes_of(read(named, columns=positions)) == expected


@pytest.mark.filterwarnings("ignore:warning names-alike")
def test_text_stays_as_written(tmp_path: Path) -> None:
    rows = [
        ["task", "worker", "label"],
        ["007", "1", "0"],
        ["7", "1.0", "False"],
        ["7", "01", " 0"],
    ]
    table = read(written(tmp_path, "v.csv", csv_text(rows)))
    assert votes_of(table) == {
        ("007", "1", ("0",)): 1,
        ("7", "1.0", ("False",)): 1,
        ("7", "01", (" 0",)): 1,
    }


def test_parquet_and_tsv_give_the_same(tmp_path: Path) -> None:
    rows = [
        ["task", "worker", "label"],
        ["t1", "a", "x, y"],
        ["t1", "b", 'q"'],
        ["t2", "a", "x, y"],
    ]
    tables = [read(written(tmp_path, "v.csv", csv_text(rows)))]
    tables.append(read(written(tmp_path, "v.tsv", csv_text(rows, "\t"))))
    tables.append(read(written(tmp_path, "v.txt", csv_text(rows, ";")), delimiter=";"))
    write_columns(tmp_path / "v.parquet", rows[0], [list(c) for c in zip(*rows[1:], strict=True)])
    tables.append(read(tmp_path / "v.parquet"))
    for table in tables[1:]:
        xr.testing.assert_equal(table, tables[0])


def test_an_empty_label_is_a_skip_and_is_counted(tmp_path: Path) -> None:
    table = read(written(tmp_path, "v.csv", VOTES + "t2,b,\nt3,b,\n"))
    assert votes_of(table)["t2", "b", ()] == 1
    assert table.sizes["response"] == 5
    assert "not counted: 2 skipped" in repr(table)


def test_labels_that_mean_no_answer(tmp_path: Path) -> None:
    path = written(tmp_path, "v.csv", VOTES + "t2,b,NA\nt3,b,?\n")
    table = read(path, missing=["NA", "?"])
    assert table["label"].values.tolist() == ["cat", "dog"]
    assert votes_of(table)["t2", "b", ()] == 1
    assert read(path, ["dog", "cat"], missing=["NA", "?"])["label"].values.tolist() == [
        "dog",
        "cat",
    ]


def test_rows_of_one_answer_are_a_set(tmp_path: Path) -> None:
    text = HEADER + "t1,a,x\nt1,b,y\nt1,a,y\nt1,a,x\nt2,a,\nt2,b,x\nt2,b,\n"
    table = read(written(tmp_path, "v.csv", text), kind="label-set")
    assert table.attrs["kind"] == "label-set"
    assert votes_of(table) == {
        ("t1", "a", ("x", "y")): 1,
        ("t1", "b", ("y",)): 1,
        ("t2", "a", ()): 1,
        ("t2", "b", ("x",)): 1,
    }


def test_rows_of_unknown_workers_are_answers_of_their_own(tmp_path: Path) -> None:
    path = written(tmp_path, "v.csv", HEADER + "t1,,cat\nt1,,cat\nt1,a,dog\n")
    expected = {("t1", None, ("cat",)): 2, ("t1", "a", ("dog",)): 1}
    for kind in ("single-label", "label-set"):
        with pytest.warns(UserWarning, match="annotators-unnamed"):
            assert votes_of(read(path, kind=kind)) == expected
    assert warned(lambda: read(path)) == (
        "warning annotators-unnamed: v.csv does not say who gave 2 responses (line 2, line 3) "
        "expected who said it; each is kept as the response of an unknown annotator "
        "do name the annotators, if one of them may have answered an example again; "
        '--reader \'{name = "crowd-table", states = {unknown-annotator = "drop"}}\' '
        "leaves these out"
    )


def test_declared_labels_stay_at_full_width(tmp_path: Path) -> None:
    table = read(written(tmp_path, "v.csv", VOTES), ["fox", "dog", "cat"])
    assert table["label"].values.tolist() == ["fox", "dog", "cat"]
    assert bool(table.attrs["labels_declared"])


@given(data=st.data())
def test_the_order_of_rows_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    text = st.text('ab,"\n;é ', max_size=3)
    named = text.filter(str.strip)  # nothing but blanks is no name
    pairs = st.tuples(named, named)
    answers = data.draw(st.dictionaries(pairs, text, min_size=1, max_size=8))
    rows = [[task, worker, label] for (task, worker), label in answers.items()]
    folder = tmp_path_factory.mktemp("order")
    tables = []
    for name, order in (("a.csv", rows), ("b.csv", data.draw(st.permutations(rows)))):
        path = written(folder, name, csv_text([["task", "worker", "label"], *order]))
        tables.append(result_or_refusal(lambda path=path: read(path, delimiter=","), path.name))  # type: ignore[misc]  # bound now
    first, second = tables
    if first is None or second is None:
        assert not any(map(str.strip, answers.values()))  # nobody named a label
        assert first is second
        return
    xr.testing.assert_equal(first, second)
    assert votes_of(first) == Counter(
        (task, worker, (label,) if label.strip() else ())
        for (task, worker), label in answers.items()
    )


@pytest.mark.parametrize(
    ("blank", "rows"),
    [(" ", 0), ("\t ", 0), ("\u3000", 0), (" \ufeff ", 0), (" ", 20_000), ("\u200b", 20_000)],
)
def test_a_cell_of_blanks_is_an_empty_cell(tmp_path: Path, blank: str, rows: int) -> None:
    """A large file is read by arrays, a small one row by row."""
    more = "".join(f"e{row},a,dog\n" for row in range(rows))
    pair = [
        read(written(tmp_path, "v.csv", f"{HEADER}t1,a,cat\nt1,b,{cell}\n{more}"))
        for cell in (blank, "")
    ]
    xr.testing.assert_equal(*pair)
    assert "1 skipped" in repr(pair[0])
    path = written(tmp_path, "v.csv", f"{HEADER}t1,a,cat\n{blank},b,cat\n{more}")
    error = refusal(lambda: read(path))
    assert (error.name, error.details["lines"]) == ("example-unnamed", [3])


def test_a_worker_of_blanks_is_unknown(tmp_path: Path) -> None:
    path = written(tmp_path, "v.csv", f"{HEADER}t1,a,cat\nt1,  ,dog\n")
    assert "annotators-unnamed" in warned(lambda: read(path))
    with pytest.warns(plausibly.PlausiblyWarning):
        assert read(path)["annotator"].values.tolist() == ["a"]


def test_nan_in_a_column_of_numbers_is_an_empty_cell(tmp_path: Path) -> None:
    path = tmp_path / "v.parquet"
    write_columns(
        path, ["task", "worker", "label"], [["t1"] * 3, ["a", "b", "c"], np.array([1.0, np.nan, 2])]
    )
    table = read(path)
    assert table["label"].values.tolist() == ["1", "2"]
    assert "1 skipped" in repr(table)


@pytest.mark.parametrize(
    ("duplicates", "said", "reason"),
    [("first", "cat", "later answers"), ("last", "dog", "earlier answers")],
)
def test_the_first_or_the_last_answer_in_the_file(
    tmp_path: Path, duplicates: str, said: str, reason: str
) -> None:
    """An empty cell is no answer, wherever it stands."""
    rows = "t1,a,\nt1,a,cat\nt1,a,ant\nt1,a,dog\nt1,a,\nt2,a,owl\n"
    table = read(written(tmp_path, "v.csv", HEADER + rows), duplicates=duplicates)
    assert votes_of(table) == {("t1", "a", (said,)): 1, ("t2", "a", ("owl",)): 1}
    assert f"2 {reason}" in str(table)


def test_the_latest_is_offered_only_where_there_are_times(tmp_path: Path) -> None:
    rows = "t1,a,cat,1\nt1,a,dog,2\n"
    path = written(tmp_path, "v.csv", "task,worker,label,at\n" + rows)
    assert "latest" not in refusal(lambda: read(path)).do
    columns = {"time": "at"}
    assert "latest" in refusal(lambda: read(path, columns=columns)).do
    table = read(path, columns=columns, duplicates="latest")
    assert votes_of(table) == {("t1", "a", ("dog",)): 1}


# ---- what is said


def test_missing_columns(tmp_path: Path) -> None:
    path = written(tmp_path, "votes.csv", "item,rater,answer\nt1,a,cat\n")
    assert said(lambda: read(path)) == (
        'error columns-missing: votes.csv has no column "task", "worker", "label" '
        "expected those three; got item, rater, answer "
        "do --columns task=item,worker=rater,label=answer"
    )
    path = written(tmp_path, "votes.csv", "task,worker,answer\nt1,a,cat\n")
    assert said(lambda: read(path)) == (
        'error columns-missing: votes.csv has no column "label" '
        "expected that column; got task, worker, answer do --columns label=answer"
    )
    path = written(tmp_path, "votes.csv", "w1,t1,cat\nw1,t2,dog\n")
    assert refusal(lambda: read(path)).do == (
        "--columns task=1,worker=2,label=3, with the positions of this file"
    )
    error = refusal(lambda: read(path, header=False, columns={"task": "9"}))
    assert (error.name, error.got) == ("columns-missing", "3 columns without names")


def test_columns_that_no_crowd_table_has(tmp_path: Path) -> None:
    path = written(tmp_path, "votes.csv", VOTES)
    assert said(lambda: read(path, columns={"wroker": "who"})) == (
        'error columns-unknown: votes.csv: a crowd table has no "wroker" '
        "expected task, worker and label, and where it has them weight, time and state; "
        "got wroker do did you mean worker?"
    )
    assert refusal(lambda: read(path, columns={"x": "who"})).do == "map task, worker or label"


def test_a_label_that_was_not_declared(tmp_path: Path) -> None:
    text = HEADER + "".join(f"t{row},a,nevus\n" for row in range(86))
    text += "t1,w17,mellanoma\n" + "t2,w17,x\n" + "t3,b,y\n" + "t4,b,y\n"
    path = written(tmp_path, "votes.csv", text)
    assert said(lambda: read(path, ["melanoma", "nevus"])) == (
        'error label-unknown: votes.csv line 88, w17 says "mellanoma" '
        "expected one of 2 declared labels; got 3 labels outside (4 votes) "
        'do did you mean "melanoma"? mend it, or declare it in --labels'
    )
    error = refusal(lambda: read(path, ["nevus", "x", "y"]))
    assert (error.do, error.details) == (
        "mend it, or declare it in --labels",
        {"labels": {"mellanoma": 1}, "line": 88},
    )
    path = written(tmp_path, "votes.csv", HEADER + "t1,,NA\n")
    error = refusal(lambda: read(path, ["a"]))
    assert error.what == 'votes.csv line 2, an unknown annotator says "NA"'
    assert error.do == '--missing NA, if it means "no answer"'


def test_a_second_answer(tmp_path: Path) -> None:
    path = written(tmp_path, "votes.csv", VOTES + "t2,a,cat\nt1,a,cat\nt1,a,dog\n")
    assert said(lambda: read(path)) == (
        "error response-twice: votes.csv: a answered 2 tasks again (t1, t2) "
        "expected one response an annotator and task; got up to 3 "
        'do keep one of them, or --reader \'{name = "crowd-table", duplicates = "all"}\' '
        "(or fractional, first, last); --kind label-set, if they are one answer"
    )
    path = written(tmp_path, "votes.csv", VOTES + "t1,b,dog\nt1,a,cat\n")
    error = refusal(lambda: read(path))
    assert error.what == "votes.csv: a answered 1 task again (t1)"
    assert error.got == "up to 2, also by 1 other"
    assert error.details["annotators"] == {"a": ["t1"], "b": ["t1"]}


def test_labels_that_look_like_no_answer(tmp_path: Path) -> None:
    path = written(tmp_path, "votes.csv", VOTES + "t2,b,NA\nt3,b,NA\n")
    assert warned(lambda: read(path)) == (
        'warning labels-like-missing: votes.csv: 2 labels "NA" are kept as text '
        'expected a label name (text stays as written); is it "no answer"? '
        "do --missing NA, if it is"
    )
    with pytest.warns(UserWarning, match="labels-like-missing"):
        assert read(path)["label"].values.tolist() == ["NA", "cat", "dog"]
    assert read(path, ["NA", "cat", "dog"])["label"].values.tolist() == ["NA", "cat", "dog"]
    path = written(tmp_path, "votes.csv", VOTES + "t2,b,None\nt3,b,nan\n")
    assert warned(lambda: read(path, missing=["nan"])).startswith(
        'warning labels-like-missing: votes.csv: 1 label "None" is kept as text'
    )


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (HEADER, "annotations-empty"),
        (HEADER + ",a,cat\n", "example-unnamed"),
        (HEADER + "t1,a,cat,x\n", "row-width"),
        (HEADER + "t1,a,\n", "annotations-empty"),
    ],
)
def test_tables_that_cannot_be_used(tmp_path: Path, text: str, name: str) -> None:
    assert refusal(lambda: read(written(tmp_path, "votes.csv", text))).name == name


def test_tables_that_name_no_label(tmp_path: Path) -> None:
    path = written(tmp_path, "votes.csv", HEADER + "t1,a,\nt2,a,?\n")
    assert said(lambda: read(path, missing=["?"])) == (
        "error annotations-empty: votes.csv names no label "
        "expected one row a vote; got 2 empty answers and no declared labels "
        "do write it again, or name another file"
    )
    assert votes_of(read(path, ["cat"], missing=["?"])) == {
        ("t1", "a", ()): 1,
        ("t2", "a", ()): 1,
    }


def test_tasks_without_a_name(tmp_path: Path) -> None:
    path = written(tmp_path, "votes.csv", VOTES + ",a,cat\n,b,cat\n")
    assert said(lambda: read(path)) == (
        "error example-unnamed: votes.csv names no task in lines 5, 6 "
        "expected the name of a task; got an empty cell do name it, or remove the row"
    )


# ---- recognition


@pytest.mark.parametrize(
    ("text", "options", "recognised"),
    [
        (VOTES, {}, True),
        ("label;worker;time;task\n", {}, True),
        ("item,rater,answer\n", {}, False),
        ("item,worker,label\n", {"columns": {"task": "item"}}, True),
        ("a,b,c\n", {"columns": {"task": "1", "worker": "2", "label": "3"}}, True),
        ("a,b\n", {"columns": {"task": "1", "worker": "2", "label": "3"}}, False),
        ("a,b,c\n", {"header": False}, True),
        ("", {}, False),
        ("[[[[1]]]]", {}, False),
    ],
)
def test_recognition(
    tmp_path: Path, text: str, options: dict[str, object], recognised: bool
) -> None:
    path = written(tmp_path, "v.csv", text)
    reader = CrowdTable(**options)  # type: ignore[arg-type]  # by name
    assert reader.recognises(path, path.read_bytes()) is recognised


@given(content=st.binary(max_size=150), start=st.sampled_from([b"", HEADER.encode()]))
@pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")
def test_any_bytes_are_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, start: bytes
) -> None:
    path = written(tmp_path_factory.mktemp("any"), "v.csv", start + content)
    CrowdTable().recognises(path, start + content)
    result_or_refusal(lambda: read(path), path.name)
