"""The tables of docs/combiners.md: how often rules merge p-values to 0.1, and sizes of sets."""

from __future__ import annotations

from pathlib import Path

import pytest

import plausibly
from plausibly.demo.subjects import load
from readme_world import tables
from refusals import quiet

from .designs import ALPHA, DESIGNS, combiner

COUNT = 20_000
SPLITS = 20
FACTORS = {"average": 1, "twice-average": 2}


@pytest.fixture(scope="module")
def page(project: Path) -> list[list[list[str]]]:
    return tables(project / "docs" / "combiners.md")


def test_levels(page: list[list[list[str]]]) -> None:
    designs = [design(COUNT) for design in DESIGNS.values()]
    header, *rows = page[1]
    assert header == ["combiner", *DESIGNS]
    assert len(rows) == 13
    for cell, *shown in rows:
        name, result = cell.strip("`"), []
        for p in designs:
            if name in FACTORS:
                merged = FACTORS[name] * p.mean(axis=0)
            elif name == "maximum":
                merged = p.max(axis=0)
            else:
                merged = combiner(name).merge(p)  # type: ignore[attr-defined]  # has it
            # Ten equal p-values of mean alpha may miss it by rounding.
            result.append(f"{(merged <= ALPHA + 1e-12).mean():.3f}")
        assert result == shown, name


@pytest.mark.slow
def test_sets(page: list[list[list[str]]]) -> None:
    pytest.importorskip("sklearn", reason="the model of the nodules is scikit-learn's")
    subject = load("nodules", 0)
    _, *rows = page[2]
    methods: dict[str, dict[str, object]] = {}
    for name, *_ in rows:
        rule, _, option = name.strip("`").partition(", ")
        like: dict[str, object] = {"name": rule}
        if option:
            like |= {"power": 0.5} if option == "power 0.5" else {"effective": option}
        methods[name] = {
            "calibrator": "monte-carlo",
            "draws": 10,
            "combiner": like,
            "allow_no_guarantee": True,
        }
    with quiet():
        study = plausibly.compare(
            subject.predictions,
            subject.plausibilities,
            methods,
            alphas=["0.1"],
            splits=SPLITS,
            cluster=subject.cluster,
        ).data.isel(alpha=0)
    mean = study.mean("split")
    coverage, size = mean["aggregated_coverage"].values, mean["set_size"].values
    for place, row in enumerate(rows):
        assert row[1] == study["guaranteed"].values[place]
        assert row[2:] == [f"{coverage[place]:.3f}", f"{size[place]:.2f}"], row[0]
    # No rule with a guarantee has smaller sets than the average.
    assert size[0] == min(size[study["guaranteed"].values != "no guarantee"])
