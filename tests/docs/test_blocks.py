"""The pages of methods, run: every block of Python and every command shows what it prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import cli_calibrators
import run_pages
from readme_world import write_files

from .pages import DOCS

_STUDY = re.compile(r"^(?<!-->\n\n)```toml\n(.*?)^```$", re.M | re.S)


PAGES = {
    "choosing": 2,
    "theory/why-votes-mislead": 1,
    "guarantee": 3,
    "evaluation": 5,
    "figures": 9,
    "report": 3,
    "studies": 5,
    "planning": 3,
    "sensitivity": 3,
    "serving": 2,
    "agreement": 5,
    "crowd": 5,
    "files": 4,
    "formats": 11,
    "labels": 3,
    "likelihood-ratios": 1,
    "rankings": 4,
    "tuning": 2,
    "regions": 2,
    "sklearn": 5,
    "huggingface": 3,
    "torch": 2,
    "comparison": 2,
}
"""Number of blocks of each page that show what they print."""

# Pages that bring their own files, or need none.
OWN = (
    *("theory/why-votes-mislead", "agreement", "crowd", "files", "formats", "labels", "rankings"),
    *("likelihood-ratios", "tuning", "regions", "sklearn", "huggingface", "torch", "comparison"),
)
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
    if name not in OWN:
        write_files(tmp_path)
    check(name, PAGES[name], tmp_path)


@pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")
def test_calibrators(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cli_calibrators.make(tmp_path, risks="labels.csv")
    check("calibrators", 12, tmp_path)
