"""Numbers as the report writes them, and intervals from results by name."""

from __future__ import annotations

import math

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from plausibly.evaluation.describe import decimal, outwards
from plausibly.report.views import Interval


def interval(found: xr.Dataset, name: str) -> Interval:
    """Return NAME_mean, NAME_low and NAME_high of a result without dims."""
    mean, low, high = (float(found[f"{name}_{end}"]) for end in ("mean", "low", "high"))
    low, high = outwards(low, high)
    return Interval(mean=known(mean), low=known(low), high=known(high))


def known(value: float) -> float | None:
    """Return a number, None for NaN."""
    return None if math.isnan(value) else value


def measured(one: Interval) -> str:
    """Return ``.901 (.897 to .905)``."""
    if one.mean is None:
        return "-"
    if one.low is None or one.high is None:
        return decimal(one.mean)
    return f"{decimal(one.mean)} ({decimal(one.low)} to {decimal(one.high)})"


def percent(share: float) -> str:
    """Return a share in percent: ``90 %``, with a decimal where two would look alike otherwise."""
    whole = 100 * share
    text = f"{whole:.1f}".removesuffix(".0")
    return f"{text} %" if abs(whole - round(whole)) > 1e-9 else f"{round(whole)} %"


def about_percent(share: float) -> str:
    """Return a measured share in percent, rounded, but 100 % and 0 % only where it is all or none.

    A share that rounds to all or nothing without being it is said with words.
    """
    whole = round(100 * share)
    if whole == 100 and share < 1:
        return "more than 99 %"
    if whole == 0 and share > 0:
        return "less than 1 %"
    return f"{whole} %"


def thousandths(values: ArrayLike) -> list[int]:
    """Return numbers as whole thousandths; 0 and 1000 stand for 0 and 1 alone."""
    given = np.asarray(values, dtype=np.float64)
    found = np.rint(given * 1000).astype(np.int64)
    found = np.where((found == 0) & (given > 0), 1, found)
    found = np.where((found == 1000) & (given < 1), 999, found)
    return [int(value) for value in found.ravel()]
