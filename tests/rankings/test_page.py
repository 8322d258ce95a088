"""docs/rankings.md: every figure is what is computed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import plausibly
import rankings_oracles as ro
from plausibly.protocols import AGGREGATOR
from plausibly.registry import default
from plausibly_builtins.partial_ranking.points import PartialRanking

CASES: dict[str, tuple[str, dict[str, object]]] = {
    "`inverse-rank`": ("inverse-rank", {}),
    "`borda`": ("borda", {}),
    "`plackett-luce`": ("plackett-luce", {}),
    "`plackett-luce`, `prior` 0.1": ("plackett-luce", {"prior": 0.1}),
    "`plackett-luce`, `prior` 2": ("plackett-luce", {"prior": 2.0}),
}


@pytest.fixture(scope="module")
def page(project: Path) -> str:
    return (project / "docs" / "rankings.md").read_text(encoding="utf-8")


def test_the_table_of_aggregators(page: str) -> None:
    rows = [line.split("|")[1:-1] for line in page.splitlines() if line.startswith("| `")]
    first = {row[0].strip(" `"): row[2].split() for row in rows if len(row) == 4}
    table = PartialRanking().build([("e", "q", [["a"], ["b"], ["c"]])], ["a", "b", "c"])
    for name, shown in first.items():
        assert default().find(AGGREGATOR, name).source.builtin
        result = plausibly.aggregate(table, name)
        if "draw" not in result.dims:
            assert shown == [f"{value:.3f}" for value in result.values[0]]
    assert set(first) >= {"inverse-rank", "borda", "plackett-luce", "dirichlet", "bootstrap"}


@pytest.mark.realdata
def test_the_cases(page: str, shared: Path) -> None:
    table = ro.dermatologists(shared)
    inverse = plausibly.aggregate(table, "inverse-rank").values
    best = inverse == inverse.max(axis=1, keepdims=True)
    lines = []
    for shown, (name, params) in CASES.items():
        values = plausibly.aggregate(table, {"name": name, **params}).values
        same = best[np.arange(len(values)), values.argmax(axis=1)].mean()
        lines.append(f"| {shown} | {values.max(axis=1).mean():.3f} | {same:.1%} |")
    assert "\n".join(lines) in page
