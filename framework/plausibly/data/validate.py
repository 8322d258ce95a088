"""Validation of predictions and plausibilities: names, shapes, and rows that mean something."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.data import names
from plausibly.data.named import (
    check_finite,
    contiguous,
    named_array,
    named_floats,
    refuse_rows,
    span,
    with_values,
)
from plausibly.data.names import name_texts, near, quoted, text_array
from plausibly.data.plausibilities import check_packed, is_packed, unpack
from plausibly.data.rows import check_answered as check_answered
from plausibly.errors import InputError, listed, warn
from plausibly.kernels.blocks import map_blocks
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.types import Floats, Ints

SUM_WITHIN = 0.01
"""How far from 1 the probabilities of an example may sum."""


def row_sums(values: Floats) -> NDArray[np.float64]:
    """Return the sum of each row, the same alone and among others."""
    with np.errstate(invalid="ignore"):  # infinite entries are refused by themselves
        # Adds row by row in a third of the time of `sum`.
        found: NDArray[np.float64] = np.einsum("...j->...", values, dtype=np.float64)
    return found


def _are_distributions(values: Floats, within: float) -> bool:
    """Return whether no entry is below 0 and each row sums to 1."""
    rows = values.reshape(-1, values.shape[-1])

    def check(block: slice) -> bool:
        # Not a number is not above; an infinite entry makes a sum infinite.
        sums = row_sums(rows[block])
        return bool(rows[block].min() >= 0 and (np.abs(sums - 1) <= within).all())

    return all(map_blocks(check, rows.shape))


def predictions_sound(values: Floats, scale: str) -> bool:
    """Return whether predictions are what their scale says."""
    if scale == "probability":
        return _are_distributions(values, SUM_WITHIN)
    least, most = float(values.min()), float(values.max())
    return (
        isfinite(least) and isfinite(most) and (scale != "independent" or 0 <= least <= most <= 1)
    )


def hard_rows(values: Floats) -> int:
    """Return how many rows (example, label) are only 0 and 1."""
    first = values[:, 0]
    some = values[(first == 0) | (first == 1)]
    return int(np.count_nonzero(((some == 0) | (some == 1)).all(axis=1)))


def _are_counts(values: Floats, total: Ints) -> bool:
    """Return whether all counts are whole, as far as the rounding of their shares lets them be."""
    rounding = np.maximum(_PLAUSIBILITIES_WITHIN, 4 * np.finfo(values.dtype).eps * total)
    most = np.minimum(rounding, 0.25)[:, None]

    def check(rows: slice) -> bool:
        counts = np.multiply(values[..., rows, :], total[rows, None], dtype=np.float64)
        return bool((np.abs(counts - np.rint(counts)) <= most[rows]).all())

    return all(map_blocks(check, (len(total), values[..., 0, :].size)))


def as_checked(
    plausibilities: xr.DataArray | xr.Dataset, *, whose: str = "plausibilities"
) -> xr.DataArray | xr.Dataset:
    """Return plausibilities as the framework reads them, packed where they are."""
    if isinstance(plausibilities, xr.Dataset) and is_packed(plausibilities):
        return check_packed_plausibilities(plausibilities, whose=whose)
    return check_plausibilities(plausibilities, whose=whose)


def check_packed_plausibilities(packed: xr.Dataset, *, whose: str = "plausibilities") -> xr.Dataset:
    """Return packed plausibilities as the framework reads them; the caller's are not changed."""
    packed = check_packed(packed)
    weight: Floats = packed[names.WEIGHT].values
    rows = checked_rows(weight, packed.drop_vars(names.LABEL), whose)
    for dim in (names.EXAMPLE, names.LABEL_NAME):
        if packed[dim].dtype.kind != "U":
            texts = text_array(name_texts(packed.indexes[dim]))
            packed = packed.assign_coords({dim: texts})
    if names.DENOMINATOR in packed.coords:
        packed = packed.drop_vars(names.DENOMINATOR)
    if names.DENOMINATOR in rows.coords:
        packed = packed.assign_coords({names.DENOMINATOR: rows[names.DENOMINATOR].variable})
    return packed.assign({names.WEIGHT: ((names.EXAMPLE, names.SLOT), rows.values)})


