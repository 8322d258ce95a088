"""Guarantees that are kept by saying nothing are said to be so, with the number that mends them."""

from __future__ import annotations

from plausibly.conformal.alphas import rounded_up
from plausibly.errors import counted, warn
from plausibly.guarantee import Guarantee


def warn_if_vacuous(promise: Guarantee, combiner: str) -> None:
    """Warn where every set is every label.

    Parameters
    ----------
    promise : Guarantee
    combiner : str
        Name of the combiner, for the message.
    """
    if not promise.vacuous:
        return
    alpha = f"{float(promise.alpha):g}"
    enough = promise.needed is None or promise.has >= promise.needed
    if enough:
        held_out = promise.counted == "held-out examples"
        warn(
            "sets-vacuous",
            f"every set is every label at alpha {alpha}",
            expected="fewer p-values at their least value"
            if held_out
            else "scores that tell labels apart",
            got=f"too many of {counted(promise.has)} {promise.counted} there",
            do=f"combiner average (no split), more {promise.counted}, or a larger alpha"
            if held_out
            else "a larger alpha, or another score",
            whose="predictor",
            stacklevel=4,
        )
        return
    needed = promise.needed or 0
    works = "" if promise.least_alpha is None else rounded_up(promise.least_alpha)
    if promise.counted == "calibration examples":
        more = f"{counted(needed - promise.has)} more"
        warn(
            "n-too-small",
            f"every set is every label at alpha {alpha}",
            expected=f"{counted(needed)} calibration examples or more",
            got=counted(promise.has),
            do=f"alpha {works} works with {counted(promise.has)}; or annotate {more}"
            if works
            else f"annotate {more}",
            whose="predictor",
            stacklevel=4,
        )
        return
    warn(
        "guarantee-vacuous",
        f"{combiner} gives every label at alpha {alpha}",
        expected=f"{counted(needed)} held-out examples or more",
        got=counted(promise.has),
        do=f"combiner average (no split), or alpha {works}",
        whose=f"combiner {combiner}",
        stacklevel=4,
    )
