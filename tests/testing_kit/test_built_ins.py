"""Every component that comes with plausibly keeps the rules that strangers' components must."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from plausibly.io import write_annotations
from plausibly.protocols import ANNOTATION, KINDS
from plausibly.registry import default
from plausibly.registry.entries import missing
from plausibly.testing import check, rules

KIND = {kind.name: kind for kind in KINDS}
# Those of crowd-kit are tried on a small library in its place: tests/crowd_kit. All other extras
# are part of `all`, with which CI runs.
OURS = [
    (e.kind, e.name)
    for e in default().entries()
    if e.source.builtin
    and e.kind != "reader"
    and e.extra != "crowd"
    and (os.environ.get("CI") or not missing(e.source.distribution, e.extra))
]
READERS = [e.name for e in default().entries() if e.source.builtin and e.kind == "reader"]
LABELS = ("b c", "Ä", "0")

NEEDED: dict[str, dict[str, Any]] = {
    "mondrian": {"by": "group"},
    "weighted": {"by": "weight"},
    "grouped": {"by": "group"},
    "risk": {"by": "risk"},
}
"""Parameters without a default, such as the coordinates that the kit's examples have."""

OTHERWISE: list[tuple[str, dict[str, Any]]] = [
    ("annotation", {"name": "label-set", "empty": "drop"}),
    ("aggregator", {"name": "majority-vote", "ties": "fractional"}),
    ("aggregator", {"name": "majority-vote", "ties": "random"}),
    ("aggregator", {"name": "dawid-skene", "smoothing": 0.0, "iterations": 20}),
    ("aggregator", {"name": "one-coin", "right": 2.0, "wrong": 1.0}),
    ("aggregator", {"name": "bootstrap", "inner": "worker-agreement", "draws": 2}),
    ("aggregator", {"name": "exclude", "below": 0.9, "lost": "keep"}),
    ("aggregator", {"name": "exclude", "inner": "dawid-skene", "fewer_than": 1}),
    ("aggregator", {"name": "spread", "inner": "bootstrap", "parents": "frequency"}),
    ("calibrator", {"name": "monte-carlo", "draws": 1}),
    ("calibrator", {"name": "monte-carlo", "systematic": True}),
    ("calibrator", {"name": "mondrian", "by": "label"}),
    ("calibrator", {"name": "mondrian", "by": "label", "inner": "monte-carlo"}),
    ("calibrator", {"name": "mondrian", "by": "group", "inner": "monte-carlo"}),
    ("calibrator", {"name": "weighted", "by": "weight", "inner": "monte-carlo"}),
    ("calibrator", {"name": "augmentation", "scores": "pooled"}),
    ("calibrator", {"name": "augmentation", "scores": "separate"}),
    ("calibrator", {"name": "mass-coverage", "leave_out": 0.0}),
    ("combiner", {"name": "ecdf", "band": "one-sided", "delta": 0.1, "held_out": 0.3}),
    ("combiner", {"name": "pac", "delta": 0.25, "held_out": 0.9}),
]


def _crowd(path: Path) -> None:
    rows = ["t 1,w2,b c", "t 1,w10,Ä", "t 1,,0", "t 10,w2,0", "t 9,w10,b c", "t 9,w2,"]
    path.write_text("\n".join(["task,worker,label", *rows, ""]), encoding="utf-8")


def _sets(path: Path) -> None:
    rows = ["t 1\tw2\tb c", "t 1\tw2\tÄ", "t 1\tw1\t0", "t 2\tw2\t0"]
    path.write_text("\n".join(["task\tworker\tlabel", *rows, ""]), encoding="utf-8")


def _counts(path: Path) -> None:
    path.write_text("example,b c,Ä,0\nx 10,2,0,1\nx 9,0,1,3\n", encoding="utf-8")


def _array(path: Path) -> None:
    np.save(path, np.array([[2, 0, 1], [0, 1, 3]]))


def _archive(path: Path) -> None:
    np.savez(path, counts=np.array([[2, 0, 1], [0, 1, 3]]), labels=list(LABELS), names=["x", "y"])


def _selectors(path: Path) -> None:
    path.write_text(json.dumps([[[[0, 2], [1]], [[2]]], [[[1], [0]]]]), encoding="utf-8")


def _wide(path: Path) -> None:
    rows = ["x 10,b c,,0", "x 9,Ä,Ä,", "x 8,,b c,Ä"]
    path.write_text("\n".join(["example,reader 1,reader 2,reader 3", *rows, ""]), encoding="utf-8")


def _workers(path: Path) -> None:
    said = [[("w2", "b c"), ("w10", "Ä")], [("w2", "0")]]
    lines = [
        {
            "source": f"text {at}",
            "dx": {
                "annotationsFromAllWorkers": [
                    {"workerId": who, "annotationData": {"content": json.dumps({"q": label})}}
                    for who, label in answers
                ]
            },
            "dx-metadata": {"type": "groundtruth/custom", "job-name": "dx"},
        }
        for at, answers in enumerate(said)
    ]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")


