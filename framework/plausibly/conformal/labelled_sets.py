"""Labelled predictions in, labelled prediction sets out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.calibration.examples import Examples
from plausibly.calibration.replicates import Replicates
from plausibly.data import names, validate
from plausibly.data.known import names_of
from plausibly.data.named import with_values
from plausibly.data.names import not_among
from plausibly.data.validate import check_augmented, is_augmented, match_augmentations
from plausibly.errors import InputError, counted, listed
from plausibly.guarantee import Guarantee
from plausibly.kernels.types import Bools, Floats, FloatType

GUARANTEES = "guarantees"
FINGERPRINT = "fingerprint"
OVERLAP = "calibration_overlap"
LABEL_ORDER = "label_order"
LEFT_OUT = "left_out"


@attrs.frozen(kw_only=True, eq=False)
class NewExamples:
    """Test predictions in the order of the predictor's labels, and how they came.

    Attributes
    ----------
    values : ndarray, ([augmentation,] example, label)
        In the dtype of the calibration scores.
    checked : DataArray, (example, label)
        The predictions as given (of the first augmentation), with checked names; for what is
        known of the examples, not for the numbers.
    order : ndarray of int, (label,), or slice
        Position in the predictor's labels of each label as given.
    dims : tuple of str
        Dims as given.
    """

    values: Floats
    checked: xr.DataArray
    order: NDArray[np.intp] | slice
    dims: tuple[str, ...]

    @cached_property
    def examples(self) -> Examples:
        """The examples by name."""
        return Examples(names_of(self.checked, names.EXAMPLE), names.NUMBERED in self.checked.attrs)

    def like_input(
        self,
        values: Floats | Bools,
        name: str,
        alpha: float | None = None,
        attrs: Mapping[str, object] | None = None,
    ) -> xr.DataArray:
        """Return values (example, label) with labels, dims and coordinates as they came.

        Parameters
        ----------
        values : ndarray, (example, label)
        name : str
        alpha : float, optional
            A coordinate besides.
        attrs : mapping, optional
        """
        if not isinstance(self.order, slice):
            values = values[:, self.order]
        scalars = None if alpha is None else {names.ALPHA: alpha}
        array = with_values(self.checked, values, name=name, attrs=attrs, scalars=scalars)
        return array if array.dims == self.dims else array.transpose(*self.dims)


def read_test(
    predictions: xr.DataArray,
    labels: Sequence[str],
    scale: str,
    dtype: FloatType,
    *,
    augmentations: Sequence[str] = (),
    whose: str = "predictions",
    whole: bool = True,
) -> NewExamples:
    """Return test predictions, checked and matched to the predictor by name.

    Parameters
    ----------
    predictions : DataArray, ([augmentation,] example, label)
    labels : sequence of str
        Of the predictor, in its order.
    scale : str
    dtype : dtype
        Of the calibration scores.
    augmentations : sequence of str
        Of the predictor, in its order; none where it reads one row an example.
    whose : str
        What the messages call the predictions.
    whole : bool
        Whether these are all of them; see `borders.check_predictions`.

    Raises
    ------
    InputError
        ``predictor-labels``, ``scale-differs``, ``augmentations-differ`` or
        ``augmentations-missing``, or what `check_predictions` finds.
    """
    check_scale(predictions, scale)
    if augmentations:
        if not is_augmented(predictions):
            raise _without_augmentations(augmentations)
        every = match_augmentations(check_augmented(predictions, scale=scale), augmentations)
        checked = every.isel({names.AUGMENTATION: 0}, drop=True)
        source: Floats = every.values
    else:
        checked, source, _ = validate.checked_numbers(
            predictions, whose=whose, scale=scale, whole=whole
        )
    order = label_order(checked, labels)
    dims = tuple(str(dim) for dim in predictions.dims if dim != names.AUGMENTATION)
    if isinstance(order, slice):
        values = source.astype(dtype, copy=False)
        return NewExamples(values=values, checked=checked, order=order, dims=dims)
    values = np.empty(source.shape, dtype=dtype)
    values[..., order] = source
    return NewExamples(values=values, checked=checked, order=order, dims=dims)


def check_scale(predictions: xr.DataArray, scale: str) -> None:
    """Raise ``scale-differs`` where predictions say that they are on another scale."""
    stated = predictions.attrs.get(names.SCALE)
    if stated is not None and stated != scale:
        raise InputError(
            "scale-differs",
            f"predictions are of scale {stated}, and the predictor was calibrated on {scale}",
            expected=scale,
            got=str(stated),
            do=f"scale={scale!r} (--scale {scale}) if they are, or recalibrate",
            whose="predictions",
        )


def label_order(checked: xr.DataArray, labels: Sequence[str]) -> NDArray[np.intp] | slice:
    """Return the position among a predictor's labels of each label as given.

    All of them where the order is the same, as a model gives them again and again: nothing has to
    be moved, nor back.

    Parameters
    ----------
    checked : DataArray, (example, label)
        Labels under unique text names.
    labels : sequence of str
        Of the predictor.

    Raises
    ------
    InputError
        ``predictor-labels``.
    """
    given = names_of(checked, names.LABEL).row
    if given is labels or given == tuple(labels):
        return slice(None)
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
    values: Floats, alphas: Sequence[Fraction], replicates: Replicates, *, several: bool
) -> xr.DataArray:
    """Return thresholds as one labelled array.

    Parameters
    ----------
    values : ndarray, (cell, alpha)
    alphas : sequence of Fraction
    replicates : Replicates
        Name the cells: groups or labels, or the only one there is.
    several : bool
        Whether to keep the dim ``alpha``.
    """
    by, named = replicates.by, [float(one) for one in alphas]
    array = xr.DataArray(
        values if by else values[0],
        dims=[by, names.ALPHA] if by else [names.ALPHA],
        coords={names.ALPHA: named, **({by: list(replicates.cells)} if by else {})},
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
    """Return sets as one labelled array that carries its guarantees.

    Parameters
    ----------
    test : NewExamples
    sets : sequence of ndarray of bool, (example, label)
        One an alpha.
    alphas : sequence of Fraction
    attrs : mapping
        From `sets_attrs`.
    several : bool
        Whether to keep the dim ``alpha``.
    """
    kept = (LEFT_OUT, names.NUMBERED)
    attrs = {
        **attrs,
        **{name: test.checked.attrs[name] for name in kept if name in test.checked.attrs},
    }
    arrays = [
        test.like_input(one, "prediction_sets", float(alpha), attrs)
        for one, alpha in zip(sets, alphas, strict=True)
    ]
    return (
        xr.concat(arrays, dim=names.ALPHA, coords="different", compat="equals", join="exact")
        if several
        else arrays[0]
    )


def sets_attrs(
    promises: Iterable[Guarantee], fingerprint: str, labels: Sequence[str], overlap: int = 0
) -> dict[str, object]:
    """Return what sets say about themselves.

    Parameters
    ----------
    promises : iterable of Guarantee
        One an alpha.
    fingerprint : str
    labels : sequence of str
        In the order of the calibration predictions, in which ties are broken.
    overlap : int
        How many of the examples also calibrated.
    """
    return {
        GUARANTEES: json.dumps([promise.to_json() for promise in promises]),
        FINGERPRINT: fingerprint,
        OVERLAP: overlap,
        LABEL_ORDER: json.dumps(list(labels)),
    }
