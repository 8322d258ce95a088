"""Predictors for the tests of the service path: every score, combiner and calibrator there is."""

from __future__ import annotations

import warnings

import numpy as np
import xarray as xr

import plausibly
from calibrators_labelled import CALIBRATORS, Table, plausibilities, predictions
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.errors import PlausiblyWarning
from plausibly.protocols import COMBINER, SCORE
from plausibly.registry import default

N = 40
ALPHAS = ("0.05", "0.3", "0.6")

DRAWS: Table = {"name": "monte-carlo", "draws": 4}
PLAIN: dict[str, Table] = {
    "expected": {"name": "expected"},
    "majority-vote": {"name": "majority-vote"},
}
ALL: dict[str, Table] = {**PLAIN, **CALIBRATORS}

SCORES = sorted(entry.name for entry in default().entries(SCORE))
COMBINERS = sorted(entry.name for entry in default().entries(COMBINER))


def rows(
    count: int, *, prefix: str = "case", seed: int = 0, dtype: str = "float64"
) -> xr.DataArray:
    """Return probabilities with ties, under names, and with all that a calibrator may read."""
    few = predictions(count, prefix=prefix, seed=seed)
    few.attrs = {}
    shares = few / few.sum("label")
    shares = shares.assign_coords(order=("label", np.roll(np.arange(shares.sizes["label"]), 1)))
    return shares.astype(dtype).assign_attrs(scale="probability")


def calibrated(
    *,
    score: str | Table = "probability",
    combiner: str | Table = "average",
    calibrator: Table = DRAWS,
    dtype: str = "float64",
) -> ConformalPredictor:
    """Return a predictor, with or without a guarantee."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlausiblyWarning)
        return plausibly.calibrate(
            rows(N, dtype=dtype),
            plausibilities(N),
            score=score,
            combiner=combiner,
            calibrator=calibrator,
            allow_no_guarantee=True,
        )