def _doccano(path: Path) -> None:
    said = [["b c", "Ä"], ["0"], []]
    lines = [{"id": at, "text": f"t {at}", "label": label} for at, label in enumerate(said)]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")


def _cvat(path: Path) -> None:
    images = {"x 1": ("b c", "Ä"), "x 2": ("0",)}
    tags = {name: "".join(f'<tag label="{tag}"/>' for tag in said) for name, said in images.items()}
    rows = "\n".join(f'<image id="0" name="{name}">{said}</image>' for name, said in tags.items())
    path.write_text(
        f"<annotations><version>1.1</version>\n{rows}\n</annotations>\n", encoding="utf-8"
    )


def _coco(path: Path) -> None:
    content = {
        "images": [{"id": 5, "file_name": "a.png"}, {"id": 7, "file_name": "b.png"}],
        "categories": [{"id": 4 * at + 2, "name": label} for at, label in enumerate(LABELS)],
        "annotations": [
            {"image_id": 5, "category_id": 2, "annotator": "w2"},
            {"image_id": 5, "category_id": 10, "annotator": "w10"},
            {"image_id": 7, "category_id": 6, "annotator": "w2"},
        ],
    }
    path.write_text(json.dumps(content), encoding="utf-8")


def _label_studio(path: Path) -> None:
    said = [(3, "b c"), ({"id": 2, "email": "w2@example.com"}, "Ä"), (None, "0")]
    annotations = [
        {
            "id": at,
            "completed_by": who,
            "result": [{"from_name": "dx", "type": "choices", "value": {"choices": [label]}}],
        }
        for at, (who, label) in enumerate(said)
    ]
    content = [{"id": 7, "data": {"text": "x"}, "annotations": annotations}]
    path.write_text(json.dumps(content, indent=1), encoding="utf-8")


def _label_studio_ranks(path: Path) -> None:
    said = [{"rank": ["Ä", "b c"]}, {"rank": ["0"]}]
    tasks = [
        {
            "id": at,
            "annotations": [
                {
                    "completed_by": 1,
                    "result": [{"from_name": "rank", "type": "ranker", "value": {"ranker": ranks}}],
                }
            ],
        }
        for at, ranks in enumerate(said)
    ]
    path.write_text(json.dumps(tasks), encoding="utf-8")


def _label_studio_min(path: Path) -> None:
    said: list[object] = ["0", {"choices": ["b c", "Ä"]}]
    records = [
        {"id": 1, "text": "x", "dx": value, "annotator": at, "annotation_id": at, "lead_time": 1.5}
        for at, value in enumerate(said)
    ]
    path.write_text(json.dumps(records), encoding="utf-8")


def _ballots(path: Path) -> None:
    names = "".join(f"# ALTERNATIVE NAME {at + 1}: {label}\n" for at, label in enumerate(LABELS))
    path.write_text(
        "# DATA TYPE: toi\n# NUMBER ALTERNATIVES: 3\n# NUMBER VOTERS: 5\n"
        f"# NUMBER UNIQUE ORDERS: 2\n{names}3: 2,{{1,3}}\n2: 1\n",
        encoding="utf-8",
    )


def _confidences(path: Path) -> None:
    path.write_text(
        "example,annotator,0,Ä,b c\nt 1,w2,0.25,0.5,0.25\nt 2,w10,0,0.1,0.9\n", encoding="utf-8"
    )


def _lists(path: Path) -> None:
    votes = {"t 1": ["b c", "Ä"], "t 2": ["0", "b c", ""]}
    rows = [json.dumps({"id": name, "annotator_labels": said}) for name, said in votes.items()]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")


def _prodigy(path: Path) -> None:
    options = [{"id": label} for label in LABELS]
    said = [(1, "b c", "ds-w2"), (1, "Ä", "ds-w10"), (2, "0", "ds-w2")]
    lines = [
        {
            "_input_hash": at,
            "_view_id": "choice",
            "options": options,
            "config": {"choice_style": "single"},
            "accept": [label],
            "answer": "accept",
            "_annotator_id": who,
        }
        for at, label, who in said
    ]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")


def _argilla_flat(path: Path) -> None:
    said = [["b c", "Ä"], ["0"]]
    records = [
        {
            "id": f"t {at}",
            "dx.responses": labels,
            "dx.responses.users": ["w2", "w10"][: len(labels)],
            "dx.responses.status": ["submitted"] * len(labels),
        }
        for at, labels in enumerate(said)
    ]
    path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")


def _argilla_ranks(path: Path) -> None:
    ranks = [{"value": "Ä", "rank": 1}, {"value": "b c", "rank": 1}, {"value": "0", "rank": 2}]
    responses = [
        {"user_id": "w2", "status": "submitted", "values": {"dx": {"value": ranks}}},
        {"user_id": "w10", "status": "discarded", "values": None},
    ]
    records = [{"id": "t 1", "fields": {"x": "y"}, "responses": responses, "suggestions": []}]
    path.write_text(json.dumps(records, indent=1), encoding="utf-8")


