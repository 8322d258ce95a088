"""Guarantee and thresholds of a predictor, and what it needs of new examples, in words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from plausibly.calibration.alphas import AlphaLike, rounded_up
from plausibly.calibration.vacuous import warn_if_vacuous
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.data.names import quoted
from plausibly.errors import IncompatibleComponents, counted, listed
from plausibly.guarantee import BY_LABEL, NEW_LABEL, Guarantee, bounded

_EXPERTS = "what experts say"


def guarantee_rows(
    predictor: ConformalPredictor, alphas: Sequence[AlphaLike], title: str, prefix: str = ""
) -> list[tuple[str, str]]:
    """Return what a predictor guarantees at each alpha, and each note on it once."""
    guarantees = [predictor.guarantee(alpha) for alpha in alphas]
    notes = dict.fromkeys(note for guarantee in guarantees for note in guarantee.notes)
    rows = [(title, f"{prefix}{guarantee_text(guarantee, predictor)}") for guarantee in guarantees]
    return [*rows, *(("note", note) for note in notes)]


def guarantee_text(guarantee: Guarantee, predictor: ConformalPredictor | None = None) -> str:
    """Return what sets at one alpha guarantee, in words."""
    alpha = f"alpha {float(guarantee.alpha):g}"
    if guarantee.level is None:
        return f"{alpha}: no guarantee; {guarantee.why}."
    if guarantee.vacuous:
        level = f"{'a risk of ' if guarantee.target == 'risk' else ''}{guarantee.bound()}"
        parts = [f"{alpha}: vacuous: every set contains all labels, so that {level} says nothing."]
    else:
        each = f"for {guarantee.per}, " if guarantee.per else ""
        conditions = " and ".join(guarantee.assumptions)
        parts = [f"{alpha}: {each}{_covered(guarantee)}, if {conditions}."]
    if guarantee.target == "majority-vote":
        parts.append(f"Nothing is guaranteed about {_EXPERTS}.")
    if guarantee.target == "risk":
        parts.append("Nothing is guaranteed about coverage.")
    if guarantee.level == 1 - 2 * guarantee.alpha:
        parts.append(f"That is 1 - 2 alpha, not 1 - alpha: {guarantee.why}.")
    if guarantee.needed is not None:
        parts.append(_needs(guarantee, counted(guarantee.needed), predictor))
    return " ".join(parts)


def _covered(guarantee: Guarantee) -> str:
    level, covers = guarantee.bound(), guarantee.covers
    if guarantee.target == "majority-vote":
        return f"the majority vote is covered with probability {level}"
    if guarantee.target == "mass":
        return f"with probability {level} a set holds {covers}"
    if guarantee.target == "risk":
        # What its parts mean stands behind the colon.
        return f"on average {covers.rpartition(': ')[0] or covers} is at most {level}"
    more = ""
    if covers.startswith(NEW_LABEL):
        rest = covers.removeprefix(NEW_LABEL).removeprefix("; ")
        covers, more = _EXPERTS, f" ({rest})" if rest else ""
    if guarantee.confidence is not None:
        sure = f"with probability {bounded(guarantee.confidence)} over calibrations"
        return f"{sure}, {level} of {covers} is covered{more}"
    if covers != _EXPERTS:
        comma = "," if "," in covers else ""
        return f"{covers}{comma} is covered with probability {level}"
    return f"on average {level} of {covers} is covered{more}"


def _needs(guarantee: Guarantee, needed: str, predictor: ConformalPredictor | None) -> str:
    """Return from which n on sets say something."""
    calibration = None if predictor is None else predictor.pools.calibration
    if calibration is not None and calibration.claim.by:
        masses = calibration.group_sizes()
        ends = dict.fromkeys(f"{mass:,.4g}" for mass in (min(masses), max(masses)))
        each = f"{needed} {guarantee.unit} in each"
        if calibration.claim.by == BY_LABEL:
            each = f"a plausibility mass of {needed} for each"
        return f"Needs {each}, has {' to '.join(ends)}."
    if calibration is not None and calibration.weight is not None:
        most = float(guarantee.alpha / (1 - guarantee.alpha)) * float(calibration.weight.sum())
        return f'Where "{calibration.claim.weights}" is more than {most:.4g}, a set is every label.'
    least = guarantee.least_alpha
    any_alpha = f"; any alpha from {rounded_up(least)}" if least else ""
    return f"Needs {needed} {guarantee.unit}, has {counted(guarantee.has)}{any_alpha}."


# Any: one number, numbers by group, or None
def thresholds(predictor: ConformalPredictor, alphas: Sequence[str]) -> list[dict[str, Any]]:
    """Return the smallest score in a set at each alpha, as data."""
    by = predictor.pools.calibration.claim.by or None
    try:
        array = predictor.threshold(list(alphas))
    except IncompatibleComponents as error:
        if error.name != "threshold-none":
            raise
        for alpha in alphas:
            warn_if_vacuous(predictor.guarantee(alpha), predictor.metadata.combiner)
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
    """Return in words what is read of a new example beside one row of predictions."""
    parts = []
    if coordinates := of_new(predictor):
        parts.append(f"{' and '.join(map(quoted, coordinates))} of every new example (-e)")
    if views := predictor.metadata.augmentations:
        parts.append(f"every new example in the views {listed(views)}")
    elif predictor.pools.calibration.augmentation == "pooled":
        parts.append("every new example in one view")
    return "; ".join(parts)


def next_command(
    predictor: ConformalPredictor, path: Path, alpha: object, out: str
) -> list[object]:
    words: list[object] = ["plausibly", "predict", path, "-p", "NEW"]
    if of_new(predictor):
        words += ["-e", "NEW_EXAMPLES"]
    return [*words, "--alpha", alpha, "-o", out]
