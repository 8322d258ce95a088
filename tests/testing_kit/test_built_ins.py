"""Every component that comes with plausibly keeps the rules that strangers' components must."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cases_net
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
    "clustered": {"by": "group"},
    "risk": {"by": "risk"},
    "bootstrap": {"draws": 2},
    "plackett-luce-draws": {"draws": 2, "warm_up": 5},
}
"""Parameters without a default, such as the coordinates of the kit's examples, and few draws."""

# Any: parameters of any type
OTHERWISE: dict[str, list[dict[str, Any]]] = {
    "annotation": [{"name": "label-set", "empty": "drop"}],
    "aggregator": [
        {"name": "majority-vote", "ties": "fractional"},
        {"name": "majority-vote", "ties": "random"},
        {"name": "dawid-skene", "smoothing": 0.0, "iterations": 20},
        {"name": "one-coin", "right": 2.0, "wrong": 1.0},
        {"name": "bootstrap", "inner": "worker-agreement", "draws": 2},
        {"name": "exclude", "below": 0.9, "lost": "keep"},
        {"name": "exclude", "inner": "dawid-skene", "fewer_than": 1},
        {"name": "spread", "inner": {"name": "bootstrap", "draws": 1}, "parents": "frequency"},
        {"name": "dirichlet", "draws": 2, "temperature": 0.5, "prior": 0.1, "unmentioned": "each"},
        {"name": "plackett-luce", "prior": 0.01, "unmentioned": "each"},
        {"name": "plackett-luce", "prior": 2.0, "unmentioned": "together"},
        {"name": "plackett-luce-draws", "draws": 2, "warm_up": 5, "unmentioned": "each"},
    ],
    "calibrator": [
        {"name": "monte-carlo", "draws": 1},
        {"name": "monte-carlo", "systematic": True},
        {"name": "mondrian", "by": "label"},
        {"name": "mondrian", "by": "label", "inner": "monte-carlo"},
        {"name": "mondrian", "by": "group", "inner": "monte-carlo"},
        {"name": "weighted", "by": "weight", "inner": "monte-carlo"},
        {"name": "augmentation", "scores": "pooled"},
        {"name": "augmentation", "scores": "separate"},
        {"name": "mass-coverage", "leave_out": 0.0},
    ],
    "combiner": [
        {"name": "ecdf", "band": "one-sided", "delta": 0.1, "held_out": 0.3},
        {"name": "pac", "delta": 0.25, "bound": "held-out", "held_out": 0.9},
        {"name": "pac", "delta": 0.25, "bound": "binomial"},
        {"name": "pac", "delta": 0.25, "bound": "hoeffding-bentkus"},
        {"name": "pac", "delta": 0.25},
    ],
}
TABLES = [
    *((kind, {"name": name, **NEEDED.get(name, {})}) for kind, name in OURS),
    *((kind, table) for kind, tables in OTHERWISE.items() for table in tables),
]


def _written(path: Path) -> None:
    soft = [("t 1", "w2", {"b c": 0.3, "Ä": 0.1}), ("t 2", None, {"0": 1.0})]
    annotation = default().create(ANNOTATION, "soft-label")
    write_annotations(annotation.build(soft, [*LABELS, "unused"]), path)


COUNTS = np.array([[2, 0, 1], [0, 1, 3]])

# Reader, ending, kind, declared labels, and the text of the file, or what writes it: where
# tests/readers/cases, whose cases with `kit` keep the same rules, have none.
FILES: list[tuple[str, str, str, tuple[str, ...] | None, str | Callable[[Path], None]]] = [
    *(
        ("annotation-table", ending, "soft-label", None, _written)
        for ending in ("csv", "parquet", "npz", "nc")
    ),
    ("counts", "csv", "single-label", None, "example,b c,Ä,0\nx 10,2,0,1\nx 9,0,1,3\n"),
    ("counts", "npy", "single-label", LABELS, lambda path: np.save(path, COUNTS)),
]

UNRECOGNISED = {"recognises-its-own": "whole numbers are never guessed to be counts"}


# Any: what a kind is checked with, by name
def sound(of: str, like: str | dict[str, Any], **data: Any) -> None:
    report = check(KIND[of], default().create(KIND[of], like), **data)
    assert [result.name for result in report.rules] == [rule.name for rule in rules(of)]
    left = {result.name for result in report.rules if result.state != "holds"}
    assert left == {*data.get("expected_failures", {})}, str(report)


@pytest.mark.parametrize(
    ("kind", "table"), TABLES, ids=[f"{kind} {table}" for kind, table in TABLES]
)
def test_a_built_in_keeps_every_rule(kind: str, table: dict[str, Any]) -> None:
    sound(kind, table)


def test_every_reader_is_tried(project: Path) -> None:
    paths = (project / "tests" / "readers" / "cases").rglob("*.toml")
    files = [file for path in paths for file in cases_net.load(path)]
    cases = [case for file in files for case in file["read"] if "kit" in case]
    tried = {case.get("reader", case.get("recognised")) for case in cases}
    assert tried | {name for name, *_ in FILES} == set(READERS)


@pytest.mark.parametrize(
    ("name", "ending", "kind", "labels", "content"),
    FILES,
    ids=[f"{name}-{ending}" for name, ending, *_ in FILES],
)
def test_a_reader_keeps_every_rule(
    tmp_path: Path,
    name: str,
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
    expected = UNRECOGNISED if name == "counts" else {}
    sound("reader", name, path=path, kind=kind, labels=labels, expected_failures=expected)
