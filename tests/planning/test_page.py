"""The page about planning shows what its blocks print."""

from __future__ import annotations

from pathlib import Path

import pytest

from methods_page import run_page, tables
from planning_world import OBSERVED, PREDICTED
from readme_world import write_files


def test_the_page_shows_what_is_printed(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)
    blocks = run_page(project / "docs" / "planning.md")
    assert len(blocks) == 3
    for printed, shown in blocks:
        assert printed == shown


def test_the_page_shows_the_figures_that_are_tested(project: Path) -> None:
    (_, *rows) = tables(project / "docs" / "planning.md")[1]
    shown = {name: cells for name, *cells in rows}
    expected = {
        name: [
            f"{p:.4f}, seen {o:.4f}" for p, o in zip(PREDICTED[name], OBSERVED[name], strict=True)
        ]
        for name in PREDICTED
    }
    assert shown == expected
