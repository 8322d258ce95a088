"""Validation of predictions and plausibilities: names, shapes, and rows that mean something."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import NoReturn

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.data import names
from plausibly.data.names import (
    Named,
    Names,
    contiguous,
    name_texts,
    named_array,
    near,
    quoted,
    several,
    with_values,
)
from plausibly.errors import InputError, counted, listed, warn
from plausibly.kernels.blocks import map_blocks
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.types import Bools, Floats


@attrs.frozen(kw_only=True, eq=False)
class Predictions(Named):
    """Checked predictions, ([augmentation,] example, label): contiguous floats on a scale.

    Those in chunks are under checked names, and each chunk is checked when it is read.
    """

    scale: str

    @classmethod
    def from_xarray(
        cls,
        predictions: xr.DataArray,
        *,
        whose: str = "predictions",
        scale: str | None = None,
        whole: bool = True,
        known: Sequence[Names] = (),
    ) -> Predictions:
        """Return predictions as the framework reads them; the caller's array is not changed.

        Some rows of a larger array are not `whole`: what many rows would show is not warned of.
        Names in an index that equals one of `known` are not checked again.
        """
        if is_augmented(predictions):
            return _of_augmentations(predictions, whose, scale, known)
        return _plain(predictions, whose, scale, whole=whole, known=known)

    @property
    def augmentations(self) -> tuple[str, ...]:
        """Names of the augmentations, none where there is one row per example."""
        if names.AUGMENTATION not in self.array.dims:
            return ()
        return tuple(map(str, self.array[names.AUGMENTATION].values))

    @property
    def numbered(self) -> bool:
        """Whether the names of the examples are row numbers, for want of any."""
        return names.NUMBERED in self.array.attrs


SUM_WITHIN = 0.01
"""How far from 1 the probabilities of an example may sum."""


def row_sums(values: Floats) -> NDArray[np.float64]:
    """Return the sum of each row, the same alone and among others."""
    with np.errstate(invalid="ignore"):  # infinite entries are refused by themselves
        # Adds row by row in a third of the time of `sum`.
        found: NDArray[np.float64] = np.einsum("...j->...", values, dtype=np.float64)
    return found


def are_distributions(values: Floats, within: float) -> bool:
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
        return are_distributions(values, SUM_WITHIN)
    least, most = float(values.min()), float(values.max())
    return (
        isfinite(least) and isfinite(most) and (scale != "independent" or 0 <= least <= most <= 1)
    )


def hard_rows(values: Floats) -> int:
    """Return how many rows (example, label) are only 0 and 1."""
    first = values[:, 0]
    some = values[(first == 0) | (first == 1)]
    return int(np.count_nonzero(((some == 0) | (some == 1)).all(axis=1)))


def is_augmented(predictions: object) -> bool:
    """Return whether predictions have the dim ``augmentation``."""
    return isinstance(predictions, xr.DataArray) and names.AUGMENTATION in predictions.dims


def _of_augmentations(
    predictions: xr.DataArray, whose: str, scale: str | None, known: Sequence[Names]
) -> Predictions:
    """Return checked predictions of augmentations, each of which is checked by itself."""
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
    planes: list[Predictions] = []
    known = list(known)
    for place, name in enumerate(called):
        plane = predictions.isel({names.AUGMENTATION: place}, drop=True)
        try:
            planes.append(_plain(plane, whose, scale, known=known))
        except InputError as error:
            error.what = f"{error.what}, in augmentation {names.quoted(name)}"
            error.details["augmentation"] = name
            raise
        known += [planes[-1].examples, planes[-1].labels]
    first = planes[0].array
    array = xr.DataArray(
        np.stack([plane.array.values for plane in planes]),
        dims=(names.AUGMENTATION, *first.dims),
        coords={
            names.AUGMENTATION: names.text_array(called),
            **{str(name): values for name, values in first.coords.items()},
        },
        name=first.name,
        attrs=first.attrs,
    )
    return attrs.evolve(planes[0], array=array)


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
_HARD_SHARE, _HARD_LEAST, _SEVERAL = 0.95, 20, 2


def check_predictions(
    predictions: xr.DataArray, *, whose: str = "predictions", scale: str | None = None
) -> xr.DataArray:
    """Return predictions as the framework reads them; the caller's array is not changed."""
    return _plain(predictions, whose, scale).array


