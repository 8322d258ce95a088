"""docs/figures.md lists every figure; tests/docs/test_blocks.py runs the page."""

from __future__ import annotations

import re
from pathlib import Path

from plausibly import plots
from plausibly.plots import reading


def test_the_table_lists_every_figure_with_what_it_is_of(project: Path) -> None:
    page = (project / "docs" / "figures.md").read_text(encoding="utf-8")
    rows = [row.split(" | ") for row in page.splitlines() if row.startswith("| `")]
    listed = {name: row[1] for row in rows for name in re.findall(r"`(\w+)`", row[0])}
    assert sorted(listed) == sorted(dir(plots))
    for figure, kinds in reading.FIGURES.items():
        for kind in kinds:
            maker = reading.KINDS[kind][0].partition("(")[0].rpartition(".")[2]
            assert maker in listed[figure], figure
