"""Strata, sizes and numbers of draws as keys of a study file, and what is printed of them."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import plausibly
from cli_calibrators import make
from cli_world import World, run
from plausibly.data.validate import seen_in_one
from plausibly.errors import PlausiblyWarning
from plausibly.evaluation.splits import split, split_keys, split_seed
from plausibly.kernels.random import hash_names
from study_world import WHOLE, studied

SWEEPS = WHOLE.replace(
    "count = 6\n",
    'count = 4\nstratify = "site"\nsizes = [10, 15]\ndraws = [1, 5]\n',
).replace("alphas = [0.1, 0.25]", "alphas = [0.25]")
SWEEPS = SWEEPS.replace('cluster = "patient"\n', "\n")


@pytest.fixture(autouse=True)
def swept(world: World) -> None:
    world.write("study.toml", SWEEPS)


def test_the_keys_are_the_arguments_of_compare(world: World) -> None:
    study = studied("study.toml")
    result = study.compared
    table = plausibly.read_examples("patients.csv")
    predictions = plausibly.read_predictions("probabilities.csv")
    predictions = predictions.assign_coords(site=("example", table["site"].values))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlausiblyWarning)
        expected = plausibly.compare(
            predictions,
            plausibly.aggregate(plausibly.read_annotations("votes.csv")),
            {
                "everyone": {},
                "majority-vote": {"calibrator": "majority-vote"},
                "last": {"calibrator": "monte-carlo", "combiner": "maximum"},
            },
            alphas=["0.25"],
            splits=4,
            stratify="site",
            sizes=[10, 15],
            draws=[1, 5],
            seed=1,
        ).data
    assert result["set_size"].dims == ("method", "split", "alpha", "draws", "size")
    for name in ("aggregated_coverage", "set_size", "n_calibration", "guaranteed", "uses_draws"):
        assert np.array_equal(result[name].values, expected[name].values)
    ready = study.prepared.predictions  # the sets are of the stratified split
    hashes = hash_names(ready["example"].values)
    test = split(hashes, split_keys(1, 0), strata=ready["site"].values)
    assert study.sets["example"].values.tolist() == ready["example"].values[test].tolist()


def test_tables_on_the_screen_and_as_data(world: World) -> None:
    ran = run("run", "study.toml", "--no-report")
    assert (
        "study 4 random splits, 50% of the examples and of each site to test; 10, 15 "
        "calibration examples (n); 1, 5 draws (m); seed 1"
    ) in ran.text
    # The sets and the predictor are those of all calibration examples.
    assert "predictor.nc: everyone, on all 30 examples" in ran.text
    document = run("run", "study.toml", "--json", "-o", "again", "--no-report").document
    results = document["methods"][2]["results"]
    cells = [(item["alpha"], item["size"], item["draws"]) for item in results]
    assert cells == [(0.25, size, draws) for size in (10, 15) for draws in (1, 5)]
    stored = plausibly.load_study("again/results.nc").data
    mean = float(stored["set_size"].isel(method=2, alpha=0, draws=1, size=1).mean())
    assert results[-1]["set_size"] == mean


# ---- augmentations


METHODS: dict[str, dict[str, object]] = {
    scores: {"calibrator": {"name": "augmentation", "scores": scores}}
    for scores in ("pooled", "mean", "separate")
}


@pytest.fixture
def data(tmp_path: Path) -> tuple[xr.DataArray, xr.DataArray]:
    make(tmp_path)
    plausibilities = plausibly.aggregate(plausibly.read_annotations(tmp_path / "votes.csv"))
    return plausibly.read_predictions(tmp_path / "views.csv", augmentation="view"), plausibilities


def test_one_split_by_hand(data: tuple[xr.DataArray, xr.DataArray]) -> None:
    views, plausibilities = data
    result = plausibly.compare(views, plausibilities, METHODS, alphas=[0.3], splits=1, seed=4).data
    keys = split_keys(4, 0)
    test = split(hash_names(views["example"].values), keys, test=0.5)
    for name, method in METHODS.items():
        predictor = plausibly.calibrate(
            views[:, ~test],
            plausibilities[~test],
            calibrator=method["calibrator"],  # type: ignore[arg-type]  # a table
            seed=split_seed(4, 0),
        )
        new = views[:, test]
        if name == "pooled":
            new = seen_in_one(new, keys.child("augmentation"))
        sets = predictor.predict(new, 0.3)
        expected = float((sets * plausibilities[test]).sum("label").mean())
        measured = result["aggregated_coverage"].sel({"method": name}).item()
        assert measured == pytest.approx(expected)
