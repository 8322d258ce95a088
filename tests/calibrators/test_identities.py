"""Calibrators that must agree, to the last bit of p-values and sets."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import plausibly
from calibrators_labelled import CALIBRATORS, Table, plausibilities, predictions
from plausibly.conformal.predictor import ConformalPredictor
from tables import labelled, shares

pytestmark = pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")

N = 40
ALPHAS = ("0.05", "0.1", "0.2", "0.25", "0.5", "0.137")
MODEL, ANSWERS = predictions(N), plausibilities(N)
NEW = predictions(12, prefix="new", seed=1, values=8)


def calibrated(
    table: Table, *, model: xr.DataArray = MODEL, answers: xr.DataArray = ANSWERS
) -> ConformalPredictor:
    return plausibly.calibrate(model, answers, calibrator=table)


@pytest.mark.parametrize("name", ["weights", "weights of draws", "group of weights"])
def test_weights_are_known_up_to_a_factor(name: str) -> None:
    def scaled(array: xr.DataArray, factor: float) -> xr.DataArray:
        return array.assign_coords(weight=array["weight"] * factor)

    first = calibrated(CALIBRATORS[name])
    for factor in (2.0**-400, 0.5, 8.0, 2.0**400):
        second, new = (
            calibrated(CALIBRATORS[name], model=scaled(MODEL, factor)),
            scaled(NEW, factor),
        )
        np.testing.assert_array_equal(first.p_values(NEW).values, second.p_values(new).values)
        np.testing.assert_array_equal(first.predict(NEW, ALPHAS), second.predict(new, ALPHAS))
    for factor in (3.0, 1 / 3, 0.1):
        second = calibrated(CALIBRATORS[name], model=scaled(MODEL, factor))
        near = second.p_values(scaled(NEW, factor)).values
        assert np.allclose(first.p_values(NEW).values, near, rtol=1e-12, atol=0)
        sets = [p.predict(new, "0.137") for p, new in ((first, NEW), (second, scaled(NEW, factor)))]
        assert np.array_equal(sets[0].values, sets[1].values)


@pytest.mark.parametrize("scores", ["mean", "separate"])
def test_copies_of_an_image_have_one_uniform(scores: str) -> None:
    random = np.random.default_rng(40)
    model = labelled(random.dirichlet(np.ones(3), 40))
    answers = shares(random.multinomial(4, model.values))
    copies = xr.concat([model, model], dim="augmentation")
    aps = {"name": "aps", "randomised": True}
    alone = plausibly.calibrate(model, answers, score=aps).p_values(model)
    table = {"name": "augmentation", "scores": scores}
    several = plausibly.calibrate(copies, answers, calibrator=table, score=aps)
    for rows in (slice(None), [7]):
        p = several.p_values(copies.isel(example=rows))
        np.testing.assert_array_equal(p.values, alone.isel(example=rows).values)


@pytest.mark.parametrize("name", ["label", "label of draws"])
def test_p_values_of_labels_are_at_most_one(name: str) -> None:
    """Masses that are no counts are rounded up; totals are rounded down."""
    high = NEW.copy(data=np.full(NEW.shape, 9.0))
    assert (
        calibrated(CALIBRATORS[name], answers=plausibilities(N, counted=False)).p_values(high) == 1
    ).all()
