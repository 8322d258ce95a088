"""The tables of docs/combiners.md are what is computed; e-values on real annotations."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import combiners_page
import plausibly
from combiners_designs import CLAIMING, NONE
from exact_realdata import load
from plausibly.protocols import COMBINER
from plausibly.registry import default


def tables(project: Path) -> list[str]:
    text = (project / "docs" / "combiners.md").read_text(encoding="utf-8")
    return ["\n".join(found) for found in _blocks(text)]


def _blocks(text: str) -> list[list[str]]:
    blocks: list[list[str]] = [[]]
    for line in text.splitlines():
        if line.startswith("|"):
            blocks[-1].append(line)
        elif blocks[-1]:
            blocks.append([])
    return [block for block in blocks if block]


def test_levels(project: Path) -> None:
    assert combiners_page.levels() == tables(project)[1]


@pytest.mark.slow
def test_sets(project: Path) -> None:
    pytest.importorskip("sklearn", reason="the model of the nodules is scikit-learn's")
    table = combiners_page.sets()
    assert table == tables(project)[2]
    sizes = {
        name: (level, float(size))
        for name, level, size in re.findall(r"\| `(.+?)` \| (.+?) \| .+? \| (.+?) \|", table)
    }
    # What the page says of them: none with a guarantee has smaller sets than the average.
    assert len(sizes) == table.count("\n") - 1
    guaranteed = [size for level, size in sizes.values() if level != "no guarantee"]
    assert sizes["average"][1] == min(guaranteed)


def test_every_merging_rule_is_on_the_page(project: Path) -> None:
    rules = tables(project)[0]
    for name in (*CLAIMING, *NONE):
        assert f"| `{name}` |" in rules
        assert default().find(COMBINER, name).source.builtin


@pytest.mark.realdata
def test_sets_of_e_values_on_crema_d(shared: Path) -> None:
    """Six labels: 4.16 of them with 1/p (coverage 0.987), 5.54 with p^-.5, 2.24 by the average."""
    methods: dict[str, dict[str, object]] = {
        "average": {"calibrator": "monte-carlo"},
        "1/p": {"calibrator": "monte-carlo", "combiner": "e-value"},
        "p^-.5": {"calibrator": "monte-carlo", "combiner": {"name": "e-value", "power": 0.5}},
    }
    study = plausibly.compare(*load(shared, "crema_d"), methods, splits=5).data
    means = study.isel(alpha=0).mean("split")
    sizes = means["set_size"].values.tolist()
    assert sizes == pytest.approx([2.24, 4.16, 5.54], abs=0.03)
    assert float(means["aggregated_coverage"].values[1]) == pytest.approx(0.987, abs=0.003)
