"""Studies of several views of each example, and the view in which test examples are seen."""

from __future__ import annotations

from pathlib import Path

import pytest
import xarray as xr

import plausibly
from cli_calibrators import make
from plausibly.data.validate import seen_in_one
from plausibly.evaluation.splits import split, split_keys, split_seed
from plausibly.kernels.random import hash_names

METHODS: dict[str, dict[str, object]] = {
    scores: {"calibrator": {"name": "augmentation", "scores": scores}}
    for scores in ("pooled", "mean", "separate")
}


@pytest.fixture
def data(tmp_path: Path) -> tuple[xr.DataArray, xr.DataArray]:
    make(tmp_path)
    lam = plausibly.aggregate(plausibly.read_annotations(tmp_path / "votes.csv"))
    return plausibly.read_predictions(tmp_path / "views.csv", augmentation="view"), lam


def test_one_split_by_hand(data: tuple[xr.DataArray, xr.DataArray]) -> None:
    views, lam = data
    found = plausibly.compare(views, lam, METHODS, alphas=[0.3], splits=1, seed=4).data
    keys = split_keys(4, 0)
    test = split(hash_names(views["example"].values), keys, test=0.5)
    for name, method in METHODS.items():
        predictor = plausibly.calibrate(
            views[:, ~test],
            lam[~test],
            calibrator=method["calibrator"],  # type: ignore[arg-type]  # a table
            seed=split_seed(4, 0),
        )
        new = views[:, test]
        if name == "pooled":
            new = seen_in_one(new, keys.child("augmentation"))
        sets = predictor.predict(new, 0.3)
        expected = float((sets * lam[test]).sum("label").mean())
        measured = found["aggregated_coverage"].sel({"method": name}).item()
        assert measured == pytest.approx(expected)
