"""Inputs of calibration and prediction: checked, matched by name, and scored."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly import registry
from plausibly.calibration.data import (
    ArrayScores,
    CalibrationData,
    ScoreSource,
    coordinates_over,
    group_names,
    new_values,
)
from plausibly.calibration.examples import HashedNames
from plausibly.calibration.pvalues import TestScores
from plausibly.calibration.scores import CalibrationScores
from plausibly.conformal.aggregate import aggregated, default_aggregator
from plausibly.conformal.array_predictor import Scoring
from plausibly.data import align, names
from plausibly.data.annotations import is_annotations
from plausibly.data.names import Names, is_lazy, not_among, with_values
from plausibly.data.plausibilities import Form, Plausibilities
from plausibly.data.validate import Predictions
from plausibly.errors import InputError, counted, listed, warn
from plausibly.kernels.sparse import Dense
from plausibly.kernels.types import Bools, Floats, FloatType, Ints
from plausibly.protocols import AGGREGATOR, SCORE, Aggregator, ComponentLike, ScoreFunction
from plausibly.registry import called

GUARANTEES = "guarantees"
FINGERPRINT = "fingerprint"
OVERLAP = "calibration_overlap"
LABEL_ORDER = "label_order"
LEFT_OUT = "left_out"
LABELS_ALONG_ORDER = "labels_along_order"
COLUMNS = "columns"
"""Order of a score function whose predictions list the labels in order."""


@attrs.frozen(kw_only=True, eq=False)
class NewExamples:
    """Test predictions in the order of the predictor's labels, and how they came."""

    values: Floats
    checked: xr.DataArray
    examples: Names
    numbered: bool
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
    source: str = "predictions",
    whole: bool = True,
) -> NewExamples:
    """Return test predictions, checked and matched to the predictor by name."""
    if augmentations and names.AUGMENTATION not in predictions.dims:
        raise InputError(
            "augmentations-missing",
            "predictions have no augmentations, and the predictor compares those of an example",
            expected=f"the dim augmentation, with {listed(augmentations)}",
            found="dims example, label",
            hint="predict for each augmentation: xarray.concat(parts, dim='augmentation'); or "
            "calibrate with augmentation(scores='pooled')",
            source="predictions",
        )
    test = Predictions.from_xarray(
        predictions,
        source=source,
        scale=scale,
        whole=whole,
        augmented=bool(augmentations),
        known=(labels,),
    )
    checked = test.array
    if augmentations:
        if sorted(test.augmentations) != sorted(augmentations):
            raise InputError(
                "augmentations-differ",
                "predictions have other augmentations than the predictor",
                expected=listed(augmentations),
                found=listed(test.augmentations),
                hint="predict for the same augmentations, under the same names",
                source="predictions",
            )
        numbers: Floats = checked.values[[test.augmentations.index(name) for name in augmentations]]
        checked = checked.isel({names.AUGMENTATION: 0}, drop=True)
    else:
        numbers = checked.values
    order: NDArray[np.intp] | slice = slice(None)
    values = numbers.astype(dtype, copy=False)
    if not test.labels.same(labels):
        order = label_order(test.labels, labels)
        values = np.empty(numbers.shape, dtype=dtype)
        values[..., order] = numbers
    return NewExamples(
        values=values,
        checked=checked,
        examples=test.examples,
        numbered=test.numbered,
        order=order,
        dims=tuple(str(dim) for dim in predictions.dims if dim != names.AUGMENTATION),
    )


def label_order(test: Names, predictor: Names) -> NDArray[np.intp]:
    """Return the position among a predictor's labels of each label of the predictions."""
    here, labels = test.texts, predictor.texts
    lacking, excess = not_among(labels, here), not_among(here, labels)
    if lacking or excess:
        what = f'lack the label "{lacking[0]}"' if lacking else f'have the label "{excess[0]}"'
        raise InputError(
            "predictor-labels",
            f"predictions {what}",
            expected=f"the predictor's {counted(len(labels))} labels by name",
            found=f"{counted(len(here) - len(excess))} of them"
            + (f" and {counted(len(excess))} others" if excess else ""),
            hint="predict with the same model, or recalibrate for these labels",
            source="predictions",
            details={"lacking": lacking, "excess": excess},
        )
    return names.positions(labels, here)


