"""Covariate shift: likelihood ratios, duplicates, and tests of exchangeability."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, Protocol

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.calibration.data import check_weights, effective_size
from plausibly.data import align, names, validate
from plausibly.data.names import does, name_texts, several, text_array
from plausibly.errors import InputError, an, counted, listed, warn
from plausibly.evaluation import inputs
from plausibly.evaluation.splits import out_of_range
from plausibly.extras import require
from plausibly.kernels.types import Floats

FEATURE = "feature"
SOURCE, TARGET = 0, 1

_FEW = 9
_FROM = 20


class Classifier(Protocol):
    """Methods that a classifier needs; those of scikit-learn have them."""

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
    `features` are the ratios. Calibration and new examples must be in neither.

    Parameters
    ----------
    source, target : DataArray, (example, feature)
        Features of other examples of the population that calibrates, and of the one that new
        examples come from.
    features : DataArray, (example, feature)
        The examples to weigh; features are matched by name.
    classifier : classifier, optional
        With ``fit`` and ``predict_proba``; a clone of it is fitted. Its probabilities must be
        calibrated. By default a logistic regression on standardised features (extra ``demo``).
    clip : float
        Ratios are kept within ``1 / clip`` to `clip`, which biases them towards no shift.
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
        ``features-malformed``, ``features-differ``, ``ratios-own-examples``, ``option-range`` or
        ``classifier-malformed``.
    MissingExtra
        ``extra-missing``, where scikit-learn is not installed.

    Warns
    -----
    PlausiblyWarning
        ``weights-uneven`` where the weights of 20 examples or more are worth fewer than 9 equal
        ones, or fewer than a tenth of them.
    """
    rows = {"source": _features(source, "source")}
    named = rows["source"][FEATURE].values.tolist()
    for side, array in (("target", target), ("features", features)):
        rows[side] = _features(array, side, named)
    limit: object = clip
    if not (isinstance(limit, int | float) and 1 < limit < math.inf):
        expected = "a number above 1: ratios stay within 1 / clip to clip"
        raise out_of_range("clip", repr(clip), expected=expected, hint="clip=100.0")
    for side in ("source", "target"):
        both = np.intersect1d(rows["features"][names.EXAMPLE], rows[side][names.EXAMPLE])
        if both.size:
            raise InputError(
                "ratios-own-examples",
                f"{several(both.size, 'example')} to weigh are in {side} as well ({listed(both)})",
                expected=f"{side} examples that neither calibrate nor are predicted",
                found=f"{counted(both.size)} of {counted(len(rows['features']))}",
                hint=f"fit on others: {side}.drop_sel(example=[...])",
            )
    fitting = np.concatenate([rows[side].values for side in ("source", "target")])
    sides = np.repeat([SOURCE, TARGET], [len(rows["source"]), len(rows["target"])])
    sklearn = partial(require, extra="demo", source="likelihood_ratios")
    base = sklearn("sklearn.base")
    if classifier is None:
        linear, scaling = sklearn("sklearn.linear_model"), sklearn("sklearn.preprocessing")
        classifier = sklearn("sklearn.pipeline").make_pipeline(
            scaling.StandardScaler(), linear.LogisticRegression(max_iter=1000)
        )
    fitted: Any = base.clone(classifier, safe=False)  # Any: an estimator, which may set parameters
    if hasattr(fitted, "get_params"):
        for name, value in fitted.get_params().items():
            if name.split("__")[-1] == "random_state" and value is None:
                fitted.set_params(**{name: seed})
    fitted.fit(fitting, sides)
    probabilities = np.asarray(fitted.predict_proba(rows["features"].values), dtype=np.float64)
    shape = (len(rows["features"]), 2)
    inside = (probabilities >= 0) & (probabilities <= 1)
    if probabilities.shape != shape or not inside.all():
        raise InputError(
            "classifier-malformed",
            "the classifier gives no two probabilities for each example",
            expected=f"numbers from 0 to 1 of shape {shape}",
            found=f"shape {probabilities.shape}, {counted(int((~inside).sum()))} others",
            hint="classifier=sklearn.linear_model.LogisticRegression()",
        )
    scale = len(rows["source"]) / len(rows["target"])
    with np.errstate(divide="ignore"):
        raw = scale * probabilities[:, TARGET] / probabilities[:, SOURCE]
    ratios = np.clip(raw, 1 / clip, clip)
    size = effective_size(ratios)
    if len(ratios) >= _FROM and size < max(_FEW, len(ratios) / 10):
        share = np.sort(ratios)[::-1][: max(1, len(ratios) // 100)].sum() / ratios.sum()
        warn(
            "weights-uneven",
            f"the weights of {counted(len(ratios))} examples are worth {size:.1f} equal ones",
            expected=f"{max(_FEW, len(ratios) / 10):.0f} or more",
            found=f"the heaviest hundredth with {100 * share:.0f}% of the weight",
            hint=f"clip={clip / 10:g}, fewer features, or more examples like the target",
        )
    return xr.DataArray(
        ratios,
        dims=names.EXAMPLE,
        coords={names.EXAMPLE: features[names.EXAMPLE].values},
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

    Parameters
    ----------
    weights : DataArray or ndarray, (example,)
        Finite, not negative, and not all 0.

    Returns
    -------
    float
        ``(sum w)^2 / sum w^2``: n where all are equal, 1 where one has all the weight.

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
            found=f"shape {values.shape}",
            hint="pass the weights of the calibration examples",
        )
    return effective_size(check_weights(values, names.WEIGHT, source="weights"))


def _features(array: object, source: str, wanted: list[str] | None = None) -> xr.DataArray:
    """Return (example, feature) floats, examples and features by name; as `wanted`."""
    problem = an(type(array).__name__)
    if isinstance(array, xr.DataArray):
        problem = inputs.unnamed(array, {names.EXAMPLE, FEATURE})
        if not problem and (array.dtype.kind not in "fiub" or not np.isfinite(array).all()):
            problem = "entries that are no finite numbers"
        elif not array.size:
            problem = "nothing"
    if problem or not isinstance(array, xr.DataArray):
        raise InputError(
            "features-malformed",
            f"{source}: no finite number for each example and feature by name",
            expected="a DataArray over example and feature, with names",
            found=problem,
            hint='xarray.DataArray(values, dims=("example", "feature"), '
            'coords={"example": ids, "feature": names})',
            source=source,
        )
    named = {dim: name_texts(array[dim].values) for dim in (names.EXAMPLE, FEATURE)}
    for dim, texts in named.items():
        names.check_names(texts, dim, source=source)
    here = sorted(named[FEATURE])
    if wanted is not None and here != wanted:
        raise InputError(
            "features-differ",
            f"{source} and source have different features",
            expected=f"{several(len(wanted), 'feature')}: {listed(wanted)}",
            found=listed(here),
            hint="select the same features in all three: array.sel(feature=[...])",
            source=source,
        )
    table = array.transpose(*named).assign_coords({dim: text_array(named[dim]) for dim in named})
    table = table.sel({FEATURE: here}).astype(np.float64)
    # By name: what is fitted does not depend on the order of rows.
    return table if source == "features" else table.sortby(names.EXAMPLE)


SUSPECTED = 0.001
"""A shift is warned of where chance would give as large a distance less often than this."""

_FINE = 0.9  # of the different rows have a number that no other row has: numbers are not rounded
_ROUNDED = 1e-3  # of a thousandth: numbers this close to one say nothing
_COARSE = 0.01  # of the rows among many equal ones: the model has few answers
_COPIES = 3  # rows that are equal, at most: more of them are what a coarse model says


@attrs.frozen(kw_only=True)
class Shift:
    """Distance between two samples of scores."""

    distance: float
    p_value: float
    calibration: int
    new: int

    @property
    def suspected(self) -> bool:
        """True if chance hardly explains it."""
        return self.p_value < SUSPECTED


def find_duplicates(calibration: xr.DataArray, test: xr.DataArray) -> list[tuple[str, str]]:
    """Return pairs of a calibration and a test example that have exactly the same predictions.

    Parameters
    ----------
    calibration, test : DataArray, (example, label)
        Predictions, of the same labels. Examples of the same name are no pair.

    Returns
    -------
    list of (str, str)
        In the order of the test examples. Empty where predictions are too coarse to tell: rounded,
        or of a model with few answers, such as a tree.
    """
    first = validate.check_predictions(calibration, source="calibration predictions")
    second = validate.check_predictions(test, source="test predictions")
    labels = name_texts(first[names.LABEL].values)
    second = align.match_labels(
        second, labels, source="test predictions", other="calibration predictions"
    )
    old, new = (name_texts(array[names.EXAMPLE].values) for array in (first, second))
    values = np.concatenate([first.values, second.values.astype(first.dtype, copy=False)])
    row = _distinctive_rows(values).tolist()
    by_row: dict[int, list[str]] = {}
    for name, code in zip(old, row, strict=False):
        by_row.setdefault(code, []).append(name)
    by_row.pop(-1, None)
    pairs = []
    for name, code in zip(new, row[len(old) :], strict=True):
        pairs += [(old_name, name) for old_name in by_row.get(code, ()) if old_name != name][:1]
    return pairs


def warn_of_copies(predictions: xr.DataArray, groups: NDArray[np.generic] | None = None) -> int:
    """Warn of examples with equal predictions that random splits may part, and count them."""
    if names.AUGMENTATION in predictions.dims:  # copies share all of them, the first as well
        predictions = predictions.isel({names.AUGMENTATION: 0}, drop=True)
    model = validate.check_predictions(predictions)
    row = _distinctive_rows(model.values)
    called = name_texts(model[names.EXAMPLE].values)
    pairs, copies = [], 0
    order = np.argsort(row, kind="stable")
    for places in np.split(order, np.flatnonzero(np.diff(row[order])) + 1):
        parted = groups is None or len(set(groups[places].tolist())) > 1
        if row[places[0]] >= 0 and len(places) > 1 and parted:
            copies += len(places)
            pairs.append((called[places[0]], called[places[1]]))
    if pairs:
        warn(
            "examples-alike",
            f"{counted(copies)} of {several(len(called), 'example')} have exactly the predictions "
            "of another, and splits part them",
            expected="different examples; one input, two names?",
            found=listed(map(" = ".join, sorted(pairs))),
            hint="drop one of each pair: shared examples flatter coverage",
            source="predictions",
        )
    return copies


def _distinctive_rows(values: Floats) -> NDArray[np.int64]:
    """Return a code for each row that a copy would share, -1 for rows that say nothing."""
    codes = np.unique(values + values.dtype.type(0), axis=0, return_inverse=True)[1]
    members = np.bincount(codes)
    thousandths = values.astype(np.float64) * 1000
    fine = np.abs(thousandths - np.rint(thousandths)) > _ROUNDED
    # Which different rows have a full number in a column that no other row has.
    private = np.zeros((len(members), values.shape[1]), dtype=np.bool_)
    for column, numbers in enumerate(values.T):
        number = np.unique(numbers, return_inverse=True)[1]
        private[codes, column] = (np.bincount(number)[number] == members[codes]) & fine[:, column]
    crowded = members[members > _COPIES].sum() > _COARSE * len(values)
    if crowded or private.mean(axis=0).max() < _FINE:
        return np.full(len(values), -1, dtype=np.int64)
    telling = private.any(axis=1) & (members <= _COPIES)
    return np.where(telling[codes], codes, -1).astype(np.int64)


def shift_test(calibration: Floats, new: Floats) -> Shift:
    """Return how unlike two samples of scores are, by the test of Kolmogorov and Smirnov.

    Parameters
    ----------
    calibration, new : ndarray, (example,)
        One number per example, made in the same way on both sides and without labels, such as the
        largest score.
    """
    from scipy.special import kolmogorov

    every, n, h = np.concatenate([calibration, new]), len(calibration), len(new)
    below = [np.searchsorted(np.sort(sample), every, side="right") for sample in (calibration, new)]
    distance = float(np.abs(below[0] / n - below[1] / h).max())
    p_value = float(kolmogorov(math.sqrt(n * h / (n + h)) * distance))
    return Shift(distance=distance, p_value=p_value, calibration=n, new=h)


def warn_of_shift(calibration: Floats, new: Floats, *, source: str = "predictions") -> Shift:
    """Warn where new examples score unlike those that calibrated: p < 0.001."""
    shift = shift_test(calibration, new)
    if shift.suspected:
        verb = does(source, "score")
        warn(
            "shift-suspected",
            f"{verb} unlike calibration (KS {shift.distance:.2f})",
            expected="exchangeable examples",
            found=f"p < 0.001 ({shift.p_value:.1g}): no guarantee under shift",
            hint="recalibrate on recent data, or calibrator weighted",
            source=source,
        )
    return shift
