"""Scores through calibration and prediction: one score in both, sets, and their coverage."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import plausibly
from conformal_world import LABELS, world
from plausibly.kernels.random import Keys, hash_names
from refusals import refused
from scores_oracles import TABLES, made

pytestmark = pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")

CASES = list(TABLES)
RANDOMISED = [case for case in CASES if TABLES[case].get("randomised")]
ALPHAS = ["0.5", "0.3", "0.1", "0.05"]


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
    order = np.random.default_rng(0).permutation(50)
    np.testing.assert_array_equal(p.predict(many[order], "0.3").values, sets[order])
    alone = [p.predict(many[[row]], "0.3").values[0] for row in range(5)]
    np.testing.assert_array_equal(alone, sets[:5])
    assert len({tuple(row) for row in sets}) > 1
    uniform = Keys(5).child("score").uniform(hash_names(many.example.values))
    np.testing.assert_array_equal(p.predict_array(many.values, "0.3", uniform=uniform), sets)
    with refused("uniform-missing"):
        p.predict_array(many.values, "0.3")
    first = p.predict_array(many.values[0], "0.3", uniform=uniform[:1])
    np.testing.assert_array_equal(first, sets[0])
    other = plausibly.calibrate(predictions, lam, score=made(case), seed=6)
    assert (other.predict(many, "0.3").values != sets).any()
