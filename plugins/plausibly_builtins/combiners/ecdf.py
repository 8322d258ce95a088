"""The empirical distribution of held-out mean p-values, with a confidence band."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import ClassVar, Literal

import attrs
import numpy as np

from plausibly.plugin import (
    CalibrationSummary,
    Claim,
    Floats,
    Guarantee,
    Needs,
    PValues,
    bounded,
    delta_field,
    exact,
    held_out_field,
    require_held_out,
)

_DIGITS = 50


def _band(delta: Fraction, sides: int, count: int) -> Fraction:
    """Return ``sqrt(log(sides / delta) / (2 count))`` to fifty digits."""
    with localcontext() as context:
        context.prec = _DIGITS + 10
        ratio = sides / delta
        logarithm = (Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln()
        return Fraction((logarithm / (2 * count)).sqrt())


@attrs.frozen(kw_only=True)
class Ecdf:
    """Correct the mean p-value r by an upper bound of its distribution function.

    ``F+(r) = min(1, #{i : rho_i <= r} / h + sqrt(log(2 / delta) / (2 h)))`` over h held-out
    examples with one drawn label each. With probability 1 - delta over the held-out examples the
    coverage of this one calibration is at least 1 - alpha.

    Attributes
    ----------
    held_out : float
        Share of the calibration examples that is set aside.
    delta : float
        Probability with which the promise may fail.
    band : {"two-sided", "one-sided"}
        The one-sided band has ``log(1 / delta)`` and needs delta <= 1/2.

    References
    ----------
    Stutz et al., TMLR 2023, Algorithm 2; Massart, Annals of Probability 1990.
    """

    needs: ClassVar[Needs] = "mean"
    held_out: float = held_out_field()
    delta: float = delta_field()
    band: Literal["two-sided", "one-sided"] = "two-sided"

    def __attrs_post_init__(self) -> None:
        if self.band == "one-sided" and exact(self.delta) > Fraction(1, 2):
            msg = f"'delta' must be at most 0.5 for the one-sided band: {self.delta}"
            raise ValueError(msg)

    @property
    def _sides(self) -> int:
        return 2 if self.band == "two-sided" else 1

    def combine(self, p: PValues, held_out: PValues | None) -> Floats:
        """Return the corrected p-value of each query."""
        aside = require_held_out(held_out)
        counts, place = np.unique(aside.at_most(p), return_inverse=True)
        epsilon = _band(exact(self.delta), self._sides, aside.size)
        # One rounding at the end keeps each value within half a unit of the exact one.
        bounds = [float(min(Fraction(1), Fraction(int(c), aside.size) + epsilon)) for c in counts]
        return np.array(bounds)[place].reshape(np.shape(p.numerators))

    def guarantee(self, claim: Claim, summary: CalibrationSummary, alpha: Fraction) -> Guarantee:
        """Return the promise for this calibration, and its marginal form."""
        delta = exact(self.delta)
        count = summary.n_held_out
        epsilon = _band(delta, self._sides, count)
        needed = math.floor(_band(delta, self._sides, 1) ** 2 / alpha**2) + 1
        marginal = (1 - alpha) * (1 - delta)
        return summary.guarantee(
            claim,
            alpha,
            marginal,
            why="above the band, the corrected p-value is at least the distribution function of "
            f"the mean p-value, with probability {bounded(1 - delta)} over the held-out "
            "examples",
            reference="Dvoretzky, Kiefer & Wolfowitz with Massart's constant, 1990",
            needed=needed,
            least_alpha=float(epsilon),
            held_out=True,
            independent=True,
            vacuous=epsilon > alpha,
            notes=(
                f"for this calibration alone: coverage at least {bounded(1 - alpha)} with "
                f"probability {bounded(1 - delta)} over the held-out examples",
            ),
        )
