"""Every component that comes with plausibly keeps the rules that strangers' components must."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
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
    "bootstrap": {"draws": 2},
    "plackett-luce-draws": {"draws": 2, "warm_up": 5},
}
"""Parameters without a default, such as the coordinates of the kit's examples, and few draws."""

OTHERWISE: list[tuple[str, dict[str, Any]]] = [
    ("annotation", {"name": "label-set", "empty": "drop"}),
    ("aggregator", {"name": "majority-vote", "ties": "fractional"}),
    ("aggregator", {"name": "majority-vote", "ties": "random"}),
    ("aggregator", {"name": "dawid-skene", "smoothing": 0.0, "iterations": 20}),
    ("aggregator", {"name": "one-coin", "right": 2.0, "wrong": 1.0}),
    ("aggregator", {"name": "bootstrap", "inner": "worker-agreement", "draws": 2}),
    ("aggregator", {"name": "exclude", "below": 0.9, "lost": "keep"}),
    ("aggregator", {"name": "exclude", "inner": "dawid-skene", "fewer_than": 1}),
    (
        "aggregator",
        {"name": "spread", "inner": {"name": "bootstrap", "draws": 2}, "parents": "frequency"},
    ),
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


def _task(choices: dict[str, Any], who: object, at: int, **of: str) -> dict[str, Any]:
    """Return an annotation of Label Studio."""
    return {"id": at, "completed_by": who, "result": [{**of, "value": choices}]}


def _workers(*said: tuple[str, str]) -> dict[str, Any]:
    """Return what the workers of SageMaker said of an example."""
    answers = [
        {"workerId": who, "annotationData": {"content": json.dumps({"q": label})}}
        for who, label in said
    ]
    meta = {"type": "groundtruth/custom", "job-name": "dx"}
    return {
        "source": said[0][1],
        "dx": {"annotationsFromAllWorkers": answers},
        "dx-metadata": meta,
    }


def _prodigy(at: int, label: str, who: str) -> dict[str, Any]:
    """Return an answer of Prodigy."""
    return {
        "_input_hash": at,
        "_view_id": "choice",
        "options": [{"id": label} for label in LABELS],
        "config": {"choice_style": "single"},
        "accept": [label],
        "answer": "accept",
        "_annotator_id": who,
    }


def _written(path: Path) -> None:
    soft = [("t 1", "w2", {"b c": 0.3, "Ä": 0.1}), ("t 2", None, {"0": 1.0})]
    annotation = default().create(ANNOTATION, "soft-label")
    write_annotations(annotation.build(soft, [*LABELS, "unused"]), path)


COUNTS = np.array([[2, 0, 1], [0, 1, 3]])
RANKS = [{"value": "Ä", "rank": 1}, {"value": "b c", "rank": 1}, {"value": "0", "rank": 2}]
COCO = {
    "images": [{"id": 5, "file_name": "a.png"}, {"id": 7, "file_name": "b.png"}],
    "categories": [{"id": 4 * at + 2, "name": label} for at, label in enumerate(LABELS)],
    "annotations": [
        {"image_id": 5, "category_id": 2, "annotator": "w2"},
        {"image_id": 5, "category_id": 10, "annotator": "w10"},
        {"image_id": 7, "category_id": 6, "annotator": "w2"},
    ],
}
STUDIO = [
    _task({"choices": [label]}, who, at, from_name="dx", type="choices")
    for at, (who, label) in enumerate(
        [(3, "b c"), ({"id": 2, "email": "w2@example.com"}, "Ä"), (None, "0")]
    )
]
STUDIO_RANKS = [
    {
        "id": at,
        "annotations": [_task({"ranker": {"rank": ranks}}, 1, at, from_name="rank", type="ranker")],
    }
    for at, ranks in enumerate((["Ä", "b c"], ["0"]))
]
STUDIO_MIN = [
    {"id": 1, "text": "x", "dx": said, "annotator": at, "annotation_id": at, "lead_time": 1.5}
    for at, said in enumerate(("0", {"choices": ["b c", "Ä"]}))
]
FLAT = [
    {
        "id": f"t {at}",
        "dx.responses": labels,
        "dx.responses.users": ["w2", "w10"][: len(labels)],
        "dx.responses.status": ["submitted"] * len(labels),
    }
    for at, labels in enumerate((["b c", "Ä"], ["0"]))
]
NESTED = [
    {
        "id": f"t {at}",
        "fields": {},
        "metadata": {},
        "responses": {"dx": [{"value": labels, "user_id": "w2"}]},
    }
    for at, labels in enumerate((["b c", "Ä"], ["0"]))
]
ARGILLA = {
    "id": "t 1",
    "fields": {"x": "y"},
    "responses": [
        {"user_id": "w2", "status": "submitted", "values": {"dx": {"value": RANKS}}},
        {"user_id": "w10", "status": "discarded", "values": None},
    ],
    "suggestions": [],
}
CVAT = """<annotations><version>1.1</version>
<image id="0" name="x 1"><tag label="b c"/><tag label="Ä"/></image>
<image id="0" name="x 2"><tag label="0"/></image>
</annotations>
"""
BALLOTS = """# DATA TYPE: toi
# NUMBER ALTERNATIVES: 3
# NUMBER VOTERS: 5
# NUMBER UNIQUE ORDERS: 2
# ALTERNATIVE NAME 1: b c
# ALTERNATIVE NAME 2: Ä
# ALTERNATIVE NAME 3: 0
3: 2,{1,3}
2: 1
"""
BY_WORKER = [_workers(("w2", "b c"), ("w10", "Ä")), _workers(("w2", "0"))]
ACCEPTED = [_prodigy(1, "b c", "ds-w2"), _prodigy(1, "Ä", "ds-w10"), _prodigy(2, "0", "ds-w2")]
TAGGED = [
    {"id": at, "text": f"t {at}", "label": said}
    for at, said in enumerate((["b c", "Ä"], ["0"], []))
]
VOTES = [
    {"id": "t 1", "annotator_labels": ["b c", "Ä"]},
    {"id": "t 2", "annotator_labels": ["0", "b c", ""]},
]


def lines(records: Sequence[object]) -> str:
    """Return JSON lines."""
    return "".join(f"{json.dumps(record)}\n" for record in records)


# Reader, ending, kind, declared labels, and the text of the file, or what writes it.
FILES: list[
    tuple[dict[str, Any], str, str, tuple[str, ...] | None, str | Callable[[Path], None]]
] = [
    *(
        ({"name": "annotation-table"}, ending, "soft-label", None, _written)
        for ending in ("csv", "parquet", "npz", "nc")
    ),
    (
        {"name": "crowd-table"},
        "csv",
        "single-label",
        None,
        "task,worker,label\nt 1,w2,b c\nt 1,w10,Ä\nt 1,,0\nt 10,w2,0\nt 9,w10,b c\nt 9,w2,\n",
    ),
    (
        {"name": "crowd-table", "kind": "label-set"},
        "tsv",
        "label-set",
        None,
        "task\tworker\tlabel\nt 1\tw2\tb c\nt 1\tw2\tÄ\nt 1\tw1\t0\nt 2\tw2\t0\n",
    ),
    (
        {"name": "counts"},
        "csv",
        "single-label",
        None,
        "example,b c,Ä,0\nx 10,2,0,1\nx 9,0,1,3\n",
    ),
    ({"name": "counts"}, "npy", "single-label", LABELS, lambda path: np.save(path, COUNTS)),
    (
        {"name": "counts"},
        "npz",
        "single-label",
        None,
        lambda path: np.savez(path, counts=COUNTS, labels=list(LABELS), names=["x", "y"]),
    ),
    (
        {"name": "selectors"},
        "json",
        "partial-ranking",
        LABELS,
        "[[[[0, 2], [1]], [[2]]], [[[1], [0]]]]",
    ),
    (
        {"name": "wide-table"},
        "csv",
        "single-label",
        None,
        "example,reader 1,reader 2,reader 3\nx 10,b c,,0\nx 9,Ä,Ä,\nx 8,,b c,Ä\n",
    ),
    ({"name": "sagemaker"}, "manifest", "single-label", None, lines(BY_WORKER)),
    ({"name": "cvat", "annotator": "w 1"}, "xml", "label-set", None, CVAT),
    ({"name": "coco"}, "json", "label-set", None, json.dumps(COCO)),
    ({"name": "doccano", "annotator": "w 1"}, "jsonl", "label-set", None, lines(TAGGED)),
    (
        {"name": "label-studio"},
        "json",
        "single-label",
        None,
        json.dumps([{"id": 7, "data": {"text": "x"}, "annotations": STUDIO}], indent=1),
    ),
    ({"name": "label-studio"}, "json", "partial-ranking", None, json.dumps(STUDIO_RANKS)),
    ({"name": "label-studio-min"}, "json", "label-set", None, json.dumps(STUDIO_MIN)),
    ({"name": "prodigy"}, "jsonl", "single-label", None, lines(ACCEPTED)),
    ({"name": "argilla"}, "jsonl", "single-label", None, lines(FLAT)),
    ({"name": "argilla"}, "json", "partial-ranking", None, json.dumps([ARGILLA], indent=1)),
    ({"name": "argilla", "kind": "label-set"}, "json", "label-set", None, json.dumps(NESTED)),
    (
        {"name": "preflib", "unlisted": "excluded", "example": "e"},
        "toi",
        "partial-ranking",
        None,
        BALLOTS,
    ),
    (
        {"name": "soft-labels"},
        "csv",
        "soft-label",
        None,
        "example,annotator,0,Ä,b c\nt 1,w2,0.25,0.5,0.25\nt 2,w10,0,0.1,0.9\n",
    ),
    ({"name": "vote-lists"}, "jsonl", "single-label", None, lines(VOTES)),
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
    ("table", "ending", "kind", "labels", "content"),
    FILES,
    ids=[f"{table['name']}-{ending}" for table, ending, *_ in FILES],
)
def test_a_reader_keeps_every_rule(
    tmp_path: Path,
    table: dict[str, Any],
    ending: str,
    kind: str,
    labels: tuple[str, ...] | None,
    content: str | Callable[[Path], None],
) -> None:
    path = tmp_path / f"votes.{ending}"
    if isinstance(content, str):
        path.write_text(content, encoding="utf-8")
    else:
        content(path)
    expected = UNRECOGNISED if (table["name"], ending) in NUMBERS else {}
    sound("reader", table, path=path, kind=kind, labels=labels, expected_failures=expected)
