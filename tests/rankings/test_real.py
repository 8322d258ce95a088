"""Ballots of PrefLib, and the dermatologists' rankings."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import plausibly
import rankings_oracles as ro
from plausibly.plugin import Keys
from plausibly_builtins.partial_ranking.plackett_luce import PlackettLuce
from plausibly_builtins.partial_ranking.plackett_luce_draws import PlackettLuceDraws

pytestmark = pytest.mark.realdata

KEYS = Keys(0, "aggregator")


def ballots(shared: Path, name: str) -> tuple[list[tuple[float, ro.Ranking]], list[str]]:
    return ro.preflib(shared / "cases/annotations/preflib" / name)


@pytest.mark.parametrize(
    ("unlisted", "known"),
    [
        ("unknown", [0.26876, 0.21007, 0.47103, 0.05015]),
        ("excluded", [0.2551, 0.21754, 0.48656, 0.0408]),
    ],
)
def test_debian_ballots(shared: Path, unlisted: str, known: list[float]) -> None:
    answers, labels = ballots(shared, "00002-00000001.soi")
    assert sum(weight for weight, _ in answers) == 475
    annotations = ro.table({"leader": answers}, labels, unlisted=unlisted)
    for prior in (0.0, 1e-6):
        result = PlackettLuce(prior=prior).aggregate(annotations, KEYS).values[0]
        assert result == pytest.approx(known, abs=6e-6)
    drawn = PlackettLuceDraws(draws=200).aggregate(annotations, KEYS).values[:, 0]
    error = drawn.std(axis=0)
    assert error.max() < 0.03
    assert (np.abs(drawn.mean(axis=0) - known) < 5 * error / np.sqrt(200) + 2e-3).all()


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
    answers, labels = ballots(shared, name)
    assert sum(weight for weight, _ in answers) == voters
    annotations = ro.table({"e": answers}, labels)
    result = PlackettLuce().aggregate(annotations, KEYS)
    facts = json.loads(result.attrs["convergence"])
    assert facts["iterations"] < 30
    assert facts["change"] <= 1e-10
    named = {label for _, ranking in answers for block in ranking for label in block}
    support = [label for label in labels if label in named]
    assert (result.sel(label=support) > 0).all()


def test_dermatologists(shared: Path) -> None:
    annotations = ro.dermatologists(shared)
    inverse = plausibly.aggregate(annotations, "inverse-rank")
    for name in ("borda", "plackett-luce"):
        result = plausibly.aggregate(annotations, name)
        assert np.array_equal(result.values > 0, inverse.values > 0)
    part = plausibly.select_annotations(annotations, example=[f"{case:04}" for case in range(100)])
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
