"""A threshold that holds for this calibration, without a band."""

from __future__ import annotations

import math
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

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
    settle,
)

# scipy inverts the binomial distribution to about this many units in the last place.
_SPACINGS = 4096
_CLOSE = 1e-9


# Of the tail: fifty digits, of which ten are more than its rounding can reach.
_DIGITS, _SURE = 50, Decimal("1e-40")


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
class Pac:
    """Bound the distribution function of the mean p-value where it matters only.

    The p-value of r is the alpha at which ``BinomCDF(#{i : rho_i <= r}; h, alpha) = delta``
    (Clopper-Pearson), 1 where all held-out rho_i are at most r. Its sets are those of the k-th
    smallest held-out rho with ``k = max{k : BinomCDF(k - 1; h, alpha) <= delta}``.

    Attributes
    ----------
    held_out : float
        Share of the calibration examples that is set aside.
    delta : float
        Probability with which the promise may fail.

    References
    ----------
    Vovk, Conditional validity of inductive conformal predictors, ACML 2012, Proposition 2a.
    """

    needs: ClassVar[Needs] = "mean"
    held_out: float = held_out_field()
    delta: float = delta_field()

    def combine(self, p: PValues, held_out: PValues | None) -> Floats:
        """Return the Clopper-Pearson p-value of each query."""
        from scipy.special import bdtri

        aside = require_held_out(held_out)
        trials, delta = aside.size, exact(self.delta)
        counts, place = np.unique(aside.at_most(p), return_inverse=True)
        below = counts < trials
        bounds = np.ones(len(counts), dtype=np.float64)
        bounds[below] = bdtri(counts[below].astype(np.float64), trials, float(delta))
        # The tail falls as alpha grows: it exceeds delta exactly while alpha is below the bound.
        settled = settle(
            bounds[below],
            lambda at, alpha: _excess(int(counts[below][at]), trials, alpha, delta),
            spacings=_SPACINGS,
        )
        bounds[below] = settled
        return bounds[place].reshape(np.shape(p.numerators))

    def guarantee(self, claim: Claim, summary: CalibrationSummary, alpha: Fraction) -> Guarantee:
        """Return the promise for this calibration, and its marginal form."""
        delta = exact(self.delta)
        count = summary.n_held_out
        least = 1.0 - float(delta) ** (1.0 / count)
        needed = _needed(alpha, delta)
        marginal = bounded((1 - alpha) * (1 - delta), typed=False)
        return summary.guarantee(
            claim,
            alpha,
            1 - alpha,
            why="coverage given the calibration is a beta quantile of the held-out ranks, or more",
            reference="Vovk, Conditional validity of inductive conformal predictors, 2012",
            needed=needed,
            least_alpha=least,
            held_out=True,
            independent=True,
            vacuous=count < needed,
            confidence=1 - delta,
            notes=(f"on average over calibrations too: {marginal}",),
        )
