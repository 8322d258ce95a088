"""Parameters and checks that combiners with held-out examples share."""

from __future__ import annotations

from fractions import Fraction

import attrs

from plausibly.conformal.alphas import exact as _number
from plausibly.conformal.pvalues import PValues
from plausibly.errors import IncompatibleComponents

_OPEN = (attrs.validators.gt(0.0), attrs.validators.lt(1.0))


def held_out_field() -> float:
    """Return the attrs field of the share of examples to set aside, 0.5 by default."""
    share: float = attrs.field(default=0.5, validator=attrs.validators.and_(*_OPEN))
    return share


def delta_field() -> float:
    """Return the attrs field of the probability with which a promise may fail, 1e-4 by default."""
    delta: float = attrs.field(default=1e-4, validator=attrs.validators.and_(*_OPEN))
    return delta


def exact(value: float) -> Fraction:
    """Return a parameter as the decimal that was typed."""
    number = _number(value)
    if number is None:
        msg = f"expected a number, got {value!r}"
        raise ValueError(msg)
    return number


def require_held_out(held_out: PValues | None) -> PValues:
    """Return the held-out p-values, or say that the combiner was called without them."""
    if held_out is None:
        raise IncompatibleComponents(
            "held-out-missing",
            "a combiner that ranks among held-out examples was called without them",
            expected="the p-values of the held-out examples",
            do="plausibly.calibrate(..., combiner=...), which sets them aside",
            whose="combiner",
        )
    return held_out