def checked_rows(weight: Floats, about: xr.Dataset | xr.DataArray, whose: str) -> xr.DataArray:
    """Return weights (example, slot), checked as the plausibilities of labels called by slots."""
    coords = {name: item for name, item in about.coords.items() if item.dims == (names.EXAMPLE,)}
    rows = xr.DataArray(weight, dims=(names.EXAMPLE, names.LABEL), coords=coords)
    slots = [str(slot) for slot in range(weight.shape[1])]
    return check_plausibilities(rows.assign_coords({names.LABEL: slots}), whose=whose)


def is_augmented(predictions: object) -> bool:
    """Return whether predictions have the dim ``augmentation``."""
    return isinstance(predictions, xr.DataArray) and names.AUGMENTATION in predictions.dims


def check_augmented(
    predictions: xr.DataArray, *, whose: str = "predictions", scale: str | None = None
) -> xr.DataArray:
    """Return predictions of augmentations as the framework reads them."""
    count = predictions.sizes[names.AUGMENTATION]
    if not count:
        raise InputError(
            "predictions-empty",
            f"{whose}: there is no augmentation",
            expected="one augmentation or more",
            got="0",
            do="look at what was selected or read",
            whose=whose,
        )
    named = names.AUGMENTATION in predictions.coords
    found = predictions[names.AUGMENTATION].values if named else np.arange(count)
    called = names.name_texts(found)
    names.check_names(called, names.AUGMENTATION, whose=whose)
    planes = [
        _checked(predictions.isel({names.AUGMENTATION: place}, drop=True), name, whose, scale)
        for place, name in enumerate(called)
    ]
    template = planes[0]
    coords = {str(name): values for name, values in template.coords.items()}
    return xr.DataArray(
        np.stack([plane.values for plane in planes]),
        dims=(names.AUGMENTATION, *template.dims),
        coords={names.AUGMENTATION: names.text_array(called), **coords},
        name=template.name,
        attrs=template.attrs,
    )


def _checked(plane: xr.DataArray, name: str, whose: str, scale: str | None) -> xr.DataArray:
    """Return one augmentation, checked; what is wrong with it is said to be of this one."""
    try:
        return check_predictions(plane, whose=whose, scale=scale)
    except InputError as error:
        error.what = f"{error.what}, in augmentation {names.quoted(name)}"
        error.details["augmentation"] = name
        raise


def seen_in_one(predictions: xr.DataArray, keys: Keys) -> xr.DataArray:
    """Return each example in one of its augmentations, at random, keyed by its name."""
    hashes = hash_names(predictions[names.EXAMPLE].values)
    uniform = keys.uniform(hashes)[:, 0]
    seen = np.floor(uniform * predictions.sizes[names.AUGMENTATION]).astype(np.intp)
    one = predictions.isel({names.AUGMENTATION: 0}, drop=True)
    return one.copy(data=predictions.values[seen, np.arange(len(seen))])


def match_augmentations(predictions: xr.DataArray, wanted: Sequence[str]) -> xr.DataArray:
    """Return predictions with their augmentations in the order of those that calibrated."""
    here = [str(name) for name in predictions[names.AUGMENTATION].values]
    if sorted(here) != sorted(wanted):
        raise InputError(
            "augmentations-differ",
            "predictions have other augmentations than the predictor",
            expected=listed(wanted),
            got=listed(here),
            do="predict for the same augmentations, under the same names",
            whose="predictions",
        )
    order = [here.index(name) for name in wanted]
    return predictions.isel({names.AUGMENTATION: order})


SCALES = ("probability", "logit", "independent", "any")
_PLAUSIBILITIES_WITHIN = 1e-6
_HARD_SHARE, _HARD_LEAST, _SEVERAL = 0.95, 20, 2


