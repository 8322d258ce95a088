"""Circles of imports: their number and size may only fall."""

from __future__ import annotations

from pathlib import Path

from . import circles as arch_circles

RECORDED = {"files": (0, 0), "folders": (0, 0)}  # circles, and members of all


def test_circles_of_imports_are_those_recorded(project: Path) -> None:
    graph = arch_circles.files(project)
    found = {
        "files": arch_circles.circles(graph),
        "folders": arch_circles.circles(arch_circles.folders(graph)),
    }
    counts = {what: (len(parts), sum(map(len, parts))) for what, parts in found.items()}
    assert counts == RECORDED, f"record fewer, never more: {found}"
