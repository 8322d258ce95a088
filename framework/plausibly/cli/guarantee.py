"""Guarantee and thresholds of a predictor, and what it needs of new examples, in words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from plausibly.calibration.alphas import AlphaLike, rounded_up
from plausibly.calibration.threshold import warn_of_vacuous
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.data.names import quoted
from plausibly.errors import IncompatibleComponents, counted, listed
from plausibly.guarantee import BY_LABEL, NEW_LABEL, Guarantee, bounded


def guarantee_rows(
    predictor: ConformalPredictor, alphas: Sequence[AlphaLike], title: str, prefix: str = ""
) -> list[tuple[str, str]]:
    guarantees = [predictor.guarantee(alpha) for alpha in alphas]
    notes = dict.fromkeys(note for guarantee in guarantees for note in guarantee.notes)
    rows = [(title, f"{prefix}{guarantee_text(guarantee, predictor)}") for guarantee in guarantees]
    return [*rows, *(("note", note) for note in notes)]


def guarantee_text(guarantee: Guarantee, predictor: ConformalPredictor | None = None) -> str:
    alpha, bound = f"alpha {float(guarantee.alpha):g}", guarantee.bound()
    if guarantee.level is None:
        return f"{alpha}: no guarantee; {guarantee.reason}."
    parts = [f"{alpha}: vacuous: every set contains all labels."]
    if not guarantee.vacuous:
        each = f"for {guarantee.per}, " if guarantee.per else ""
        average = "on average"
        if guarantee.confidence is not None:
            sure = bounded(guarantee.confidence)
            average = f"with probability {sure} over calibration sets, on average over new examples"
        covers = guarantee.covers
        if guarantee.target == "majority-vote":
            covers = "the majority vote"
        elif covers.startswith(NEW_LABEL):
            more = covers.removeprefix(NEW_LABEL).lstrip(";, ")
            covers = f"an annotator's answer{f' ({more})' if more else ''}"
        comma = "," if ", " in covers else ""
        covered = f"a set contains {covers}{comma} with probability at least {bound}"
        if guarantee.target == "risk":
            covered = f"{covers}, is at most {bound}"
        conditions = " and ".join(guarantee.assumes)
        parts = [f"{alpha}: {each}{average}, {covered}, if {conditions}."]
    if guarantee.target == "majority-vote":
        parts.append("Nothing is guaranteed about the annotators' answers.")
    if guarantee.target == "risk":
        parts.append("Nothing is guaranteed about coverage.")
    if guarantee.level == 1 - 2 * guarantee.alpha:
        parts.append(f"That is 1 - 2 alpha, not 1 - alpha: {guarantee.reason}.")
    if guarantee.needed is not None:
        parts += _needs(guarantee, counted(guarantee.needed), predictor)
    return " ".join(parts)


def _needs(guarantee: Guarantee, needed: str, predictor: ConformalPredictor | None) -> list[str]:
    """Return with how many examples, or from which alpha on, sets are not all labels."""
    has, unit = counted(guarantee.has), guarantee.unit.removeprefix("calibration ")
    calibration = None if predictor is None else predictor.pools.calibration
    if calibration is not None and calibration.claim.by:
        sizes = calibration.group_sizes()
        there = " to ".join(dict.fromkeys(f"{size:,.4g}" for size in (min(sizes), max(sizes))))
        by, needs = calibration.claim.by, f"{needed} {guarantee.unit}"
        needs = f"a plausibility mass of {needed}" if by == BY_LABEL else needs
        return [f"Each {by} needs {needs}; there are {there}."]
    if calibration is not None and calibration.weight is not None:
        most = float(guarantee.alpha / (1 - guarantee.alpha)) * float(calibration.weight.sum())
        weights = quoted(calibration.claim.weights)
        return [f"Where {weights} is more than {most:.4g}, a set contains all labels."]
    if guarantee.vacuous and guarantee.has >= (guarantee.needed or 0):
        return [f"Too many of the {has} {guarantee.unit} have the lowest rank."]
    more = [f"At least {needed} {guarantee.unit} are needed."] if guarantee.vacuous else []
    if guarantee.least_alpha:
        least = rounded_up(guarantee.least_alpha)
        return [*more, f"Smallest usable alpha with {has} {unit}: {least}."]
    return [*more, f"There are {has}."] if more else []


# Any: one number, numbers by group, or None
def thresholds(predictor: ConformalPredictor, alphas: Sequence[str]) -> list[dict[str, Any]]:
    by = predictor.pools.calibration.claim.by or None
    try:
        array = predictor.threshold(list(alphas))
    except IncompatibleComponents as error:
        if error.name != "threshold-none":
            raise
        for alpha in alphas:
            guarantee = predictor.guarantee(alpha)
            if guarantee.vacuous:
                warn_of_vacuous(guarantee, predictor.metadata.combiner)
        return [{"threshold": None, "threshold_by": by} for _ in alphas]
    columns = array.values.T.tolist()
    if by:
        groups = [str(name) for name in array[by].values]
        columns = [dict(zip(groups, column, strict=True)) for column in columns]
    return [{"threshold": value, "threshold_by": by} for value in columns]


def of_new(predictor: ConformalPredictor) -> tuple[str, ...]:
    """Return the coordinates that every new example must have: a group, a weight, or none."""
    calibration = predictor.pools.calibration
    wanted = (calibration.by_examples, calibration.claim.weights)
    return tuple(dict.fromkeys(filter(None, wanted)))


def needed_of_new(predictor: ConformalPredictor) -> str:
    parts = []
    if coordinates := of_new(predictor):
        parts.append(f"{' and '.join(map(quoted, coordinates))} of every new example (-e)")
    if augmentations := predictor.metadata.augmentations:
        parts.append(f"the augmentations {listed(augmentations)} of every new example")
    elif predictor.pools.calibration.augmentation == "pooled":
        parts.append("one augmentation of every new example")
    return "; ".join(parts)


def next_command(
    predictor: ConformalPredictor, path: Path, alpha: object, out: str
) -> tuple[object, ...]:
    examples = ("-e", "NEW_EXAMPLES") if of_new(predictor) else ()
    return ("plausibly", "predict", path, "-p", "NEW", *examples, "--alpha", alpha, "-o", out)
