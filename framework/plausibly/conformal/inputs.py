"""Inputs of calibration and prediction: checked, matched by name, and scored."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TypeVar

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly import registry
from plausibly.calibration.coordinates import coordinates_over, group_names, new_values
from plausibly.calibration.data import CalibrationData, ScoreSource, check_weights
from plausibly.calibration.examples import Examples, IdentityScores
from plausibly.calibration.pvalues import TestScores
from plausibly.calibration.scores import CalibrationScores
from plausibly.calibration.vacuous import warn_of_heavy, warn_of_unseen
from plausibly.conformal.aggregate import aggregated, default_aggregator
from plausibly.conformal.array_predictor import Scoring
from plausibly.data import align, names
from plausibly.data.annotations import is_annotations
from plausibly.data.names import Names, is_lazy, not_among, with_values
from plausibly.data.plausibilities import Form, Plausibilities
from plausibly.data.validate import (
    Predictions,
    check_predictions,
    is_augmented,
    match_augmentations,
)
from plausibly.errors import InputError, counted, listed
from plausibly.guarantee import Guarantee
from plausibly.kernels import blocks
from plausibly.kernels.random import Keys
from plausibly.kernels.types import Bools, Floats, FloatType, Ints
from plausibly.protocols import AGGREGATOR, Aggregator, ComponentLike
from plausibly.registry.components import called as called_as

Labelled = TypeVar("Labelled", xr.DataArray, xr.Dataset)

GUARANTEES = "guarantees"
FINGERPRINT = "fingerprint"
OVERLAP = "calibration_overlap"
LABEL_ORDER = "label_order"
LEFT_OUT = "left_out"


@attrs.frozen(kw_only=True, eq=False)
class NewExamples:
    """Test predictions in the order of the predictor's labels, and how they came."""

    values: Floats
    checked: xr.DataArray
    examples: Examples
    order: NDArray[np.intp] | slice
    dims: tuple[str, ...]

    def like_input(
        self,
        values: Floats | Bools,
        name: str,
        alpha: float | None = None,
        attrs: Mapping[str, object] | None = None,
    ) -> xr.DataArray:
        """Return values (example, label) with labels, dims and coordinates as they came."""
        if not isinstance(self.order, slice):
            values = values[:, self.order]
        scalars = None if alpha is None else {names.ALPHA: alpha}
        array = with_values(self.checked, values, name=name, attrs=attrs, scalars=scalars)
        return array if array.dims == self.dims else array.transpose(*self.dims)


def read_test(
    predictions: xr.DataArray,
    labels: Names,
    scale: str,
    dtype: FloatType,
    *,
    augmentations: Sequence[str] = (),
    whose: str = "predictions",
    whole: bool = True,
) -> NewExamples:
    """Return test predictions, checked and matched to the predictor by name."""
    check_scale(predictions, scale)
    if augmentations and not is_augmented(predictions):
        raise _without_augmentations(augmentations)
    if not augmentations and is_augmented(predictions):
        check_predictions(predictions)  # refuses them
    test = Predictions.from_xarray(
        predictions, whose=whose, scale=scale, whole=whole, known=(labels,)
    )
    checked = test.array
    if augmentations:
        every = match_augmentations(checked, augmentations)
        checked = every.isel({names.AUGMENTATION: 0}, drop=True)
        source: Floats = every.values
    else:
        source = checked.values
    order = label_order(test.labels, labels)
    if isinstance(order, slice):
        values = source.astype(dtype, copy=False)
    else:
        values = np.empty(source.shape, dtype=dtype)
        values[..., order] = source
    return NewExamples(
        values=values,
        checked=checked,
        examples=Examples(test.examples, test.numbered),
        order=order,
        dims=tuple(str(dim) for dim in predictions.dims if dim != names.AUGMENTATION),
    )


def check_scale(predictions: xr.DataArray, scale: str) -> None:
    """Raise ``scale-differs`` where predictions say that they are on another scale."""
    stated = predictions.attrs.get(names.SCALE)
    if stated is not None and stated != scale:
        raise InputError(
            "scale-differs",
            f"predictions are of scale {stated}, and the predictor was calibrated on {scale}",
            expected=scale,
            got=str(stated),
            do=f'scale="{scale}", if they are, or recalibrate',
            whose="predictions",
        )


def label_order(test: Names, predictor: Names) -> NDArray[np.intp] | slice:
    """Return the position among a predictor's labels of each label of the predictions."""
    if test.same(predictor):
        return slice(None)
    given, labels = test.texts, predictor.texts
    lacking, excess = not_among(labels, given), not_among(given, labels)
    if lacking or excess:
        what = f'lack the label "{lacking[0]}"' if lacking else f'have the label "{excess[0]}"'
        raise InputError(
            "predictor-labels",
            f"predictions {what}",
            expected=f"the predictor's {counted(len(labels))} labels by name",
            got=f"{counted(len(given) - len(excess))} of them"
            + (f" and {counted(len(excess))} others" if excess else ""),
            do="predict with the same model, or recalibrate for these labels",
            whose="predictions",
            details={"lacking": lacking, "excess": excess},
        )
    place = {label: position for position, label in enumerate(labels)}
    return np.array([place[label] for label in given], dtype=np.intp)


