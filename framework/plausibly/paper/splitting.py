"""Random splits of a figure's data, and what one calibrated predictor covers of the rest."""

from __future__ import annotations

import attrs
import numpy as np
import xarray as xr

from plausibly.calibration.alphas import AlphaLike
from plausibly.conformal.calibrate import calibrate
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.data import names
from plausibly.evaluation.design import MethodTable, read_methods
from plausibly.evaluation.splits import split, split_keys
from plausibly.evaluation.study import compare
from plausibly.kernels import coverage
from plausibly.kernels.random import hash_names
from plausibly.kernels.types import Bools
from plausibly.paper.data import Data
from plausibly.paper.page import Asked

TEST = 0.5
DRAWS = 10


def one_split(data: Data, seed: int, number: int, *, test: float = TEST) -> Bools:
    """Return which examples are test examples in a split, (example,)."""
    hashes = hash_names(data.predictions[names.EXAMPLE].values)
    return split(hashes, split_keys(seed, number), test=test, groups=data.groups)


def calibrated(
    data: Data, rows: Bools, method: MethodTable, *, seed: int, lam: xr.DataArray | None = None
) -> ConformalPredictor:
    """Return a predictor that is calibrated on some of the examples."""
    asked = read_methods({"": method})[""]
    return calibrate(
        data.predictions[rows],
        (data.plausibilities if lam is None else lam)[rows],
        calibrator=asked.calibrator,
        score=asked.score,
        combiner=asked.combiner,
        draws=asked.draws,
        seed=seed,
        group=data.group,
    )


@attrs.frozen(kw_only=True)
class Measured:
    """Means over test examples."""

    aggregated: float
    voted: float
    true: float
    size: float


def measured(predictor: ConformalPredictor, data: Data, rows: Bools, alpha: AlphaLike) -> Measured:
    """Return what a predictor covers of some of the examples."""
    sets = predictor.predict_array(data.predictions.values[rows], alpha)
    lam = data.plausibilities.values[rows]
    true = np.nan
    if data.true is not None:
        known = data.true.values[rows][:, None] == np.array(data.labels)
        true = float((sets & known).any(axis=1).mean())
    return Measured(
        aggregated=float(coverage.aggregated(sets, lam).mean()),
        voted=float(coverage.voted(sets, lam).mean()),
        true=true,
        size=float(coverage.sizes(sets).mean()),
    )


def compared(
    data: Data, methods: dict[str, MethodTable], asked: Asked, alpha: AlphaLike
) -> xr.Dataset:
    """Return the study of several methods on random halves, with the facts of its data."""
    study = compare(
        data.predictions,
        data.plausibilities,
        methods,
        alphas=[alpha],
        splits=asked.splits,
        test=TEST,
        group=data.group,
        seed=asked.seed,
        true=data.true,
        progress=asked.progress,
    ).isel({names.ALPHA: 0})
    kept = [
        name
        for name in ("aggregated_coverage", "voted_coverage", "true_coverage", "set_size")
        if name in study
    ]
    numbers = study[kept].drop_vars(["guaranteed", "guaranteed_level", names.ALPHA])
    numbers["guaranteed_level"] = study["guaranteed_level"].drop_vars(names.ALPHA).variable
    return numbers.assign_attrs(facts(data, asked, alpha))


def facts(data: Data, asked: Asked, alpha: AlphaLike) -> dict[str, object]:
    """Return the attributes of a figure's numbers."""
    return {
        **data.described(),
        "splits": asked.splits,
        "alpha": float(alpha),
        "seed": asked.seed,
    }
