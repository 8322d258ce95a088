"""Guarantee and thresholds of a predictor, and what it needs of new examples, in words."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from plausibly.calibration.alphas import AlphaLike, rounded_up
from plausibly.calibration.vacuous import group_mass, warn_if_vacuous
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.data.names import quoted
from plausibly.errors import IncompatibleComponents, InputError, counted, listed
from plausibly.guarantee import BY_LABEL, NEW_LABEL, Guarantee, bounded

_EXPERTS = "what experts say"


def promise_of(predictor: ConformalPredictor, alpha: AlphaLike) -> str:
    """Return what a predictor promises at one alpha, in words, and from which n on."""
    promise = predictor.guarantee(alpha)
    return promise_text(promise, needs=_needs_of(predictor, promise))


def promise_text(promise: Guarantee, *, needs: str | None = None) -> str:
    """Return what sets at one alpha promise, in words."""
    alpha = f"alpha {float(promise.alpha):g}"
    if promise.level is None:
        return f"{alpha}: no guarantee; {promise.why}."
    if promise.vacuous:
        level = f"{'a risk of ' if promise.target == 'risk' else ''}{promise.bound()}"
        parts = [f"{alpha}: every set is every label, so that {level} is promised in vain."]
    else:
        each = f"for {promise.per}, " if promise.per else ""
        parts = [f"{alpha}: {each}{_said(promise)}, if {' and '.join(promise.assumptions)}."]
    if promise.target == "voted":
        parts.append(f"Nothing is promised of {_EXPERTS}.")
    if promise.target == "risk":
        parts.append("Nothing is promised of coverage.")
    if promise.level == 1 - 2 * promise.alpha:
        parts.append(f"That is 1 - 2 alpha, not 1 - alpha: {promise.why}.")
    parts.append(_needs(promise) if needs is None else needs)
    return " ".join(part for part in parts if part)


def notes_of(promises: Sequence[Guarantee]) -> list[str]:
    """Return what else readers of the guarantees should know, each once."""
    return list(dict.fromkeys(note for promise in promises for note in promise.notes))


def _said(promise: Guarantee) -> str:
    level, of_what = promise.bound(), promise.covers
    if promise.target == "voted":
        return f"the voted label is covered with probability {level}"
    if promise.target == "mass":
        return f"with probability {level} a set holds {of_what}"
    if promise.target == "risk":
        # What its parts mean stands behind the colon.
        return f"on average {of_what.rpartition(': ')[0] or of_what} is at most {level}"
    more = ""
    if of_what.startswith(NEW_LABEL):
        rest = of_what.removeprefix(NEW_LABEL).removeprefix("; ")
        of_what, more = _EXPERTS, f" ({rest})" if rest else ""
    if promise.confidence is not None:
        sure = f"with probability {bounded(promise.confidence)} over calibrations"
        return f"{sure}, {level} of {of_what} is covered{more}"
    if of_what != _EXPERTS:
        comma = "," if "," in of_what else ""
        return f"{of_what}{comma} is covered with probability {level}"
    return f"on average {level} of {of_what} is covered{more}"


def _needs(promise: Guarantee) -> str:
    if promise.needed is None:
        return ""
    needs = f"Needs {counted(promise.needed)} {promise.unit}, has {counted(promise.has)}"
    least = promise.least_alpha
    return needs + (f"; any alpha from {rounded_up(least)}." if least else ".")


def _needs_of(predictor: ConformalPredictor, promise: Guarantee) -> str | None:
    """Return from which n on sets say something, where groups, labels or weights decide it."""
    calibration = predictor.pools.calibration
    if promise.needed is None:
        return None
    if calibration.claim.by:
        masses = [group_mass(calibration, code) for code in range(len(calibration.groups))]
        low, high = (f"{mass:,.4g}" for mass in (min(masses), max(masses)))
        unit = promise.unit
        needed = counted(promise.needed)
        asked = f"{needed} {unit} in each"
        if calibration.claim.by == BY_LABEL:
            asked = f"a plausibility mass of {needed} for each"
        return f"Needs {asked}, has {low if low == high else f'{low} to {high}'}."
    if calibration.weight is not None:
        most = float(promise.alpha / (1 - promise.alpha)) * float(calibration.weight.sum())
        return f'Where "{calibration.claim.weights}" is more than {most:.4g}, a set is every label.'
    return None


def thresholds(predictor: ConformalPredictor, alphas: Sequence[str]) -> list[dict[str, float]]:
    """Return the smallest score in a set at each alpha, by group; empty where there is none."""
    by = predictor.pools.calibration.claim.by
    try:
        array = predictor.threshold(list(alphas))
    except IncompatibleComponents as error:
        if error.name != "threshold-none":
            raise
        for alpha in alphas:
            warn_if_vacuous(predictor.guarantee(alpha), predictor.metadata.combiner)
        return [{} for _ in alphas]
    cells = [str(name) for name in array[by].values] if by else [""]
    columns = array.values.T if by else array.values[:, None]
    return [dict(zip(cells, column.tolist(), strict=True)) for column in columns]


def threshold_facts(predictor: ConformalPredictor, values: dict[str, float]) -> dict[str, object]:
    """Return a threshold as data: one number, numbers by group, or None."""
    by = predictor.pools.calibration.claim.by
    return {"threshold": (values or None) if by else values.get(""), "threshold_by": by or None}


def of_new(predictor: ConformalPredictor) -> tuple[str, ...]:
    """Return the coordinates that every new example must have: a group, a weight, or none."""
    calibration = predictor.pools.calibration
    by = calibration.by_examples
    return tuple(dict.fromkeys(name for name in (by, calibration.claim.weights) if name))


def asked_of_new(predictor: ConformalPredictor) -> str:
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
    """Return the words of the command that predicts for new examples."""
    words: list[object] = ["plausibly", "predict", path, "-p", "NEW"]
    if of_new(predictor):
        words += ["-e", "NEW_EXAMPLES"]
    return [*words, "--alpha", alpha, "-o", out]


_VIEWS = {
    "augmentations-missing": "-p with a row for each view of an example, and --view COLUMN",
    "augmentations-unread": "--calibrator augmentation, or -p with one row an example",
}


@contextlib.contextmanager
def views_as_options() -> Iterator[None]:
    """Say what to do about views with options of the command line."""
    try:
        yield
    except InputError as error:
        error.do = _VIEWS.get(error.name, error.do)
        raise
