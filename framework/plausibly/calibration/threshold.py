"""The least score that stays in the set, for any combiner.

Merging rules are non-decreasing in the p-values, and p-values in the score, so a set is
``{k : score_k >= tau}``. A rule of the mean alone needs one search over the numerators of the mean
and one order statistic; any other rule is bisected over the floats themselves.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from plausibly.calibration.pools import Pools
from plausibly.calibration.pvalues import MeanOnly, PValues
from plausibly.kernels.masses import SETTLED_DIGITS
from plausibly.kernels.ranks import (
    from_ordered,
    least_true,
    order_statistic,
    to_ordered,
    weighted_rank,
)
from plausibly.kernels.types import Bools, Floats, Masses

Combine = Callable[[PValues], Floats]


def exceed(combined: Floats, alpha: Fraction) -> Bools:
    """Return whether p-values exceed alpha."""
    limit = float(alpha)
    if alpha.denominator > 10**SETTLED_DIGITS:
        # p-values are on the right side of short decimals only; next to any other number they
        # count as larger, which can only enlarge sets.
        limit = math.nextafter(limit, 0.0)
    kept: Bools = combined > limit
    return kept


def _passes(combined: Floats, alpha: Fraction) -> bool:
    return bool(exceed(combined, alpha).ravel()[0])


def least_numerator(pools: Pools, combine: Combine, alpha: Fraction) -> int:
    """Return the least numerator of the mean p-value with which a label stays in the set.

    One more than the total where none does.

    Parameters
    ----------
    pools : Pools
    combine : callable
        The combiner, with the held-out p-values bound.
    alpha : Fraction

    Raises
    ------
    IncompatibleComponents
        Where the rule needs more than the mean.
    """
    total = pools.pooled.total
    dtype = pools.pooled.cumulative.dtype

    def holds(numerator: int) -> bool:
        value: Masses = np.array([numerator], dtype=dtype)
        return _passes(combine(PValues(pools, value)), alpha)

    if not holds(total):
        return total + 1
    return 0 if holds(0) else least_true(holds, 0, total)


def threshold(
    pools: Pools, combine: Combine, alpha: Fraction
) -> np.floating[Any]:  # Any: the dtype of the scores
    """Return tau: the set at `alpha` is every label whose score is at least tau.

    -inf where every label is in every set, +inf where none is.

    Parameters
    ----------
    pools : Pools
    combine : callable
        The combiner, with the held-out p-values bound; monotone.
    alpha : Fraction
        Exactly as typed.
    """
    pooled = pools.pooled
    try:
        numerator = least_numerator(pools, combine, alpha)
    except MeanOnly:
        return _bisected(pools, combine, alpha)
    if numerator > pooled.total:
        return pools.dtype.type(np.inf)
    return order_statistic(pooled.ordered, weighted_rank(pooled.cumulative, numerator - pooled.own))


def _bisected(
    pools: Pools, combine: Combine, alpha: Fraction
) -> np.floating[Any]:  # Any: the dtype of the scores
    dtype = pools.dtype

    def holds(position: int) -> bool:
        score = np.array([from_ordered(position, dtype)], dtype=dtype)
        return _passes(combine(PValues.of(pools, score)), alpha)

    low = to_ordered(dtype.type(-np.inf))
    high = to_ordered(dtype.type(np.inf))
    if holds(low):
        return from_ordered(low, dtype)
    if not holds(high):
        return from_ordered(high, dtype)
    return from_ordered(least_true(holds, low, high), dtype)
