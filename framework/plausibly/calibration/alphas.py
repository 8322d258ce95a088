"""Alpha is the decimal that was typed, never its nearest double."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from plausibly.errors import InputError, warn

AlphaLike: TypeAlias = str | float | Fraction | Decimal
"""A miscoverage rate: a number or its text."""

Alphas: TypeAlias = AlphaLike | Sequence[AlphaLike] | NDArray[np.float64]
"""One miscoverage rate, or several, which add the dim ``alpha``."""


_PLACES, _POWERS = 12, 3


def exact(value: object) -> Fraction | None:
    """Return the number as the decimal that was typed, or None where it is none.

    A float next to a decimal of up to twelve places, such as 1 - 0.9, is that decimal. Text,
    `Decimal` and `Fraction` are what they say.
    """
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, bool) or not isinstance(value, str | numbers.Number | Decimal):
        return None
    if isinstance(value, Fraction):
        return value
    text = str(value).strip()
    if isinstance(value, float) and math.isfinite(value):
        near = round(value, _PLACES)
        # What is left after arithmetic with numbers around 1, as 1 - 0.99 is, or with larger ones.
        if near and abs(near - value) <= 4 * max(math.ulp(1.0), math.ulp(value)):
            text = str(near)
    # As a ratio of integers, a number with a large exponent fills the memory.
    _, power, exponent = text.lower().replace("_", "").rpartition("e")
    if power and len(exponent.lstrip("+-0")) > _POWERS:
        return None
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        return None


def read_alpha(value: object) -> Fraction:
    """Return alpha exactly as typed."""
    number = exact(value)
    if number is None or not 0 < number < 1:
        share = 0.1
        if number is not None and 1 < number < 100:
            share = float(1 - number / 100 if number >= 50 else number / 100)
        shown = value if isinstance(value, str) else repr(value)
        raise InputError(
            "alpha-range",
            "alpha must be between 0 and 1",
            expected="the miscoverage rate: 0.1 for 90% sets",
            found=str(shown) if number is not None else f"{shown}, which is not a number",
            hint=f"alpha={share:g}",
            source="alpha",
        )
    if number >= Fraction(1, 2):
        meant = f"{float(1 - number):g}"
        warn(
            "alpha-large",
            f"alpha {float(number):g} asks for sets that cover {float(100 * (1 - number)):g}%",
            expected="usually 0.01 to 0.3",
            hint=f"alpha={meant} for {float(100 * number):g}% sets",
            source="alpha",
        )
    return number


def is_several(alpha: Alphas) -> bool:
    """Return whether `alpha` is a sequence, which gives results the dim ``alpha``."""
    if isinstance(alpha, np.ndarray):
        return alpha.ndim > 0
    return isinstance(alpha, Iterable) and not isinstance(alpha, str)


def read_alphas(alpha: Alphas) -> list[Fraction]:
    """Return every alpha of one or several, exactly as typed."""
    if not is_several(alpha):
        return [read_alpha(alpha)]
    values = [read_alpha(value) for value in np.asarray(alpha, dtype=object).ravel()]
    if not values or len(set(values)) < len(values):
        raise InputError(
            "alpha-range",
            "alphas are empty or repeat",
            expected="one or more different numbers between 0 and 1",
            found=", ".join(str(float(value)) for value in values) or "none",
            hint="alpha=[0.1, 0.05]",
            source="alpha",
        )
    return values


def rounded_up(alpha: float) -> str:
    """Return the least decimal of two digits that is not below `alpha`; one below a thousandth."""
    exponent = math.floor(math.log10(alpha))
    digits = -exponent if exponent < -3 else 1 - exponent
    units = math.ceil(round(alpha * 10**digits, 6))
    return f"{units / 10**digits:.{digits}f}"
