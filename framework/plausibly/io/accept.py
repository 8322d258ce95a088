"""Arguments of `calibrate`, `predict` and `evaluate`: arrays with names, files or data frames."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, Union

import numpy as np
import xarray as xr

from plausibly.data import names
from plausibly.data.annotations import is_annotations
from plausibly.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plausibly.io.frames import Frame

PredictionsLike: TypeAlias = Union[xr.DataArray, str, Path, "Frame"]
"""Predictions: an array (example, label), the path of a file, or a data frame."""

AnswersLike: TypeAlias = Union[xr.DataArray, xr.Dataset, str, Path, "Frame"]
"""Plausibilities or an annotation table; or the path or data frame of annotations."""

SetsLike: TypeAlias = xr.DataArray | str | Path
"""Prediction sets, or the path of a file of them."""


def as_predictions(
    predictions: PredictionsLike, *, scale: str | None = None, labels: Sequence[str] | None = None
) -> xr.DataArray:
    """Return predictions, read from a file or a data frame if they are none yet.

    Rows of a plain array are called 0, 1, ..., and its columns as `labels`, if these are known.
    Predictions that are on another scale than `scale` are refused.
    """
    value: object = predictions
    if isinstance(value, xr.DataArray):
        stated = value.attrs.get(names.SCALE, scale)
        if scale is not None and stated != scale:
            raise InputError(
                "scale-differs",
                f"predictions are of scale {stated}, and the predictor was calibrated on {scale}",
                expected=scale,
                found=str(stated),
                hint=f'scale="{scale}", if they are, or recalibrate',
                source="predictions",
            )
        return value
    if isinstance(value, np.ndarray) and labels is not None and value.ndim == 2:
        if value.shape[1] != len(labels):
            raise InputError(
                "array-shape",
                f"predictions have shape {value.shape}",
                expected=f"(examples, {len(labels)}), labels in the order of predictor.labels",
                found=str(value.shape),
                hint="one column per label of the predictor, or a DataArray with names",
                source="predictions",
            )
        rows = list(map(str, range(len(value))))
        coords = {names.EXAMPLE: rows, names.LABEL: names.text_array(labels)}
        return xr.DataArray(value, coords, (names.EXAMPLE, names.LABEL), attrs={names.NUMBERED: 1})
    if is_annotations(value):
        raise InputError(
            "arguments-swapped",
            "annotations are in the place of predictions",
            expected="the model's probabilities first, then the annotations",
            found="an annotation table",
            hint="plausibly.calibrate(probabilities, annotations)",
            source="predictions",
        )
    if _is_readable(value):
        from plausibly.io.predictions import read_predictions

        return read_predictions(predictions, scale=scale)  # type: ignore[arg-type]  # no array here
    raise names.unlabelled(value, "predictions")


def as_answers(answers: AnswersLike, *, beside: object = None) -> xr.DataArray | xr.Dataset:
    """Return plausibilities or an annotation table, read from a file or a data frame.

    Predictions, and what is the same object as `beside`, are refused.
    """
    value: object = answers
    if not isinstance(value, xr.DataArray | xr.Dataset) and _is_readable(value):
        from plausibly.io.annotations import read_annotations

        return read_annotations(value)  # type: ignore[arg-type]  # a path or a frame
    if isinstance(value, xr.DataArray) and (value is beside or names.SCALE in value.attrs):
        raise InputError(
            "predictions-as-plausibilities",
            "plausibilities were read as predictions",
            expected="plausibilities from plausibly.aggregate(), or annotations",
            found="the same array twice" if value is beside else "an array from read_predictions()",
            hint="plausibly.calibrate(probabilities, votes); or drop_attrs(), if these are "
            "plausibilities",
            source="plausibilities",
        )
    return answers  # type: ignore[return-value]  # anything else is checked where it is aligned


def as_sets(sets: SetsLike) -> xr.DataArray:
    """Return prediction sets, read from a file if they are a path."""
    if not isinstance(sets, str | Path):
        return sets  # anything else is checked where it is measured
    from plausibly.io.sets import read_sets

    return read_sets(sets)


def _is_readable(value: object) -> bool:
    """Return whether this is a path, or has named columns, as data frames have."""
    frame = hasattr(value, "columns") or hasattr(value, "column_names")
    return isinstance(value, str | Path) or (hasattr(value, "shape") and frame)
