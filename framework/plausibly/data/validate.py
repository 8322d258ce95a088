"""Validation of predictions and plausibilities: names, shapes, and rows that mean something."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

import attrs
import numpy as np
import xarray as xr

from plausibly.data import names
from plausibly.data.names import Named, Names, name_texts, named_array, near, quoted, several
from plausibly.errors import InputError, counted, listed, warn
from plausibly.kernels.blocks import map_blocks
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.types import Floats


@attrs.frozen(kw_only=True, eq=False)
class Predictions(Named):
    """Checked predictions, ([augmentation,] example, label): contiguous floats on a scale.

    Those in chunks are under checked names, and each chunk is checked when it is read.

    Attributes
    ----------
    scale : str
    augmentations : tuple of str
        Names of the augmentations, none where there is one row per example.
    numbered : bool
        Whether the names of the examples are row numbers, for want of any.
    """

    scale: str
    augmentations: tuple[str, ...] = ()
    numbered: bool = False

    @classmethod
    def from_xarray(
        cls,
        predictions: xr.DataArray,
        *,
        source: str = "predictions",
        scale: str | None = None,
        whole: bool = True,
        augmented: bool = True,
        known: Sequence[Names] = (),
    ) -> Predictions:
        """Return predictions as the framework reads them; the caller's array is not changed.

        Some rows of a larger array are not `whole`: what many rows would show is not warned of.
        Names that equal those of `known` are not checked again.
        """
        first = names.AUGMENTATION if augmented else ""
        named = named_array(predictions, source, "predictions", first=first, known=known)
        array = named.array
        augmentations: list[str] = []
        if names.AUGMENTATION in array.dims:
            augmentations = name_texts(array[names.AUGMENTATION].values)
            names.check_names(augmentations, names.AUGMENTATION, source=source)
            texts = names.text_array(augmentations)
            array = array.assign_coords({names.AUGMENTATION: texts})
        scale = known_scale(array, source, scale)
        if not are_sound(array.values, scale):
            raise unsound(array, scale, source)
        rows = array.values.reshape(-1, array.shape[-1])
        if scale == "probability" and whole:
            _warn_if_hard(rows, source)
        array.attrs[names.SCALE] = scale
        return Predictions(
            array=array,
            examples=named.examples,
            labels=named.labels,
            scale=scale,
            augmentations=tuple(augmentations),
            numbered=names.NUMBERED in array.attrs,
        )


SCALES = ("probability", "logit", "independent", "any")
SUM_WITHIN = 0.01
"""Tolerance of the sum of the probabilities of an example."""
_WITHIN = {"probability": SUM_WITHIN, "plausibility": 1e-6}
_HARD_SHARE, _HARD_LEAST, _SEVERAL = 0.95, 20, 2


def are_sound(values: Floats, scale: str) -> bool:
    """Return whether predictions, or plausibilities, are what their scale says."""
    if scale not in _WITHIN:
        least, most = float(values.min()), float(values.max())
        inside = scale != "independent" or 0 <= least <= most <= 1
        return isfinite(least) and isfinite(most) and inside
    within, rows = _WITHIN[scale], values.reshape(-1, values.shape[-1])

    def check(block: slice) -> bool:
        # Adds row by row, in a third of the time of `sum`.
        with np.errstate(invalid="ignore"):
            sums = np.einsum("...j->...", rows[block], dtype=np.float64)
        # Not a number is not above; an infinite entry makes a sum infinite.
        return bool(rows[block].min() >= 0 and (np.abs(sums - 1) <= within).all())

    return all(map_blocks(check, rows.shape))


def unsound(array: xr.DataArray, scale: str, source: str) -> InputError:
    """Return the error that numbers are not finite, or not what their scale says."""
    values: Floats = array.values
    ours, expected, found = scale == "plausibility", "0 to 1", span(values)
    hint = 'fix these rows, or bad_rows="drop", which is recorded'
    if not np.isfinite(values).all():
        bad = ~np.isfinite(values)
        labels = name_texts(array.indexes[names.LABEL][bad.any(axis=tuple(range(bad.ndim - 1)))])
        name, fault, expected = "numbers-not-finite", "hold NaN or infinite numbers", "numbers"
        found = f"{counted(int(bad.sum()))} in {listed(map(quoted, labels))}"
    elif (values < 0).any():
        name = "plausibilities-negative" if ours else "probabilities-negative"
        bad, fault, hint = values < 0, "below 0", 'scale="logit", if these are logits'
    elif scale == "independent":
        name, bad, fault = "probabilities-above-one", values > 1, "above 1"
        hint = 'scale="any", if they are scores'
    else:
        sums = np.einsum("...j->...", values, dtype=np.float64)
        bad = (np.abs(sums - 1) > _WITHIN[scale])[..., None]
        name, fault = "rows-do-not-sum", f"sum to {span(sums[bad[..., 0]], 'up to')}"
        expected, found = f"1 within {_WITHIN[scale]:g}", ""
        hint = 'add the label that is missing, normalise=True, or scale="independent"'
    if ours:
        weights = name == "rows-do-not-sum"
        hint = "fix these rows" + ', or lam / lam.sum("label"), if they are weights' * weights
    faulty = bad.reshape(-1, *bad.shape[-2:]).any(axis=(0, 2))
    rows = name_texts(array.indexes[names.EXAMPLE][faulty])
    return InputError(
        name,
        f"{source}: {counted(len(rows))} of {several(faulty.size, 'row')} {fault} ({listed(rows)})",
        expected=expected,
        found=found,
        hint=hint,
        source=source,
        details={"examples": rows},
    )


def span(numbers: Floats, to: str = "to") -> str:
    """Return the range of the numbers in four digits."""
    low, high = f"{float(numbers.min()):.4g}", f"{float(numbers.max()):.4g}"
    return low if low == high else f"{low} {to} {high}"


def seen_in_one(predictions: xr.DataArray, keys: Keys) -> xr.DataArray:
    """Return each example in one of its augmentations, at random, keyed by its name."""
    hashes = hash_names(predictions[names.EXAMPLE].values)
    uniform = keys.uniform(hashes)[:, 0]
    seen = np.floor(uniform * predictions.sizes[names.AUGMENTATION]).astype(np.intp)
    single = predictions.isel({names.AUGMENTATION: 0}, drop=True)
    return single.copy(data=predictions.values[seen, np.arange(len(seen))])


def check_predictions(
    predictions: xr.DataArray, *, source: str = "predictions", scale: str | None = None
) -> xr.DataArray:
    """Return predictions as the framework reads them; the caller's array is not changed."""
    return Predictions.from_xarray(predictions, source=source, scale=scale, augmented=False).array


def known_scale(array: xr.DataArray, source: str, scale: str | None = None) -> str:
    """Return the scale of predictions: the argument, else that of their attribute."""
    scale = str(array.attrs.get(names.SCALE, "probability")) if scale is None else scale
    if scale not in SCALES:
        raise InputError(
            "scale-unknown",
            f"{source}: no scale {quoted(scale)}",
            expected=" | ".join(SCALES),
            hint=f'scale="{near(scale, SCALES) or "probability"}"',
            source=source,
        )
    return scale


def _warn_if_hard(values: Floats, source: str) -> None:
    """Warn where nearly all rows (example, label) of probabilities are only 0 and 1."""
    rows, labels = values.shape
    if rows < _HARD_LEAST or labels < _SEVERAL:
        return
    first = values[:, 0]
    part = values[(first == 0) | (first == 1)]
    hard = np.count_nonzero(((part == 0) | (part == 1)).all(axis=1))
    if hard / rows < _HARD_SHARE:
        return
    share = "all" if hard == rows else f"{hard / rows:.1%}"
    warn(
        "probabilities-hard",
        f"{source}, {share} of rows are only 0 and 1",
        expected="probabilities; labels tie scores: sets are one label or all",
        hint="save the softmax, not its argmax",
        source=source,
    )
