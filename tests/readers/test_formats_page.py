"""docs/formats.md, the sections about tables, results and frames: run, and complete."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import attrs
import pytest

from plausibly.data.responses import ResponseOptions
from plausibly_builtins.readers.coco import Coco
from plausibly_builtins.readers.crowd_table import CrowdTable
from plausibly_builtins.readers.cvat import Cvat
from plausibly_builtins.readers.sagemaker import SageMaker
from plausibly_builtins.readers.wide_table import WideTable

SECTIONS = (
    "Crowd tables",
    "Wide tables",
    "SageMaker Ground Truth",
    "CVAT",
    "COCO",
    "Data frames",
    "Plain records",
)
_FENCE = re.compile(r"(?:<!-- file: (\S+) -->\n\n)?^```(\w+)\n(.*?)^```$", re.M | re.S)


def section(project: Path, title: str) -> str:
    """Return the text of a section of the page."""
    page = (project / "docs" / "formats.md").read_text(encoding="utf-8")
    return re.split(r"^## ", page.partition(f"## {title}\n")[2], maxsplit=1, flags=re.M)[0]


def test_blocks_print_what_the_page_shows(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    shown = 0
    for title in SECTIONS:
        printed = ""
        for file, language, text in _FENCE.findall(section(project, title)):
            if file:
                (tmp_path / file).write_text(text, encoding="utf-8")
            elif language == "python":
                stream = io.StringIO()
                with contextlib.redirect_stdout(stream):
                    exec(compile(text, title, "exec"), names)  # the page's own blocks
                printed = stream.getvalue()
            elif language == "text":
                assert printed == text
                shown += 1
    assert shown == 4


@pytest.mark.parametrize(
    ("title", "reader"),
    [
        ("Crowd tables", CrowdTable),
        ("Wide tables", WideTable),
        ("SageMaker Ground Truth", SageMaker),
        ("CVAT", Cvat),
    ],
)
def test_every_option_is_told_of(
    project: Path, title: str, reader: type[attrs.AttrsInstance]
) -> None:
    shared = {field.name for field in attrs.fields(ResponseOptions)}
    own = {field.name for field in attrs.fields(reader)} - shared - {"delimiter"}
    text = section(project, title)
    assert {name for name in own if f"`{name}" not in text} == set()


def test_every_option_of_coco_is_told_of(project: Path) -> None:
    own = {field.name for field in attrs.fields(Coco)}
    own -= {field.name for field in attrs.fields(ResponseOptions)} | {"kind"}
    text = section(project, "COCO")
    assert {name for name in own if f"`{name}" not in text} == set()
