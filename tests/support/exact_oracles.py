"""Right answers by brute force, from the equations, with fractions and loops.

Nothing here imports the project: a calibration is a list of replicates or of weighted atoms, a
test score is a number, and every p-value is a `Fraction` got by counting. Slow on purpose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache, cached_property
from math import comb, floor, inf

ONE = Fraction(1)


@dataclass(frozen=True)
class Drawn:
    """Monte Carlo or majority vote: `scores[j][i]` is the score of example i's j-th label."""

    scores: tuple[tuple[float, ...], ...]

    @property
    def n(self) -> int:
        return len(self.scores[0])

    @property
    def atoms(self) -> list[float]:
        return sorted({score for row in self.scores for score in row})

    def each(self, s: float) -> list[Fraction]:
        """Return one split-conformal p-value a replicate: (how many lie at or below s, + 1) / N."""
        return [Fraction(sum(a <= s for a in row) + 1, self.n + 1) for row in self.scores]

    def mean(self, s: float) -> Fraction:
        """Return the mean of the p-values of the replicates (Algorithm 1)."""
        if s not in self.known:
            each = self.each(s)
            self.known[s] = sum(each, Fraction(0)) / len(each)
        return self.known[s]

    @cached_property
    def known(self) -> dict[float, Fraction]:
        return {}


@dataclass(frozen=True)
class Weighted:
    """Expected calibration: every label's score, with the label's plausibility as its mass."""

    weighted: tuple[tuple[float, Fraction], ...]
    n: int

    @property
    def atoms(self) -> list[float]:
        return sorted({score for score, mass in self.weighted if mass > 0})

    def each(self, s: float) -> list[Fraction]:
        raise LookupError("expected calibration has no separate replicates")

    def mean(self, s: float) -> Fraction:
        """Return (mass at or below s, + 1) / N."""
        if s not in self.known:
            below = sum((mass for score, mass in self.weighted if score <= s), Fraction(0))
            self.known[s] = (below + 1) / (self.n + 1)
        return self.known[s]

    @cached_property
    def known(self) -> dict[float, Fraction]:
        return {}


Calibration = Drawn | Weighted


def drawn(scores: Sequence[Sequence[float]], labels: Sequence[Sequence[int]]) -> Drawn:
    """Return the calibration in which draw j of example i is `labels[j][i]`."""
    return Drawn(tuple(tuple(scores[i][k] for i, k in enumerate(row)) for row in labels))


def expected(scores: Sequence[Sequence[float]], masses: Sequence[Sequence[Fraction]]) -> Weighted:
    """Return the calibration that keeps every label with its plausibility."""
    pairs = tuple(
        (score, mass)
        for row, weights in zip(scores, masses, strict=True)
        for score, mass in zip(row, weights, strict=True)
    )
    return Weighted(pairs, len(scores))


def vote(plausibilities: Sequence[Fraction]) -> int:
    """Return the first largest label."""
    return max(range(len(plausibilities)), key=lambda k: (plausibilities[k], -k))


def label_at(plausibilities: Sequence[Fraction], uniform: Fraction) -> int:
    """Return the label in whose stretch of the cumulated plausibilities `uniform` lies."""
    total = Fraction(0)
    for k, mass in enumerate(plausibilities):
        total += mass
        if uniform < total:
            return k
    raise ValueError("the uniform lies beyond the total")


# Algorithm 1, by its rank


def algorithm_rank(alpha: Fraction, m: int, n: int) -> int:
    """Return k = floor(alpha m (n + 1)) - m + 1."""
    return floor(alpha * m * (n + 1)) - m + 1


def order_statistic(values: Sequence[float], k: int) -> float:
    """Return the k-th smallest value; -inf below the first, +inf above the last."""
    if k <= 0:
        return -inf
    return inf if k > len(values) else sorted(values)[k - 1]


def algorithm_threshold(calibration: Drawn, alpha: Fraction) -> float:
    pool = [score for row in calibration.scores for score in row]
    k = algorithm_rank(alpha, len(calibration.scores), calibration.n)
    return order_statistic(pool, k)


# Combiners


@dataclass(frozen=True)
class Rule:
    """A way to make one decision out of a calibration, and of held-out p-values where it has any.

    `p` is the exact p-value (for `ecdf` to 50 digits, for `pac` there is none: `keeps` decides).
    """

    name: str
    delta: Fraction = Fraction(1, 10_000)
    two_sided: bool = True

    @property
    def splits(self) -> bool:
        return self.name in ("ecdf", "held-out-rank", "pac")

    def p(self, calibration: Calibration, held_out: Sequence[Fraction], s: float) -> Fraction:
        """Return the p-value of a test score; `held_out` are the held-out mean p-values."""
        if self.name == "maximum":
            return max(calibration.each(s))
        mean = calibration.mean(s)
        match self.name:
            case "average":
                return mean
            case "twice-average":
                return min(ONE, 2 * mean)
            case "held-out-rank":
                return Fraction(at_most(held_out, mean) + 1, len(held_out) + 1)
            case "ecdf":
                share = Fraction(at_most(held_out, mean), len(held_out))
                return min(ONE, share + band(len(held_out), self.delta, self.two_sided))
        raise LookupError(self.name)

    def keeps(
        self, calibration: Calibration, held_out: Sequence[Fraction], s: float, alpha: Fraction
    ) -> bool:
        """Return whether a label with score `s` is in the prediction set."""
        if self.name != "pac":
            return self.p(calibration, held_out, s) > alpha
        k = pac_rank(len(held_out), alpha, self.delta)
        return k == 0 or calibration.mean(s) >= sorted(held_out)[k - 1]

    def threshold(
        self, calibration: Calibration, held_out: Sequence[Fraction], alpha: Fraction
    ) -> float:
        """Return the least atom that is kept: -inf where every score is, +inf where none is."""
        for s in [-inf, *calibration.atoms]:
            if self.keeps(calibration, held_out, s, alpha):
                return s
        return inf


def at_most(values: Sequence[Fraction], bound: Fraction) -> int:
    return sum(value <= bound for value in values)


@cache
def band(h: int, delta: Fraction, two_sided: bool) -> Fraction:
    """Return sqrt(log(2 / delta) / (2 h)) to 50 digits; log(1 / delta) where one-sided."""
    with localcontext() as context:
        context.prec = 60
        ratio = Fraction(2 if two_sided else 1) / delta
        logarithm = (Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln()
        return Fraction(+(logarithm / (2 * h)).sqrt())


@cache
def binomial_cdf(successes: int, trials: int, share: Fraction) -> Fraction:
    """Return P(Binomial(trials, share) <= successes), exactly."""
    return sum(
        (
            comb(trials, i) * share**i * (1 - share) ** (trials - i)
            for i in range(min(successes, trials) + 1)
        ),
        Fraction(0),
    )


@cache
def pac_rank(h: int, alpha: Fraction, delta: Fraction) -> int:
    """Return max{k : BinomCDF(k - 1; h, alpha) <= delta}, 0 where there is none."""
    k = 0
    while k < h and binomial_cdf(k, h, alpha) <= delta:
        k += 1
    return k
