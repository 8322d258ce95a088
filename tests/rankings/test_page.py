"""docs/rankings.md, run: every block prints what it shows, every figure is what is computed."""

from __future__ import annotations

import contextlib
import io
import json
import re
from pathlib import Path

import numpy as np
import pytest

import plausibly
from plausibly.protocols import AGGREGATOR
from plausibly.registry import default
from plausibly_builtins.partial_ranking.annotation import PartialRanking

_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
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


def test_the_blocks_print_what_the_page_shows(page: str) -> None:
    blocks = [(found[0], found[1]) for found in _FENCE.findall(page)]
    names: dict[str, object] = {}
    for (language, text), after in zip(blocks, [*blocks[1:], ("", "")], strict=True):
        if language == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(text, "rankings.md", "exec"), names)  # the page's own blocks
            assert after == ("text", out.getvalue())
    assert sum(language == "python" for language, _ in blocks) == 4


def test_the_table_of_aggregators(page: str) -> None:
    rows = [line.split("|")[1:-1] for line in page.splitlines() if line.startswith("| `")]
    first = {row[0].strip(" `"): row[2].split() for row in rows if len(row) == 4}
    table = PartialRanking().build([("e", "q", [["a"], ["b"], ["c"]])], ["a", "b", "c"])
    for name, shown in first.items():
        assert default().find(AGGREGATOR, name).source.builtin
        found = plausibly.aggregate(table, name)
        if "draw" not in found.dims:
            assert shown == [f"{value:.3f}" for value in found.values[0]]
    assert set(first) >= {"inverse-rank", "borda", "plackett-luce", "dirichlet", "bootstrap"}


def cases_table(shared: Path) -> str:
    folder = shared / "data/derm_ddx"
    conditions = (folder / "dermatology_conditions.txt").read_text("utf-8").splitlines()
    cases = json.loads((folder / "dermatology_selectors.json").read_text("utf-8"))
    records = [
        (f"{case:04}", None, [[conditions[k] for k in block] for block in ranking])
        for case, readers in enumerate(cases)
        for ranking in readers
    ]
    table = PartialRanking().build(records, conditions)
    inverse = plausibly.aggregate(table, "inverse-rank").values
    best = inverse == inverse.max(axis=1, keepdims=True)
    lines = []
    for shown, (name, params) in CASES.items():
        values = plausibly.aggregate(table, {"name": name, **params}).values
        same = best[np.arange(len(values)), values.argmax(axis=1)].mean()
        lines.append(f"| {shown} | {values.max(axis=1).mean():.3f} | {same:.1%} |")
    return "\n".join(lines)


@pytest.mark.realdata
def test_the_cases(page: str, shared: Path) -> None:
    assert cases_table(shared) in page
