"""What users of Label Studio reported of other software: each report is a test, by its number."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import plausibly
from io_files import refusal, said, warned, written
from label_studio_files import annotation, answers, export, read, region, task, votes
from plausibly.data.left_out import read_left_out


def test_report_13_two_annotations_of_a_task_are_two_votes(tmp_path: Path) -> None:
    table = read(export(tmp_path, task(1, annotation(1, "a"), annotation(2, "b"))))
    assert answers(table) == {("1", "1"): "a", ("1", "2"): "b"}


def test_report_14_every_annotation_is_read_for_the_chosen_control(tmp_path: Path) -> None:
    def both(who: int, dx: str, urgency: str) -> dict[str, object]:
        return annotation(who, region(dx), region(urgency, "urgency"))

    path = export(tmp_path, task(1, both(1, "a", "high"), both(2, "b", "low"), both(3, "a", "low")))
    dx = read(path, control="dx")
    assert answers(dx) == {("1", "1"): "a", ("1", "2"): "b", ("1", "3"): "a"}
    urgency = read(path, control="urgency")
    assert answers(urgency) == {("1", "1"): "high", ("1", "2"): "low", ("1", "3"): "low"}


def test_report_15_an_annotation_in_two_shards_is_one(tmp_path: Path) -> None:
    shards = tmp_path / "shards"
    shards.mkdir()
    first = annotation(1, "a", id=901, updated_at="2024-05-01T10:00:00Z")
    second = annotation(2, "b", id=902, updated_at="2024-05-01T10:00:00Z")
    (shards / "1").write_text(json.dumps(task(1, first)))
    (shards / "2").write_text(json.dumps(task(1, first, second)))
    table = read(shards)
    assert answers(table) == {("1", "1"): "a", ("1", "2"): "b"}
    assert table.sizes["response"] == 2
    assert read_left_out(table.attrs) == {"the same annotation again": 1}


def test_report_16_a_task_that_is_there_twice_is_one(tmp_path: Path) -> None:
    ours = [annotation(who, label) for who, label in ((1, "a"), (2, "b"), (3, "b"))]
    table = read(export(tmp_path, task(1, *ours), task(1, *ours)))
    assert table.sizes["example"] == 1
    assert table.sizes["response"] == 3
    assert read_left_out(table.attrs) == {"the same annotation again": 3}
    # Also where something of the task changed between its copies: annotations have ids.
    numbered = [{**one, "id": at} for at, one in enumerate(ours)]
    again = read(export(tmp_path, task(1, *numbered), task(1, *numbered, agreement=50.0)))
    assert votes(again) == votes(table)


def test_report_17_annotation_without_author_is_an_unknown_annotators(tmp_path: Path) -> None:
    bare = [{"result": [region(label)]} for label in ("a", "a", "b")]
    path = export(tmp_path, task(1, *bare))
    table = read(path)
    assert sorted(votes(table).elements()) == [
        ("1", "?", "answered", "a"),
        ("1", "?", "answered", "a"),
        ("1", "?", "answered", "b"),
    ]
    assert warned(lambda: plausibly.read_annotations(path)).startswith(
        "warning annotators-unnamed: export.json does not say who gave 3 responses (task 1, "
        "annotation no. 1, task 1, annotation no. 2, task 1, annotation no. 3)"
    )


def test_report_18_cancelled_and_empty_annotations_are_no_votes(tmp_path: Path) -> None:
    path = export(
        tmp_path,
        task(1, annotation(1, "a"), annotation(2, was_cancelled=True), annotation(3)),
        task(2, annotation(1, "b", was_cancelled=True)),
    )
    table = read(path)
    assert sorted(votes(table)) == [
        ("1", "1", "answered", "a"),
        ("1", "2", "skipped", ""),
        ("1", "3", "empty", ""),
        ("2", "1", "skipped", ""),
    ]
    assert "not counted: 2 skipped, 1 empty" in repr(table)
    assert table["label"].values.tolist() == ["a"]  # what was cancelled names no label


def test_report_19_an_empty_annotation_is_not_an_unannotated_task(tmp_path: Path) -> None:
    table = read(export(tmp_path, task(1, annotation(1, "a")), task(2), task(3, annotation(1))))
    assert table["example"].values.tolist() == ["1", "2", "3"]
    assert [(e, state) for e, _, state, _ in sorted(votes(table))] == [
        ("1", "answered"),
        ("3", "empty"),
    ]


def test_report_20_marks_in_a_text_are_no_labels_of_it(tmp_path: Path) -> None:
    mark = region({"start": 0, "end": 4, "text": "skin", "labels": ["a"]}, "spans", "labels")
    path = export(tmp_path, task(1, annotation(1, mark)))
    assert said(lambda: read(path)) == (
        'error control-unfit: export.json: the values of "spans" (labels) are no labels of a task '
        "expected a control of type choices, taxonomy, ranker or pairwise; "
        'got only "spans" (labels) do set the project up with Choices, Taxonomy, Ranker or '
        "Pairwise; marks in a text or picture are not labels of all of it"
    )
    both = export(tmp_path, task(1, annotation(1, mark, region("b"))))
    assert answers(read(both)) == {("1", "1"): "b"}
    error = refusal(lambda: read(both, control="spans"))
    assert error.name == "control-unfit"
    assert error.what == 'export.json: the values of "spans" (labels) are no labels of a task'
    assert error.got == 'only "dx" (choices), "spans" (labels)'


def test_report_21_a_control_with_one_choice(tmp_path: Path) -> None:
    path = export(tmp_path, task(1, annotation(1, "yes"), annotation(2)), task(2, annotation(1)))
    table = read(path)
    assert table["label"].values.tolist() == ["yes"]
    lam = plausibly.aggregate(table, unanswered="drop")
    assert lam.values.tolist() == [[1.0]]
    # What an empty answer means, the user can say: then there are two labels.
    table = read(path, ["yes", "no"], states={"empty": "label:no"})
    assert plausibly.aggregate(table).values.tolist() == [[0.5, 0.5], [0.0, 1.0]]


def test_report_22_controls_of_a_repeater(tmp_path: Path) -> None:
    def turns(who: int, *labels: str, **more: object) -> dict[str, object]:
        found = [region(label, f"target_action_{n}") for n, label in enumerate(labels)]
        return annotation(who, *found, **more)

    path = export(
        tmp_path,
        task(1, turns(1, "a", "b"), turns(2, "b", "b"), turns(3, was_cancelled=True)),
        task(2, turns(1, "c"), turns(2)),
    )
    table = read(path, control="target_action_{index}")
    assert sorted(votes(table)) == [
        ("1#0", "1", "answered", "a"),
        ("1#0", "2", "answered", "b"),
        ("1#0", "3", "skipped", ""),
        ("1#1", "1", "answered", "b"),
        ("1#1", "2", "answered", "b"),
        ("1#1", "3", "skipped", ""),
        ("2#0", "1", "answered", "c"),
        ("2#0", "2", "empty", ""),
    ]
    assert answers(read(path, control="target_action_1")) == {("1", "1"): "b", ("1", "2"): "b"}
    assert said(lambda: read(path)) == (
        "error controls-several: export.json holds answers to 2 controls "
        "expected one control, whose choices are the labels; "
        'got "target_action_0" (choices), "target_action_1" (choices) '
        'do control = "target_action_0", or another of them; '
        'control = "target_action_{index}" makes each index an example'
    )


def test_report_23_other_exports_of_the_same_project_hold_no_votes(tmp_path: Path) -> None:
    coco = {
        "images": [{"id": 1, "file_name": "a.png"}],
        "categories": [{"id": 0, "name": "a"}],
        "annotations": [{"id": 1, "image_id": 1, "category_id": 0}],
        "info": {"version": "1.0", "contributor": "Label Studio"},
    }
    path = written(tmp_path, "result.json", json.dumps(coco))
    message = warned(lambda: plausibly.read_annotations(path))
    assert message.startswith("warning votes-consolidated: result.json holds results, not votes")
    assert "export the single annotations" in message
    assert refusal(lambda: read(path)).name == "label-studio-shape"


@pytest.mark.parametrize(
    ("one", "same"),
    [
        (3, {"id": 3, "email": "c@example.com"}),
        (3, "3"),
        ("c@example.com", {"email": "c@example.com"}),
        ("c@example.com", {"id": 3, "email": "c@example.com"}),
    ],
)
def test_report_24_who_is_one_person(tmp_path: Path, one: object, same: object) -> None:
    path = export(
        tmp_path,
        task(1, annotation(one, "a"), annotation(4, "b")),
        task(2, annotation(same, "a"), annotation({"id": 4}, "a")),
    )
    table = read(path)
    assert table.sizes["annotator"] == 2
    assert table.sizes["response"] == 4
    assert "4" in table["annotator"].values.tolist()
