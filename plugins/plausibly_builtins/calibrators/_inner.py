"""What wrappers of calibrators share: the calibrator inside, and what cannot be inside."""

from __future__ import annotations

from typing import Any

from plausibly.plugin import (
    CALIBRATOR,
    CalibrationData,
    CalibrationScores,
    Calibrator,
    ComponentLike,
    IncompatibleComponents,
    called,
    resolve,
)

# Any: the default is a name, which the converter makes a component of.
DEFAULT: Any = "expected"


def resolved(like: ComponentLike[Calibrator]) -> Calibrator:
    """Return the calibrator inside, by name, table or as it is."""
    return resolve(CALIBRATOR, like)


def refuse_inside(found: CalibrationScores, wrapper: str, *, weights: bool, reason: str) -> None:
    """Raise `IncompatibleComponents` where a wrapper is around one that it does not go with."""
    inside = ""
    if found.claim.by:
        inside = "mondrian"
    elif found.weight is not None and not weights:
        inside = "weighted"
    if inside:
        raise refused(wrapper, inside, reason)


def of_examples(found: CalibrationScores, data: CalibrationData) -> bool:
    """Return whether masses are those of the examples, and not of groups of them."""
    return found.examples == len(data) and not found.claim.cluster


def refused(wrapper: str, inside: str | Calibrator, reason: str) -> IncompatibleComponents:
    """Return the error that one calibrator cannot be inside another."""
    if not isinstance(inside, str):
        inside = called(CALIBRATOR, inside)
    return IncompatibleComponents(
        "pair-incompatible",
        f"calibrator {wrapper} cannot have {inside} inside",
        expected="expected, monte-carlo, voted, or another that goes with it",
        got=reason,
        do='inner = { name = "expected" }',
        whose=f"calibrator {wrapper}",
    )
