"""Randomised scores of augmentations: one uniform per example, the same for all of them."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import plausibly
from tables import labelled, shares

APS = {"name": "aps", "randomised": True}


def world(size: int = 40) -> tuple[xr.DataArray, xr.DataArray]:
    random = np.random.default_rng(size)
    model = labelled(random.dirichlet(np.ones(3), size))
    return model, shares(random.multinomial(4, model.values))


@pytest.mark.parametrize("scores", ["mean", "separate"])
def test_copies_of_an_image_score_like_the_image(scores: str) -> None:
    model, lam = world()
    copies = xr.concat([model, model], dim="augmentation")
    plain = plausibly.calibrate(model, lam, score=APS)
    table = {"name": "augmentation", "scores": scores}
    several = plausibly.calibrate(copies, lam, calibrator=table, score=APS)
    alone = plain.p_values(model)
    together = several.p_values(copies)
    np.testing.assert_array_equal(together.values, alone.values)
    one = copies.isel(example=[7])
    np.testing.assert_array_equal(several.p_values(one).values, alone.isel(example=[7]).values)
