"""Crowd tables as platforms write them, and votes with states, weights and times."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import xarray as xr
from hypothesis import given, strategies as st

import plausibly
from crowd_votes import votes_of
from io_files import csv_text, refusal, result_or_refusal, said, warned, written
from plausibly.protocols import READER
from plausibly.registry import resolve
from plausibly_builtins.readers.crowd_table import CrowdTable

VOTES = "task,worker,label\nt1,a,cat\nt1,b,dog\nt2,a,dog\n"
TOLOKA = (
    "INPUT:image\tOUTPUT:result\tGOLDEN:result\tASSIGNMENT:task_id\tASSIGNMENT:worker_id\t"
    "ASSIGNMENT:status\tASSIGNMENT:submitted\n"
    "a.png\tcat\t\tT1\tw1\tAPPROVED\t2021-03-01T10:00:00.123\n"
    "a.png\tdog\t\tT1\tw2\tREJECTED\t2021-03-01T10:01:00.5\n"
    "b.png\tdog\tdog\tT2\tw1\tAPPROVED\t2021-03-01T10:00:00.123\n"
    "b.png\t\t\tT3\tw2\tSKIPPED\t\n"
    "c.png\t\t\tT4\tw3\tEXPIRED\t\n"
)
MTURK = "HITId,WorkerId,AssignmentStatus,SubmitTime,Input.url,Answer.label,Answer.sure\n"
EIGHT = "_unit_id,_worker_id,_tainted,_golden,_created_at,text,mood,mood_gold\n"


def read(
    path: Path, labels: list[str] | None = None, reader: str | None = None, **options: object
) -> xr.Dataset:
    return plausibly.read_annotations(path, reader, labels, **options)


def tasks(folder: Path, *answers: object) -> Path:
    """Return a batch of assignments with these answers as JSON, one task each."""
    rows = [[f"h{row}", "w", json.dumps([answer])] for row, answer in enumerate(answers)]
    header = ["HITId", "WorkerId", "Answer.taskAnswers"]
    return written(folder, "b.csv", csv_text([header, *rows]))


# ---- platforms


def test_toloka(tmp_path: Path) -> None:
    path = written(tmp_path, "t.tsv", TOLOKA)
    table = read(path, golden="count")
    assert votes_of(table) == {
        ("T1", "w1", ("cat",)): 1,
        ("T1", "w2", ()): 1,
        ("T2", "w1", ("dog",)): 1,
        ("T3", "w2", ()): 1,
        ("T4", "w3", ()): 1,
    }
    assert "not counted: 1 unfinished, 1 skipped, 1 rejected" in repr(table)
    counted = read(path, golden="count", states={"rejected": "count"})
    assert votes_of(counted)["T1", "w2", ("dog",)] == 1


def test_toloka_tasks_with_a_known_answer_are_told_counted_or_dropped(tmp_path: Path) -> None:
    path = written(tmp_path, "t.tsv", TOLOKA)
    assert warned(lambda: read(path)) == (
        "warning answers-known: t.tsv: the answer to 1 task is known (1 vote, line 4) "
        "expected tasks of which only the annotators tell; these check the workers; "
        'got each vote counts do --reader \'{name = "crowd-table", golden = "drop"}\', '
        'or golden = "count"'
    )
    dropped = read(path, golden="drop")
    assert "T2" not in dropped["example"].values
    assert "1 votes on tasks with a known answer" in repr(dropped)
    assert said(lambda: read(written(tmp_path, "v.csv", VOTES), golden="drop")) == (
        "error columns-missing: v.csv does not say of which tasks the answer is known "
        "expected GOLDEN:… as Toloka writes it, or _golden as Figure Eight does; "
        "got 3 columns do leave out golden, or name the preset"
    )


def test_a_task_may_be_told_by_an_input(tmp_path: Path) -> None:
    path = written(tmp_path, "t.tsv", TOLOKA)
    table = read(path, columns={"task": "INPUT:image"}, golden="count")
    assert table["example"].values.tolist() == ["a.png", "b.png", "c.png"]
    text = "INPUT:q\tOUTPUT:r\tASSIGNMENT:worker_id\nx\tyes\tw\n"
    assert votes_of(read(written(tmp_path, "s.tsv", text))) == {("x", "w", ("yes",)): 1}


def test_mturk_states_and_the_latest_by_its_time(tmp_path: Path) -> None:
    rows = (
        "h1,w1,Approved,Wed Jan 24 09:51:16 PST 2018,u,cat,yes\n"
        "h1,w2,Rejected,Wed Jan 24 09:51:16 PST 2018,u,dog,yes\n"
        "h2,w1,Submitted,Sun Jul 01 09:30:00 PDT 2018,u,cat,no\n"
        "h2,w1,Submitted,Sun Jul 01 09:00:00 PST 2018,u,dog,no\n"
        ",,,,,,\n"
    )
    path = written(tmp_path, "b.csv", MTURK + rows)
    table = read(path, answer="label", duplicates="latest")
    assert votes_of(table) == {
        ("h1", "w1", ("cat",)): 1,
        ("h1", "w2", ()): 1,
        ("h2", "w1", ("dog",)): 1,  # 9:00 PST is after 9:30 PDT
    }
    for told in ("1 rejected", "1 earlier answers"):
        assert told in repr(table)
    assert refusal(lambda: read(path, answer="Answer.label")).name == "response-twice"
    assert said(lambda: read(path)) == (
        "error answer-unclear: b.csv has 2 columns that may hold the answers "
        'expected the name of one; got "Answer.label", "Answer.sure" '
        'do --reader \'{name = "crowd-table", answer = "Answer.label"}\''
    )
    error = refusal(lambda: read(path, answer="mood"))
    assert (error.name, error.what) == (
        "columns-missing",
        'b.csv has no column "Answer.mood"',
    )


def test_mturk_answers_as_json(tmp_path: Path) -> None:
    path = tasks(tmp_path, {"q": {"label": "A"}}, {"q": {"A": False, "B": True}}, {"q": "C"})
    assert votes_of(read(path)) == {
        ("h0", "w", ("A",)): 1,
        ("h1", "w", ("B",)): 1,
        ("h2", "w", ("C",)): 1,
    }
    path = tasks(tmp_path, {"q": {"B": True, "A": True}}, {"q": {"B": False, "A": True}})
    table = read(path)
    assert table.attrs["kind"] == "label-set"
    assert table["label"].values.tolist() == ["B", "A"]  # as the file offers them
    assert votes_of(table) == {("h0", "w", ("A", "B")): 1, ("h1", "w", ("A",)): 1}
    path = tasks(tmp_path, {"q": {"labels": ["A", "B"]}}, {"q": {"labels": []}})
    assert refusal(lambda: read(path)).name == "answer-empty"
    assert votes_of(read(path, states={"empty": "drop"}))["h1", "w", ()] == 1


def test_questions_of_one_cell(tmp_path: Path) -> None:
    path = tasks(tmp_path, {"sure": {"on": True}, "dx": {"label": "A"}}, {"dx": {"label": "B"}})
    assert said(lambda: read(path)) == (
        "error answer-unclear: b.csv answers 2 questions in one cell "
        'expected the name of one; got "dx", "sure" '
        'do --reader \'{name = "crowd-table", answer = "dx"}\''
    )
    assert votes_of(read(path, answer="dx")) == {("h0", "w", ("A",)): 1, ("h1", "w", ("B",)): 1}
    assert votes_of(read(path, answer="sure"))["h1", "w", ()] == 1
    assert said(lambda: read(path, answer="x")) == (
        'error columns-missing: b.csv has no answer to "x" expected a column, or a question in '
        'one; got questions "dx", "sure" do name one that is there'
    )


@pytest.mark.parametrize("answer", [{"q": {"a": {"b": 1}}}, {"q": [1, {}]}, 7])
def test_json_that_names_no_label(tmp_path: Path, answer: object) -> None:
    path = tasks(tmp_path, {"q": "A"}, answer)
    error = refusal(lambda: read(path))
    assert (error.name, error.what) == (
        "answer-unreadable",
        "b.csv line 3 has an answer that names no label",
    )
    broken = written(tmp_path, "b.csv", "HITId,WorkerId,Answer.taskAnswers\nh,w,[{\n")
    error = refusal(lambda: read(broken))
    assert error.what == "b.csv line 2, column 2: the cell ends early"


def test_figure_eight(tmp_path: Path) -> None:
    rows = (
        '1,w1,false,false,7/12/2014 08:34:29,x,"sad\nangry",\n'
        "1,w2,true,false,7/12/2014 08:34:29,x,glad,\n"
        "2,w1,false,true,7/12/2014 09:34:29,x,glad,glad\n"
    )
    path = written(tmp_path, "f.csv", EIGHT + rows)
    table = read(path, golden="drop")
    assert table.attrs["kind"] == "label-set"
    assert votes_of(table) == {("1", "w1", ("angry", "sad")): 1, ("1", "w2", ()): 1}
    assert "1 rejected" in repr(table)
    again = written(tmp_path, "f.csv", EIGHT + rows + "1,w1,false,false,8/1/2014 00:00:00,x,sad,\n")
    latest = read(again, golden="drop", duplicates="latest")
    assert votes_of(latest)["1", "w1", ("sad",)] == 1
    one = written(tmp_path, "o.csv", EIGHT + "1,w1,false,false,x,x,sad,\n")
    assert read(one).attrs["kind"] == "single-label"  # a time that nobody asks for may be any


@pytest.mark.parametrize("name", ["performer", "annotator"])
def test_report_4_and_5_the_worker_under_its_older_names(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, "v.csv", VOTES.replace("worker", name))
    expected = votes_of(read(written(tmp_path, "w.csv", VOTES)))
    assert votes_of(read(path)) == expected
    assert votes_of(read(path, preset="crowd-kit")) == expected
    text = written(tmp_path, "v.csv", f"task,{name},text\nt1,a,cat\n")
    assert said(lambda: read(text, reader="crowd-table", preset="crowd-kit")) == (
        'error columns-missing: v.csv has no column "label" '
        f"expected that column; got task, {name}, text do --columns label=text"
    )


def test_a_preset_of_another_platform_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "v.csv", VOTES)
    assert refusal(lambda: read(path, preset="mturk")).name == "format-unknown"
    error = refusal(lambda: read(path, reader="crowd-table", preset="mturk"))
    assert said(lambda: read(path, reader="crowd-table", preset="mturk")) == (
        "error columns-missing: v.csv has no column of answers "
        'expected one that starts with "Answer.", as mturk writes it; got task, worker, label '
        'do --reader \'{name = "crowd-table", answer = "COLUMN"}\''
    )
    assert error.details == {"seen": ["task", "worker", "label"]}


# ---- what a vote may have besides


def test_weights_times_and_states_by_their_columns(tmp_path: Path) -> None:
    text = "task,worker,label,n,at,how\nt1,a,cat,2,10,\nt1,a,dog,1,9.5,answered\n"
    text += "t2,b,cat,1,3,Rejected\n"
    path = written(tmp_path, "v.csv", text)
    columns = {"weight": "n", "time": "at", "state": "how"}
    table = read(path, columns=columns, duplicates="latest")
    assert votes_of(table) == {("t1", "a", ("cat",)): 1, ("t2", "b", ()): 1}
    assert table["response_weight"].values.tolist() == [2.0, 1.0]
    shares = read(path, columns=columns, duplicates="fractional")
    assert plausibly.aggregate(shares, unanswered="drop").sel(
        example="t1"
    ).values.tolist() == pytest.approx([2 / 3, 1 / 3])
    assert read(path, columns={"weight": "n"}, duplicates="all").sizes["response"] == 3


@pytest.mark.parametrize(
    ("column", "cells", "message"),
    [
        ("weight", ["1", "-1"], 'weight-unreadable: v.csv line 3 has the weight "-1"'),
        ("weight", ["1", ""], 'weight-unreadable: v.csv line 3 has the weight ""'),
        ("weight", ["0", "1"], 'weight-unreadable: v.csv line 2 has the weight "0"'),
        ("state", ["", "rejcted"], 'state-unknown: v.csv line 3 has the state "rejcted"'),
        ("time", ["1", "noon"], 'time-unreadable: v.csv line 3 has the time "noon"'),
        ("time", ["1", "2020-01-01"], "times-unlike: v.csv line 3 has a time that is without a"),
        ("time", ["", "Wed Jan 24 09:51:16 XST 2018"], "time-unreadable: v.csv line 3 has"),
    ],
)
def test_cells_that_cannot_be_read(
    tmp_path: Path, column: str, cells: list[str], message: str
) -> None:
    rows = [["task", "worker", "label", "x"]]
    rows += [["t", who, "cat", cell] for who, cell in zip("ab", cells, strict=True)]
    path = written(tmp_path, "v.csv", csv_text(rows))
    text = said(lambda: read(path, columns={column: "x"}, duplicates="latest"))
    assert text.startswith(f"error {message}")


def test_what_to_do_about_a_state_nobody_knows(tmp_path: Path) -> None:
    path = written(tmp_path, "v.csv", "task,worker,label,s\nt,a,x,rejcted\n")
    assert refusal(lambda: read(path, columns={"state": "s"})).do == (
        "did you mean rejected? mend it"
    )


def test_sets_in_a_cell(tmp_path: Path) -> None:
    path = written(tmp_path, "v.csv", "task,worker,label\nt1,a,x|y\nt1,b,y\nt2,b,\n")
    table = read(path, separator="|")
    assert table.attrs["kind"] == "label-set"
    assert votes_of(table) == {
        ("t1", "a", ("x", "y")): 1,
        ("t1", "b", ("y",)): 1,
        ("t2", "b", ()): 1,
    }
    error = refusal(
        lambda: resolve(READER, "crowd-table", {"separator": "|", "kind": "single-label"})
    )
    assert "single-label" in str(error)
    error = refusal(
        lambda: resolve(READER, "crowd-table", {"answer": "a", "columns": {"label": "b"}})
    )
    assert "twice" in str(error)


def test_none_of_these_and_the_label_that_a_state_stands_for(tmp_path: Path) -> None:
    path = written(tmp_path, "v.csv", VOTES + "t2,b,none\nt3,b,\n")
    table = read(path, none_of_these=("none",), states={"none-of-these": "drop"})
    assert votes_of(table)["t2", "b", ()] == 1
    table = read(path, states={"skipped": "label:unsure"})
    assert votes_of(table)["t3", "b", ("unsure",)] == 1


def test_a_rejected_vote_may_name_any_label(tmp_path: Path) -> None:
    path = written(tmp_path, "v.csv", "task,worker,label,s\nt,a,cat,\nt,b,spam,rejected\n")
    table = read(path, ["cat"], columns={"state": "s"})
    assert votes_of(table) == {("t", "a", ("cat",)): 1, ("t", "b", ()): 1}
    counted = {"rejected": "count"}
    error = refusal(lambda: read(path, ["cat"], columns={"state": "s"}, states=counted))
    assert error.name == "label-unknown"


# ---- plain and settled alike; fuzz


@given(
    votes=st.dictionaries(
        st.tuples(st.sampled_from("tuv"), st.sampled_from("abc")),
        st.sampled_from("xyz"),
        min_size=1,
    )
)
def test_the_fast_way_gives_what_the_other_gives(
    tmp_path_factory: pytest.TempPathFactory, votes: dict[tuple[str, str], str]
) -> None:
    rows = [["task", "worker", "label"], *([*pair, said] for pair, said in votes.items())]
    path = written(tmp_path_factory.mktemp("plain"), "v.csv", csv_text(rows))
    plain = read(path)
    settled = read(path, duplicates="all")
    xr.testing.assert_identical(plain.drop_attrs(), settled.drop_attrs())
    assert {**settled.attrs} == {**plain.attrs}


@given(data=st.data())
@pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")
def test_any_damage_is_refused_or_read(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    text = data.draw(st.sampled_from([TOLOKA, VOTES, EIGHT + '1,w,false,false,,x,"a\nb",\n']))
    name = "v.tsv" if text is TOLOKA else "v.csv"
    text = text.replace("\n", data.draw(st.sampled_from(["\n", "\r\n", "\r"])))
    header, _, body = text.partition("worker")
    text = header + "worker" + body.replace("cat", data.draw(st.text(max_size=4)))
    encoding = data.draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp500"]))
    content = text.encode(encoding, "replace")
    content = content[: data.draw(st.integers(0, len(content)))]
    path = written(tmp_path_factory.mktemp("damage"), name, content)
    CrowdTable().recognises(path, content)
    preset = data.draw(st.sampled_from([None, "toloka", "figure-eight", "mturk"]))
    result_or_refusal(lambda: read(path, None, "crowd-table", preset=preset), path.name)


@pytest.mark.parametrize("text", [TOLOKA.replace("\t\t", "\tcat\t"), VOTES])
def test_byte_order_marks_and_line_ends_change_nothing(tmp_path: Path, text: str) -> None:
    name = "v.csv" if text == VOTES else "v.tsv"
    plain = read(written(tmp_path, name, text), golden=None if text == VOTES else "count")
    other = written(tmp_path, name, b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    found = read(other, golden=None if text == VOTES else "count")
    xr.testing.assert_identical(plain, found)


def test_a_label_of_100000_characters(tmp_path: Path) -> None:
    long = "x" * 100_000
    path = written(tmp_path, "v.csv", VOTES + f"t3,a,{long}\n")
    assert long in read(path)["label"].values
    error = refusal(lambda: read(path, ["cat", "dog"]))
    assert len(str(error)) < 1_000
    assert error.what.startswith("v.csv line 5, a says")


def test_columns_that_stand_twice(tmp_path: Path) -> None:
    path = written(tmp_path, "v.csv", "task,worker,label,label\nt,a,x,y\n")
    assert refusal(lambda: read(path)).name == "columns-repeat"


# ---- files that people published


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("name", "sizes", "told"),
    [
        ("mturk/mturk_batch_results.csv", (9, 18, 27, 5), ""),
        ("mturk/mturk_batch_results_empty_rows.csv", (9, 18, 27, 5), "3 skipped"),
        ("mturk/figure_eight_full_report.csv", (5, 18, 30, 5), ""),
        ("long/gal_toy_crowdkit.csv", (5, 5, 25, 2), ""),
    ],
)
def test_published(shared: Path, name: str, sizes: tuple[int, ...], told: str) -> None:
    table = read(shared / "cases" / "annotations" / name)
    dims = ("example", "annotator", "response", "label")
    assert tuple(table.sizes[dim] for dim in dims) == sizes
    assert table.attrs["reader"] == "crowd-table"
    assert told in repr(table)
    assert ("not counted" in repr(table)) == bool(told)
    assert table.sizes["mention"] == sizes[2] - (3 if told else 0)


@pytest.mark.realdata
@pytest.mark.parametrize("name", ["gal_toy_gold.tsv", "gal_toy_truth.tsv", "mozafari_truth.tsv"])
def test_files_of_truth_are_no_votes(shared: Path, name: str) -> None:
    path = shared / "cases" / "annotations" / "long" / name
    assert refusal(lambda: read(path)).name == "format-unknown"
    columns = {"task": "2", "worker": "1", "label": "3"}
    assert said(lambda: read(path, reader="crowd-table", columns=columns)) == (
        f'error columns-missing: {name} has no column "3" expected that column; '
        "got 2 columns without names "
        "do name a table of votes; one label a task is the truth, or a summary"
    )
