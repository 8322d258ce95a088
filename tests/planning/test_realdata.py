"""Real pilots: the spread that is predicted, and the spread that random halves show."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import exact_realdata
import plausibly

from .pilots import PREDICTED

pytestmark = pytest.mark.realdata

CLUSTERS = {"crema_d": ("actor", 1.91), "lidc_malignancy": ("patient", 1.25)}
DRAWS = (1, 10, math.inf)
SPLITS = 60


def plan_of(shared: Path, name: str, cluster: str | None = None, **more: float) -> xr.Dataset:
    predictions, lam = exact_realdata.load(shared, name)
    if cluster is not None:
        arrays = np.load(shared / "data" / name / "data.npz", allow_pickle=False)
        values = arrays[cluster].astype(str)
        predictions = predictions.assign_coords({cluster: ("example", values)})
    return plausibly.plan(predictions, lam, cluster=cluster, resamples=0, **more).data  # type: ignore[arg-type]  # numbers of options


@pytest.mark.slow
@pytest.mark.parametrize("name", PREDICTED)
def test_random_halves_spread_as_predicted(shared: Path, name: str) -> None:
    predictions, lam = exact_realdata.load(shared, name)
    methods: dict[str, dict[str, object]] = {
        "1": {"calibrator": "monte-carlo", "draws": 1},
        "10": {"calibrator": "monte-carlo", "draws": 10},
        "expected": {"calibrator": "expected"},
    }
    study = plausibly.compare(predictions, lam, methods, alphas=[0.1], splits=SPLITS, seed=2).data
    observed = study["aggregated_coverage"].isel(alpha=0).std("split", ddof=1)
    # the spread of so many splits is off by a share of 1 / sqrt(2 splits)
    margin = 3 / math.sqrt(2 * SPLITS)
    for method, predicted in zip(methods, PREDICTED[name], strict=True):
        spread = float(observed.sel({"method": method}))
        assert spread == pytest.approx(predicted, rel=margin + 0.1)


@pytest.mark.parametrize("name", CLUSTERS)
def test_design_effects(shared: Path, name: str) -> None:
    cluster, effect = CLUSTERS[name]
    plan = plan_of(shared, name, cluster, within=0.02)
    assert float(plan["design_effect"]) == pytest.approx(effect, rel=0.03)
    alone = plan_of(shared, name, within=0.02)
    assert (plan["n_within"] > alone["n_within"]).all()
