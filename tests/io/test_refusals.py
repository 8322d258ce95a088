"""Small files that cannot be used, and by which message each is refused, in ``refusals.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import pytest

import plausibly
from io_files import refusal, written
from plausibly.io import read_examples, read_labels, read_sets
from plausibly.io.annotation_files import read_annotation_file
from plausibly.io.json import read_json, read_json_lines
from plausibly.io.text import read_table
from plausibly.io.xml import read_xml

Case: TypeAlias = dict[str, Any]  # Any: what TOML holds

READS: dict[str, tuple[str, Callable[..., object]]] = {
    "annotations": ("votes.csv", read_annotation_file),
    "examples": ("e.csv", read_examples),
    "json": ("f.json", read_json),
    "json lines": ("f.jsonl", read_json_lines),
    "labels": ("l.txt", read_labels),
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
    content = case["latin"].encode("latin-1") if "latin" in case else case["text"]
    path = written(tmp_path, case.get("file", usual), content)
    error = refusal(lambda: read(path, **case.get("options", {})))
    assert (error.name, " ".join(error.found.split())) == (case["name"], case.get("found", ""))
    assert "details" not in case or error.details == case["details"]
