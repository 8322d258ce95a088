"""What the splits of a study gave, as one labelled result."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.data import names
from plausibly.evaluation.design import BY_GROUP, Design, Outcome, Stated
from plausibly.evaluation.shown import Study
from plausibly.kernels.types import Bools

METHOD = "method"
SPLIT = "split"
DRAWS = "draws"
SIZE = "size"


def assembled(design: Design, found: Sequence[Outcome], alphas: Sequence[float]) -> Study:
    """Return the result of a study: see `plausibly.compare`.

    Parameters
    ----------
    design : Design
    found : sequence of Outcome
        Of all splits, in order.
    alphas : sequence of float

    Returns
    -------
    Study
        A Dataset, without attributes.
    """
    asked = {DRAWS: design.draws, SIZE: design.sizes}
    several = {dim: np.array(values) for dim, values in asked.items() if values is not None}
    cells = (METHOD, names.ALPHA, *several)
    dims = (METHOD, SPLIT, names.ALPHA, *several)
    shape = tuple(
        length
        for length, values in zip(design.shape, (0, 0, *asked.values()), strict=True)
        if values is not None
    )

    def over(arrays: Sequence[NDArray[np.generic]]) -> NDArray[np.generic]:
        return np.stack([one.reshape(shape) for one in arrays], axis=1)

    study = xr.Dataset(
        {name: (dims, over([one.measures[name] for one in found])) for name in design.measured},
        coords={
            METHOD: np.array(list(design.methods)),
            SPLIT: np.arange(len(found)),
            names.ALPHA: list(alphas),
            **several,
        },
    )
    vacuous = np.stack([one.vacuous for one in found], axis=1)
    if BY_GROUP in study:
        study[BY_GROUP].attrs["group"] = design.group
    levels, texts = _guaranteed(found, vacuous)
    study = study.assign_coords(
        guaranteed_level=(cells, levels.reshape(shape)), guaranteed=(cells, texts.reshape(shape))
    )
    study["vacuous"] = (dims, over([one.vacuous for one in found]))
    study["n_test"] = (SPLIT, np.array([one.n_test for one in found]))
    calibrated = np.stack([one.n_calibration for one in found])
    if design.sizes is None:
        study["n_calibration"] = (SPLIT, calibrated[:, 0])
    else:
        study["n_calibration"] = ((SPLIT, SIZE), calibrated)
    if design.draws is not None:
        uses = [design.uses_draws(name) for name in design.methods]
        study = study.assign_coords(uses_draws=(METHOD, uses))
    return Study(study.data_vars, coords=study.coords)


def _guaranteed(
    found: Sequence[Outcome], vacuous: Bools
) -> tuple[NDArray[np.float64], NDArray[np.str_]]:
    """Return level and text of what is guaranteed of the aggregated coverage, in each cell."""
    least = [min(cell, key=_order) for cell in zip(*(one.stated for one in found), strict=True)]
    often = vacuous.sum(axis=1).ravel().tolist()
    texts = [_text(one, count, len(found)) for one, count in zip(least, often, strict=True)]
    return np.array([_level(one) for one in least]), np.array(texts)


def _order(stated: Stated) -> float:
    """Return by what the weakest of the guarantees that the splits gave is found."""
    return -1 if stated.level is None else float(stated.level)


def _level(stated: Stated) -> float:
    """Return what is promised of the aggregated coverage, NaN for nothing."""
    if stated.level is None or not stated.aggregated:
        return math.nan
    return float(stated.level)


def _text(stated: Stated, often: int, splits: int) -> str:
    """Return the level as tables print it, and in how many splits it is kept by saying nothing."""
    if stated.level is None or stated.short == "nothing" or not often:
        return stated.short
    kept = "vacuous" if often == splits else f"vacuous in {often} of {splits}"
    return f"{stated.short}, {kept}"
