"""Warnings of sets that are every label, and of what would make them smaller."""

from __future__ import annotations

from collections.abc import Sequence

from plausibly.calibration.alphas import rounded_up
from plausibly.calibration.scores import CalibrationScores
from plausibly.errors import counted, listed, warn
from plausibly.guarantee import BY_LABEL, Guarantee


def warn_of_vacuous(guarantee: Guarantee, combiner: str) -> None:
    """Warn that every set is every label."""
    alpha, unit = f"{float(guarantee.alpha):g}", guarantee.unit
    held_out, count = unit.startswith("held-out"), counted(guarantee.has)
    least, needed = guarantee.least_alpha, guarantee.needed
    works = "" if least is None or least >= 1 else rounded_up(least)
    what, source = f"every set is every label at alpha {alpha}", "predictor"
    if needed is None or guarantee.has >= needed:
        name, got = "sets-vacuous", f"too many of {count} {unit} there"
        expected = "scores that tell labels apart"
        hint = "a larger alpha, or another score"
        if held_out:
            expected = "fewer p-values at their least value"
            hint = f"combiner average (no split), more {unit}, or a larger alpha"
    else:
        expected, got = f"{counted(needed)} {unit} or more", count
        if held_out:
            name, source = "guarantee-vacuous", f"combiner {combiner}"
            what = f"{combiner} gives every label at alpha {alpha}"
            hint = f"combiner average (no split), or alpha {works}"
            hint = hint if works else "combiner average (no split), or hold more examples out"
        else:
            name, hint = "n-too-small", f"annotate {counted(needed - guarantee.has)} more"
            hint = f"alpha {works} works with {count}; or {hint}" if works else hint
    warn(name, what, expected=expected, found=got, hint=hint, source=source, stacklevel=4)


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
    got = listed(f"{name} {mass:.4g}" for mass, name in sorted(weighed))
    needed = "more" if guarantee.needed is None else counted(guarantee.needed)
    unit = "plausibility mass" if of_labels else guarantee.unit
    alpha = f"{float(guarantee.alpha):g}"
    verb = "get" if len(small) > 1 else "gets"
    warn(
        "group-too-small",
        f"{len(small)} of {len(calibration.groups)} {what} {verb} every label at alpha {alpha}"
        if not of_labels
        else f"{len(small)} of {len(calibration.groups)} labels "
        f"{'are' if len(small) > 1 else 'is'} in every set at alpha {alpha}",
        expected=f"{unit} of {needed} or more for a label"
        if of_labels
        else f"{needed} {unit} or more in a group",
        found=got,
        hint="annotate more of them, or a larger alpha"
        if of_labels
        else f'merge them in the column "{calibration.claim.by}", annotate more, or a larger alpha',
        source="predictor",
        details={"groups": [name for _, name in sorted(weighed)]},
        stacklevel=4,
    )