def _plain(
    predictions: xr.DataArray,
    whose: str,
    scale: str | None,
    *,
    whole: bool = True,
    known: Sequence[Names] = (),
) -> Predictions:
    """Return checked predictions (example, label)."""
    named = named_array(predictions, whose, "predictions", known=known)
    array = named.array
    scale = known_scale(array, whose, scale)
    values = contiguous(array)
    if not predictions_sound(values, scale):
        _check_numbers(array, values, scale, whose)
    if scale == "probability" and whole and len(values) >= _HARD_LEAST:
        warn_if_hard(hard_rows(values), values.shape, whose, stacklevel=4)
    about = {**array.attrs, names.SCALE: scale}
    return Predictions(
        array=with_values(array, values, name=array.name, attrs=about),
        examples=named.examples,
        labels=named.labels,
        scale=scale,
    )


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
            do=f'scale="{meant or "probability"}"',
            whose=whose,
        )
    return scale


def warn_if_hard(hard: int, shape: tuple[int, ...], whose: str, *, stacklevel: int = 3) -> None:
    """Warn where nearly all rows of probabilities are only 0 and 1."""
    rows, labels = shape
    if rows < _HARD_LEAST or labels < _SEVERAL or hard / rows < _HARD_SHARE:
        return
    share = "all" if hard == rows else f"{hard / rows:.1%}"
    warn(
        "probabilities-hard",
        f"{whose}, {share} of rows are only 0 and 1",
        expected="probabilities; labels tie scores: sets are one label or all",
        do="save the softmax, not its argmax",
        whose=whose,
        stacklevel=stacklevel,
    )


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
            do='scale="logit", if they are' if logits else 'mend these rows, or bad_rows="drop"',
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
            do='scale="any", if they are scores',
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
            do="normalise=True"
            if percent
            else 'add its column, normalise=True, or scale="independent"',
        )


def span(numbers: Floats, to: str = "to") -> str:
    """Return the range of the numbers in four digits."""
    low, high = f"{float(numbers.min()):.4g}", f"{float(numbers.max()):.4g}"
    return low if low == high else f"{low} {to} {high}"


def _rows(array: xr.DataArray, mask: Bools) -> list[str]:
    return name_texts(array.indexes[names.EXAMPLE][np.flatnonzero(mask)])


def refuse_rows(
    name: str,
    array: xr.DataArray,
    mask: Bools,
    fault: str,
    whose: str,
    *,
    expected: str,
    got: str = "",
    do: str,
) -> NoReturn:
    """Raise `InputError` about the examples in `mask`."""
    rows = _rows(array, mask)
    raise InputError(
        name,
        f"{whose}: {counted(len(rows))} of {several(mask.size, 'row')} {fault} ({listed(rows)})",
        expected=expected,
        got=got,
        do=do,
        whose=whose,
        details={"examples": rows},
    )


def check_finite(array: xr.DataArray, whose: str, name: str) -> None:
    """Raise `InputError` where an entry is NaN or infinite."""
    values: Floats = array.values
    # the extremes are finite exactly if all entries are: no mask of the size of the array
    if np.isfinite(values.min()) and np.isfinite(values.max()):
        return
    bad: Bools = ~np.isfinite(values)
    word = "NaN" if np.isnan(values[bad]).all() else "NaN or infinite numbers"
    flat = bad.reshape(-1, *bad.shape[-2:]).any(axis=0)
    labels = name_texts(array.indexes[names.LABEL][np.flatnonzero(flat.any(axis=0))])
    rows = _rows(array, np.any(flat, axis=1))
    do = 'predict these again, or bad_rows="drop", which is recorded'
    raise InputError(
        name,
        f"{whose}, {word} in {several(len(rows), 'row')} ({listed(rows)})",
        expected="finite numbers",
        got=f"{counted(int(bad.sum()))} {word} in {listed(map(quoted, labels))}",
        do="mend these rows" if name.startswith("plaus") else do,
        whose=whose,
        details={"examples": rows, "labels": labels},
    )
