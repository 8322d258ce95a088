"""Thresholds for any combiner, the labels that stay in a set, and warnings where all do."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from plausibly.calibration.alphas import AlphaLike, read_alpha, rounded_up
from plausibly.calibration.pvalues import Combine, Pools, PValues
from plausibly.calibration.scores import CalibrationScores
from plausibly.errors import InputError, an, counted, listed, warn
from plausibly.guarantee import BY_LABEL, Guarantee, Needs
from plausibly.kernels.masses import SETTLED_DIGITS
from plausibly.kernels.ranks import (
    from_ordered,
    least_true,
    order_statistic,
    to_ordered,
    weighted_rank,
)
from plausibly.kernels.types import Bools, Floats, Masses


def exceed(combined: Floats, alpha: Fraction) -> Bools:
    """Return whether p-values exceed alpha."""
    limit = float(alpha)
    if alpha.denominator > 10**SETTLED_DIGITS:
        # p-values are on the right side of short decimals only; next to any other number they
        # count as larger, which can only enlarge sets.
        limit = math.nextafter(limit, 0.0)
    return combined > limit


def threshold(
    pools: Pools, combine: Combine, alpha: Fraction, needs: Needs = "mean"
) -> np.floating[Any]:  # Any: the dtype of the scores
    """Return tau: the set at `alpha` is every label whose score is at least tau.

    -inf where every label is in every set, +inf where none is. Sought is the least numerator of
    the mean p-value with which a label stays, or the least score where a rule needs more.
    """
    pooled, dtype, by_mean = pools.pooled, pools.dtype, needs == "mean"
    low, high = 0, pooled.total
    if not by_mean:
        low, high = (to_ordered(dtype.type(end)) for end in (-np.inf, np.inf))

    def stays(place: int) -> bool:
        if by_mean:
            numerators: Masses = np.array([place], dtype=pooled.cumulative.dtype)
            p = PValues(pools, numerators, pooled.total)
        else:
            p = PValues.of(pools, np.array([from_ordered(place, dtype)], dtype=dtype))
        return bool(exceed(combine(p), alpha).all())

    if not stays(high):
        return dtype.type(np.inf)
    least = low if stays(low) else least_true(stays, low, high)
    if not by_mean:
        return from_ordered(least, dtype)
    rank = weighted_rank(pooled.cumulative, least - pooled.test_mass)
    return order_statistic(pooled.ordered, rank)


def score_threshold(
    scores: Floats, alpha: AlphaLike
) -> np.floating[Any]:  # Any: the float type of the scores
    """Return the threshold of Monte Carlo conformal prediction for scores of plain arrays.

    A label belongs into the set of a new example where its score is at least the threshold: the
    label of one draw is then in the set with probability ``1 - alpha`` on average over draws, as
    with `calibrate` and the combiner ``average``. It takes no names and checks no model:
    the caller has put scores and labels side by side. Nothing is kept for p-values or a file.

    Parameters
    ----------
    scores : ndarray, (example,) or (draw, example)
        Conformity score of the label of each calibration example, larger = fits better; with
        several labels drawn for each example, one row per draw. float32 or float64.
    alpha : number or text

    Returns
    -------
    float32 or float64
        The k-th smallest score with ``k = floor(alpha m (n + 1)) - m + 1`` for n examples and m
        draws; -inf below the first.

    Raises
    ------
    InputError
        ``scores-malformed`` for anything but a numpy array (compute a Dask array first), another
        shape or type, none at all, or NaN.

    Warns
    -----
    PlausiblyWarning
        ``guarantee-vacuous`` where every set is every label.

    References
    ----------
    Stutz et al., Conformal prediction under ambiguous ground truth, TMLR 2023, Algorithm 1.
    """
    if not isinstance(scores, np.ndarray):
        found = an(type(scores).__name__)
    elif (
        scores.ndim not in (1, 2) or not scores.size or scores.dtype not in (np.float32, np.float64)
    ):
        found = f"shape {scores.shape}, {scores.dtype}"
    else:
        found = "NaN" if np.isnan(scores.min()) else ""
    if found:
        raise InputError(
            "scores-malformed",
            "scores cannot be compared",
            expected="a numpy array, float32 or float64 without NaN, (example,) or (draw, example)",
            found=found,
            hint="scores.compute() of a Dask array; numpy.asarray(scores, float), without what has "
            "no score",
            source="scores",
        )
    exact = read_alpha(alpha)
    draws = 1 if scores.ndim == 1 else scores.shape[0]
    examples = scores.shape[-1]
    rank = math.floor(exact * draws * (examples + 1)) - draws + 1
    if rank < 1:
        needed = math.ceil(1 / exact) - 1
        warn(
            "guarantee-vacuous",
            f"every set contains all labels at alpha {float(exact):g}",
            expected=f"at least {counted(needed)} calibration examples",
            found=counted(examples),
            hint=f"annotate {counted(needed - examples)} more, or a larger alpha",
            source="scores",
        )
        return scores.dtype.type(-np.inf)
    tau: np.floating[Any] = np.partition(scores, rank - 1, axis=None)[rank - 1]  # Any: as above
    # Adding zero turns -0.0 into 0.0, whichever of the two stands at the rank.
    return tau + scores.dtype.type(0)


def warn_of_vacuous(guarantee: Guarantee, combiner: str) -> None:
    """Warn that every set contains all labels."""
    unit, found, least = guarantee.unit, counted(guarantee.has), guarantee.least_alpha
    held_out, needed, hints = unit.startswith("held-out"), guarantee.needed, []
    if held_out:
        hints.append('calibrate with combiner="average", which holds none out')
    if needed is None or guarantee.has >= needed:
        expected, found = f"fewer {unit} with the lowest rank", f"too many of {found} {unit}"
        hints = hints or ["a larger alpha", "another score"]
    else:
        of = f" for the combiner {combiner}" if held_out else ""
        expected = f"at least {counted(needed)} {unit}{of}"
        if least is not None and least < 1:
            hints.append(f"alpha={rounded_up(least)}")
        if not held_out:
            hints.append(f"annotate {counted(needed - guarantee.has)} more")
    warn(
        "guarantee-vacuous",
        f"every set contains all labels at alpha {float(guarantee.alpha):g}",
        expected=expected,
        found=found,
        hint=("; or " if held_out else ", or ").join(hints),
        source=f"combiner {combiner}" if held_out else "predictor",
    )


def warn_of_small_groups(
    guarantee: Guarantee, calibration: CalibrationScores, small: Sequence[int]
) -> None:
    """Warn of groups or labels that get every label, with what they have and would need."""
    if not small:
        return
    sizes, by = calibration.group_sizes(), calibration.claim.by
    weighed = sorted((sizes[code], calibration.groups[code]) for code in small)
    needed = "more" if guarantee.needed is None else counted(guarantee.needed)
    count = f"{len(small)} of {len(calibration.groups)}"
    alpha = f"at alpha {float(guarantee.alpha):g}"
    if by == BY_LABEL:
        what = f"{count} labels in every set {alpha}"
        expected, hint = f"plausibility mass of {needed} or more for a label", "annotate more"
    else:
        what = f'every label in all sets of {count} groups of "{by}" {alpha}'
        expected = f"{needed} {guarantee.unit} or more in a group"
        hint = f'merge them in the column "{by}", annotate more'
    warn(
        "group-too-small",
        what,
        expected=expected,
        found=listed(f"{name} {mass:.4g}" for mass, name in weighed),
        hint=f"{hint}, or a larger alpha",
        source="predictor",
        details={"groups": [name for _, name in weighed]},
    )
