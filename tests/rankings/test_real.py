"""Ballots of PrefLib, the rankings of dermatologists, and the figures of docs/rankings.md."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import plausibly
from plausibly.plugin import Keys
from plausibly.protocols import AGGREGATOR
from plausibly.registry import default
from plausibly_builtins.partial_ranking.plackett_luce import PlackettLuce
from plausibly_builtins.partial_ranking.plackett_luce_draws import PlackettLuceDraws
from plausibly_builtins.partial_ranking.points import PartialRanking

KEYS = Keys(0, "aggregator")


def ballots(shared: Path, name: str, unlisted: str = "excluded") -> xr.Dataset:
    file = shared / "cases/annotations/preflib" / name
    return plausibly.read_annotations(file, reader={"name": "preflib", "unlisted": unlisted})


def count(table: xr.Dataset) -> float:
    """Return how many ballots there are; without weights each counts once."""
    return float(table.get("response_weight", xr.ones_like(table["response_example"])).sum())


@pytest.fixture(scope="module")
def dermatologists(shared: Path) -> xr.Dataset:
    folder = shared / "data/derm_ddx"
    labels = folder / "dermatology_conditions.txt"
    return plausibly.read_annotations(folder / "dermatology_selectors.json", labels=labels)


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("unlisted", "known"),
    [
        ("unknown", [0.26876, 0.21007, 0.47103, 0.05015]),
        ("excluded", [0.2551, 0.21754, 0.48656, 0.0408]),
    ],
)
def test_debian_ballots(shared: Path, unlisted: str, known: list[float]) -> None:
    annotations = ballots(shared, "00002-00000001.soi", unlisted)
    assert count(annotations) == 475
    for prior in (0.0, 1e-6):
        result = PlackettLuce(prior=prior).aggregate(annotations, KEYS).values[0]
        assert result == pytest.approx(known, abs=6e-6)
    drawn = PlackettLuceDraws(draws=200).aggregate(annotations, KEYS).values[:, 0]
    error = drawn.std(axis=0)
    assert error.max() < 0.03
    assert (np.abs(drawn.mean(axis=0) - known) < 5 * error / np.sqrt(200) + 2e-3).all()


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("name", "voters"),
    [
        ("00023-00000001.toi", 204),
        ("00022-00000002.toi", 25355),
        ("00032-00000004.toi", 15),
        ("00003-00000001.toc", 10),
    ],
)
def test_ballots_with_ties(shared: Path, name: str, voters: int) -> None:
    annotations = ballots(shared, name)
    assert count(annotations) == voters
    result = PlackettLuce().aggregate(annotations, KEYS)
    facts = json.loads(result.attrs["convergence"])
    assert facts["iterations"] < 30
    assert facts["change"] <= 1e-10
    assert (result.isel(label=np.unique(annotations["mention_label"])) > 0).all()


@pytest.mark.realdata
def test_dermatologists(dermatologists: xr.Dataset) -> None:
    annotations = dermatologists
    inverse = plausibly.aggregate(annotations, "inverse-rank")
    for name in ("borda", "plackett-luce"):
        result = plausibly.aggregate(annotations, name)
        assert np.array_equal(result.values > 0, inverse.values > 0)
    part = plausibly.select_annotations(annotations, example=list(map(str, range(100))))
    for name in ("dirichlet", "plackett-luce-draws"):
        drawn = plausibly.aggregate(part, name, draws=3)
        assert drawn.shape == (3, 100, 419)
        assert (drawn.values[:, inverse.values[:100] == 0] == 0).all()
    # published: prior .01 of each of 419 conditions, at temperature 1, .80 off the rankings
    spread = plausibly.aggregate(
        part, "dirichlet", draws=40, temperature=1.0, prior=0.01, unmentioned="each"
    )
    off = spread.where(inverse.isel(example=slice(0, 100)) == 0, 0.0).sum("label").mean()
    assert float(off) == pytest.approx(0.80, abs=0.01)


# ---- docs/rankings.md


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
def test_the_cases(page: str, dermatologists: xr.Dataset) -> None:
    inverse = plausibly.aggregate(dermatologists, "inverse-rank").values
    best = inverse == inverse.max(axis=1, keepdims=True)
    lines = []
    for shown, (name, params) in CASES.items():
        values = plausibly.aggregate(dermatologists, {"name": name, **params}).values
        same = best[np.arange(len(values)), values.argmax(axis=1)].mean()
        lines.append(f"| {shown} | {values.max(axis=1).mean():.3f} | {same:.1%} |")
    assert "\n".join(lines) in page
