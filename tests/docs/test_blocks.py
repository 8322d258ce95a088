"""The pages of methods, run: every block of Python and every command shows what it prints."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

import cli_calibrators
import run_pages
from readme_world import write_files

from .pages import DOCS

_STUDY = re.compile(r"^(?<!-->\n\n)```toml\n(.*?)^```$", re.M | re.S)


def nothing(folder: Path) -> None:
    """The page brings its own files, or needs none."""


PAGES: dict[str, tuple[int, Callable[[Path], None]]] = {
    "choosing": (2, write_files),
    "theory/why-votes-mislead": (1, nothing),
    "guarantee": (3, write_files),
    "evaluation": (5, write_files),
    "figures": (9, write_files),
    "report": (3, write_files),
    "studies": (5, write_files),
    "planning": (3, write_files),
    "sensitivity": (3, write_files),
    "serving": (2, write_files),
    "agreement": (5, nothing),
    "crowd": (5, nothing),
    "files": (4, nothing),
    "formats": (11, nothing),
    "labels": (3, nothing),
    "likelihood-ratios": (1, nothing),
    "rankings": (4, nothing),
    "tuning": (2, nothing),
    "regions": (2, nothing),
    "sklearn": (5, nothing),
    "huggingface": (3, nothing),
    "torch": (2, nothing),
    "comparison": (2, nothing),
}
LONG = ("studies", "sensitivity", "rankings", "report", "agreement", "planning", "tuning")
NEEDED = {
    **dict.fromkeys(("sklearn", "comparison", "likelihood-ratios"), "sklearn"),
    "torch": "torch",
}


def check(name: str, count: int, folder: Path) -> None:
    """Run a page in a folder, but for its study file."""
    text = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    page = folder / "page.md"
    page.write_text(_STUDY.sub("", text), encoding="utf-8")
    found = run_pages.run(page)
    for one in found:
        if not one.right:  # so that pytest shows where they differ
            assert re.sub(r" +$", "", one.block.body, flags=re.M) == one.printed
    assert len(found) == count


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in LONG else name for name in PAGES]
)
def test_blocks_show_what_they_print(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip(NEEDED.get(name, "numpy"), reason="the page is about it")
    monkeypatch.chdir(tmp_path)
    count, prepare = PAGES[name]
    prepare(tmp_path)
    check(name, count, tmp_path)


@pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")
def test_calibrators(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cli_calibrators.make(tmp_path, risks="labels.csv")
    check("calibrators", 12, tmp_path)
