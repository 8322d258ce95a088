"""Prodigy's answers, one a line."""

from __future__ import annotations

import json
import warnings
from collections import Counter
from pathlib import Path
from typing import Any, TypeAlias

import pytest
import xarray as xr
from hypothesis import given, strategies as st

import plausibly
from io_files import refusal, result_or_refusal, said, warned, written
from readers_votes import voted, votes

Json: TypeAlias = Any  # what a document holds: of any shape, also a wrong one
Option: TypeAlias = Any  # of a reader, by its name
OPTIONS = [{"id": "A", "text": "a"}, {"id": "B", "text": "b"}]


def binary(answer: str = "accept", task: int = 1, who: str | None = "ds-al", **more: Json) -> Json:
    line = {"label": "DOC", "_input_hash": 9, "_task_hash": task, "answer": answer}
    return {**line, "_annotator_id": who, **more}


def choice(accept: list[str], who: str = "ds-al", **more: Json) -> Json:
    line = {"options": OPTIONS, "_input_hash": 1, "_view_id": "choice", "accept": accept}
    return {**line, "answer": "accept", "_annotator_id": who, **more}


def lines(folder: Path, *entries: object) -> Path:
    return written(folder, "p.jsonl", "".join(f"{json.dumps(entry)}\n" for entry in entries))


def read(path: Path, **options: Option) -> xr.Dataset:
    return plausibly.read_annotations(path, "prodigy", **options)


def test_report_35_a_binary_question_is_a_task_and_a_choice_an_input(tmp_path: Path) -> None:
    path = lines(tmp_path, binary(), binary("reject", 2, label="BUG"), binary("ignore", 1, "ds-b"))
    table = plausibly.read_annotations(path)
    assert table["label"].values.tolist() == ["accept", "reject"]
    assert Counter(voted(table)) == {
        (("1", "ds-al", ("accept",)), "answered"): 1,
        (("2", "ds-al", ("reject",)), "answered"): 1,
        (("1", "ds-b", ()), "skipped"): 1,
    }
    chosen = lines(tmp_path, choice(["A"], _task_hash=5), choice(["B", "A"], "ds-b", _task_hash=6))
    assert votes(read(chosen)) == {("1", "ds-al", ("A",)): 1, ("1", "ds-b", ("A", "B")): 1}


def test_report_36_of_an_example_served_twice_the_latest_answer_counts(tmp_path: Path) -> None:
    path = lines(tmp_path, binary(_timestamp=7), binary("reject", _timestamp=5))
    assert votes(read(path)) == {("1", "ds-al", ("accept",)): 1}
    assert refusal(lambda: read(path, duplicates="error")).name == "response-twice"


def test_report_37_versions_of_a_review_are_not_counted_again(tmp_path: Path) -> None:
    table = read(lines(tmp_path, binary(versions=[binary("reject"), binary()])))
    assert votes(table) == {("1", "ds-al", ("accept",)): 1}
    assert "2 versions that a review lists" in repr(table)


def test_report_38_what_somebody_did_not_reach_is_missing(tmp_path: Path) -> None:
    table = read(lines(tmp_path, binary(), binary(who="ds-b"), binary(task=2)))
    shares = plausibly.aggregate(table)
    assert shares.values.tolist() == [[1, 0], [1, 0]]


@pytest.mark.parametrize("session", ["2024-02-06_10-17-19", "ds-2024-02-06_10-17-19", None])
def test_report_39_a_time_is_no_annotator(tmp_path: Path, session: str | None) -> None:
    path = lines(tmp_path, binary(who=None, _session_id=session))
    assert "does not say who gave 1 response (line 1)" in warned(lambda: read(path))
    named = read(lines(tmp_path, binary(who=None, _session_id="ds-kim")))
    assert named["annotator"].values.tolist() == ["ds-kim"]


def test_a_rejected_choice_is_a_skip_and_the_style_tells_the_kind(tmp_path: Path) -> None:
    style: Json = {"config": {"choice_style": "single"}}
    path = lines(tmp_path, choice(["A"], **style), choice(["B"], "ds-b", answer="reject", **style))
    table = read(path)
    assert table.attrs["kind"] == "single-label"
    assert (("1", "ds-b", ()), "skipped") in voted(table)
    several = lines(tmp_path, choice(["A"], config={"choice_style": "multiple"}))
    assert read(several).attrs["kind"] == "label-set"


def test_a_key_names_the_examples(tmp_path: Path) -> None:
    path = lines(tmp_path, binary(id="x"), binary(task=2, id="y", label="BUG"))
    assert "p.jsonl asks about 2 labels" in said(lambda: read(path, example="id"))
    one = lines(tmp_path, {"label": "DOC", "_view_id": "classification", "answer": "accept"})
    assert "p.jsonl line 1 names no example" in said(lambda: read(one))
    named = lines(tmp_path, binary(id="x"))
    assert read(named, example="id")["example"].values.tolist() == ["x"]


