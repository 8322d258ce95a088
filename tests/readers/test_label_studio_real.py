"""Label Studio exports that people published, to counts taken from their JSON by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeAlias

import pytest

import plausibly
from io_files import refusal
from label_studio_files import read, votes
from plausibly.data.left_out import read_left_out
from plausibly.plugin import READER, resolve

Json: TypeAlias = Any  # what a document holds: of any shape, also a wrong one
Option: TypeAlias = Any  # of a reader, by its name
pytestmark = pytest.mark.realdata

CASES = Path("cases", "annotations")
MULTI = CASES / "constructed" / "label_studio_multi_annotator.json"
MIN = CASES / "constructed" / "label_studio_json_min.json"

# file: examples, annotators, responses, mentions
COUNTS: dict[str, tuple[int, int, int, int]] = {
    "choices_with_history": (1, 1, 1, 1),
    "choice_text_with_quotes_newlines": (1, 1, 1, 1),
    "colliding_keys_and_unannotated": (2, 1, 1, 1),
    "taxonomy_per_region": (1, 1, 1, 1),
    "old_completions_nested_results": (2, 0, 3, 4),
    "ground_truth_flag_email_annotator": (2, 1, 2, 2),
    "unknown_completed_by": (1, 1, 1, 1),
    "tasks_annotations_predictions": (6, 0, 4, 4),
}


def tasks(path: Path) -> list[dict[str, Json]]:
    found: list[dict[str, Json]] = json.loads(path.read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("name", COUNTS)
def test_files_are_read_to_their_counts(shared: Path, name: str) -> None:
    path = shared / CASES / "label_studio" / f"{name}.json"
    table = read(path)
    examples, annotators, responses, mentions = COUNTS[name]
    assert dict(table.sizes) | {"label": 0} == {
        "example": examples,
        "annotator": annotators,
        "response": responses,
        "mention": mentions,
        "label": 0,
    }
    every = [
        a for t in tasks(path) for key in ("annotations", "completions") for a in t.get(key, [])
    ]
    assert (len(tasks(path)), len(every)) == (examples, responses)
    assert {state for _, _, state, _ in votes(table)} == {"answered"}


def test_what_the_files_say(shared: Path) -> None:
    folder = shared / CASES / "label_studio"

    def found(name: str, **options: Option) -> list[tuple[str, str, str]]:
        table = read(folder / f"{name}.json", **options)
        return sorted((e, who, said) for e, who, _, said in votes(table).elements())

    assert found("choices_with_history") == [("6141", "14", "Positive")]
    odd = 'Yes " "" \n \t \t \u0430 \u0431 \u0432 \n'
    assert found("choice_text_with_quotes_newlines") == [("4", "1", odd)]
    assert found("colliding_keys_and_unannotated") == [("1", "1", "positive")]
    assert found("taxonomy_per_region") == [("86", "1", "Archaea")]
    assert found("taxonomy_per_region", control="categories_{index}") == [("86#0", "1", "Archaea")]
    assert found("unknown_completed_by") == [("1234", "99999", "Cat")]
    assert found("old_completions_nested_results") == [
        ("6057960", "?", "Evil"),
        ("6057960", "?", "Evil=Neutral"),
        ("6057960", "?", "Neutral"),
    ]
    person = "annotator1@example.com"
    assert found("ground_truth_flag_email_annotator") == [
        ("0", person, "Not Humor"),
        ("1", person, "Not Humor"),
    ]
    assert found("ground_truth_flag_email_annotator", ground_truth="drop") == [
        ("1", person, "Not Humor")
    ]
    by_text = found("tasks_annotations_predictions", example="text")
    assert by_text == [
        ("Test example phrase 1", "?", "class_A"),
        ("x2", "?", "class_A"),
        ("x2", "?", "class_A"),
        ("yoyo", "?", "class_TESTING"),
    ]


def test_two_files_are_refused_with_the_reason(shared: Path) -> None:
    folder = shared / CASES / "label_studio"
    error = refusal(lambda: read(folder / "prediction_scores_and_reviews.json"))
    assert error.name == "control-unfit"
    assert '"label" (rectanglelabels)' in error.what
    error = refusal(lambda: read(folder / "two_predictions.json"))
    assert error.name == "annotations-empty"
    assert error.got == "1 task with predictions only"


def test_several_annotators_and_controls(shared: Path) -> None:
    path = shared / MULTI
    assert refusal(lambda: read(path)).name == "controls-several"
    drop: dict[str, Option] = {"states": {"empty": "drop"}}
    dx = read(path, control="dx", **drop)
    assert dict(dx.sizes) == {
        "example": 5,
        "annotator": 3,
        "response": 10,
        "mention": 5,
        "label": 3,
    }
    assert sorted(votes(dx)) == [
        ("1", "1", "answered", "B"),  # the later one of two; report 24: 3 is also an object
        ("1", "2", "answered", "B"),
        ("1", "3", "skipped", ""),
        ("2", "1", "answered", "A=C"),
        ("2", "2", "answered", "A"),
        ("2", "3", "empty", ""),
        ("3", "1", "empty", ""),
        ("3", "2", "empty", ""),
        ("4", "1", "empty", ""),
        ("4", "2", "empty", ""),
    ]
    assert read_left_out(dx.attrs) == {"earlier answers": 1}
    assert refusal(lambda: read(path, control="dx")).name == "answer-empty"

    def said(**options: Option) -> dict[tuple[str, str], str]:
        return {(e, who): s for e, who, _, s in votes(read(path, **options)) if s}

    assert said(control="rank") == {("3", "1"): "b>a>c"}
    assert said(control="buckets", buckets=("likely", "possible")) == {("3", "2"): "b>a=c"}
    assert refusal(lambda: read(path, control="buckets")).name == "buckets-unordered"
    assert said(control="tax", **drop) == {("4", "1"): "Eczema=Psoriasis", ("4", "2"): "Skin"}


def test_json_min(shared: Path) -> None:
    path = shared / MIN
    table = plausibly.read_annotations(
        path, control="dx", states={"empty": "drop"}, duplicates="all"
    )
    assert table.attrs["reader"] == "label-studio-min"
    assert sorted((e, who, said) for e, who, _, said in votes(table).elements()) == [
        ("1", "1", "A"),
        ("1", "1", "B"),
        ("1", "2", "B"),
        ("2", "1", "A=C"),
        ("2", "2", "A"),
        ("2", "3", ""),
    ]
    # Its clock does not tell which answer of annotator 1 came later: that is not guessed.
    error = refusal(lambda: plausibly.read_annotations(path, states={"empty": "drop"}))
    assert error.name == "times-equal"


def test_each_file_is_recognised_as_what_it_is(shared: Path) -> None:
    for path in sorted((shared / CASES).rglob("*")):
        if path.is_file():
            with path.open("rb") as file:
                head = file.read(65_536)
            own = path.parent.name == "label_studio" or path == shared / MULTI
            for reader, wanted in (
                ("label-studio", own),
                ("label-studio-min", path == shared / MIN),
            ):
                component = resolve(READER, reader)
                assert component.recognises(path, head) is wanted, path.name
