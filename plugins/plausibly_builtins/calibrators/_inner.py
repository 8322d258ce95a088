"""What wrappers of calibrators share: the calibrator inside, and what cannot be inside."""

from __future__ import annotations

from typing import Any

import attrs

from plausibly.plugin import (
    CALIBRATOR,
    CalibrationData,
    Calibrator,
    ComponentLike,
    IncompatibleComponents,
    Replicates,
    called,
    resolve,
)

# Any: the default is a name, which the converter makes a component of.
DEFAULT: Any = "expected"

EXAMPLES = attrs.fields(Replicates).counted.default


def resolved(like: ComponentLike[Calibrator]) -> Calibrator:
    """Return the calibrator inside, by name, table or as it is."""
    return resolve(CALIBRATOR, like)


def refuse_inside(found: Replicates, wrapper: str, *, weights: bool, reason: str) -> None:
    """Raise `IncompatibleComponents` where a wrapper is around one that it does not go with.

    Parameters
    ----------
    found : Replicates
        What the calibrator inside answered.
    wrapper : str
        Name of the calibrator outside.
    weights : bool
        Whether weights inside are fine.
    reason : str
        Why others are not.
    """
    inside = ""
    if found.by:
        inside = "mondrian"
    elif found.weight is not None and not weights:
        inside = "weighted"
    if inside:
        raise refused(wrapper, inside, reason)


def of_examples(found: Replicates, data: CalibrationData) -> bool:
    """Return whether masses are those of the examples, and not of groups of them.

    Groups of one example each are as many as the examples, in another order.
    """
    return found.examples == len(data) and found.counted == EXAMPLES


def refused(wrapper: str, inside: str | Calibrator, reason: str) -> IncompatibleComponents:
    """Return the error that one calibrator cannot be inside another.

    Parameters
    ----------
    wrapper : str
    inside : str or Calibrator
        Called by its registered name, or as its class where it has none.
    reason : str
    """
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
