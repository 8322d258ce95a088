"""docs/formats.md lists every option of each reader."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import pytest

from plausibly.io.responses import ResponseOptions
from plausibly.plugin import READER
from plausibly.registry import default

# The words of a section, and how it names an option: in a table of them, or anywhere.
SECTIONS = {
    "long-table": ("Long tables", "`{}"),
    "wide-table": ("Wide tables", "`{}"),
    "label-studio": ("Label Studio", "`{}"),
    "sagemaker": ("SageMaker Ground Truth", "`{}"),
    "cvat": ("CVAT", "`{}"),
    "coco": ("COCO", "`{}"),
    "argilla": ("Argilla", "| `{}` |"),
    "doccano": ("doccano", "| `{}` |"),
    "preflib": ("Ballots (PrefLib)", "| `{}` |"),
    "counts": ("Counts", "| `{}` |"),
    "vote-lists": ("Lists of votes", "| `{}` |"),
    "soft-labels": ("Soft labels", "| `{}` |"),
}
# Options of the reader that another section tells of.
ELSEWHERE = {"coco": {"kind"}, "wide-table": {"delimiter"}, "long-table": {"delimiter"}}
ALSO = {
    "label-studio": {"duplicates", "choices", "taxonomy", "ranker", "pairwise", "rating", "number"}
}


@pytest.fixture
def page(project: Path) -> str:
    return (project / "docs" / "formats.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("reader", SECTIONS)
def test_every_option_is_told_of(page: str, reader: str) -> None:
    title, form = SECTIONS[reader]
    text = page.partition(f"## {title}\n")[2].partition("\n## ")[0]
    assert text
    component: Any = default().create(READER, reader)  # Any: its Protocol is no attrs class
    shared = {field.name for field in attrs.fields(ResponseOptions)}
    every = {field.name for field in attrs.fields(type(component))}
    wanted = (every - shared - ELSEWHERE.get(reader, set())) | ALSO.get(reader, set())
    assert {name for name in wanted if form.format(name) not in text} == set()
