"""Rules that compare the mean p-value with those of held-out examples."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Literal

import attrs
import numpy as np

from plausibly.plugin import (
    CalibrationSummary,
    Claim,
    Floats,
    Guarantee,
    IncompatibleComponents,
    Ints,
    Needs,
    PValues,
    bounded,
    exact,
    settle,
)

# scipy inverts the binomial distribution to about this many units in the last place.
_SPACINGS = 4096
_CLOSE = 1e-9

# Of the tail: fifty digits, of which ten are more than its rounding can reach.
_DIGITS, _SURE = 50, Decimal("1e-40")
_INSIDE = attrs.validators.and_(attrs.validators.gt(0.0), attrs.validators.lt(1.0))


@attrs.frozen(kw_only=True)
class HeldOut(ABC):
    """Base of rules that correct the mean p-value by how many held-out ones are no larger."""

    needs: ClassVar[Needs] = "mean"
    held_out: float = attrs.field(default=0.5, validator=_INSIDE)

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
        return self._bounds(counts, held_out.size)[place].reshape(np.shape(p.numerators))

    @abstractmethod
    def _bounds(self, counts: Ints, size: int) -> Floats:
        """Return the p-values at which so many of `size` held-out ones are no larger."""


@attrs.frozen(kw_only=True)
class HeldOutRank(HeldOut):
    """Rank the mean p-value r: ``(#{i : rho_i <= r} + 1) / (h + 1)``, h held-out examples.

    Given the first split, rho is a fixed function of example and label, so held-out and new
    examples are exchangeable: 1 - alpha for any replicates.

    Attributes
    ----------
    held_out : float
        Share of the calibration examples that is set aside.
    """

    def _bounds(self, counts: Ints, size: int) -> Floats:
        ranks: Floats = (counts + 1) / (size + 1)
        return ranks

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
    held_out : float
        Share of the calibration examples that is set aside.
    delta : float
        Probability with which the guarantee may fail.
    band : {"two-sided", "one-sided"}
        The one-sided band has ``log(1 / delta)`` and needs delta <= 1/2.

    References
    ----------
    Stutz et al., TMLR 2023, Algorithm 2; Massart, Annals of Probability 1990.
    """

    delta: float = attrs.field(default=1e-4, validator=_INSIDE)
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
        epsilon = _band(delta, self._sides, count)
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


@lru_cache(maxsize=1 << 12)
def _excess(count: int, trials: int, chance: Fraction, delta: Fraction) -> Fraction | int:
    """Return a number with the sign of the binomial distribution function minus delta."""
    failure = 1 - chance
    with localcontext(Context(prec=_DIGITS, Emin=MIN_EMIN, Emax=MAX_EMAX)):
        yes, no, limit = (
            Decimal(one.numerator) / one.denominator for one in (chance, failure, delta)
        )
        # From the last term down; each is the one above it, times less and less.
        term = whole = Decimal(1)
        for hits in range(count, 0, -1):
            term *= hits * no / ((trials - hits + 1) * yes)
            whole += term
            if term < whole.scaleb(-_DIGITS) and hits * no < (trials - hits + 1) * yes:
                break
        tail = whole * math.comb(trials, count) * yes**count * no ** (trials - count)
        if abs(tail - limit) > _SURE * limit:
            return 1 if tail > limit else -1
    terms = (
        math.comb(trials, hits) * chance**hits * failure ** (trials - hits)
        for hits in range(count + 1)
    )
    return sum(terms, start=Fraction(0)) - delta


def _needed(alpha: Fraction, delta: Fraction) -> int:
    """Return the least number of held-out examples with ``(1 - alpha)^h <= delta``."""
    number = math.log(delta) / math.log1p(-float(alpha))
    nearest = max(1, round(number))
    if abs(number - nearest) > _CLOSE * nearest:
        return math.ceil(number)
    # Next to a whole number the powers themselves decide.
    return nearest if (1 - alpha) ** nearest <= delta else nearest + 1


@attrs.frozen(kw_only=True)
class Pac(HeldOut):
    """Bound the distribution function of the mean p-value where it matters only.

    The p-value of r is the alpha at which ``BinomCDF(#{i : rho_i <= r}; h, alpha) = delta``
    (Clopper-Pearson), 1 where all held-out rho_i are at most r. Its sets are those of the k-th
    smallest held-out rho with ``k = max{k : BinomCDF(k - 1; h, alpha) <= delta}``.

    Attributes
    ----------
    held_out : float
        Share of the calibration examples that is set aside.
    delta : float
        Probability with which the guarantee may fail.

    References
    ----------
    Vovk, Conditional validity of inductive conformal predictors, ACML 2012, Proposition 2a.
    """

    delta: float = attrs.field(default=1e-4, validator=_INSIDE)

    def _bounds(self, counts: Ints, size: int) -> Floats:
        from scipy.special import bdtri

        delta = exact(self.delta)
        below = counts < size
        bounds = np.ones(len(counts), dtype=np.float64)
        bounds[below] = bdtri(counts[below].astype(np.float64), size, float(delta))
        # The tail falls as alpha grows: it exceeds delta exactly while alpha is below the bound.
        bounds[below] = settle(
            bounds[below],
            lambda at, alpha: _excess(int(counts[below][at]), size, alpha, delta),
            spacings=_SPACINGS,
        )
        return bounds

    def guarantee(self, claim: Claim, summary: CalibrationSummary, alpha: Fraction) -> Guarantee:
        delta = exact(self.delta)
        count = summary.n_held_out
        least = 1.0 - float(delta) ** (1.0 / count)
        needed = _needed(alpha, delta)
        marginal = bounded((1 - alpha) * (1 - delta), typed=False)
        return summary.guarantee(
            claim,
            alpha,
            1 - alpha,
            reason="coverage of one calibration is a beta quantile of the held-out ranks, or more",
            reference="Vovk, Conditional validity of inductive conformal predictors, 2012",
            needed=needed,
            least_alpha=least,
            held_out=True,
            independent=True,
            vacuous=count < needed,
            confidence=1 - delta,
            notes=(f"on average over calibrations too: {marginal}",),
        )
