"""`calibrate`, `predict` and `evaluate` take files, data frames and arrays, and notice mix-ups."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import plausibly
from plausibly.conformal.predictor import ConformalPredictor
from refusals import refused

LABELS = ["benign", "unsure", "malignant"]


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write 40 examples, three votes each, for calibration and as new ones."""
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(0)
    for part in ("", "new_"):
        names = [f"{part}scan_{place:02}" for place in range(40)]
        shares = draw.dirichlet(np.ones(3), 40).round(3)
        shares[:, 0] = (1 - shares[:, 1] - shares[:, 2]).round(3)
        frame = pd.DataFrame(shares, columns=LABELS)
        frame.insert(0, "example", names)
        frame.to_csv(f"{part}probabilities.csv", index=False)
        rows = [
            (name, annotator, draw.choice(LABELS, p=share / share.sum()))
            for name, share in zip(names, shares.clip(0), strict=True)
            for annotator in ("ana", "ben", "chen")
        ]
        votes = pd.DataFrame(rows, columns=["example", "annotator", "label"])
        votes.to_csv(f"{part}votes.csv", index=False)


def predictor() -> ConformalPredictor:
    return plausibly.calibrate(
        plausibly.read_predictions("probabilities.csv"), plausibly.read_annotations("votes.csv")
    )


def test_files_are_read() -> None:
    made = plausibly.calibrate("probabilities.csv", Path("votes.csv"))
    assert made.fingerprint == predictor().fingerprint
    new = plausibly.read_predictions("new_probabilities.csv")
    sets = predictor().predict(new, "0.2")
    xr.testing.assert_identical(made.predict("new_probabilities.csv", "0.2"), sets)
    plausibly.io.write_sets(sets, "sets.csv")
    votes = plausibly.read_annotations("new_votes.csv")
    expected = plausibly.evaluate(sets, votes)
    assert plausibly.evaluate(sets, "new_votes.csv").coverage == expected.coverage
    assert plausibly.evaluate("sets.csv", votes).coverage == expected.coverage


@pytest.mark.parametrize("index", [False, True])
def test_frames_are_read(index: bool) -> None:
    old, new = (pd.read_csv(f"{part}probabilities.csv") for part in ("", "new_"))
    if index:
        old, new = old.set_index("example"), new.set_index("example")
    votes = plausibly.read_annotations("votes.csv")
    made = plausibly.calibrate(old, votes)
    assert made.fingerprint == predictor().fingerprint
    expected = predictor().predict("new_probabilities.csv", "0.2")
    xr.testing.assert_identical(made.predict(new, "0.2"), expected)


def test_the_columns_of_an_array_are_the_labels_of_the_predictor() -> None:
    new = plausibly.read_predictions("new_probabilities.csv")
    sets = predictor().predict(new.values, "0.2")
    np.testing.assert_array_equal(sets.values, predictor().predict(new, "0.2").values)
    assert sets["label"].values.tolist() == LABELS
    # Row numbers are no names: nothing is compared with the calibration examples.
    assert sets.attrs["numbered"] == 1
    with refused("array-shape", "(examples, 3)"):
        predictor().predict(new.values[:, :2], "0.2")


def test_arrays_have_no_names_to_calibrate_by() -> None:
    with refused("array-unlabelled", "ndarray"):
        plausibly.calibrate(np.full((40, 3), 1 / 3), "votes.csv")


def test_mix_ups_are_noticed() -> None:
    model = plausibly.read_predictions("probabilities.csv")
    votes = plausibly.read_annotations("votes.csv")
    with refused("arguments-swapped", "probabilities first"):
        plausibly.calibrate(votes, model)
    with refused("files-swapped", "votes.csv"):
        plausibly.calibrate("votes.csv", "probabilities.csv")
    with refused("predictions-as-plausibilities", "read_predictions"):
        plausibly.calibrate(model, plausibly.read_predictions("probabilities.csv"))
    bare = model.drop_attrs()
    with refused("predictions-as-plausibilities", "the same array"):
        plausibly.calibrate(bare, bare)
    new = plausibly.read_predictions("new_probabilities.csv")
    with refused("predictions-as-plausibilities", "read_predictions"):
        plausibly.evaluate(predictor().predict(new, "0.2"), new)
