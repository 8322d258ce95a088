"""What a plan is asked for, checked: numbers of examples and draws, widths, confidence."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from numbers import Integral
from typing import TypeAlias

import numpy as np

from plausibly.calibration.alphas import exact
from plausibly.errors import InputError, counted

EXPECTED = "expected"
DEFAULT_DRAWS: tuple[float, ...] = (1, 10, math.inf)

Draws: TypeAlias = int | float | str
"""A number of draws; infinite or ``"expected"`` for the calibrator that draws nothing."""

_FIRST, _MOST_ROWS, _LARGEST = 100, 8, 10**9


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def read_draws(draws: Sequence[Draws] | None, *, pilot: bool) -> list[float]:
    """Return the numbers of draws, infinite for expected.

    Parameters
    ----------
    draws : sequence, or None for the default
    pilot : bool
        Whether there is a pilot; without one only a single draw is known.

    Raises
    ------
    InputError
        ``draws-range`` and ``pilot-missing``.
    """
    if draws is None:
        return list(DEFAULT_DRAWS) if pilot else [1]
    found: list[float] = []
    for one in draws:
        value = math.inf if one == EXPECTED else one
        if value != math.inf and not (_is_whole(value) and float(value) >= 1):
            raise InputError(
                "draws-range",
                f"{one!r} is no number of draws",
                expected="1, 2, 3, … or expected",
                got=repr(one),
                do='draws=[1, 10, "expected"] (--draws 1 --draws 10 --draws expected)',
                whose="draws",
            )
        found.append(math.inf if value == math.inf else int(value))
    found = sorted(set(found)) or list(DEFAULT_DRAWS)
    if not pilot and found != [1]:
        raise InputError(
            "pilot-missing",
            "what several draws gain depends on how experts disagree",
            expected="a pilot: predictions and annotations",
            got="neither",
            do="pass a pilot (-p and -a), or plan for one draw: draws=[1] (--draws 1)",
            whose="draws",
        )
    return found


def read_n(n: Sequence[int] | int) -> list[int]:
    """Return the numbers of calibration examples in ascending order.

    Raises
    ------
    InputError
        ``n-range``.
    """
    given = list(n) if isinstance(n, Iterable) else [n]
    for one in given:
        if not _is_whole(one) or not 1 <= one <= _LARGEST:
            raise InputError(
                "n-range",
                f"{one!r} is no number of calibration examples",
                expected=f"a whole number from 1 to {counted(_LARGEST)}",
                got=repr(one),
                do="n=[100, 1000] (--n 100 --n 1000)",
                whose="n",
            )
    return sorted({int(one) for one in given})


def ladder(pilot: int, needed: Sequence[int]) -> list[int]:
    """Return numbers of examples that show how the spread falls: doubled, up to what is asked for.

    Parameters
    ----------
    pilot : int
        Examples of the pilot, 0 without one; they are one of the numbers.
    needed : sequence of int
        Numbers of examples that were found to be enough.
    """
    last = max([pilot, *needed, *([] if pilot or needed else [_FIRST * 32])])
    factor = 2
    while _FIRST * factor**_MOST_ROWS < last:
        factor *= 2
    steps = []
    step = _FIRST
    while step < last:
        steps.append(step)
        step *= factor
    if needed:
        steps.append(step)
    return sorted({*steps, *([pilot] if pilot else [last])})


def check_share(value: object, name: str, most: Fraction, do: str) -> float:
    """Return a number between 0 and `most`, or raise ``NAME-range``."""
    number = exact(value)
    if number is None or not 0 < number < most:
        raise InputError(
            f"{name}-range",
            f"{name} {value} is out of range",
            expected=f"0 < {name} < {float(most):g}",
            got=str(value),
            do=do,
            whose=name,
        )
    return float(number)


def check_width(value: object, alphas: Sequence[Fraction]) -> float:
    """Return the width within which coverage should be, less than the coverage asked for.

    Raises
    ------
    InputError
        ``within-range``.
    """
    usual = float(min(alphas)) / 5
    return check_share(value, "within", 1 - max(alphas), f"within={usual:g} (--within {usual:g})")


def check_resamples(value: object) -> int:
    """Return the number of resamples, or raise ``resamples-range``."""
    if not isinstance(value, int | np.integer) or not _is_whole(value) or value < 0 or value == 1:
        raise InputError(
            "resamples-range",
            f"{value!r} resamples show no spread",
            expected="2 or more, or 0 for none",
            got=repr(value),
            do="resamples=200 (--resamples 200)",
            whose="resamples",
        )
    return int(value)