def _argilla_nested(path: Path) -> None:
    said = [["b c", "Ä"], ["0"]]
    records = [
        {
            "id": f"t {at}",
            "fields": {},
            "metadata": {},
            "responses": {"dx": [{"value": labels, "user_id": "w2"}]},
        }
        for at, labels in enumerate(said)
    ]
    path.write_text(json.dumps(records), encoding="utf-8")


def _written(path: Path) -> None:
    soft = [("t 1", "w2", {"b c": 0.3, "Ä": 0.1}), ("t 2", None, {"0": 1.0})]
    annotation = default().create(ANNOTATION, "soft-label")
    write_annotations(annotation.build(soft, [*LABELS, "unused"]), path)


# Reader, ending, kind, declared labels, what writes the file.
FILES: list[tuple[dict[str, Any], str, str, tuple[str, ...] | None, Callable[[Path], None]]] = [
    *(
        ({"name": "annotation-table"}, ending, "soft-label", None, _written)
        for ending in ("csv", "parquet", "npz", "nc")
    ),
    ({"name": "crowd-table"}, "csv", "single-label", None, _crowd),
    ({"name": "crowd-table", "kind": "label-set"}, "tsv", "label-set", None, _sets),
    ({"name": "counts"}, "csv", "single-label", None, _counts),
    ({"name": "counts"}, "npy", "single-label", LABELS, _array),
    ({"name": "counts"}, "npz", "single-label", None, _archive),
    ({"name": "selectors"}, "json", "partial-ranking", LABELS, _selectors),
    ({"name": "wide-table"}, "csv", "single-label", None, _wide),
    ({"name": "sagemaker"}, "manifest", "single-label", None, _workers),
    ({"name": "cvat", "annotator": "w 1"}, "xml", "label-set", None, _cvat),
    ({"name": "coco"}, "json", "label-set", None, _coco),
    ({"name": "doccano", "annotator": "w 1"}, "jsonl", "label-set", None, _doccano),
    ({"name": "label-studio"}, "json", "single-label", None, _label_studio),
    ({"name": "label-studio"}, "json", "partial-ranking", None, _label_studio_ranks),
    ({"name": "label-studio-min"}, "json", "label-set", None, _label_studio_min),
    ({"name": "prodigy"}, "jsonl", "single-label", None, _prodigy),
    ({"name": "argilla"}, "jsonl", "single-label", None, _argilla_flat),
    ({"name": "argilla"}, "json", "partial-ranking", None, _argilla_ranks),
    ({"name": "argilla", "kind": "label-set"}, "json", "label-set", None, _argilla_nested),
    (
        {"name": "preflib", "unlisted": "excluded", "example": "e"},
        "toi",
        "partial-ranking",
        None,
        _ballots,
    ),
    ({"name": "soft-labels"}, "csv", "soft-label", None, _confidences),
    ({"name": "vote-lists"}, "jsonl", "single-label", None, _lists),
]

# Files of whole numbers, of which nothing says that they count.
NUMBERS = [("counts", "csv"), ("counts", "npy")]
UNRECOGNISED = {"recognises-its-own": "whole numbers are never guessed to be counts"}


# Any: what a kind is checked with, by name
def sound(of: str, like: str | dict[str, Any], **data: Any) -> None:
    report = check(KIND[of], default().create(KIND[of], like), **data)
    assert [result.name for result in report.rules] == [rule.name for rule in rules(of)]
    left = {result.name for result in report.rules if result.state != "holds"}
    assert left == {*data.get("expected_failures", {})}, str(report)


@pytest.mark.parametrize(("kind", "name"), OURS)
def test_a_built_in_keeps_every_rule(kind: str, name: str) -> None:
    sound(kind, {"name": name, **NEEDED.get(name, {})})


@pytest.mark.parametrize(("kind", "table"), OTHERWISE)
def test_so_it_does_with_other_parameters(kind: str, table: dict[str, Any]) -> None:
    sound(kind, table)


def test_there_is_a_file_for_every_reader() -> None:
    assert {str(table["name"]) for table, *_ in FILES} == set(READERS)


@pytest.mark.parametrize(
    ("table", "ending", "kind", "labels", "write"),
    FILES,
    ids=[f"{table['name']}-{ending}" for table, ending, *_ in FILES],
)
def test_a_reader_keeps_every_rule(
    tmp_path: Path,
    table: dict[str, Any],
    ending: str,
    kind: str,
    labels: tuple[str, ...] | None,
    write: Callable[[Path], None],
) -> None:
    path = tmp_path / f"votes.{ending}"
    write(path)
    expected = UNRECOGNISED if (table["name"], ending) in NUMBERS else {}
    sound("reader", table, path=path, kind=kind, labels=labels, expected_failures=expected)