def test_scores_of_the_model_are_predictions(tmp_path: Path) -> None:
    path = lines(tmp_path, binary(meta={"score": 0.75}), binary(task=2, score=0.25), binary(task=3))
    found = plausibly.read_predictions(path, reader="prodigy")
    assert found["label"].values.tolist() == ["accept", "reject"]
    assert found.sel(example="1").values.tolist() == [0.75, 0.25]
    assert found.sel(example="2").values.tolist() == [0.25, 0.75]
    assert found.attrs["left_out"] == '{"examples without prediction": 1}'
    scored = [{"id": "A", "score": 0.9}, {"id": "B"}]
    chosen = plausibly.read_predictions(
        lines(tmp_path, choice(["A"], options=scored)), reader="prodigy"
    )
    assert chosen.values.tolist() == [[0.9, 0.0]]
    assert "p.jsonl holds no prediction" in said(
        lambda: plausibly.read_predictions(lines(tmp_path, binary()), reader="prodigy")
    )


@pytest.mark.parametrize(
    ("entries", "options", "message"),
    [
        ([binary(_view_id="ner_manual")], {}, 'got the view "ner_manual"'),
        ([binary(spans=[{"start": 1}])], {}, 'got the view "spans"'),
        ([binary(label=None)], {}, "line 1 is no choice and no question about a label"),
        ([binary(), choice(["A"])], {}, "holds answers of two views"),
        ([binary("maybe")], {}, 'line 1 holds no answer as "answer"'),
        ([choice(["C"])], {}, 'line 1 holds no answer as "accept"'),
        ([choice(["A"], options=[])], {}, 'line 1 holds no answer as "options"'),
        ([binary(_timestamp="soon")], {}, 'line 1 holds no answer as "_timestamp"'),
        ([binary(who=None, _session_id=[1])], {}, 'line 1 holds no answer as "_session_id"'),
        ([choice(["A"])], {}, "does not say whether several options could be chosen"),
        ([binary()], {"kind": "label-set"}, "holds answers to binary questions"),
    ],
)
def test_what_is_refused(
    tmp_path: Path, entries: list[object], options: dict[str, Option], message: str
) -> None:
    path = lines(tmp_path, *entries)
    assert message in said(lambda: read(path, **options)).replace("got:", "got")


@given(cut=st.integers(0, 400), junk=st.binary(max_size=3))
def test_a_broken_file_is_refused_or_read(
    tmp_path_factory: pytest.TempPathFactory, cut: int, junk: bytes
) -> None:
    text = "".join(f"{json.dumps(e)}\n" for e in (choice(["A", "B"]), choice([], "ds-b")))
    path = written(tmp_path_factory.mktemp("p"), "p.jsonl", text.encode()[:cut] + junk)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result_or_refusal(lambda: read(path, states={"empty": "drop"}), "p.jsonl")


@given(
    st.lists(
        st.tuples(st.integers(1, 4), st.sampled_from(["a", "b"]), st.booleans()),
        min_size=1,
        unique_by=lambda item: item[:2],
    )
)
def test_every_answer_is_there_once(
    tmp_path_factory: pytest.TempPathFactory, given_answers: list[tuple[int, str, bool]]
) -> None:
    entries = [binary("accept" if yes else "reject", at, who) for at, who, yes in given_answers]
    table = read(lines(tmp_path_factory.mktemp("p"), *entries))
    assert votes(table) == Counter(
        (str(at), who, ("accept" if yes else "reject",)) for at, who, yes in given_answers
    )


@pytest.mark.realdata
def test_published_answers_to_binary_questions(shared: Path) -> None:
    path = shared / "cases/annotations/prodigy/textcat_binary_accept_reject_ignore.jsonl"
    with pytest.warns(plausibly.PlausiblyWarning, match=r"does not\s+say\s+who"):
        table = plausibly.read_annotations(path)
    assert Counter((vote[2], state) for vote, state in voted(table)) == {
        (("accept",), "answered"): 24,
        (("reject",), "answered"): 24,
        ((), "skipped"): 12,
    }
    assert (table.sizes["annotator"], table.sizes["example"]) == (0, 60)


@pytest.mark.realdata
def test_choices_of_several_annotators(shared: Path) -> None:
    path = shared / "cases/annotations/constructed/prodigy_choice_multi_annotator.jsonl"
    with pytest.warns(plausibly.PlausiblyWarning, match=r"who gave\s+1\s+response\s+\(line\s+7\)"):
        table = plausibly.read_annotations(path, "prodigy", states={"empty": "drop"})
    assert Counter(voted(table)) == {
        (("101", "ds-alex", ("A",)), "answered"): 1,
        (("101", "ds-sam", ("B",)), "answered"): 1,
        (("101", "ds-kim", ()), "skipped"): 1,
        (("102", "ds-alex", ("A",)), "answered"): 1,
        (("102", "ds-sam", ()), "empty"): 1,
        (("103", None, ()), "skipped"): 1,
    }
