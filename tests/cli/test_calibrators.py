"""Calibrators by group, weight or augmentation as data; what they print is in the screens."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import plausibly
from cli_calibrators import VIEWS, make
from cli_world import Ran, World, typed

FILES = "-a votes.csv -e patients.csv -o p.nc"
MONDRIAN = '{name = "mondrian", by = "site"}'
WEIGHTED = '{name = "weighted", by = "weight"}'
KNOWN = "predict p.nc -o s.csv -p new.csv -e new_patients.csv"


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.chdir(tmp_path)
    return make(tmp_path)


def calibrated(calibrator: str, model: str = "-p probabilities.csv") -> Ran:
    ran = typed(f"calibrate {FILES} {model} --json", "--calibrator", calibrator)
    assert ran.code == 0, ran.err
    return ran


def test_thresholds_by_group(world: World) -> None:
    found = calibrated(MONDRIAN).document
    assert found["asks_of_new"] == ["site"]
    (guarantee,) = found["guarantees"]
    expected = plausibly.load_predictor("p.nc").threshold(0.1)
    assert guarantee["threshold_by"] == "site"
    assert guarantee["threshold"] == {
        site: float(expected.sel(site=site)) for site in ("north", "south")
    }
    document = typed(f"{KNOWN} --json").document
    assert document["results"][0]["threshold"] == guarantee["threshold"]
    plain = calibrated("expected").document["guarantees"][0]
    assert (plain["threshold_by"], plain["threshold"]) == (None, pytest.approx(0.2))


def test_augmentations_with_one_mean_score_and_pooled(world: World) -> None:
    seen = "-p views.csv --set predictions.augmentation=view"
    calibrated("augmentation", seen)
    told = typed("predict p.nc -o s.csv -p new_views.csv --json").document
    predictor = plausibly.load_predictor("p.nc")
    sets = predictor.predict(plausibly.read_predictions("new_views.csv", augmentation="view"), 0.1)
    assert told["results"][0]["threshold"] == float(predictor.threshold(0.1))
    assert told["results"][0]["mean_size"] == float(sets.sum("label").mean())
    assert told["predictions"]["augmentations"] == list(VIEWS)
    calibrated('{name = "augmentation", scores = "pooled"}', seen)
    assert typed("predict p.nc -o s.csv -p new.csv").code == 0


# ---- examples unlike those of calibration


def test_a_shift_is_warned_of_unless_weights_correct_for_it(world: World) -> None:
    rows = "".join(f"s{number},0.98,0.01,0.01\n" for number in range(200))
    world.write("sure.csv", f"example,cat,dog,fox\n{rows}")
    known = "".join(f"s{number},1\n" for number in range(200))
    world.write("known.csv", f"example,weight\n{known}")
    calibrated("expected")
    assert "shift-suspected" not in typed("predict p.nc -p new.csv -o s.csv").err
    ran = typed("predict p.nc -p sure.csv -o s.csv")
    assert ran.code == 0
    old = plausibly.read_predictions("probabilities.csv").max("label").values
    gap = max(float((old <= t).mean()) for t in np.unique(old[old < 0.98]))
    assert f"shift-suspected: sure.csv scores unlike calibration (KS {gap:.2f})" in ran.err
    calibrated(WEIGHTED)
    ran = typed("predict p.nc -p sure.csv -e known.csv -o s.csv")
    assert (ran.code, "shift-suspected" in ran.err) == (0, False)
