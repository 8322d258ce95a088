"""Guarantees that are not of one label: how much of the opinions a set holds, and what it risks."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import plausibly
from plausibly.evaluation import Evaluation

LABELS = ["a", "b", "c"]


def world(size: int = 60) -> tuple[xr.DataArray, xr.DataArray]:
    random = np.random.default_rng(size)
    model = random.dirichlet(np.ones(3), size)
    votes = random.multinomial(5, model)
    coords = {"example": [f"case {i}" for i in range(size)], "label": LABELS}
    predictions = xr.DataArray(model, dims=("example", "label"), coords=coords)
    predictions = predictions.assign_coords(risk=("label", [1.0, 2.0, 3.0]))
    lam = xr.DataArray(votes / 5, dims=("example", "label"), coords=coords)
    return predictions, lam.assign_coords(denominator=("example", np.full(size, 5)))


def halves(array: xr.DataArray) -> tuple[xr.DataArray, xr.DataArray]:
    return array.isel(example=slice(0, 30)), array.isel(example=slice(30, None))


def evaluated(calibrator: str | dict[str, object], alpha: str | list[str] = "0.2") -> xr.Dataset:
    (first, new), (said, of_new) = (halves(array) for array in world())
    predictor = plausibly.calibrate(first, said, calibrator=calibrator)
    return plausibly.evaluate(predictor.predict(new, alpha), of_new).data


def test_mass_coverage_is_measured_as_it_is_guaranteed() -> None:
    found = evaluated({"name": "mass-coverage", "leave_out": 0.25}, ["0.2", "0.4"])
    wanted = found.aggregated_coverage >= 0.75 - 1e-9
    np.testing.assert_array_equal(found.mass_coverage.values, wanted.values)
    means = wanted.mean("example").values
    np.testing.assert_allclose(found.mass_coverage_mean.values, means, atol=1e-12)
    assert (found.mass_coverage_low < found.mass_coverage_mean).all()


def test_the_table_and_the_verdict_say_so() -> None:
    found = evaluated({"name": "mass-coverage", "leave_out": 0.25})
    held = float(found.mass_coverage_mean)
    line = next(line for line in Evaluation(found).lines() if line.startswith("enough answers"))
    assert f"{held:.3f}" in line
    assert "0.80 of sets with 0.75 of the answers on average" in Evaluation(found).verdict()


@pytest.mark.parametrize("calibrator", ["expected", {"name": "risk", "by": "risk"}])
def test_it_is_measured_where_it_is_guaranteed_only(calibrator: str | dict[str, object]) -> None:
    assert "mass_coverage" not in evaluated(calibrator)


def test_a_risk_is_not_judged_by_coverage() -> None:
    found = evaluated({"name": "risk", "by": "risk"})
    covered = f"{float(found.aggregated_coverage_mean):.3f}"
    assert Evaluation(found).verdict() == (
        "Guaranteed: E[risk left out] <= 0.20; coverage_by with ByRisk measures it. "
        f"Coverage is not guaranteed: {covered} of the answers."
    )