def check_predictions(
    predictions: xr.DataArray,
    *,
    whose: str = "predictions",
    scale: str | None = None,
    whole: bool = True,
) -> xr.DataArray:
    """Return predictions as the framework reads them; the caller's array is not changed."""
    array, values, scale = checked_numbers(predictions, whose=whose, scale=scale, whole=whole)
    attrs = {**array.attrs, names.SCALE: scale}
    return with_values(array, values, name=array.name, attrs=attrs)


def checked_numbers(
    predictions: xr.DataArray, *, whose: str, scale: str | None, whole: bool
) -> tuple[xr.DataArray, Floats, str]:
    """Return predictions under text names, their contiguous floats, and their scale."""
    array = named_array(predictions, whose, "predictions")
    scale = known_scale(array, whose, scale)
    values = contiguous(array)
    if not predictions_sound(values, scale):
        _check_numbers(array, values, scale, whose)
    if scale == "probability" and whole and len(values) >= _HARD_LEAST:
        warn_if_hard(hard_rows(values), values.shape, whose, stacklevel=4)
    return array, values, scale


def _check_numbers(array: xr.DataArray, values: Floats, scale: str, whose: str) -> None:
    """Refuse what is not finite, and what the scale does not allow."""
    least, most = float(values.min()), float(values.max())
    if not (isfinite(least) and isfinite(most)):
        check_finite(array, whose, "probabilities-not-finite")
    if scale in ("probability", "independent"):
        _check_between(array, values, scale, whose, least, most)
    if scale == "probability":
        _check_sums(array, row_sums(values), whose)


def known_scale(array: xr.DataArray, whose: str, scale: str | None = None) -> str:
    """Return the scale of predictions: as it is said, else as their attribute says it."""
    scale = str(array.attrs.get(names.SCALE, "probability")) if scale is None else scale
    if scale not in SCALES:
        meant = near(scale, SCALES)
        raise InputError(
            "scale-unknown",
            f"{whose}: no scale {quoted(scale)}",
            expected=" | ".join(SCALES),
            do=f"--scale {meant or 'probability'}",
            whose=whose,
        )
    return scale


def warn_if_hard(hard: int, shape: tuple[int, ...], whose: str, *, stacklevel: int = 3) -> None:
    """Warn where nearly all rows of probabilities are only 0 and 1."""
    rows, labels = shape
    if rows < _HARD_LEAST or labels < _SEVERAL or hard / rows < _HARD_SHARE:
        return
    share = "all" if hard == rows else f"{hard / rows:.1%}".replace("%", " %")
    warn(
        "probabilities-hard",
        f"{whose}, {share} of rows are only 0 and 1",
        expected="probabilities; labels tie scores: sets are one label or all",
        do="save the softmax, not its argmax",
        whose=whose,
        stacklevel=stacklevel,
    )


def check_plausibilities(
    plausibilities: xr.DataArray | xr.Dataset,
    *,
    whose: str = "plausibilities",
    draws: bool = True,
) -> xr.DataArray:
    """Return plausibilities as the framework reads them; the caller's array is not changed."""
    if isinstance(plausibilities, xr.Dataset) and is_packed(plausibilities):
        plausibilities = unpack(plausibilities)
    array = named_floats(plausibilities, whose, "plausibilities", draws=draws)
    values: Floats = array.values
    total = _total(array)
    if not _are_distributions(values, _PLAUSIBILITIES_WITHIN):
        _check_distributions(array, whose)
    return _with_exact_denominator(array, total)


def _check_distributions(array: xr.DataArray, whose: str) -> None:
    """Refuse entries that are not finite or below 0, and rows that do not sum to 1."""
    values: Floats = array.values
    least, most = float(values.min()), float(values.max())
    if not (isfinite(least) and isfinite(most)):
        check_finite(array, whose, "plausibilities-not-finite")
    if least < 0:
        low = _over_draws(values.min(axis=-1), np.minimum)
        refuse_rows(
            "plausibilities-negative",
            array,
            low < 0,
            "below 0",
            whose,
            expected="0 to 1, each row a distribution over labels",
            got=f"{low.min():.4g}",
            do="mend these rows",
        )
    sums = row_sums(values)
    off = np.abs(sums - 1) > _PLAUSIBILITIES_WITHIN
    if off.any():
        refuse_rows(
            "plausibilities-do-not-sum",
            array,
            _over_draws(off, np.logical_or),
            f"sum to {span(sums[off], 'up to')}",
            whose,
            expected=f"1 within {_PLAUSIBILITIES_WITHIN:g}",
            do='mend these rows, or lam / lam.sum("label"), if they are weights',
        )