def sets_array(
    test: NewExamples,
    sets: Sequence[Bools],
    alphas: Sequence[Fraction],
    guarantees: Sequence[str],
    *,
    several: bool,
    fingerprint: str,
    labels: Sequence[str],
    known: Names | HashedNames | None,
    order: Sequence[int] = (),
) -> xr.DataArray:
    """Return sets as one labelled array that carries the JSON of its guarantee at each alpha."""
    attrs: dict[str, object] = {
        GUARANTEES: f"[{', '.join(guarantees)}]",
        FINGERPRINT: fingerprint,
        OVERLAP: 0 if known is None or test.numbered else known.common(test.examples),
        LABEL_ORDER: json.dumps(labels),
    }
    if order:
        attrs[LABELS_ALONG_ORDER] = json.dumps([labels[place] for place in order])
    kept = (LEFT_OUT, names.NUMBERED)
    attrs |= {name: test.checked.attrs[name] for name in kept if name in test.checked.attrs}
    arrays = [
        test.like_input(plane, "prediction_sets", float(alpha), attrs)
        for plane, alpha in zip(sets, alphas, strict=True)
    ]
    if not several:
        return arrays[0]
    return xr.concat(arrays, dim=names.ALPHA, coords="different", compat="equals", join="exact")


def groups_of(checked: xr.DataArray, calibration: CalibrationScores, source: str) -> Ints:
    """Return the group of each new example, -1 where calibration lacks it."""
    values = group_names(new_values(checked, calibration.claim.by, source=source))
    return names.positions(list(calibration.groups), values.tolist())


def mean_scores(scores: Floats) -> Floats:
    """Return the mean over augmentations, (example, label), in the scores' own float type."""
    means: Floats = scores.mean(axis=0, dtype=np.float64).astype(scores.dtype)
    return means


def warn_of_unseen_groups(
    checked: xr.DataArray, group: Ints, calibration: CalibrationScores
) -> None:
    """Warn of new examples of groups that calibration lacks: they get every label."""
    by, unseen = calibration.claim.by, group < 0
    if not unseen.any():
        return
    values = group_names(new_values(checked, by, source="predictor"))
    examples = [str(name) for name in checked[names.EXAMPLE].values[unseen]]
    warn(
        "group-unseen",
        f"{names.several(len(examples), 'example')} in groups that calibration lacks",
        expected=f'values of "{by}" that calibration has; these get every label',
        found=listed(sorted(set(values[unseen].tolist()))),
        hint=f'calibrate with such examples, or merge groups in the column "{by}"',
        source="predictions",
        details={"examples": examples},
    )


def warn_of_weights(
    test_scores: TestScores,
    calibration: CalibrationScores,
    sets: Sequence[Bools],
    alphas: Sequence[Fraction],
) -> None:
    """Warn of new examples that get every label because of their weight."""
    weight, group = test_scores.weight, test_scores.group
    if weight is None or calibration.weight is None:
        return
    # Of the calibration examples that each new one is compared with.
    total: Floats = np.full(len(weight), calibration.weight.sum())
    if group is not None:
        parts = [calibration.of_group(code) for code in range(len(calibration.groups))]
        totals = [0.0 if part.weight is None else float(part.weight.sum()) for part in parts]
        # Groups that calibration lacks, -1, are warned of apart.
        total = np.array([*totals, np.inf])[group]
    largest = "1" if calibration.test_mass == 1 else "largest risk"
    for alpha, plane in zip(alphas, sets, strict=True):
        # Its own mass alone is more than alpha: w own / (W + w) > alpha.
        more = float(calibration.test_mass - alpha) * weight > float(alpha) * total
        count = int((more & plane.all(axis=1)).sum())
        if count:
            warn(
                "weight-too-large",
                f"every label in the sets of {counted(count)} of {counted(len(plane))} examples "
                f"at alpha {float(alpha):g}",
                expected=f'weights in "{calibration.claim.weights}" below alpha / ({largest} - '
                "alpha) of those of the calibration examples together",
                found="too few calibration examples like these",
                hint="more calibration examples like them, a larger alpha, or clip the weights",
                source="predictions",
            )


