"""Likelihood ratios for covariate shift, from a classifier that tells source from target.

Calibration examples come from P, new ones from Q; annotation and model stay the same. The weight
of an example is ``w(x) = dQ/dP(x)``, up to a factor that does not matter. With equal numbers of
both a classifier of "target" has the odds w(x); other numbers scale them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.calibration.data import check_weights, effective_size
from plausibly.data import names
from plausibly.errors import InputError, counted, listed, warn
from plausibly.extras import require
from plausibly.kernels.types import Ints

FEATURE = "feature"
SOURCE, TARGET = 0, 1

_FEW = 9
_FROM = 20


class Classifier(Protocol):
    """What is needed of a classifier; those of scikit-learn have it."""

    def fit(self, X: Any, y: Any) -> Any:  # Any: arrays, as scikit-learn takes them
        """Fit to rows of features and labels 0 (source) and 1 (target)."""

    def predict_proba(self, X: Any) -> Any:  # Any: as above
        """Return probabilities (row, 2)."""


def likelihood_ratios(
    source: xr.DataArray,
    target: xr.DataArray,
    features: xr.DataArray,
    *,
    classifier: Classifier | None = None,
    clip: float = 100.0,
    seed: int = 0,
) -> xr.DataArray:
    """Estimate how much more often examples like these come from the target than from the source.

    A classifier is fitted to tell the rows of `target` from those of `source`, and its odds at
    `features` are the ratios. Fitted are only these two: calibration and new examples must be in
    neither, so that the weight function is fixed before they are looked at. Fit once for both, or
    call twice: the same source, target and seed give the same function.

    Parameters
    ----------
    source, target : DataArray, (example, feature)
        Features of other examples of the population that calibrates, and of the one that new
        examples come from. No labels are needed.
    features : DataArray, (example, feature)
        The examples to weigh; features are matched by name.
    classifier : classifier, optional
        With ``fit`` and ``predict_proba``; a clone of it is fitted. Its probabilities must be
        calibrated, since odds are taken at their word: wrap boosted trees and forests in
        scikit-learn's ``CalibratedClassifierCV``. By default a logistic regression on standardised
        features (extra ``demo``), which is right where the log ratio is linear in them.
    clip : float
        Ratios are kept within ``1 / clip`` to `clip`. A ratio of 0 or of infinity is what a finite
        sample cannot know; clipping biases the weights towards no shift.
    seed : int
        For classifiers with a parameter ``random_state`` that is not set.

    Returns
    -------
    DataArray of float64, (example,)
        Named ``weight``: attach it by ``predictions.assign_coords(weight=ratios)``. Attributes
        `clip`, `clipped` (how many ratios it changed), `effective_sample_size`, and `rows` (source,
        target).

    Raises
    ------
    InputError
        ``features-malformed``, ``features-differ``, ``ratios-own-examples``, ``clip-range`` or
        ``classifier-malformed``.
    MissingExtra
        ``extra-missing``, where scikit-learn is not installed.

    Warns
    -----
    PlausiblyWarning
        ``weights-uneven`` where the weights of 20 examples or more are worth fewer than 9 equal
        ones, or fewer than a tenth of them.

    Notes
    -----
    With an estimate w' of mean 1 under P, coverage under the shift is at least
    ``1 - alpha - E_P|w' - w| / 2``: weighted calibration with w' is exact where new examples come
    from w' dP, and that law and Q give no event probabilities further apart than their total
    variation.
    """
    wanted = _features(source, "source")
    rows = {
        whose: _matched(array, wanted, whose)
        for whose, array in (("source", source), ("target", target), ("features", features))
    }
    _check_clip(clip)
    for whose in ("source", "target"):
        _check_apart(rows["features"], rows[whose], whose)
    fitting = np.concatenate([rows[whose].values for whose in ("source", "target")])
    sides = np.repeat([SOURCE, TARGET], [len(rows["source"]), len(rows["target"])])
    fitted = _fitted(classifier, fitting, sides, seed)
    probabilities = np.asarray(fitted.predict_proba(rows["features"].values), dtype=np.float64)
    _check_probabilities(probabilities, len(rows["features"]))
    scale = len(rows["source"]) / len(rows["target"])
    with np.errstate(divide="ignore"):
        raw = scale * probabilities[:, TARGET] / probabilities[:, SOURCE]
    ratios = np.clip(raw, 1 / clip, clip)
    size = effective_size(ratios)
    if len(ratios) >= _FROM and size < max(_FEW, len(ratios) / 10):
        _warn_uneven(ratios, size, clip)
    here = features[names.EXAMPLE].values
    return xr.DataArray(
        ratios,
        dims=names.EXAMPLE,
        coords={names.EXAMPLE: here},
        name=names.WEIGHT,
        attrs={
            "clip": float(clip),
            "clipped": int((ratios != raw).sum()),
            "effective_sample_size": size,
            "rows": [len(rows["source"]), len(rows["target"])],
        },
    )


# Any: float32 or float64
def effective_sample_size(weights: xr.DataArray | NDArray[np.floating[Any]]) -> float:
    """Return how many equally weighted examples these weights are worth.

    ``(sum w)^2 / sum w^2``: n where all are equal, 1 where one has all the weight, and the same for
    ``c w``. Weighted calibration on n examples spreads as plain calibration on that many does.

    Parameters
    ----------
    weights : DataArray or ndarray, (example,)
        Finite, not negative, and not all 0.

    Returns
    -------
    float

    Raises
    ------
    InputError
        ``weights-malformed`` or ``weights-range``.
    """
    values = np.asarray(weights)
    if values.ndim != 1 or not values.size:
        raise InputError(
            "weights-malformed",
            "weights have no place for each example",
            expected="one dim, with one example or more",
            got=f"shape {values.shape}",
            do="pass the weights of the calibration examples",
            whose="weights",
        )
    return effective_size(check_weights(values, names.WEIGHT, whose="weights"))


def _fitted(
    classifier: Classifier | None, fitting: NDArray[np.float64], sides: Ints, seed: int
) -> Classifier:
    """Return a clone of the classifier, fitted."""
    base = require("sklearn.base", extra="demo", whose="likelihood_ratios")
    if classifier is None:
        linear = require("sklearn.linear_model", extra="demo", whose="likelihood_ratios")
        scaling = require("sklearn.preprocessing", extra="demo", whose="likelihood_ratios")
        pipeline = require("sklearn.pipeline", extra="demo", whose="likelihood_ratios")
        classifier = pipeline.make_pipeline(
            scaling.StandardScaler(), linear.LogisticRegression(max_iter=1000)
        )
    lacking = [name for name in ("fit", "predict_proba") if not hasattr(classifier, name)]
    if lacking:
        raise InputError(
            "classifier-malformed",
            f"classifier {type(classifier).__name__} has no {listed(lacking)}",
            expected="a classifier that gives probabilities",
            got=type(classifier).__name__,
            do="classifier=sklearn.linear_model.LogisticRegression()",
            whose="classifier",
        )
    clone: Any = base.clone(classifier, safe=False)  # Any: an estimator, which may set parameters
    if hasattr(clone, "get_params"):
        unset = [
            name
            for name, value in clone.get_params().items()
            if name.split("__")[-1] == "random_state" and value is None
        ]
        clone.set_params(**dict.fromkeys(unset, seed))
    fitted: Classifier = clone
    fitted.fit(fitting, sides)
    return fitted


def _features(array: object, whose: str) -> list[str]:
    """Return the names of the features, or say what is wrong with the array."""
    wanted = {names.EXAMPLE, FEATURE}
    problem = ""
    if not isinstance(array, xr.DataArray):
        problem = type(array).__name__
    elif set(map(str, array.dims)) != wanted:
        problem = f"dims {listed(map(str, array.dims)) or 'none'}"
    elif not wanted <= set(map(str, array.coords)):
        problem = f"no names along {listed(sorted(wanted - set(map(str, array.coords))))}"
    elif array.dtype.kind not in "fiub":
        problem = f"entries of type {array.dtype}"
    elif not array.size:
        problem = "nothing"
    elif not np.isfinite(array.values).all():
        problem = f"{counted(int((~np.isfinite(array.values)).sum()))} entries that are not finite"
    if problem or not isinstance(array, xr.DataArray):
        raise InputError(
            "features-malformed",
            f"{whose}: no finite number for each example and feature by name",
            expected="a DataArray over example and feature, with names",
            got=problem,
            do='xarray.DataArray(values, dims=("example", "feature"), '
            'coords={"example": ids, "feature": names})',
            whose=whose,
        )
    for dim in (names.EXAMPLE, FEATURE):
        names.check_names(names.name_texts(array[dim].values), dim, whose=whose)
    return sorted(names.name_texts(array[FEATURE].values))


def _matched(array: xr.DataArray, wanted: Sequence[str], whose: str) -> xr.DataArray:
    """Return (example, feature) floats: features in one order, examples by their names."""
    here = _features(array, whose)
    if here != list(wanted):
        lost = [name for name in wanted if name not in here]
        surplus = [name for name in here if name not in wanted]
        raise InputError(
            "features-differ",
            f"{whose} and source have different features",
            expected=f"{names.several(len(wanted), 'feature')}: {listed(wanted)}",
            got=f"without {listed(lost)}" if lost else f"{listed(surplus)} besides",
            do="select the same features in all three: array.sel(feature=[...])",
            whose=whose,
        )
    features = names.positions(names.name_texts(array[FEATURE].values), list(wanted))
    called = names.text_array(names.name_texts(array[names.EXAMPLE].values))
    matched = array.transpose(names.EXAMPLE, FEATURE).isel({FEATURE: features})
    matched = matched.assign_coords({names.EXAMPLE: called}).astype(np.float64)
    if whose == "features":
        return matched
    # By name: what is fitted does not depend on the order of rows.
    return matched.isel({names.EXAMPLE: np.argsort(called, kind="stable")})


def _check_apart(features: xr.DataArray, fitting: xr.DataArray, whose: str) -> None:
    """Raise `InputError` where examples to weigh are among those that are fitted."""
    both = np.intersect1d(features[names.EXAMPLE].values, fitting[names.EXAMPLE].values)
    if both.size:
        raise InputError(
            "ratios-own-examples",
            f"{names.several(both.size, 'example')} to weigh are in {whose} as well "
            f"({listed(both)})",
            expected=f"{whose} examples that neither calibrate nor are predicted",
            got=f"{counted(both.size)} of {counted(len(features))}",
            do=f"fit on others: {whose}.drop_sel(example=[...])",
            whose=whose,
            details={"examples": [str(name) for name in both]},
        )


def _check_clip(clip: object) -> None:
    """Raise `InputError` ``clip-range``."""
    numeric = isinstance(clip, int | float) and not isinstance(clip, bool)
    if not numeric or not 1 < float(str(clip)) < math.inf:
        raise InputError(
            "clip-range",
            f"clip {clip!r} bounds no ratio",
            expected="a number above 1: ratios stay within 1 / clip to clip",
            got=repr(clip),
            do="clip=100.0",
            whose="clip",
        )


def _check_probabilities(probabilities: NDArray[np.float64], rows: int) -> None:
    """Raise `InputError` where a classifier answers with anything but two probabilities a row."""
    shape = probabilities.shape
    if shape != (rows, 2) or not ((probabilities >= 0) & (probabilities <= 1)).all():
        raise InputError(
            "classifier-malformed",
            "the classifier gives no two probabilities for each example",
            expected=f"numbers from 0 to 1 of shape {(rows, 2)}",
            got=f"shape {shape}" if shape != (rows, 2) else "numbers outside",
            do="classifier=sklearn.linear_model.LogisticRegression()",
            whose="classifier",
        )


def _warn_uneven(ratios: NDArray[np.float64], size: float, clip: float) -> None:
    share = np.sort(ratios)[::-1][: max(1, len(ratios) // 100)].sum() / ratios.sum()
    warn(
        "weights-uneven",
        f"the weights of {counted(len(ratios))} examples are worth {size:.1f} equal ones",
        expected=f"{max(_FEW, len(ratios) / 10):.0f} or more",
        got=f"the heaviest hundredth with {100 * share:.0f} % of the weight",
        do=f"clip={clip / 10:g}, fewer features, or more examples like the target",
        whose="weights",
        stacklevel=3,
    )
