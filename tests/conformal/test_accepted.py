"""`calibrate`, `predict` and `evaluate` take files, data frames and arrays, and notice mix-ups."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import plausibly
from call_files import each_call
from plausibly.conformal.predictor import ConformalPredictor
from refusals import refused

LABELS = ["benign", "unsure", "malignant"]


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write 40 examples, three votes each, for calibration and as new ones."""
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(0)
    for part in ("", "new_"):
        names = pd.Index([f"{part}scan_{place:02}" for place in range(40)], name="example")
        shares = draw.dirichlet(np.ones(3), 40).round(3)
        shares[:, 0] = (1 - shares[:, 1:].sum(axis=1)).round(3)
        pd.DataFrame(shares, names, LABELS).to_csv(f"{part}probabilities.csv")
        votes = [draw.choice(LABELS, 3, p=row / row.sum()) for row in shares.clip(0)]
        frame = pd.DataFrame(votes, names, ["ana", "ben", "chen"]).stack().reset_index()
        frame.set_axis(["example", "annotator", "label"], axis=1).to_csv(
            f"{part}votes.csv", index=False
        )


def model() -> xr.DataArray:
    return plausibly.read_predictions("probabilities.csv")


def votes() -> xr.Dataset:
    return plausibly.read_annotations("votes.csv")


def predictor() -> ConformalPredictor:
    return plausibly.calibrate("probabilities.csv", Path("votes.csv"))


def test_files_and_frames_are_read() -> None:
    old, new = (pd.read_csv(f"{part}probabilities.csv") for part in ("", "new_"))
    votes = plausibly.read_annotations("votes.csv")
    model = plausibly.read_predictions("probabilities.csv")
    expected = plausibly.calibrate(model, votes)
    sets = expected.predict(plausibly.read_predictions("new_probabilities.csv"), "0.2")
    for inputs, fresh in (
        ("probabilities.csv", "new_probabilities.csv"),
        (old, new),
        (old.set_index("example"), new.set_index("example")),
    ):
        result = plausibly.calibrate(inputs, votes)
        assert result.fingerprint == expected.fingerprint == predictor().fingerprint
        xr.testing.assert_identical(result.predict(fresh, "0.2"), sets)
    plausibly.io.write_sets(sets, "sets.csv")
    votes = plausibly.read_annotations("new_votes.csv")
    coverage = plausibly.evaluate(sets, votes).coverage
    assert plausibly.evaluate(sets, "new_votes.csv").coverage == coverage
    assert plausibly.evaluate("sets.csv", votes).coverage == coverage


def test_the_columns_of_an_array_are_the_labels_of_the_predictor() -> None:
    new = plausibly.read_predictions("new_probabilities.csv")
    sets = predictor().predict(new.values, "0.2")
    np.testing.assert_array_equal(sets.values, predictor().predict(new, "0.2").values)
    assert sets["label"].values.tolist() == LABELS
    # Row numbers are no names: nothing is compared with the calibration examples.
    assert sets.attrs["numbered"] == 1
    with refused("array-shape", "(examples, 3)"):
        predictor().predict(new.values[:, :2], "0.2")


test_each_call_gives_its_text = each_call(__file__, globals())
