"""Predictors of every calibrator as files: the same answers, the same guarantee, no code."""

from __future__ import annotations

from pathlib import Path

import attrs
import numpy as np
import pytest
import xarray as xr

import plausibly
from calibrators_labelled import (
    AUGMENTED,
    CALIBRATORS,
    LABELS,
    POOLED,
    Table,
    plausibilities,
    predictions,
)
from plausibly.conformal.predictor import ConformalPredictor
from tables import shares

pytestmark = pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")

N = 30
SMOOTHED: Table = {"name": "average", "smoothed": True}
CASES: list[tuple[str, Table | str]] = [
    *((name, "average") for name in (*CALIBRATORS, *AUGMENTED, "pooled")),
    ("group of draws", "maximum"),
    ("weights of draws", "median"),
    ("group", SMOOTHED),
    ("separate", "held-out-rank"),
    ("pooled", "held-out-rank"),
    ("separate", "exchangeable-average"),
]
TABLES = {**CALIBRATORS, **AUGMENTED, "pooled": POOLED}


def again(predictor: ConformalPredictor, folder: Path) -> ConformalPredictor:
    predictor.save(folder / "predictor.nc")
    return plausibly.load_predictor(folder / "predictor.nc")


def unchanged(one: ConformalPredictor, other: ConformalPredictor, test: xr.DataArray) -> None:
    assert other.fingerprint == one.fingerprint
    assert other.summary == one.summary
    assert other.pools.calibration.claim == one.pools.calibration.claim
    assert other.metadata == one.metadata
    assert other.n == one.n
    assert repr(other) == repr(one)
    assert (other.combiner, other.components) == (one.combiner, one.components)
    for alpha in ("0.1", "0.3"):
        assert other.guarantee(alpha) == one.guarantee(alpha)
        sets = [p.predict(test, alpha) for p in (one, other)]
        assert sets[1].identical(sets[0])
    assert other.p_values(test).identical(one.p_values(test))


@pytest.mark.parametrize(("name", "rule"), CASES, ids=str)
def test_files_change_nothing(name: str, rule: Table | str, tmp_path: Path) -> None:
    count = 2 if name in AUGMENTED or name == "pooled" else 0
    predictor = plausibly.calibrate(
        predictions(N, augmentations=count),
        plausibilities(N, counted="group" in name),
        calibrator=TABLES[name],
        combiner=rule,
    )
    test = predictions(5, prefix="new", seed=1, augmentations=0 if name == "pooled" else count)
    unchanged(predictor, again(predictor, tmp_path), test)


@pytest.mark.parametrize("name", ["patients", "patients of draws", "patients of risk", "group"])
def test_many_numbers_of_votes(name: str, tmp_path: Path) -> None:
    """Their common multiple is past 2^63."""
    random = np.random.default_rng(5)
    totals = np.arange(2, 62)
    votes = np.array([random.multinomial(n, [0.3, 0.3, 0.4]) for n in totals])
    lam = shares(votes, "case ", LABELS)
    patient = np.repeat(["one", "two", "three"], 20)
    given = predictions(60).assign_coords(patient=("example", patient))
    predictor = plausibly.calibrate(given, lam, calibrator=CALIBRATORS[name])
    unchanged(predictor, again(predictor, tmp_path), predictions(5, prefix="new", seed=1))


def test_fingerprints_tell_weights_apart() -> None:
    """Twice the weights are the same masses in larger units: a new weight counts for half."""
    one, two = (
        plausibly.calibrate(
            predictions(N, weight=weight), plausibilities(N), calibrator=CALIBRATORS["weights"]
        )
        for weight in (1.0, 2.0)
    )
    assert one.fingerprint != two.fingerprint


def test_fingerprints_tell_totals_apart() -> None:
    """One example of even odds has the same masses as two of one label each, in other units."""
    two = predictions(2)
    two = two.copy(data=np.array([[0.1, 0.5, 0.9], [0.9, 0.2, 0.9]]))
    lam = plausibilities(2).copy(data=np.array([[1.0, 0, 0], [0, 1, 0]]))
    halves = plausibilities(1).copy(data=np.array([[0.5, 0.5, 0]]))
    halves = halves.assign_coords(denominator=("example", [2]))
    one = predictions(1).copy(data=np.array([[0.1, 0.2, 0.9]]))
    lam = lam.assign_coords(denominator=("example", [1, 1]))
    made = [plausibly.calibrate(two, lam), plausibly.calibrate(one, halves)]
    test = predictions(1, prefix="new").copy(data=np.array([[0.1, 0.2, 0.3]]))
    values = [predictor.p_values(test).values for predictor in made]
    assert not np.array_equal(values[0], values[1])
    assert made[0].fingerprint != made[1].fingerprint


def test_fingerprints_tell_pairs_of_scores_apart() -> None:
    """Held-out scores of two augmentations, the second's in another order."""
    given = predictions(2, augmentations=2, values=100)
    lam = plausibilities(2, one_hot=True)
    table = AUGMENTED["separate"]
    one = plausibly.calibrate(given, lam, calibrator=table, combiner="held-out-rank")
    assert one.held_out_scores is not None
    scores = np.array([[1.0, 2.0], [3.0, 4.0]])

    made = [
        attrs.evolve(one, held_out_scores=held)
        for held in (scores, scores[:, ::-1], np.array([[1.0, 2.0], [4.0, 3.0]]))
    ]
    assert made[0].fingerprint == made[1].fingerprint != made[2].fingerprint
