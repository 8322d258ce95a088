"""Small files that cannot be used, and by which message each is refused, in ``refusals.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import pytest

import cases_net
import plausibly
from io_files import refusal
from plausibly.io import read_examples, read_labels, read_sets
from plausibly.io.annotation_files import read_annotation_file
from plausibly.io.arrays import from_npy
from plausibly.io.json import read_json, read_json_lines
from plausibly.io.text import read_table
from plausibly.io.xml import read_xml

Case: TypeAlias = dict[str, Any]  # Any: what TOML holds

READS: dict[str, tuple[str, Callable[..., object]]] = {
    "annotations": ("votes.csv", read_annotation_file),
    "any annotations": ("votes.csv", plausibly.read_annotations),
    "examples": ("e.csv", read_examples),
    "json": ("f.json", read_json),
    "json lines": ("f.jsonl", read_json_lines),
    "labels": ("l.txt", read_labels),
    "numpy": ("a.npy", partial(from_npy, role="predictions")),
    "plausibilities": ("l.csv", plausibly.read_plausibilities),
    "predictions": ("p.csv", plausibly.read_predictions),
    "sets": ("sets.csv", read_sets),
    "table": ("votes.csv", partial(read_table, role="annotations")),
    "xml": ("a.xml", partial(read_xml, role="annotations")),
}
CASES: dict[str, dict[str, Case]] = tomllib.loads(
    (Path(__file__).parent / "refusals.toml").read_text("utf-8")
)


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind, cases in CASES.items() for name in cases]
)
def test_a_file_is_refused(tmp_path: Path, kind: str, name: str) -> None:
    case, (usual, read) = CASES[kind][name], READS[kind]
    if "latin" in case:
        case |= {"text": case["latin"], "encoding": "latin-1"}
    path = cases_net.write(tmp_path, {**case, "name": case.get("file", usual)})
    error = refusal(lambda: read(path, **case.get("options", {})))
    assert (error.name, " ".join(error.found.split())) == (case["name"], case.get("found", ""))
    for key in {"details", "hint", "what"} & set(case):
        assert getattr(error, key) == case[key]
