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


def test_examples_of_a_group_without_calibration_get_all_labels(world: World) -> None:
    calibrated(MONDRIAN)
    world.edit("new_patients.csv", "n03,p1,south", "n03,p1,east")
    ran = typed(f"{KNOWN} --strict")
    assert ran.code == 3
    assert ran.err.startswith("warning group-unseen: ")
    assert "error warnings-strict: plausibly predict warned of group-unseen" in ran.err
    assert "n03,0.1,3,cat | dog | fox,1,1,1" in world.path("s.csv").read_text()


def test_weights_have_no_threshold_and_a_large_one_gets_all_labels(world: World) -> None:
    text = typed(f"calibrate {FILES} -p probabilities.csv", "--calibrator", WEIGHTED).text
    # Weights 1, 2, 3 ten times each: worth 60^2 / 140, and every label above 60 / 9.
    assert f'Where "weight" is more than {60 / 9:.4g}, a set contains all labels.' in text
    assert f"the weights are worth {60**2 / 140:.4g} equal ones, of 30" in text
    world.edit("new_patients.csv", "n00,p0,south,cat,1", "n00,p0,south,cat,7")
    heavy = typed(f"{KNOWN} --json")
    (result,) = heavy.document["results"]
    assert (result["threshold"], result["threshold_by"]) == (None, None)
    assert heavy.err.startswith("warning weight-too-large: 1 of 20 examples")
    assert "n00,0.1,3,cat | dog | fox,1,1,1" in world.path("s.csv").read_text()


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


def test_the_reference_of_a_shift_is_the_largest_score(world: World) -> None:
    predictions = plausibly.read_predictions("probabilities.csv")
    lam = plausibly.read_annotations("votes.csv")
    predictor = plausibly.calibrate(predictions, lam)
    predictor.save("p.nc")
    wanted = np.sort(predictions.max("label").values)
    for one in (predictor, plausibly.load_predictor("p.nc")):
        assert one.reference is not None
        np.testing.assert_array_equal(one.reference, wanted)
        np.testing.assert_array_equal(np.sort(one.largest_scores(predictions)), wanted)
    views = plausibly.read_predictions("views.csv", augmentation="view")
    found = plausibly.calibrate(views, lam, calibrator="augmentation").largest_scores(views)
    mean = views.mean("augmentation").max("label").values
    np.testing.assert_allclose(found, mean, rtol=1e-12)
