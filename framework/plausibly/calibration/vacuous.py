"""Warnings of sets that are every label, and of what would make them smaller."""

from __future__ import annotations

from collections.abc import Sequence

from plausibly.calibration.alphas import rounded_up
from plausibly.calibration.scores import CalibrationScores
from plausibly.errors import counted, listed, warn
from plausibly.guarantee import BY_LABEL, Guarantee


def warn_if_vacuous(promise: Guarantee, combiner: str) -> None:
    """Warn where every set is every label."""
    if not promise.vacuous:
        return
    alpha = f"{float(promise.alpha):g}"
    enough = promise.needed is None or promise.has >= promise.needed
    if enough:
        held_out = promise.unit.startswith("held-out")
        warn(
            "sets-vacuous",
            f"every set is every label at alpha {alpha}",
            expected="fewer p-values at their least value"
            if held_out
            else "scores that tell labels apart",
            got=f"too many of {counted(promise.has)} {promise.unit} there",
            do=f"combiner average (no split), more {promise.unit}, or a larger alpha"
            if held_out
            else "a larger alpha, or another score",
            whose="predictor",
            stacklevel=4,
        )
        return
    needed = promise.needed or 0
    least = promise.least_alpha
    works = "" if least is None or least >= 1 else rounded_up(least)
    if not promise.unit.startswith("held-out"):
        more = f"{counted(needed - promise.has)} more"
        warn(
            "n-too-small",
            f"every set is every label at alpha {alpha}",
            expected=f"{counted(needed)} {promise.unit} or more",
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
        expected=f"{counted(needed)} {promise.unit} or more",
        got=counted(promise.has),
        do=f"combiner average (no split), or alpha {works}"
        if works
        else "combiner average (no split), or hold more examples out",
        whose=f"combiner {combiner}",
        stacklevel=4,
    )


def warn_of_small_groups(
    promise: Guarantee, calibration: CalibrationScores, small: Sequence[int]
) -> None:
    """Warn of groups or labels that get every label, with what they have and would need."""
    if not small:
        return
    of_labels = calibration.claim.by == BY_LABEL
    what = "labels" if of_labels else f'groups of "{calibration.claim.by}"'
    weighed = [(group_mass(calibration, code), calibration.groups[code]) for code in small]
    got = listed(f"{name} {mass:.4g}" for mass, name in sorted(weighed))
    needed = "more" if promise.needed is None else counted(promise.needed)
    unit = "plausibility mass" if of_labels else promise.unit
    alpha = f"{float(promise.alpha):g}"
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
        got=got,
        do="annotate more of them, or a larger alpha"
        if of_labels
        else f'merge them in the column "{calibration.claim.by}", annotate more, or a larger alpha',
        whose="predictor",
        details={"groups": [name for _, name in sorted(weighed)]},
        stacklevel=4,
    )


def group_mass(calibration: CalibrationScores, code: int) -> float:
    """Return what a group weighs: examples in a group, plausibility mass of a label."""
    part = calibration.of_group(code)
    if not calibration.of_atoms:
        return float(part.examples)
    units, denominator = part.masses()
    return float((units / denominator[part.rows()]).sum()) if len(units) else 0.0


def warn_of_unseen(
    examples: Sequence[str], groups: Sequence[str], by: str, *, stacklevel: int = 4
) -> None:
    """Warn of new examples of groups that calibration lacks: they get every label."""
    warn(
        "group-unseen",
        f"{counted(len(examples))} examples are of groups that calibration lacks"
        if len(examples) > 1
        else "1 example is of a group that calibration lacks",
        expected=f'values of "{by}" that calibration has; these get every label',
        got=listed(groups),
        do=f'calibrate with such examples, or merge groups in the column "{by}"',
        whose="predictions",
        details={"examples": list(examples)},
        stacklevel=stacklevel,
    )


def warn_of_heavy(count: int, total: int, calibration: CalibrationScores, alpha: float) -> None:
    """Warn of new examples that weigh too much for anything but every label."""
    largest = "1" if calibration.test_mass == 1 else "largest risk"
    those = "all calibration weights"
    if calibration.claim.by:
        those = f'the calibration weights of its "{calibration.claim.by}"'
    limit = f"alpha / ({largest} - alpha) of {those} together"
    warn(
        "weight-too-large",
        f"{counted(count)} of {counted(total)} examples {'get' if count > 1 else 'gets'} every "
        f"label at alpha {alpha:g}",
        expected=f'weights in "{calibration.claim.weights}" below {limit}',
        got="more: calibration has too few examples like these",
        do="more calibration examples like them, a larger alpha, or clip the weights",
        whose="predictions",
        stacklevel=4,
    )
