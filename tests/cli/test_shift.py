"""New examples that score unlike those that calibrated are said to, where nothing weighs them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import plausibly
from cli_calibrators import make
from cli_world import World, run, typed


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.chdir(tmp_path)
    return make(tmp_path)


def surer(like: str) -> None:
    """Write 200 predictions of which the model is surer, and what is known of those examples."""
    labels = Path(like).read_text(encoding="utf-8").splitlines()[0].split(",")[1:]
    rest = ["0.01"] * (len(labels) - 1)
    share = str(round(1 - 0.01 * len(rest), 2))
    rows = [",".join([f"s{i}", share, *rest]) for i in range(200)]
    text = "\n".join([",".join(["example", *labels]), *rows])
    Path("sure.csv").write_text(text + "\n", encoding="utf-8")
    known = ["example,weight", *(f"s{i},1" for i in range(200))]
    Path("known.csv").write_text("\n".join(known) + "\n", encoding="utf-8")


def test_it_is_said_with_the_distance(world: World) -> None:
    surer("probabilities.csv")
    assert typed("calibrate -a votes.csv -p probabilities.csv -o p.nc").code == 0
    alike = typed("predict p.nc -p new.csv -o s.csv")
    assert "shift-suspected" not in alike.err
    ran = typed("predict p.nc -p sure.csv -o s.csv")
    assert ran.code == 0
    old = plausibly.read_predictions("probabilities.csv").max("label").values
    new = plausibly.read_predictions("sure.csv").max("label").values
    every = np.concatenate([old, new])
    gap = max(abs(float((old <= t).mean() - (new <= t).mean())) for t in every)
    distance = f"{gap:.2f}"
    assert f"warning shift-suspected: sure.csv scores unlike calibration (KS {distance})" in ran.err


def test_not_where_weights_are_there_for_it(world: World) -> None:
    surer("probabilities.csv")
    weighted = '{name = "weighted", by = "weight"}'
    words = ("-a", "votes.csv", "-p", "probabilities.csv", "-e", "patients.csv", "-o", "p.nc")
    assert run("calibrate", *words, "--calibrator", weighted).code == 0
    ran = typed("predict p.nc -p sure.csv -e known.csv -o s.csv")
    assert ran.code == 0
    assert "shift-suspected" not in ran.err


def test_the_reference_is_the_largest_score_and_files_keep_it(world: World) -> None:
    predictions = plausibly.read_predictions("probabilities.csv")
    predictor = plausibly.calibrate(predictions, plausibly.read_annotations("votes.csv"))
    predictor.save("p.nc")
    for one in (predictor, plausibly.load_predictor("p.nc")):
        assert one.reference is not None
        wanted = np.sort(predictions.max("label").values)
        np.testing.assert_array_equal(one.reference, wanted)
        np.testing.assert_array_equal(np.sort(one.largest_scores(predictions)), wanted)


def test_of_augmentations_it_is_that_of_the_mean_score(world: World) -> None:
    views = plausibly.read_predictions("views.csv", augmentation="view")
    lam = plausibly.aggregate(plausibly.read_annotations("votes.csv"))
    predictor = plausibly.calibrate(views, lam, calibrator="augmentation")
    wanted = views.mean("augmentation").max("label").values
    np.testing.assert_allclose(predictor.largest_scores(views), wanted, rtol=1e-12)
