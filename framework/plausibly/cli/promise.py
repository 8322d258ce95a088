"""A guarantee in two or three lines: of what, how much, if what, and from which n on."""

from __future__ import annotations

from plausibly.conformal.alphas import rounded_up
from plausibly.errors import counted
from plausibly.guarantee import NEW_LABEL, Guarantee, rounded


def promise_text(promise: Guarantee) -> str:
    """Return what sets at one alpha promise, in words.

    Parameters
    ----------
    promise : Guarantee
    """
    alpha = f"alpha {float(promise.alpha):g}"
    if promise.level is None:
        return f"{alpha}: no guarantee; {promise.why}."
    of_what = "what experts say" if promise.of_what == NEW_LABEL else promise.of_what
    level = rounded(promise.level)
    if promise.target == "voted":
        said = f"the voted label is covered with probability {level}"
    elif promise.confidence is not None:
        said = (
            f"with probability {rounded(promise.confidence)} over calibrations, {level} of "
            f"{of_what} is covered"
        )
    else:
        said = f"on average {level} of {of_what} is covered"
    if promise.vacuous:
        parts = [f"{alpha}: every set is every label, so that {level} is promised in vain."]
    else:
        parts = [f"{alpha}: {said}, if {' and '.join(promise.assumptions)}."]
    if promise.target == "voted":
        parts.append("Nothing is promised of what experts say.")
    if promise.needed is not None:
        needs = f"Needs {counted(promise.needed)} {promise.counted}, has {counted(promise.has)}"
        least = promise.least_alpha
        parts.append(needs + (f"; any alpha from {rounded_up(least)}." if least else "."))
    return " ".join(parts)
