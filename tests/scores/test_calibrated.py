"""Scores through calibration and prediction: one score in both, sets, and their coverage."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from numpy.typing import NDArray

import plausibly
from conformal_world import LABELS, world
from plausibly.kernels.random import Keys, hash_names
from plausibly.plugin import ScoreFunction
from scores_oracles import TABLES, made

pytestmark = pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")

CASES = list(TABLES)
RANDOMISED = [case for case in CASES if TABLES[case].get("randomised")]
ALPHAS = ["0.5", "0.3", "0.1", "0.05"]
MARGIN = 4.0
"""Standard errors of the mean over calibrations; a false alarm is a chance of 1 in 30,000."""


def tied(predictions: xr.DataArray) -> xr.DataArray:
    """Return probabilities in eighths, with ties and zeros, of the same rows."""
    eighths = np.floor(predictions.values * 8)
    eighths[np.arange(len(eighths)), predictions.values.argmax(axis=1)] += 8 - eighths.sum(axis=1)
    return predictions.copy(data=(eighths / 8).astype(predictions.dtype))


@pytest.mark.parametrize("calibrator", ["expected", "monte-carlo", "majority-vote"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("case", CASES)
def test_sets_by_threshold_are_sets_by_p_value(case: str, dtype: str, calibrator: str) -> None:
    for change in (lambda array: array, tied):
        predictions, lam = world(60, dtype=dtype)
        test, _ = world(80, seed=1, start=100, dtype=dtype)
        p = plausibly.calibrate(change(predictions), lam, calibrator=calibrator, score=made(case))
        fresh = change(test)
        sets, values = p.predict(fresh, ALPHAS), p.p_values(fresh)
        for alpha in ALPHAS:
            inside = sets.sel(alpha=float(alpha)).values
            np.testing.assert_array_equal(inside, (values > float(alpha)).values)
        sizes = sets.sum("label").mean("example").values
        assert (np.diff(sizes) >= 0).all()
        assert sizes[0] < len(LABELS)


@pytest.mark.parametrize("case", RANDOMISED)
def test_uniforms_belong_to_the_examples(case: str) -> None:
    """The same row has another set under another name, and the array path takes the uniforms."""
    predictions, lam = world(60)
    p = plausibly.calibrate(predictions, lam, score=made(case), seed=5)
    one = predictions.isel(example=[0] * 50)
    many = one.assign_coords(example=[f"copy {i}" for i in range(50)])
    sets = p.predict(many, "0.3").values
    assert len({tuple(row) for row in sets}) > 1
    uniform = Keys(5).child("score").uniform(hash_names(many.example.values))
    np.testing.assert_array_equal(p.predict_array(many.values, "0.3", uniform=uniform), sets)
    first = p.predict_array(many.values[0], "0.3", uniform=uniform[:1])
    np.testing.assert_array_equal(first, sets[0])
    other = plausibly.calibrate(predictions, lam, score=made(case), seed=6)
    assert (other.predict(many, "0.3").values != sets).any()


def simulated(
    component: ScoreFunction, n: int, runs: int, *, calibrator: str, test: int = 300
) -> NDArray[np.float64]:
    """Return the aggregated coverage of each of many calibrations, (run,)."""
    covered = np.empty(runs)
    for run in range(runs):
        predictions, lam = world(n + test, seed=1000 * n + run)
        p = plausibly.calibrate(
            predictions[:n], lam[:n], score=component, calibrator=calibrator, seed=run
        )
        sets = p.predict(predictions[n:], "0.1")
        covered[run] = float((sets * lam[n:]).sum("label").mean())
    return covered


@pytest.mark.parametrize("calibrator", ["expected", "monte-carlo"])
@pytest.mark.parametrize("case", RANDOMISED)
def test_coverage_is_kept_and_not_much_exceeded(case: str, calibrator: str) -> None:
    """Randomised scores have no ties between examples: 1 - alpha to 1 - alpha + 2 / N."""
    n, runs = 100, 40
    covered = simulated(made(case), n, runs, calibrator=calibrator)
    slack = MARGIN * covered.std(ddof=1) / np.sqrt(runs)
    assert slack < 0.02
    assert covered.mean() >= 0.9 - slack
    assert covered.mean() <= 0.9 + 2 / (n + 1) + slack