def mean_over_draws(plausibilities: xr.DataArray | xr.Dataset) -> xr.DataArray:
    """Return dense (example, label) plausibilities: where they were drawn, the mean over draws."""
    if isinstance(plausibilities, xr.Dataset):
        return unpack(plausibilities)
    if names.DRAW not in plausibilities.dims:
        return plausibilities
    values: Floats = plausibilities.values
    mean = values.mean(axis=0, dtype=np.float64).astype(values.dtype)
    one = plausibilities.isel({names.DRAW: 0}, drop=True).copy(data=mean)
    # The mean is no whole number of the units that each draw had.
    return one.drop_vars(names.DENOMINATOR, errors="ignore")


def _over_draws(values: NDArray[Any], reduce: np.ufunc) -> NDArray[Any]:  # Any: numbers or flags
    """Return what holds of each example, (example,), over all draws."""
    found: NDArray[Any] = reduce.reduce(values.reshape(-1, values.shape[-1]), axis=0)  # Any: same
    return found


def _check_between(
    array: xr.DataArray, values: Floats, scale: str, whose: str, low: float, high: float
) -> None:
    """Refuse probabilities below 0; above 1 those that each stand alone."""
    if low < 0:
        logits = high > 1 or low < -1
        refuse_rows(
            "probabilities-negative",
            array,
            np.any(values < 0, axis=1),
            "below 0",
            whose,
            expected="0 to 1",
            got=f"{span(values)}" + (", which look like logits" if logits else ""),
            do='--scale logit (scale="logit"), if they are'
            if logits
            else 'mend these rows, or --bad-rows drop (bad_rows="drop")',
        )
    if scale == "independent" and high > 1:
        refuse_rows(
            "probabilities-above-one",
            array,
            np.any(values > 1, axis=1),
            "above 1",
            whose,
            expected="0 to 1, one probability a label",
            got=span(values),
            do='--scale any (scale="any"), if they are scores',
        )


def _check_sums(array: xr.DataArray, sums: NDArray[np.float64], whose: str) -> None:
    off = np.abs(sums - 1) > SUM_WITHIN
    if off.any():
        percent = bool((np.abs(sums[off] / 100 - 1) <= SUM_WITHIN).all())
        refuse_rows(
            "rows-do-not-sum",
            array,
            off,
            f"sum to {span(sums[off], 'up to')}",
            whose,
            expected=f"1 within {SUM_WITHIN}; "
            + ("are they percentages?" if percent else "is a label missing?"),
            do="--normalise (normalise=True)"
            if percent
            else "add its column, --normalise (normalise=True), or --scale independent",
        )


def _total(array: xr.DataArray) -> Ints | None:
    """Return the denominator of each example where there may be one, (example,)."""
    column = array.coords.variables.get(names.DENOMINATOR)
    if column is None or column.dims != (names.EXAMPLE,) or column.dtype.kind not in "iu":
        return None
    total: Ints = column.values
    return total


def _with_exact_denominator(array: xr.DataArray, total: Ints | None) -> xr.DataArray:
    """Return the array without a denominator of which its rows are not whole multiples."""
    if names.DENOMINATOR not in array.coords:
        return array
    if total is None or not (total.min() > 0 and _are_counts(array.values, total)):
        return array.drop_vars(names.DENOMINATOR)
    if total.dtype == np.int64:
        return array
    column = array.coords[names.DENOMINATOR]
    return array.assign_coords({names.DENOMINATOR: column.astype(np.int64)})
