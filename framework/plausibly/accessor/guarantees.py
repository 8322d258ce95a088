"""The guarantee that sets and what was measured of them carry."""

from __future__ import annotations

import json

import xarray as xr

from plausibly.calibration.alphas import read_alpha
from plausibly.conformal.inputs import GUARANTEES
from plausibly.errors import InputError, listed
from plausibly.guarantee import Guarantee


def guarantee_of(array: xr.DataArray | xr.Dataset, alpha: float | str | None) -> Guarantee:
    """Return the guarantee at an alpha; the only one, where none is asked for.

    Parameters
    ----------
    array : DataArray or Dataset
    alpha : number or text, optional

    Raises
    ------
    InputError
        ``guarantee-unstated`` where it states none, ``guarantee-alpha`` where it states several, or
        none at this alpha.
    """
    kind = type(array).__name__
    stated = json.loads(str(array.attrs.get(GUARANTEES, "[]")))
    if not stated or not isinstance(stated, list):
        raise InputError(
            "guarantee-unstated",
            f"this {kind} states no guarantee",
            expected="what predict, evaluate or a coverage_by function of plausibly returned",
            got="several methods, each with its own" if stated else f"a {kind} without one",
            do="predictor.guarantee(0.1)",
        )
    promises = [Guarantee.from_json(one) for one in stated]
    if alpha is None and len(promises) == 1:
        return promises[0]
    exact = None if alpha is None else read_alpha(alpha)
    for promise in promises:
        if promise.alpha == exact:
            return promise
    there = [f"{float(promise.alpha):g}" for promise in promises]
    raise InputError(
        "guarantee-alpha",
        f"this {kind} is of {listed(f'alpha {one}' for one in there)}",
        expected="one of them",
        got="none" if alpha is None else str(alpha),
        do=f"guarantee({there[0]})",
        details={"alphas": there},
    )
