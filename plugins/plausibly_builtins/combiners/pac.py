"""Guarantees for one calibration: upper bounds of the mean missed mass, at one threshold."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import Literal, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from plausibly.plugin import (
    CalibrationScores,
    CalibrationSummary,
    Claim,
    Floats,
    Guarantee,
    Ints,
    Pools,
    PValues,
    bounded,
    exact,
    settle,
)
from plausibly_builtins.combiners.held_out import INSIDE, HeldOut

Bound: TypeAlias = Literal["betting", "binomial", "hoeffding-bentkus", "held-out"]

# scipy inverts the binomial distribution to about this many units in the last place.
_SPACINGS = 4096

# Of the tail: fifty digits, of which ten are more than its rounding can reach.
_DIGITS, _SURE = 50, Decimal("1e-40")

_E = Fraction("2.718281828459045236")  # Euler's number, rounded up
_EPSILON = float(np.finfo(np.float64).eps)
_EXACT_BITS = 53
_HALVINGS = 60

# Bets are renewed when there are so many times as many past examples. The variance of the losses
# counts as its largest possible value at first, with the weight of a few examples.
_GROWTH, _PRIOR = 1.25, 5.0

_FIXED = "score, alpha, delta, bound and seed were chosen without these answers"


@attrs.frozen(kw_only=True)
class Pac(HeldOut):
    """Guarantee the mean missed mass of this calibration, with probability 1 - delta.

    The missed mass ``L_i(tau) = sum_k lambda_ik 1[E_ik < tau]`` of all answers of an example is
    in [0, 1] and does not fall in tau. A test at level delta of ``E[L(tau)] > alpha`` that is
    monotone in tau gives the threshold: the last score at which it rejects.

    Attributes
    ----------
    delta : float
        Probability over the calibration with which the guarantee may fail.
    bound : {"betting", "binomial", "hoeffding-bentkus", "held-out"}, optional
        ``"betting"``: capital of bets against a mean above alpha; thresholds, no p-values.
        ``"binomial"``: exact, for one drawn label of every example. ``"hoeffding-bentkus"``: of
        the mean alone, no order of examples and no draw. ``"held-out"``: binomial, for replicates
        with test scores of their own. By default binomial where each example has one score
        (majority-vote, mass-coverage, one draw), else betting.
    held_out : float
        Share of the calibration examples that is set aside; for ``"held-out"`` only, 0.5 there.

    References
    ----------
    Bates, Angelopoulos, Lei, Malik & Jordan, Distribution-free, risk-controlling prediction sets,
    arXiv 2101.02703; Waudby-Smith & Ramdas, Estimating means of bounded random variables by
    betting, arXiv 2010.09686; Vovk, Conditional validity of inductive conformal predictors, ACML
    2012, Proposition 2a.
    """

    delta: float = attrs.field(default=1e-4, validator=INSIDE)
    bound: Bound | None = None
    held_out: float = attrs.field()

    @held_out.default
    def _default_share(self) -> float:
        return 0.5 if self.bound == "held-out" else 0.0

    @held_out.validator
    def _check_share(self, _: object, value: float) -> None:
        aside = self.bound == "held-out"
        if not 0 <= value < 1 or (value > 0) != aside:
            goes = "0 < held_out < 1" if aside else "no 'held_out'"
            msg = f"bound {self.bound!r} goes with {goes}; bound='held-out' sets examples aside"
            raise ValueError(msg)

    @property
    def needs(self) -> Literal["mean", "losses"]:
        """The losses, or with held-out examples the mean p-value."""
        return "mean" if self.bound == "held-out" else "losses"

    def _chosen(self, counting: bool, replicates: int) -> Bound:
        """Return the bound; by default by what is known before the data."""
        zero_one = counting and replicates == 1
        return self.bound or ("binomial" if zero_one else "betting")

    def p_values_exist(self, summary: CalibrationSummary) -> bool:
        return self._chosen(summary.equal_masses, summary.m) != "betting"

    def combine(self, p: PValues, held_out: PValues | None) -> Floats:
        if self.bound == "held-out":
            return super().combine(p, held_out)
        calibration, scores = p.pools.calibration, np.asarray(p.scores)
        bound = self._chosen(calibration.counting, len(calibration.scores))
        if bound == "betting":
            msg = "betting has thresholds and no p-values"
            raise ValueError(msg)
        if bound == "binomial":
            drawn = np.sort(_Losses.of(calibration).drawn())
            missed = np.searchsorted(drawn, scores, side="right")
            counts, place = np.unique(missed, return_inverse=True)
            found = self._bounds(counts, len(drawn), calibration.test_mass)
        else:
            masses, place = np.unique(p.pools.pooled.at_most(scores), return_inverse=True)
            found = _MeanTest.of(p.pools, exact(self.delta)).p_values(masses)
        return found[place]

    def _bounds(self, counts: Ints, size: int, most: Fraction = Fraction(1)) -> Floats:
        """Return `most` times the alpha at which the binomial tail of each count is delta."""
        from scipy.special import bdtri

        delta = exact(self.delta)
        below = counts < size
        bounds = np.full(len(counts), float(most))
        tails = bdtri(counts[below].astype(np.float64), size, float(delta))
        # The tail falls as alpha grows: it exceeds delta exactly while alpha is below the bound.
        bounds[below] = settle(
            float(most) * tails,
            lambda at, alpha: _excess(int(counts[below][at]), size, alpha / most, delta),
            spacings=_SPACINGS,
        )
        capped: Floats = np.minimum(bounds, 1.0)
        return capped

    def threshold(self, pools: Pools, alpha: Fraction) -> float:
        calibration, delta = pools.calibration, exact(self.delta)
        share = alpha / calibration.test_mass
        if share >= 1:
            return math.inf
        bound = self._chosen(calibration.counting, len(calibration.scores))
        if bound == "hoeffding-bentkus":
            test, masses = _MeanTest.of(pools, delta), pools.pooled.cumulative
            return _last(pools.pooled.ordered, lambda at: test.rejects(int(masses[at]), share))
        losses = _Losses.of(calibration)
        if bound == "betting":
            return _last(losses.scores, _betting(losses, float(share), -math.log(delta)))
        drawn = np.sort(losses.drawn())
        n = len(drawn)
        misses = bisect_left(range(n), True, key=lambda k: _excess(k, n, share, delta) > 0)
        return float(drawn[misses - 1]) if misses else -math.inf

    def guarantee(self, claim: Claim, summary: CalibrationSummary, alpha: Fraction) -> Guarantee:
        delta, held = exact(self.delta), self.bound == "held-out"
        bound = self._chosen(summary.equal_masses, summary.m)
        count = summary.n_held_out if held else summary.n
        if not held:
            claim = attrs.evolve(claim, conditions=(*claim.conditions, _FIXED))
        most = summary.test_mass
        share = alpha / most
        least = math.inf
        if bound == "betting" and count:
            least = math.expm1(-math.log(delta) / count) * float(most)
        elif count:
            least = (1.0 - float(delta) ** (1.0 / count)) * float(most)
        needing = _needed_bets if bound == "betting" else _needed
        needed = 1 if share >= 1 else needing(share, delta)
        reason, reference = _REASONS[bound]
        marginal = bounded((1 - alpha) * (1 - delta), typed=False)
        return summary.guarantee(
            claim,
            alpha,
            1 - alpha,
            reason=reason,
            reference=reference,
            needed=needed,
            least_alpha=least if least < 1 else None,
            held_out=held,
            independent=True,
            vacuous=count < needed,
            confidence=1 - delta,
            notes=(f"on average over calibrations too: {marginal}",)
            if claim.target in ("aggregated", "majority-vote")
            else (),
        )


_REASONS: dict[Bound, tuple[str, str]] = {
    "betting": (
        "capital that bets against a mean missed mass above alpha reaches 1 / delta with "
        "probability at most delta",
        "Ville's inequality; Waudby-Smith & Ramdas, arXiv 2010.09686; docs/guarantee.md",
    ),
    "binomial": (
        "one label of each example, drawn or voted, is missed with the mean missed mass as "
        "probability, in independent trials",
        "exact binomial bound; Bates et al., arXiv 2101.02703; docs/guarantee.md",
    ),
    "hoeffding-bentkus": (
        "the mean of n independent losses in [0, 1] is that far below its expectation with "
        "probability at most delta",
        "Hoeffding-Bentkus bound; Bates et al., arXiv 2101.02703; docs/guarantee.md",
    ),
    "held-out": (
        "coverage of one calibration is a beta quantile of the held-out ranks, or more",
        "Vovk, Conditional validity of inductive conformal predictors, 2012",
    ),
}


def _last(scores: Floats, rejects: Callable[[int], bool]) -> float:
    """Return the last of ascending scores, or inf, up to which a monotone test rejects.

    ``rejects(count)`` tests the losses of the first `count` scores; -inf where it never rejects.
    """
    starts = np.flatnonzero(np.append(True, scores[1:] != scores[:-1]))
    counts = [*starts.tolist(), len(scores)]
    if not rejects(0):
        return -math.inf
    last = bisect_left(range(1, len(counts)), True, key=lambda place: not rejects(counts[place]))
    return math.inf if last == len(starts) else float(scores[counts[last]])


@attrs.frozen(eq=False)
class _Losses:
    """Missed mass of each example at each score: scores in ascending order, examples in theirs."""

    scores: Floats
    row: Ints
    units: NDArray[np.int64]
    total: NDArray[np.float64]
    uniform: Floats

    @classmethod
    def of(cls, calibration: CalibrationScores) -> _Losses:
        order, uniform = calibration.order, calibration.uniform
        if order is None or uniform is None:
            msg = "losses need scores with an order of their examples"
            raise ValueError(msg)
        units, example, denominator = calibration.masses()
        copies, scores = len(calibration.scores), calibration.scores.ravel()
        row = np.tile(order[example], copies)
        units = np.tile(units, copies)
        # Sums of equal scores are added in one order, whatever the order of the rows.
        ascending = np.lexsort((units, row, scores))
        total = np.empty(len(order))
        total[order] = denominator.astype(np.float64) * copies * float(calibration.test_mass)
        # Sums of units are exact in doubles; coarser units are rounded up.
        coarser = max(0, int(total.max()).bit_length() - _EXACT_BITS)
        units = -(-units[ascending] >> coarser)
        draws = np.empty(len(order))
        draws[order] = uniform
        return cls(scores[ascending], row[ascending], units, total / 2.0**coarser, draws)

    def first(self, count: int) -> NDArray[np.float64]:
        """Return the loss of each example if the first scores are below the threshold."""
        missed = np.bincount(self.row[:count], self.units[:count], minlength=len(self.total))
        return np.minimum(missed / self.total, 1.0)

    def drawn(self) -> Floats:
        """Return the score of one label of each example, drawn by mass; inf for mass that lacks.

        Where the mass of the ascending scores passes the uniform: rounded up, it misses more.
        """
        order = np.argsort(self.row, kind="stable")
        row = self.row[order]
        each = np.bincount(row, minlength=len(self.total))
        start = np.cumsum(each) - each
        # Sums of integers: those before a row are taken off again, whatever they come to.
        whole = np.concatenate(([0], np.cumsum(self.units[order])))
        share = (whole[1:] - whole[start][row]) / self.total[row]
        passed = np.bincount(row[share <= self.uniform[row]], minlength=len(each))
        drawn = np.full(len(each), np.inf, dtype=self.scores.dtype)
        known = passed < each
        drawn[known] = self.scores[order][(start + passed)[known]]
        return drawn


def _betting(losses: _Losses, alpha: float, needed: float) -> Callable[[int], bool]:
    """Return the test by the capital ``prod_s (1 + b_s (alpha - L_s))``: it must reach 1 / delta.

    The bets b_s in [0, 1] are the same for all thresholds, so that capital falls in the losses.
    """
    bets = _bets(losses, alpha, needed)

    def rejects(count: int) -> bool:
        gains = np.log1p(bets * (alpha - losses.first(count)))
        capital = np.cumsum(gains)
        error = _rounding(len(gains), alpha, float(np.abs(gains).sum()), needed)
        return float(capital.max()) - error >= needed

    return rejects


def _bets(losses: _Losses, alpha: float, needed: float) -> NDArray[np.float64]:
    """Return the bet on each example, made from the examples before it alone.

    ``min(1, sqrt(2 log(1 / delta) / (n v)))``, with v the mean squared distance from alpha of the
    past losses at the past's own threshold, at most alpha (1 - alpha).
    """
    size = len(losses.total)
    largest = alpha * (1.0 - alpha)
    bets, variance, start = np.empty(size), largest, 0
    while start < size:
        end = min(size, max(start + 1, int(_GROWTH * start)))
        bets[start:end] = min(1.0, math.sqrt(2.0 * needed / (size * variance)))
        past = np.flatnonzero(losses.row < end)
        row, units, scores = losses.row[past], losses.units[past], losses.scores[past]
        missed = np.cumsum(units / losses.total[row])
        count = int(np.searchsorted(missed, alpha * end, side="right"))
        if count < len(scores):
            count = int(np.searchsorted(scores, scores[count]))
        loss = np.bincount(row[:count], units[:count], minlength=end) / losses.total[:end]
        spread = float(((loss - alpha) ** 2).sum())
        variance = min(largest, (_PRIOR * largest + spread) / (_PRIOR + end))
        start = end
    return bets


def _rounding(count: int, alpha: float, gains: float, needed: float) -> float:
    """Return a bound of the rounding errors in the sum of `count` logarithms.

    Factors are at least alpha, with errors of four roundings; logarithms have four units in the
    last place, and each partial sum one rounding more.
    """
    return _EPSILON * (4 * count / alpha + (count + 8) * gains + 4 * (needed + 1))


def _needed_bets(alpha: Fraction, delta: Fraction) -> int:
    """Return the least number of examples without losses with which betting rejects."""
    needed, gain = -math.log(delta), math.log1p(float(alpha))
    count = max(1, math.ceil(needed / gain) - 1)
    while count * gain - _rounding(count, float(alpha), count * gain, needed) < needed:
        count += 1
    return count


@attrs.frozen(eq=False)
class _MeanTest:
    """Hoeffding-Bentkus test of a mean loss: ``mass / total`` over `size` examples."""

    total: Fraction
    size: int
    most: Fraction
    delta: Fraction

    @classmethod
    def of(cls, pools: Pools, delta: Fraction) -> _MeanTest:
        most = pools.calibration.test_mass
        return cls(pools.pooled.base * most, pools.calibration.examples, most, delta)

    def _tail_count(self, mass: int) -> int:
        """Return ``ceil(n mean)``."""
        return min(self.size, math.ceil(self.size * mass / self.total))

    def rejects(self, mass: int, alpha: Fraction) -> bool:
        """Return whether a mean loss above alpha is rejected."""
        if mass >= alpha * self.total:
            return False
        if alpha >= 1:
            return True  # no mean loss is above 1
        if not mass:
            # Hoeffding's bound of no loss is (1 - alpha)^n, which has no rounding.
            return _excess(0, self.size, alpha, self.delta) <= 0
        share, limit = float(mass / self.total), float(alpha)
        parts = (
            share * math.log(share / limit),
            (1.0 - share) * math.log((1.0 - share) / (1.0 - limit)),
        )
        needed = -math.log(self.delta)
        error = _EPSILON * (
            self.size * (8 * sum(map(abs, parts)) + 8 + 4 / (1.0 - limit)) + needed + 1
        )
        if self.size * sum(parts) - error >= needed:
            return True
        return _excess(self._tail_count(mass), self.size, alpha, self.delta / _E) <= 0

    def p_values(self, masses: Ints) -> NDArray[np.float64]:
        """Return `most` times the least alpha at which each mean loss passes."""
        from scipy.special import bdtri, rel_entr

        share = np.array([min(1.0, float(int(mass) / self.total)) for mass in masses])
        low, high = share.copy(), np.ones(len(share))
        needed = -math.log(self.delta) / self.size
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            with np.errstate(divide="ignore"):
                far = rel_entr(share, middle) + rel_entr(1 - share, 1 - middle)
            low, high = np.where(far < needed, middle, low), np.where(far < needed, high, middle)
        counts = np.array([self._tail_count(int(mass)) for mass in masses], dtype=np.float64)
        tails = np.ones(len(share))
        below = counts < self.size
        tails[below] = bdtri(counts[below], self.size, float(self.delta / _E))
        values = settle(
            float(self.most) * np.minimum(high, tails),
            lambda at, alpha: -1 if self.rejects(int(masses[at]), alpha / self.most) else 1,
            spacings=_SPACINGS,
        )
        return np.minimum(values, 1.0)


@lru_cache(maxsize=1 << 12)
def _excess(count: int, trials: int, chance: Fraction, delta: Fraction) -> Fraction | int:
    """Return a number with the sign of the binomial distribution function minus delta."""
    failure = 1 - chance
    with localcontext(Context(prec=_DIGITS, Emin=MIN_EMIN, Emax=MAX_EMAX)):
        yes, no, limit = (
            Decimal(number.numerator) / number.denominator for number in (chance, failure, delta)
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
    """Return the least number of examples with ``(1 - alpha)^n <= delta``."""
    count = max(1, math.ceil(math.log(delta) / math.log1p(-float(alpha))) - 1)
    while _excess(0, count, alpha, delta) > 0:
        count += 1
    return count
