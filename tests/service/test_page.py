"""docs/serving.md, run: every block of Python prints what the page shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from methods_page import run_page
from plausibly.conformal.array_predictor import ArrayPredictor
from readme_world import write_files


def test_the_page_shows_what_is_printed(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)
    blocks = run_page(project / "docs" / "serving.md")
    assert [bool(shown) for _, shown in blocks] == [False, True, True]
    for printed, shown in blocks:
        assert printed == shown


def test_the_page_names_what_a_predictor_of_rows_answers(project: Path) -> None:
    page = (project / "docs" / "serving.md").read_text(encoding="utf-8")
    asked = [name for name in vars(ArrayPredictor) if name.endswith("_array")]
    assert len(asked) == 3
    for name in (*asked, "guarantee"):
        assert f"| `{name}(" in page
