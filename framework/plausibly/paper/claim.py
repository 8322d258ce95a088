"""What the paper says of a figure, what was measured, and whether the two agree."""

from __future__ import annotations

import math
from collections.abc import Mapping

import attrs
import numpy as np

from plausibly.kernels.types import Floats

CLOSE = 0.01
"""Means of coverage this near to a level are said to be at it."""


@attrs.frozen(kw_only=True)
class Claim:
    """A statement of the paper beside what a figure's numbers say of it.

    Attributes
    ----------
    says : str
        What the paper says, in our words.
    measured : str
        The numbers that decide.
    parts : mapping of str to bool
        What the statement consists of, each computed from those numbers.
    """

    says: str
    measured: str
    parts: Mapping[str, bool]

    @property
    def held(self) -> bool:
        """Whether every part held."""
        return all(self.parts.values())

    @property
    def verdict(self) -> str:
        """Whether it held: yes, or no and in what."""
        wrong = [part for part, held in self.parts.items() if not held]
        return f"no: not {', not '.join(wrong)}" if wrong else "yes"

    def line(self, figure: str) -> str:
        """Return the line of ``claims.txt`` that belongs to a figure."""
        return f"{figure}: held: {self.verdict}. Claim: {self.says}. Measured: {self.measured}."


def decimal(value: float, digits: int = 3) -> str:
    """Return a share without the zero before its point, as tables of coverage print it."""
    if math.isnan(value):
        return "-"
    text = f"{value:.{digits}f}"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def close(mean: float, level: float) -> bool:
    """Return whether a mean of coverage is at a level, to `CLOSE`."""
    return abs(mean - level) <= CLOSE


def mean_spread(values: Floats) -> str:
    """Return mean and standard deviation in words: ``.951 (spread .003)``."""
    spread = f" (spread {decimal(float(np.std(values, ddof=1)))})" if np.size(values) > 1 else ""
    return f"{decimal(float(np.mean(values)))}{spread}"
