"""What may cross the border: predictions and plausibilities under names, rows that mean something.

Everything past these checks may rely on it: dims (example, label) in this order, rows contiguous
in memory (so that no sum depends on the layout that the caller had), names as text and unique,
finite floats.
"""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.data import names, own
from plausibly.data.named import (
    check_finite,
    contiguous,
    named_array,
    named_floats,
    refuse_rows,
    span,
    with_values,
)
from plausibly.data.near import near
from plausibly.data.packed import is_packed, unpack
from plausibly.data.row_facts import SUM_WITHIN, all_whole, predictions_sound, row_facts, sound
from plausibly.data.row_facts import hard_rows as hard_rows
from plausibly.data.rows import check_answered as check_answered
from plausibly.data.text import quoted
from plausibly.errors import InputError, warn
from plausibly.kernels.types import Floats, Ints

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
    """Return predictions as the framework reads them; the caller's array is not changed.

    Parameters
    ----------
    predictions : DataArray
        Dims ``example`` and ``label`` in any order, both with names; other coordinates of these
        dims are kept.
    whose : str
        What the messages call them, such as the file.
    scale : {"probability", "logit", "independent", "any"}, optional
        What the numbers are: probabilities whose rows sum to 1 within 0.01; logits; one
        probability a label, each on its own; any finite score. None: the attribute ``scale`` of
        the array, else ``"probability"``.
    whole : bool
        Whether these are all of them: of a part of them nothing is said that holds of most rows.

    Returns
    -------
    DataArray
        Dims (example, label), float32 or float64 as given, other numbers as float64; names as
        text; attribute ``scale``.

    Raises
    ------
    InputError
        ``predictions-unlabelled``, ``dims-differ``, ``examples-unnamed``, ``labels-unnamed``,
        ``example-twice``, ``label-twice``, ``scale-unknown``, ``numbers-expected``,
        ``probabilities-not-finite``, ``probabilities-negative``, ``probabilities-above-one``,
        ``rows-do-not-sum``.

    Warns
    -----
    PlausiblyWarning
        ``probabilities-hard`` where nearly all rows are only 0 and 1.
    """
    array, values, scale = checked_numbers(predictions, whose=whose, scale=scale, whole=whole)
    attrs = {**array.attrs, names.SCALE: scale}
    return with_values(array, values, name=array.name, attrs=attrs)


def checked_numbers(
    predictions: xr.DataArray, *, whose: str, scale: str | None, whole: bool
) -> tuple[xr.DataArray, Floats, str]:
    """Return predictions under text names, their contiguous floats (example, label), their scale.

    What `check_predictions` puts together again: a service predicts one row at a time.
    """
    array = named_array(predictions, whose, "predictions")
    scale = known_scale(array, whose, scale)
    values = contiguous(array)
    if not predictions_sound(values, scale):
        _check_numbers(array, values, scale, whose)
    if scale == "probability" and whole and len(values) >= _HARD_LEAST:
        # As soon as one row in ten is not hard, nothing is said of the others.
        hard = hard_rows(values, enough=len(values) // 10)
        warn_if_hard(hard, values.shape, whose, stacklevel=4)
    return array, values, scale


def _check_numbers(array: xr.DataArray, values: Floats, scale: str, whose: str) -> None:
    """Refuse what is not finite, and what the scale does not allow."""
    if scale == "probability":
        facts = row_facts(values)
        least, most = facts.least, facts.most
    else:
        least, most = float(values.min()), float(values.max())
    if not (isfinite(least) and isfinite(most)):
        check_finite(array, whose, "probabilities-not-finite")
    if scale in ("probability", "independent"):
        _check_between(array, values, scale, whose, least, most)
    if scale == "probability":
        _check_sums(array, facts.sums, whose)


def known_scale(array: xr.DataArray, whose: str, scale: str | None = None) -> str:
    """Return the scale of predictions: as it is said, else as their attribute says it.

    Raises
    ------
    InputError
        ``scale-unknown``.
    """
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
    """Return plausibilities as the framework reads them; the caller's array is not changed.

    Parameters
    ----------
    plausibilities : DataArray or Dataset
        Dims ``example`` and ``label`` in any order, both with names, and perhaps ``draw``, as from
        an aggregator that draws plausibilities; or the packed form.
    whose : str
        What the messages call them.
    draws : bool
        Whether the dim ``draw`` may be there.

    Returns
    -------
    DataArray
        Dims ([draw,] example, label), float32 or float64 as given, names as text. A coordinate
        ``denominator`` stays only if every plausibility is a whole number of its units.

    Raises
    ------
    InputError
        ``plausibilities-unlabelled``, ``dims-differ``, ``examples-unnamed``, ``labels-unnamed``,
        ``example-twice``, ``label-twice``, ``numbers-expected``, ``plausibilities-not-finite``,
        ``plausibilities-negative``, or ``plausibilities-do-not-sum`` (tolerance 1e-6), naming the
        examples.
    """
    if isinstance(plausibilities, xr.Dataset) and is_packed(plausibilities):
        plausibilities = unpack(plausibilities)
    array = named_floats(plausibilities, whose, "plausibilities", draws=draws)
    values: Floats = array.values
    total = _total(array)
    if own.is_sound(values, total):
        return array
    distributions, whole = sound(values, _PLAUSIBILITIES_WITHIN, total, _PLAUSIBILITIES_WITHIN)
    if not distributions:
        _check_distributions(array, whose)
    return _with_exact_denominator(array, total, whole=whole)


def _check_distributions(array: xr.DataArray, whose: str) -> None:
    """Refuse entries that are not finite or below 0, and rows that do not sum to 1."""
    values: Floats = array.values
    facts = row_facts(values)
    if not (isfinite(facts.least) and isfinite(facts.most)):
        check_finite(array, whose, "plausibilities-not-finite")
    if facts.least < 0:
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
    sums = facts.sums
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
    """Return dense (example, label) plausibilities: where they were drawn, the mean over draws.

    Parameters
    ----------
    plausibilities : DataArray, ([draw,] example, label), or packed Dataset
        From `check_plausibilities`.
    """
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


def _with_exact_denominator(
    array: xr.DataArray, total: Ints | None, *, whole: bool
) -> xr.DataArray:
    """Return the array without a denominator of which its rows are not whole multiples.

    Arithmetic on plausibilities, such as a mean of two, keeps coordinates that no longer hold.
    Without the coordinate masses are rounded up, which is valid for all rows.

    Parameters
    ----------
    array : DataArray
    total : ndarray of int, (example,), or None
        The denominator, where there may be one.
    whole : bool
        Whether the counts are known to be whole.
    """
    if names.DENOMINATOR not in array.coords:
        return array
    if total is None or not (
        total.min() > 0 and (whole or all_whole(array.values, total, _PLAUSIBILITIES_WITHIN))
    ):
        return array.drop_vars(names.DENOMINATOR)
    if total.dtype == np.int64:
        return array
    column = array.coords[names.DENOMINATOR]
    return array.assign_coords({names.DENOMINATOR: column.astype(np.int64)})
