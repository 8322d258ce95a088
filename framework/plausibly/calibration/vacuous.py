"""Warnings of sets that contain all labels, and of what would make them smaller."""

from __future__ import annotations

from collections.abc import Sequence

from plausibly.calibration.alphas import rounded_up
from plausibly.calibration.scores import CalibrationScores
from plausibly.errors import counted, listed, warn
from plausibly.guarantee import BY_LABEL, Guarantee


def warn_of_vacuous(guarantee: Guarantee, combiner: str) -> None:
    """Warn that every set contains all labels."""
    unit, count, least = guarantee.unit, counted(guarantee.has), guarantee.least_alpha
    held_out, needed = unit.startswith("held-out"), guarantee.needed
    usable = "" if least is None or least >= 1 else f"alpha={rounded_up(least)}"
    average = 'calibrate with combiner="average", which holds none out'
    if needed is None or guarantee.has >= needed:
        expected, found = f"fewer {unit} with the lowest rank", f"too many of {count} {unit}"
        hint = average if held_out else "a larger alpha, or another score"
    elif held_out:
        expected, found = f"at least {counted(needed)} {unit} for the combiner {combiner}", count
        hint = f"{average}; or {usable}" if usable else average
    else:
        expected, found = f"at least {counted(needed)} {unit}", count
        more = f"annotate {counted(needed - guarantee.has)} more"
        hint = f"{usable}, or {more}" if usable else more
    warn(
        "guarantee-vacuous",
        f"every set contains all labels at alpha {float(guarantee.alpha):g}",
        expected=expected,
        found=found,
        hint=hint,
        source=f"combiner {combiner}" if held_out else "predictor",
        stacklevel=4,
    )


def warn_of_small_groups(
    guarantee: Guarantee, calibration: CalibrationScores, small: Sequence[int]
) -> None:
    """Warn of groups or labels that get every label, with what they have and would need."""
    if not small:
        return
    of_labels = calibration.claim.by == BY_LABEL
    what = "labels" if of_labels else f'groups of "{calibration.claim.by}"'
    sizes = calibration.group_sizes()
    weighed = [(sizes[code], calibration.groups[code]) for code in small]
    found = listed(f"{name} {mass:.4g}" for mass, name in sorted(weighed))
    needed = "more" if guarantee.needed is None else counted(guarantee.needed)
    unit = "plausibility mass" if of_labels else guarantee.unit
    alpha = f"{float(guarantee.alpha):g}"
    verb = "get" if len(small) > 1 else "gets"
    warn(
        "group-too-small",
        f"{len(small)} of {len(calibration.groups)} {what} {verb} all labels at alpha {alpha}"
        if not of_labels
        else f"{len(small)} of {len(calibration.groups)} labels "
        f"{'are' if len(small) > 1 else 'is'} in every set at alpha {alpha}",
        expected=f"{unit} of {needed} or more for a label"
        if of_labels
        else f"{needed} {unit} or more in a group",
        found=found,
        hint="annotate more of them, or a larger alpha"
        if of_labels
        else f'merge them in the column "{calibration.claim.by}", annotate more, or a larger alpha',
        source="predictor",
        details={"groups": [name for _, name in sorted(weighed)]},
        stacklevel=4,
    )
