"""Predictions and plausibilities, checked and matched by name, as calibrators see them."""

from __future__ import annotations

import attrs
import numpy as np
import xarray as xr

from plausibly import registry
from plausibly.calibration.as_given import AsGiven, scores_as_given
from plausibly.calibration.coordinates import coordinates_over
from plausibly.calibration.data import CalibrationData, ScoreSource
from plausibly.calibration.examples import Examples
from plausibly.conformal.aggregate import aggregated, default_aggregator
from plausibly.conformal.asking import mean_scores, score_uniforms
from plausibly.conformal.components import called as called_as
from plausibly.conformal.scoring import scores_of
from plausibly.data import align, names, validate
from plausibly.data.known import names_of
from plausibly.data.named import is_lazy
from plausibly.data.plausibilities import about_packed, slots_of
from plausibly.data.validate import as_checked, check_augmented, is_augmented
from plausibly.errors import InputError
from plausibly.kernels.random import Keys
from plausibly.kernels.sparse import Slots
from plausibly.kernels.types import Floats
from plausibly.protocols import AGGREGATOR, Aggregator, ComponentLike, ScoreFunction


@attrs.frozen(kw_only=True, eq=False)
class Inputs:
    """Both arrays for the same examples and labels, in the order of the predictions.

    Attributes
    ----------
    predictions : DataArray, ([augmentation,] example, label)
    plausibilities : DataArray, ([draw,] example, label), or packed Dataset
    aggregated_by : str
        Name of the aggregator, or that there was none.
    """

    predictions: xr.DataArray
    plausibilities: xr.DataArray | xr.Dataset
    aggregated_by: str

    @property
    def scale(self) -> str:
        """Scale of the predictions."""
        return str(self.predictions.attrs[names.SCALE])

    @property
    def augmentations(self) -> tuple[str, ...]:
        """Names of the augmentations, none where there is one row an example."""
        if names.AUGMENTATION not in self.predictions.dims:
            return ()
        return tuple(map(str, self.predictions[names.AUGMENTATION].values))


def matched_inputs(
    predictions: xr.DataArray,
    plausibilities: xr.DataArray | xr.Dataset,
    *,
    aggregator: ComponentLike[Aggregator] | None,
    seed: int,
    only_common: bool,
) -> Inputs:
    """Return predictions and plausibilities, checked and aligned by name.

    Parameters
    ----------
    predictions, plausibilities, aggregator, seed, only_common
        As `plausibly.calibrate` takes them.
    """
    model = _checked(predictions)
    table, aggregated_by = _plausibilities(plausibilities, aggregator, seed)
    labels = names_of(model, names.LABEL).texts
    matched: xr.DataArray | xr.Dataset
    if isinstance(table, xr.Dataset):
        table = align.match_labels(table, labels, whose="plausibilities", other="predictions")
        model, matched = align.match_examples(model, table, only_common=only_common)
    else:
        table = align.match_labels(table, labels, whose="plausibilities", other="predictions")
        model, matched = align.match_examples(model, table, only_common=only_common)
    return Inputs(predictions=model, plausibilities=matched, aggregated_by=aggregated_by)


def _checked(predictions: xr.DataArray) -> xr.DataArray:
    if is_lazy(predictions):
        from plausibly.conformal.chunks import named_chunks

        model = named_chunks(predictions, "predictions", "predictions")
        return model.assign_attrs({names.SCALE: validate.known_scale(model, "predictions")})
    if is_augmented(predictions):
        return check_augmented(predictions)
    return validate.check_predictions(predictions)


def _plausibilities(
    given: xr.DataArray | xr.Dataset,
    aggregator: ComponentLike[Aggregator] | None,
    seed: int,
) -> tuple[xr.DataArray | xr.Dataset, str]:
    if is_lazy(given):
        from plausibly.conformal.opinions import packed_chunks

        given = packed_chunks(given)
    if isinstance(given, xr.Dataset) and names.RESPONSE_EXAMPLE in given:
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
    return as_checked(given), "plausibilities as given"


def calibration_data(
    inputs: Inputs, score: ScoreFunction, called: str, keys: Keys
) -> CalibrationData:
    """Return what calibrators see.

    Parameters
    ----------
    inputs : Inputs
    score : ScoreFunction
    called : str
        Its name, for messages.
    keys : Keys
    """
    model, table = inputs.predictions, inputs.plausibilities
    examples = Examples(names_of(model, names.EXAMPLE), names.NUMBERED in model.attrs)
    labels = names_of(model, names.LABEL).row
    source: Floats | ScoreSource
    augmented: Floats | None = None
    if is_lazy(model):
        from plausibly.conformal.rows import RowScores
        from plausibly.conformal.scores import ChunkedScores

        scoring = RowScores(
            given=labels,
            order=slice(None),
            dtype=model.dtype,
            scale=inputs.scale,
            score=score,
            called=called,
            keys=keys,
        )
        source = ChunkedScores.of(model, scoring, "predictions")
    elif scores_as_given(score, inputs.scale) and not inputs.augmentations:
        source = AsGiven(model.values)
    else:
        uniform = score_uniforms(score, keys, examples, model.values)
        source = scores_of(model.values, inputs.scale, score, called, uniform)
        if inputs.augmentations:
            augmented, source = source, mean_scores(source)
    resampled: Floats | None = None
    lam: Floats | Slots
    if isinstance(table, xr.Dataset):
        lam, table = slots_of(table), about_packed(table)
    else:
        values: Floats = table.values
        resampled = values if names.DRAW in table.dims else None
        lam = values if resampled is None else _mean(values)
    denominator = table.coords.get(names.DENOMINATOR)
    return CalibrationData(
        scores=source,
        plausibilities=lam,
        denominator=None
        if denominator is None or resampled is not None
        else np.asarray(denominator.values),
        hashes=examples,
        labels=labels,
        coordinates=coordinates_over(names.EXAMPLE, [model, table]),
        label_coordinates=coordinates_over(names.LABEL, [model, table]),
        augmented=augmented,
        resampled=resampled,
    )


def _mean(resampled: Floats) -> Floats:
    """Return the mean over draws, (example, label)."""
    means: Floats = resampled.mean(axis=0, dtype=np.float64)
    return means
