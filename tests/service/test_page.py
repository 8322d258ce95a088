"""docs/serving.md lists the methods of a predictor of rows."""

from __future__ import annotations

from pathlib import Path

from plausibly.conformal.array_predictor import ArrayPredictor


def test_the_page_names_what_a_predictor_of_rows_answers(project: Path) -> None:
    page = (project / "docs" / "serving.md").read_text(encoding="utf-8")
    asked = [name for name in vars(ArrayPredictor) if name.endswith("_array")]
    assert len(asked) == 3
    for name in (*asked, "guarantee"):
        assert f"| `{name}(" in page