def _without_augmentations(augmentations: Sequence[str]) -> InputError:
    return InputError(
        "augmentations-missing",
        "predictions have no augmentations, and the predictor compares those of an example",
        expected=f"the dim augmentation, with {listed(augmentations)}",
        got="dims example, label",
        do="predict for each augmentation: xarray.concat(parts, dim='augmentation'); or calibrate "
        "with augmentation(scores='pooled')",
        whose="predictions",
    )


def threshold_array(
    values: Floats, alphas: Sequence[Fraction], calibration: CalibrationScores, *, several: bool
) -> xr.DataArray:
    """Return thresholds as one labelled array."""
    by, named = calibration.claim.by, [float(one) for one in alphas]
    array = xr.DataArray(
        values if by else values[0],
        dims=[by, names.ALPHA] if by else [names.ALPHA],
        coords={names.ALPHA: named, **({by: list(calibration.groups)} if by else {})},
        name="threshold",
    )
    return array if several else array.isel({names.ALPHA: 0})


def sets_array(
    test: NewExamples,
    sets: Sequence[Bools],
    alphas: Sequence[Fraction],
    attrs: Mapping[str, object],
    several: bool,
) -> xr.DataArray:
    """Return sets as one labelled array that carries its guarantees."""
    kept = (LEFT_OUT, names.NUMBERED)
    attrs = {
        **attrs,
        **{name: test.checked.attrs[name] for name in kept if name in test.checked.attrs},
    }
    arrays = [
        test.like_input(one, "prediction_sets", float(alpha), attrs)
        for one, alpha in zip(sets, alphas, strict=True)
    ]
    return along_alphas(arrays, several)


def along_alphas(arrays: list[Labelled], several: bool) -> Labelled:
    """Return arrays that have one alpha each as one, along ``alpha`` where there are several."""
    if not several:
        return arrays[0]
    return xr.concat(arrays, dim=names.ALPHA, coords="different", compat="equals", join="exact")


def sets_attrs(
    promises: Iterable[Guarantee], fingerprint: str, labels: Sequence[str], overlap: int = 0
) -> dict[str, object]:
    """Return what sets say about themselves."""
    return {
        GUARANTEES: json.dumps([promise.to_json() for promise in promises]),
        FINGERPRINT: fingerprint,
        OVERLAP: overlap,
        LABEL_ORDER: json.dumps(list(labels)),
    }


def new_scores(
    test: NewExamples,
    calibration: CalibrationScores,
    *,
    scoring: Scoring,
    calibrator: str,
    splits_ties: bool,
    compared: bool = False,
) -> TestScores:
    """Return what a calibration is asked about new examples."""
    whose = f"calibrator {calibrator}"
    keys = Keys(scoring.seed)
    identity = compared and scoring.identity
    scores = test.values if identity else scoring.scores(test.values, test.examples)
    order = None
    if calibration.augmentation == "mean":
        scores = mean_scores(scores)
    elif calibration.augmentation == "separate":
        # In a random order any p-values are exchangeable.
        spread = keys.child("order").uniform(test.examples.hashes, len(scores))
        order = np.argsort(spread, axis=1, kind="stable").T
    weight = None
    if calibration.claim.weights:
        values = new_values(test.checked, calibration.claim.weights, whose=whose)
        weight = check_weights(values, calibration.claim.weights, whose="predictions")
    return TestScores(
        scores=scores,
        group=groups_of(test.checked, calibration, whose),
        weight=weight,
        uniform=keys.child("smoothing").uniform(test.examples.hashes) if splits_ties else None,
        order=order,
    )


def groups_of(checked: xr.DataArray, calibration: CalibrationScores, whose: str) -> Ints | None:
    """Return the group of each new example, -1 where calibration lacks it; None without groups."""
    if not calibration.by_examples:
        return None
    found = group_names(new_values(checked, calibration.claim.by, whose=whose))
    return names.positions(list(calibration.groups), found.tolist())


def mean_scores(scores: Floats) -> Floats:
    """Return the mean over augmentations, (example, label), in the scores' own float type."""
    means: Floats = scores.mean(axis=0, dtype=np.float64).astype(scores.dtype)
    return means


def largest_scores(scores: Floats) -> Floats:
    """Return the largest score of each example, (example,), of the mean over augmentations."""
    plain = mean_scores(scores) if scores.ndim == 3 else scores
    return blocks.largest(plain)


def warn_of_unseen_groups(
    checked: xr.DataArray, group: Ints | None, calibration: CalibrationScores
) -> None:
    """Warn of new examples of groups that calibration lacks."""
    if group is None or not (group < 0).any():
        return
    unseen = group < 0
    found = group_names(new_values(checked, calibration.claim.by, whose="predictor"))
    examples = [str(name) for name in checked[names.EXAMPLE].values[unseen]]
    warn_of_unseen(examples, sorted(set(found[unseen].tolist())), calibration.claim.by)


