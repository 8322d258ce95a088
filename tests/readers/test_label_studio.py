"""Label Studio's JSON: states, people, names of examples, shapes of the export."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeAlias

import pytest

import plausibly
from io_files import refusal, said, warned, written
from label_studio_files import annotation, answers, export, read, region, task, votes
from plausibly.data.left_out import read_left_out
from plausibly_builtins.readers.label_studio import LabelStudio, moment

Json: TypeAlias = Any  # what a document holds: of any shape, also a wrong one
EARLY, LATE = "2024-05-15T12:01:00.5Z", "2024-05-15T14:00:00+01:00"


def one(tmp_path: Path, **more: Json) -> str:
    """Return the state of one annotation by 1, who chose a."""
    table = read(export(tmp_path, task(1, annotation(1, "a", **more), annotation(2, "b"))))
    (state,) = (state for _, who, state, _ in votes(table) if who == "1")
    return state


def test_predictions_given_by_their_ids_are_passed_over(tmp_path: Path) -> None:
    """Some exports hold complete votes beside the bare ids of predictions."""
    plain = read(export(tmp_path, task(1, annotation(1, "a"), annotation(2, "b"))))
    ids = export(tmp_path, task(1, annotation(1, "a"), annotation(2, "b"), predictions=[501, 502]))
    assert votes(read(ids)) == votes(plain)
    wrong = export(tmp_path, task(1, annotation(1, "a"), predictions=["x"]))
    assert refusal(lambda: read(wrong)).name == "label-studio-shape"


@pytest.mark.parametrize(("zone", "seconds"), [("UTC", 0), ("GMT", 0), ("EST", 18_000)])
def test_a_zone_may_be_named(zone: str, seconds: int) -> None:
    assert moment(f"1970-01-01 00:00:00 {zone}") == seconds
    assert moment(f"1970-01-01 00:00:00 {zone}X") is None


# ---- states


@pytest.mark.parametrize(
    ("more", "state"),
    [
        ({}, "answered"),
        ({"was_cancelled": False, "last_action": "submitted", "reviews": []}, "answered"),
        ({"was_cancelled": True}, "skipped"),
        ({"skipped": True}, "skipped"),
        ({"last_action": "rejected"}, "rejected"),
        ({"reviews": [{"accepted": False}]}, "rejected"),
        ({"reviews": [{"accepted": False}, {"accepted": True}]}, "answered"),
        (
            {
                "reviews": [
                    {"accepted": False, "created_at": LATE},
                    {"accepted": True, "created_at": EARLY},
                ]
            },
            "rejected",
        ),
        ({"reviews": [{"accepted": False}], "last_action": "fixed_and_accepted"}, "answered"),
        ({"last_action": "rejected", "was_cancelled": True}, "skipped"),
        ({"last_action": ["odd"], "reviews": {"odd": 1}}, "answered"),
        ({"ground_truth": True}, "answered"),
        ({"history": [{"result": [region("b")]}], "draft": "odd"}, "answered"),
    ],
)
def test_states_of_an_annotation(tmp_path: Path, more: dict[str, Json], state: str) -> None:
    assert one(tmp_path, **more) == state


@pytest.mark.parametrize(
    ("predicted", "origin", "state"),
    [
        ("a", None, "suggestion"),
        ("b", "prediction", "answered"),  # the labels differ, whatever the mark says
        (None, "prediction", "suggestion"),
        (None, "prediction-changed", "answered"),
        (None, "manual", "answered"),
        (None, None, "answered"),
    ],
)
@pytest.mark.parametrize("inside", [False, True])
def test_what_repeats_a_prediction_is_a_suggestion(
    tmp_path: Path, predicted: str | None, origin: str | None, state: str, inside: bool
) -> None:
    mine = annotation(1, region("a", origin=origin), parent_prediction=5)
    guess = {"id": 5, "model_version": "m", "result": [region(predicted or "a")]}
    more = {}
    if predicted and inside:
        mine["prediction"] = guess
    elif predicted:
        more = {"predictions": [{"id": 4, "result": [region("b")]}, guess]}
    table = read(export(tmp_path, task(1, mine, **more)))
    assert list(votes(table)) == [("1", "1", state, "a")]
    dropped = read(export(tmp_path, task(1, mine, **more)), ["a"], states={"suggestion": "drop"})
    assert [answer for *_, answer in votes(dropped)] == ["" if state == "suggestion" else "a"]


def test_a_ranking_that_repeats_a_prediction(tmp_path: Path) -> None:
    def ranks(*items: str) -> dict[str, Json]:
        return region({"ranker": {"rank": list(items)}}, "rank", "ranker")

    guess = {"id": 5, "result": [ranks("a", "b")]}
    same, other = (
        annotation(who, ranks(*items), parent_prediction=5) for who, items in ((1, "ab"), (2, "ba"))
    )
    table = read(export(tmp_path, task(1, same, other, predictions=[guess])))
    assert sorted(votes(table)) == [("1", "1", "suggestion", "a>b"), ("1", "2", "answered", "b>a")]


def test_policies_of_the_states(tmp_path: Path) -> None:
    path = export(
        tmp_path,
        task(1, annotation(1, "a", last_action="rejected"), annotation(2, "b")),
        task(2, annotation(1, was_cancelled=True), annotation(2), drafts=[annotation(3, "c")]),
    )
    assert answers(read(path)) == {("1", "2"): "b"}
    assert "not counted: 1 unfinished, 1 skipped, 1 empty, 1 rejected" in repr(read(path))
    policies = {
        "rejected": "count",
        "skipped": "label:unsure",
        "empty": "label:none",
        "unfinished": "count",
    }
    assert answers(read(path, states=policies)) == {
        ("1", "1"): "a",
        ("1", "2"): "b",
        ("2", "1"): "unsure",
        ("2", "2"): "none",
        ("2", "3"): "c",
    }
    error = refusal(lambda: read(path, states={"rejected": "error"}))
    assert error.what == "export.json task 1, annotation no. 1: 1 on example 1: " + (
        "the response is rejected"
    )


def test_a_draft_beside_an_annotation_is_left_out(tmp_path: Path) -> None:
    sent = annotation({"id": 1, "email": "a@example.com"}, "a", id=11, created_at=EARLY)
    drafts = [
        {"user": "a@example.com", "result": [region("b")], "created_at": LATE},
        {"annotation": 11, "result": [region("c")], "created_at": LATE},
        {"user": "b@example.com", "result": [region("b")], "created_at": LATE},
    ]
    path = export(tmp_path, task(1, sent, drafts=drafts))
    table = read(path)
    assert sorted(votes(table)) == [
        ("1", "1", "answered", "a"),
        ("1", "b@example.com", "unfinished", ""),
    ]
    assert read_left_out(table.attrs) == {"drafts beside an annotation": 2}
    counted = read(path, states={"unfinished": "count"})
    assert answers(counted) == {("1", "1"): "b", ("1", "b@example.com"): "b", ("1", "?"): "c"}


def test_an_empty_set_is_an_error_until_somebody_says_what_it_means(tmp_path: Path) -> None:
    path = export(tmp_path, task(1, annotation(1, "a", "b")), task(2, annotation(1)))
    error = refusal(lambda: read(path))
    assert (error.name, error.do.partition(" (")[0]) == (
        "answer-empty",
        '--reader \'{name = "label-studio", states = {empty = "drop"}}\'',
    )
    assert error.what == "export.json task 2, annotation no. 1: 1 on example 2: names no label"
    assert answers(read(path, states={"empty": "drop"})) == {("1", "1"): "a=b"}


def test_ground_truth_is_told_and_can_be_dropped(tmp_path: Path) -> None:
    path = export(
        tmp_path, task(1, annotation(1, "a", ground_truth=True), annotation(2, "b", id=9))
    )
    assert warned(lambda: plausibly.read_annotations(path)) == (
        "warning ground-truth-counted: export.json: 1 annotation marked as ground truth (task 1, "
        "annotation no. 1) expected what annotators said; got annotations that may be the truth "
        'that others were measured by do ground_truth = "drop", or "count" to count each like any '
        "other"
    )
    counted = plausibly.read_annotations(path, ground_truth="count")
    assert answers(counted) == {("1", "1"): "a", ("1", "2"): "b"}
    dropped = plausibly.read_annotations(path, ground_truth="drop")
    assert answers(dropped) == {("1", "2"): "b"}
    assert "not counted: 1 marked as ground truth" in repr(dropped)


# ---- who, and how often


def test_the_latest_annotation_of_a_person_counts(tmp_path: Path) -> None:
    first = annotation(1, "a", id=1, created_at=EARLY, updated_at=EARLY)
    second = annotation(1, "b", id=2, created_at=EARLY, updated_at=LATE)
    for order in ((first, second), (second, first)):
        path = export(tmp_path, task(1, *order))
        table = read(path)
        assert answers(table) == {("1", "1"): "b"}
        assert read_left_out(table.attrs) == {"earlier answers": 1}
    assert refusal(lambda: read(path, duplicates="error")).name == "response-twice"
    assert sum(votes(read(path, duplicates="all")).values()) == 2
    path = export(tmp_path, task(1, annotation(1, "a"), annotation(1, "b")))
    error = refusal(lambda: read(path))
    assert error.name == "times-missing"
    assert "(task 1, annotation no. 1, task 1, annotation no. 2)" in error.what


@pytest.mark.parametrize(
    ("early", "late"),
    [
        ("2024-05-15T12:00:00.1Z", "2024-05-15T12:00:00.2Z"),
        ("2024-05-15T12:00:00", "2024-05-15T12:30:00Z"),
        ("2024-05-15T14:00:00+02:00", "2024-05-15T12:30:00"),
        (1715774400, 1715774401.5),
    ],
)
def test_times_are_compared_as_times(tmp_path: Path, early: object, late: object) -> None:
    path = export(
        tmp_path,
        task(1, annotation(1, "a", created_at=late), annotation(1, "b", created_at=early)),
    )
    assert answers(read(path)) == {("1", "1"): "a"}


@pytest.mark.parametrize("when", ["yesterday", "", None, True, [1]])
def test_what_is_no_time_is_none(tmp_path: Path, when: object) -> None:
    both = [annotation(1, label, created_at=when) for label in ("a", "b")]
    assert refusal(lambda: read(export(tmp_path, task(1, *both)))).name == "times-missing"


def test_an_annotation_that_changed_between_shards(tmp_path: Path) -> None:
    def shards(early: object, late: object) -> Path:
        old = annotation(1, "a", id=7, updated_at=early)
        new = annotation(1, "b", id=7, updated_at=late)
        return export(tmp_path, task(1, new), task(1, old, agreement=0.5))

    assert answers(read(shards(EARLY, LATE))) == {("1", "1"): "b"}
    for early, late in ((EARLY, EARLY), (None, LATE), (None, None)):
        path = shards(early, late)
        assert said(lambda path=path: read(path)) == (  # type: ignore[misc]  # bound in the loop
            "error annotation-differs: export.json task 1, annotation 7 is there twice and says "
            "two things expected one annotation an id, or the time of each change; "
            "got different results at one time, or without time do remove one of them"
        )


@pytest.mark.parametrize("who", [None, "", {}, {"id": None, "email": ""}, True, []])
def test_nobody_is_an_unknown_annotator(tmp_path: Path, who: object) -> None:
    table = read(export(tmp_path, task(1, annotation(who, "a"), annotation(2, "b"))))
    assert sorted(votes(table)) == [("1", "2", "answered", "b"), ("1", "?", "answered", "a")]


# ---- names of examples


def test_names_of_examples(tmp_path: Path) -> None:
    path = export(
        tmp_path,
        {"id": 12345678901234567890, "data": {"key": "k1"}, "annotations": [annotation(1, "a")]},
        {"id": "007", "data": {"key": 1.0}, "annotations": [annotation(1, "b")]},
        {"id": 3, "data": {"key": "k1"}, "annotations": [annotation(2, "b")]},
    )
    assert read(path)["example"].values.tolist() == ["007", "12345678901234567890", "3"]
    by_key = read(path, example="key")
    assert answers(by_key) == {("k1", "1"): "a", ("1.0", "1"): "b", ("k1", "2"): "b"}
    assert said(lambda: read(path, example="text")) == (
        "error example-unnamed: export.json: 3 tasks without a name for the example (task no. 1, "
        'task no. 2, task no. 3) expected text or a number under "text" in each task; '
        'got keys of the data: key do example = "id", or a key that all have'
    )


def test_tasks_without_id_are_called_by_their_place(tmp_path: Path) -> None:
    bare = [{"data": {"text": t}, "annotations": [annotation(1, t)]} for t in ("a", "b")]
    path = export(tmp_path, *bare, {"text": "c"})
    assert answers(read(path)) == {("0", "1"): "a", ("1", "1"): "b"}
    assert read(path)["example"].values.tolist() == ["0", "1", "2"]
    assert read(path, example="text")["example"].values.tolist() == ["a", "b", "c"]
    assert warned(lambda: plausibly.read_annotations(path)) == (
        "warning examples-numbered: export.json: no task has an id; examples are called by their "
        "place, from 0 expected a name that stays when tasks come or go; got 3 tasks without id "
        'do example = "..." with a key of the data that names them'
    )
    mixed = export(tmp_path, *bare, task(1, annotation(1, "a")))
    assert said(lambda: read(mixed)) == (
        "error example-unnamed: export.json: 2 tasks without a name for the example (task no. 1, "
        'task no. 2) expected text or a number under "id" in each task; got keys of the data: text '
        'do example = "..." with a key that all have'
    )


# ---- shapes of the export


def test_old_completions(tmp_path: Path) -> None:
    old = {"id": 5, "completions": [{"result": [[region("a")], [region("b")]]}, {"skipped": True}]}
    table = read(export(tmp_path, old, {"id": 6, "completions": []}))
    assert table.attrs["kind"] == "label-set"
    assert sorted(votes(table)) == [("5", "?", "answered", "a=b"), ("5", "?", "skipped", "")]
    assert table["example"].values.tolist() == ["5", "6"]


def test_a_folder_of_annotations(tmp_path: Path) -> None:
    folder = tmp_path / "storage"
    folder.mkdir()
    around = task(7)
    for at, label in enumerate("ab"):
        one = {**annotation(at, label, id=at), "task": around if at else 7}
        (folder / f"{at}.json").write_text(json.dumps(one))
    (folder / ".DS_Store").write_bytes(b"\x00")
    assert LabelStudio().recognises(folder, b"")
    table = plausibly.read_annotations(folder)
    assert table.attrs["reader"] == "label-studio"
    assert answers(table) == {("7", "0"): "a", ("7", "1"): "b"}
    (folder / "2.json").write_text('[{"id": 7, "annotations": [}]')
    assert refusal(lambda: read(folder)).what == "storage/2.json line 1 is no JSON"
    (folder / "2.json").write_text("[3]")
    assert refusal(lambda: read(folder)).what == "storage/2.json entry 1 is no task"
    assert not LabelStudio().recognises(folder, b"")
    empty = tmp_path / "empty"
    empty.mkdir()
    assert not LabelStudio().recognises(empty, b"")
    assert refusal(lambda: read(empty)).what == "empty holds no task"


@pytest.mark.parametrize(
    ("content", "what", "got"),
    [
        ([1], "f.json entry 1 is no task", "1"),
        ([], "f.json holds no task", "none"),
        ([{"id": 1, "annotations": {"a": 1}}], "f.json task 1: annotations is no list", '{"a": 1}'),
        ([{"id": 1, "drafts": [7]}], "f.json task 1: draft no. 1 is no object", "7"),
        (
            [{"id": 1, "annotations": [{"id": 4, "result": "x"}]}],
            "f.json task 1, annotation 4: result is no list",
            '"x"',
        ),
        (
            [{"id": 1, "annotations": [{"label": 3}]}],
            "f.json task 1, annotation no. 1: result is no list",
            "null",
        ),
        (
            [{"id": 1, "predictions": [{"result": [[3]]}]}],
            "f.json task 1, prediction no. 1: a region is no object",
            "3",
        ),
    ],
)
def test_other_shapes_are_refused(tmp_path: Path, content: object, what: str, got: str) -> None:
    path = written(tmp_path, "f.json", json.dumps(content))
    assert said(lambda: read(path)) == (
        f"error label-studio-shape: {what} expected a list of tasks with their annotations; "
        f"got {got} do export again as JSON"
    )


def test_an_export_without_annotations(tmp_path: Path) -> None:
    path = export(tmp_path, task(1), task(2, predictions=[{"result": [region("a")]}]))
    assert said(lambda: read(path)) == (
        "error annotations-empty: export.json holds no annotation expected tasks that somebody "
        "annotated; got 2 tasks with predictions only "
        'do plausibly.read_predictions(path, reader="label-studio") reads what models said'
    )
    error = refusal(lambda: read(export(tmp_path, task(1))))
    assert (error.got, error.do) == (
        "1 task without annotations",
        "export again when tasks are annotated",
    )


@pytest.mark.parametrize(
    ("head", "own"),
    [
        ('[{"id": 1, "annotations": [{"result": [', True),
        ('{"id": 1, "annotations": [{"result": []}]}', True),
        ('[{"id": 1, "data": {"text": "a"}, "annotations": []', True),
        ('[{"text": "a"}, {"predictions": [{"result": []}]}]', True),
        ('{"id": 9, "result": [], "task": {"id": 1}}', True),
        ('[{"id": 1, "annotations": [{"label": 7, "user": 1}]}]', False),
        ('{"images": [], "annotations": [{"image_id": 1, "category_id": 2}]}', False),
        ('[{"id": 1, "dx": "a", "annotation_id": 3, "annotator": 1, "lead_time": 2}]', False),
        ('{"id": 1, "annotations": [{"result": []}]}\n{"id": 2}', False),
        ("[]", False),
        ("", False),
    ],
)
def test_what_is_recognised(head: str, own: bool) -> None:
    assert LabelStudio().recognises(Path("x.json"), head.encode()) is own
