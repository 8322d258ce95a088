"""The page about planning shows measured figures."""

from __future__ import annotations

from pathlib import Path

from methods_page import tables
from planning_world import OBSERVED, PREDICTED


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