def warn_of_weights(
    test_scores: TestScores,
    calibration: CalibrationScores,
    sets: Sequence[Bools],
    alphas: Sequence[Fraction],
) -> None:
    """Warn of new examples that get every label because of their weight."""
    if test_scores.weight is not None and calibration.weight is not None:
        total = _weight_of_others(test_scores, calibration)
        for one, plane in zip(alphas, sets, strict=True):
            # Its own mass alone is more than alpha: w own / (W + w) > alpha.
            more = float(calibration.test_mass - one) * test_scores.weight > float(one) * total
            heavy = more & plane.all(axis=1)
            if heavy.any():
                warn_of_heavy(int(heavy.sum()), len(plane), calibration, float(one))


def _weight_of_others(test_scores: TestScores, calibration: CalibrationScores) -> Floats:
    """Return the weight of the calibration examples that each new one is compared with."""
    if test_scores.group is None:
        whole = 0.0 if calibration.weight is None else float(calibration.weight.sum())
        return np.full(len(test_scores), whole)
    groups = range(len(calibration.groups))
    weights = [calibration.of_group(code).weight for code in groups]
    totals = [0.0 if weight is None else float(weight.sum()) for weight in weights]
    # Groups that calibration lacks are warned of apart.
    found: Floats = np.array([*totals, np.inf])[test_scores.group]
    return found


@attrs.frozen(kw_only=True, eq=False)
class Inputs:
    """Predictions and plausibilities of the same examples and labels, in one order."""

    predictions: Predictions
    plausibilities: Plausibilities
    aggregated_by: str


def matched_inputs(
    predictions: xr.DataArray,
    plausibilities: Form,
    *,
    aggregator: ComponentLike[Aggregator] | None,
    seed: int,
    only_common: bool,
) -> Inputs:
    """Return predictions and plausibilities, checked and aligned by name."""
    if is_lazy(predictions):
        from plausibly.conformal.chunks import predictions_in_chunks

        model = predictions_in_chunks(predictions)
    else:
        model = Predictions.from_xarray(predictions)
    found, aggregated_by = _plausibilities(plausibilities, aggregator, seed, model)
    found = align.with_labels(
        found, model.labels.texts, whose="plausibilities", other="predictions"
    )
    model, found = align.same_examples(model, found, only_common=only_common)
    return Inputs(predictions=model, plausibilities=found, aggregated_by=aggregated_by)


def _plausibilities(
    given: Form,
    aggregator: ComponentLike[Aggregator] | None,
    seed: int,
    model: Predictions,
) -> tuple[Plausibilities, str]:
    if is_lazy(given):
        from plausibly.conformal.chunked import gathered

        given = gathered(given)
    if is_annotations(given):
        chosen = (
            default_aggregator(str(given.attrs[names.KIND])) if aggregator is None else aggregator
        )
        component = registry.resolve(AGGREGATOR, chosen)
        return aggregated(given, component, seed=seed), called_as(AGGREGATOR, component)
    if aggregator is not None:
        raise InputError(
            "aggregator-unused",
            "an aggregator was named, and plausibilities are aggregated already",
            expected="annotations with an aggregator, or plausibilities without one",
            do="leave aggregator= out, or pass the annotation table",
            whose="aggregator",
        )
    known = (model.examples, model.labels)
    return Plausibilities.from_xarray(given, known=known), "plausibilities as given"


def calibration_data(inputs: Inputs, scoring: Scoring) -> CalibrationData:
    """Return what calibrators see."""
    model, found = inputs.predictions, inputs.plausibilities
    examples = Examples(model.examples, model.numbered)
    labels = tuple(model.labels.texts)
    source: Floats | ScoreSource
    augmented: Floats | None = None
    if is_lazy(model.array):
        from plausibly.conformal.chunked import ChunkedScores, RowScores

        rows = RowScores(labels=labels, scoring=scoring)
        source = ChunkedScores.of(model, rows, "predictions")
    elif scoring.identity and not model.augmentations:
        source = IdentityScores(model.array.values)
    else:
        source = scoring.scores(model.array.values, examples)
        if model.augmentations:
            augmented, source = source, mean_scores(source)
    draws, about = found.draws, found.about
    denominator = about.coords.get(names.DENOMINATOR)
    return CalibrationData(
        scores=source,
        plausibilities=found.stored if draws is None else draws.mean(axis=0, dtype=np.float64),
        denominator=None
        if denominator is None or draws is not None
        else np.asarray(denominator.values),
        hashes=examples,
        labels=labels,
        coordinates=coordinates_over(names.EXAMPLE, [model.array, about]),
        label_coordinates=coordinates_over(names.LABEL, [model.array, about]),
        augmented=augmented,
        resampled=draws,
    )
