"""Guarantees that are kept by saying nothing are said to be so, with the number that mends them."""

from __future__ import annotations

from collections.abc import Sequence

from plausibly.calibration.alphas import rounded_up
from plausibly.calibration.replicates import LABEL_CELLS, Replicates
from plausibly.errors import counted, listed, warn
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
        held_out = promise.counted.startswith("held-out")
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
    least = promise.least_alpha
    works = "" if least is None or least >= 1 else rounded_up(least)
    if not promise.counted.startswith("held-out"):
        more = f"{counted(needed - promise.has)} more"
        warn(
            "n-too-small",
            f"every set is every label at alpha {alpha}",
            expected=f"{counted(needed)} {promise.counted} or more",
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
        expected=f"{counted(needed)} {promise.counted} or more",
        got=counted(promise.has),
        do=f"combiner average (no split), or alpha {works}"
        if works
        else "combiner average (no split), or hold more examples out",
        whose=f"combiner {combiner}",
        stacklevel=4,
    )


def warn_of_small_cells(promise: Guarantee, replicates: Replicates, small: Sequence[int]) -> None:
    """Warn of groups or labels that get every label, with what they have and would need.

    Parameters
    ----------
    promise : Guarantee
    replicates : Replicates
        Whose p-values are kept apart.
    small : sequence of int
        Cells whose threshold is -inf.
    """
    if not small:
        return
    of_labels = replicates.by == LABEL_CELLS
    what = "labels" if of_labels else f'groups of "{replicates.by}"'
    weighed = [(cell_mass(replicates, code), replicates.cells[code]) for code in small]
    got = listed(f"{name} {mass:.4g}" for mass, name in sorted(weighed))
    needed = "more" if promise.needed is None else counted(promise.needed)
    unit = "plausibility mass" if of_labels else promise.counted
    alpha = f"{float(promise.alpha):g}"
    verb = "get" if len(small) > 1 else "gets"
    warn(
        "group-too-small",
        f"{len(small)} of {len(replicates.cells)} {what} {verb} every label at alpha {alpha}"
        if not of_labels
        else f"{len(small)} of {len(replicates.cells)} labels {'are' if len(small) > 1 else 'is'} "
        f"in every set at alpha {alpha}",
        expected=f"{unit} of {needed} or more for a label"
        if of_labels
        else f"{needed} {unit} or more in a group",
        got=got,
        do="annotate more of them, or a larger alpha"
        if of_labels
        else f'merge them in the column "{replicates.by}", annotate more, or a larger alpha',
        whose="predictor",
        details={"cells": [name for _, name in sorted(weighed)]},
        stacklevel=4,
    )


def cell_mass(replicates: Replicates, code: int) -> float:
    """Return what a cell weighs: examples in a group, plausibility mass of a label."""
    part = replicates.of_cell(code)
    if not replicates.of_atoms:
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


def warn_of_heavy(count: int, total: int, replicates: Replicates, alpha: float) -> None:
    """Warn of new examples that weigh too much for anything but every label.

    Parameters
    ----------
    count, total : int
        Those of them, and all new examples.
    replicates : Replicates
        What they are compared with.
    alpha : float
    """
    largest = "1" if replicates.own == 1 else "largest risk"
    those = "all calibration weights"
    if replicates.by:
        those = f'the calibration weights of its "{replicates.by}"'
    limit = f"alpha / ({largest} - alpha) of {those} together"
    warn(
        "weight-too-large",
        f"{counted(count)} of {counted(total)} examples {'get' if count > 1 else 'gets'} every "
        f"label at alpha {alpha:g}",
        expected=f'weights in "{replicates.weight_by}" below {limit}',
        got="more: calibration has too few examples like these",
        do="more calibration examples like them, a larger alpha, or clip the weights",
        whose="predictions",
        stacklevel=4,
    )