def matched_inputs(
    predictions: xr.DataArray,
    plausibilities: Form,
    *,
    aggregator: ComponentLike[Aggregator] | None = None,
    seed: int,
    only_common: bool,
) -> tuple[Predictions, Plausibilities, str]:
    """Return predictions and plausibilities, checked and aligned by name; and the aggregator."""
    if is_lazy(predictions):
        from plausibly.conformal.chunks import predictions_in_chunks

        model = predictions_in_chunks(predictions)
    else:
        model = Predictions.from_xarray(predictions)
    if is_lazy(plausibilities):
        from plausibly.conformal.chunks import gathered

        plausibilities = gathered(plausibilities)
    aggregated_by = "plausibilities as given"
    if is_annotations(plausibilities):
        if aggregator is None:
            aggregator = default_aggregator(str(plausibilities.attrs[names.KIND]))
        component = registry.resolve(AGGREGATOR, aggregator)
        found = aggregated(plausibilities, component, seed=seed)
        aggregated_by = called(AGGREGATOR, component)
    elif aggregator is not None:
        raise InputError(
            "aggregator-unused",
            "an aggregator was named, and plausibilities are aggregated already",
            expected="annotations with an aggregator, or plausibilities without one",
            hint="leave aggregator= out, or pass the annotation table",
            source="aggregator",
        )
    else:
        found = Plausibilities.from_xarray(plausibilities, known=(model.examples, model.labels))
    found = align.with_labels(
        found, model.labels.texts, source="plausibilities", other="predictions"
    )
    return *align.same_examples(model, found, only_common=only_common), aggregated_by


def label_places(name: str, arrays: Sequence[xr.DataArray | xr.Dataset]) -> tuple[int, ...] | None:
    """Return the places of the labels along a coordinate of different numbers; None without one."""
    values = coordinates_over(names.LABEL, arrays).get(name)
    if values is None or values.dtype.kind not in "iuf" or np.isnan(values).any():
        return None
    return tuple(np.argsort(values).tolist()) if len(np.unique(values)) == len(values) else None


def labels_along_order(arrays: Sequence[xr.DataArray | xr.Dataset]) -> list[str] | None:
    """Return the labels in the order that sets state, or a coordinate ``order``; None without."""
    for array in arrays:
        stated: list[str] = json.loads(str(array.attrs.get(LABELS_ALONG_ORDER, "[]")))
        if stated:
            here = set(names.name_texts(array[names.LABEL].values))
            along = [label for label in stated if label in here]
            if len(along) == len(here):  # not where labels were renamed since
                return along
    for array in arrays:
        places = label_places(names.ORDER, [array])
        if places is not None:
            return names.name_texts(array[names.LABEL].values[list(places)])
    return None


def scoring_of(
    model: Predictions, found: Plausibilities, score: ComponentLike[ScoreFunction], seed: int
) -> Scoring:
    """Return how predictions are scored; a score that reads an order of the labels gets it."""
    component = registry.resolve(SCORE, score)
    name = called(SCORE, component)
    order: tuple[int, ...] = ()
    if component.order == COLUMNS:
        order = tuple(range(len(model.labels)))
    elif component.order:
        arrays: list[xr.DataArray | xr.Dataset] = [model.array, found.about]
        order = label_places(component.order, arrays) or ()
        if not order:
            known = coordinates_over(names.LABEL, arrays)
            raise InputError(
                "order-missing",
                f"score {name} reads the order of the labels, and there is none",
                expected=f'"{component.order}" of the labels: a different number for each',
                found=listed(map(str, known.get(component.order, sorted(known)))) or "none",
                hint='labels="labels.csv" with such a column, or order = "columns" of the score, '
                "if the predictions list the labels in order",
                source=f"score {name}",
            )
    return Scoring(component=component, called=name, scale=model.scale, seed=seed, order=order)


def calibration_data(
    model: Predictions, found: Plausibilities, scoring: Scoring
) -> CalibrationData:
    """Return what calibrators see."""
    source: ScoreSource
    augmented: Floats | None = None
    if is_lazy(model.array):
        from plausibly.conformal.chunks import ChunkedScores

        source = ChunkedScores.of(model, scoring)
    elif model.augmentations:
        augmented = scoring.scores(model.array.values, model.examples)
        source = ArrayScores(mean_scores(augmented))
    elif scoring.identity:
        source = ArrayScores(model.array.values)
    else:
        source = ArrayScores(scoring.scores(model.array.values, model.examples))
    draws, about = found.draws, found.about
    denominator = about.coords.get(names.DENOMINATOR)
    return CalibrationData(
        scores=source,
        plausibilities=found.stored
        if draws is None
        else Dense(draws.mean(axis=0, dtype=np.float64)),
        denominator=None
        if denominator is None or draws is not None
        else np.asarray(denominator.values),
        examples=model.examples,
        labels=tuple(model.labels.texts),
        coordinates=coordinates_over(names.EXAMPLE, [model.array, about]),
        label_coordinates=coordinates_over(names.LABEL, [model.array, about]),
        augmented=augmented,
        resampled=draws,
    )
