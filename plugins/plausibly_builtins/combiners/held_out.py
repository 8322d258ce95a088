"""Rules that compare the mean p-value with those of held-out examples."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Literal

import attrs
import numpy as np

from plausibly.plugin import (
    CalibrationSummary,
    Claim,
    Floats,
    Guarantee,
    IncompatibleComponents,
    Ints,
    PValueCombiner,
    PValues,
    bounded,
    exact,
)

_DIGITS = 50
INSIDE = attrs.validators.and_(attrs.validators.gt(0.0), attrs.validators.lt(1.0))


@attrs.frozen(kw_only=True)
class HeldOut(PValueCombiner, ABC):
    """Base of rules that correct the mean p-value by how many held-out ones are no larger.

    Attributes
    ----------
    held_out : float
        Share of the calibration examples that is set aside.
    """

    held_out: float = attrs.field(default=0.5, validator=INSIDE)

    @property
    def needs(self) -> Literal["mean", "losses"]:
        """The mean p-value."""
        return "mean"

    def combine(self, p: PValues, held_out: PValues | None) -> Floats:
        if held_out is None:
            raise IncompatibleComponents(
                "held-out-missing",
                "a combiner that ranks among held-out examples was called without them",
                expected="the p-values of the held-out examples",
                hint="plausibly.calibrate(..., combiner=...), which sets them aside",
                source="combiner",
            )
        counts, place = np.unique(held_out.at_most(p), return_inverse=True)
        return self._bounds(counts, held_out.size)[place]

    @abstractmethod
    def _bounds(self, counts: Ints, size: int) -> Floats:
        """Return the p-values at which so many of `size` held-out ones are no larger."""


@attrs.frozen(kw_only=True)
class HeldOutRank(HeldOut):
    """Rank the mean p-value r: ``(#{i : rho_i <= r} + 1) / (h + 1)``, h held-out examples.

    Given the first split, rho is a fixed function of example and label, so held-out and new
    examples are exchangeable: 1 - alpha for any replicates.
    """

    def _bounds(self, counts: Ints, size: int) -> Floats:
        return (counts + 1) / (size + 1)

    def guarantee(self, claim: Claim, summary: CalibrationSummary, alpha: Fraction) -> Guarantee:
        return summary.guarantee_of_rank(
            claim,
            alpha,
            reason="a new example's rank among the held-out ones is uniform, or larger with ties",
            reference="split conformal prediction on the mean p-value, docs/guarantee.md",
            held_out=True,
        )


def _band(delta: Fraction, sides: int, count: int) -> Fraction:
    """Return ``sqrt(log(sides / delta) / (2 count))`` to fifty digits."""
    with localcontext() as context:
        context.prec = _DIGITS + 10
        ratio = sides / delta
        logarithm = (Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln()
        return Fraction((logarithm / (2 * count)).sqrt())


@attrs.frozen(kw_only=True)
class Ecdf(HeldOut):
    """Correct the mean p-value r by an upper bound of its distribution function.

    ``F+(r) = min(1, #{i : rho_i <= r} / h + sqrt(log(2 / delta) / (2 h)))`` over h held-out
    examples with one drawn label each. With probability 1 - delta over the held-out examples the
    coverage of this one calibration is at least 1 - alpha.

    Attributes
    ----------
    delta : float
        Probability with which the guarantee may fail.
    band : {"two-sided", "one-sided"}
        The one-sided band has ``log(1 / delta)`` and needs delta <= 1/2.

    References
    ----------
    Stutz et al., TMLR 2023, Algorithm 2; Massart, Annals of Probability 1990.
    """

    delta: float = attrs.field(default=1e-4, validator=INSIDE)
    band: Literal["two-sided", "one-sided"] = "two-sided"

    def __attrs_post_init__(self) -> None:
        if self.band == "one-sided" and exact(self.delta) > Fraction(1, 2):
            msg = f"'delta' must be at most 0.5 for the one-sided band: {self.delta}"
            raise ValueError(msg)

    @property
    def _sides(self) -> int:
        return 2 if self.band == "two-sided" else 1

    def _bounds(self, counts: Ints, size: int) -> Floats:
        epsilon = _band(exact(self.delta), self._sides, size)
        # One rounding at the end keeps each value within half a unit of the exact one.
        bounds = [float(min(Fraction(1), Fraction(int(c), size) + epsilon)) for c in counts]
        return np.array(bounds)

    def guarantee(self, claim: Claim, summary: CalibrationSummary, alpha: Fraction) -> Guarantee:
        delta = exact(self.delta)
        count = summary.n_held_out
        epsilon = _band(delta, self._sides, count) if count else Fraction(1)
        needed = math.floor(_band(delta, self._sides, 1) ** 2 / alpha**2) + 1
        marginal = (1 - alpha) * (1 - delta)
        return summary.guarantee(
            claim,
            alpha,
            marginal,
            reason="above the band, the corrected p-value is at least the distribution function of "
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
