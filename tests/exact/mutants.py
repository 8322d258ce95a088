"""Deliberately wrong rules, each the mistake of a day, and the check that each must fail."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor

import numpy as np

from exact_bags import Bag, Outcome, PValuesOf, calibration_of
from exact_checks import (
    Decide,
    check_average,
    check_drawn,
    check_expected,
    check_guarantee,
    check_masses,
    check_split,
)
from exact_oracles import (
    Calibration,
    Drawn,
    Weighted,
    algorithm_rank,
    at_most,
    binomial_cdf,
    order_statistic,
)


@dataclass(frozen=True)
class Mutant:
    """A wrong rule and the check that goes red if the project's code became it."""

    name: str
    run: Callable[[], None]


def pooled(calibration: Calibration) -> list[float]:
    assert isinstance(calibration, Drawn)
    return [score for row in calibration.scores for score in row]


def counts(calibration: Calibration, s: float) -> tuple[int, int, int]:
    """Return the pooled count at or below s, m and n."""
    assert isinstance(calibration, Drawn)
    return sum(a <= s for a in pooled(calibration)), len(calibration.scores), calibration.n


def by_p(p: Callable[[int, int, int], Fraction]) -> Decide:
    """Return decisions by a p-value of (count, m, n)."""
    return lambda calibration, alpha, scores: [p(*counts(calibration, s)) > alpha for s in scores]


def by_rank(rank: Callable[[Fraction, int, int], int]) -> Decide:
    """Return decisions by an order statistic of the pool."""

    def decide(calibration: Calibration, alpha: Fraction, scores: Sequence[float]) -> list[bool]:
        assert isinstance(calibration, Drawn)
        k = rank(alpha, len(calibration.scores), calibration.n)
        tau = order_statistic(pooled(calibration), k)
        return [s >= tau for s in scores]

    return decide


def bagged(p: Callable[[int, int, int], Fraction]) -> PValuesOf:
    """Return p-values of (count, m, n) for enumeration."""

    def p_values(bag: Bag, outcome: Outcome) -> list[Fraction]:
        calibration = calibration_of(bag, outcome)
        return [p(*counts(calibration, s)) for s in bag.scores[outcome.test]]

    return p_values


def own_mass_one(c: int, m: int, n: int) -> Fraction:
    return Fraction(c + 1, m * (n + 1))


def naive_rank(c: int, m: int, n: int) -> Fraction:
    return Fraction(c + 1, m * n + 1)


def wrong_total(c: int, m: int, n: int) -> Fraction:
    return Fraction(c + m, m * n + 1)


def not_strict(calibration: Calibration, alpha: Fraction, scores: Sequence[float]) -> list[bool]:
    return [calibration.mean(s) >= alpha for s in scores]


def strictly_below(c: int, m: int, n: int) -> Fraction:
    """The own mass forgotten altogether."""
    return Fraction(c, m * (n + 1))


def float_floor(alpha: Fraction, m: int, n: int) -> int:
    return floor(float(alpha) * m * (n + 1)) - m + 1


def standard_rank(alpha: Fraction, m: int, n: int) -> int:
    """Split conformal prediction's quantile level on the pool of m n scores."""
    return floor(alpha * (n + 1) * m)


def float_masses(calibration: Calibration, alpha: Fraction, scores: Sequence[float]) -> list[bool]:
    """Expected calibration by a cumulative sum of doubles."""
    assert isinstance(calibration, Weighted)
    values = np.array([score for score, _ in calibration.weighted])
    masses = np.array([float(mass) for _, mass in calibration.weighted])
    order = np.argsort(values, kind="stable")
    cumulated = np.cumsum(masses[order])
    reached = np.searchsorted(values[order], np.array(scores), side="right")
    below = np.concatenate([[0.0], cumulated])[reached]
    return [bool(b > float(alpha) * (calibration.n + 1) - 1) for b in below]


def no_own_mass(bag: Bag, outcome: Outcome) -> list[Fraction]:
    """Expected calibration that forgets the test example's own mass."""
    calibration = calibration_of(bag, outcome)
    n = len(outcome.first)
    return [(calibration.mean(s) * (n + 1) - 1) / n for s in bag.scores[outcome.test]]


def first_replicate_of_least(bag: Bag, outcome: Outcome) -> list[Fraction]:
    """The least p-value of the replicates instead of the largest."""
    calibration = calibration_of(bag, outcome)
    return [min(calibration.each(s)) for s in bag.scores[outcome.test]]


def repeated_labels(bag: Bag, outcome: Outcome) -> list[Fraction]:
    """Held-out rank that counts ten labels per example and still adds one."""
    calibration = calibration_of(bag, outcome)
    rhos = [calibration.mean(s) for s in outcome.held for _ in range(10)]
    return [
        Fraction(at_most(rhos, calibration.mean(s)) + 1, len(rhos) + 1)
        for s in bag.scores[outcome.test]
    ]


def rank_without_one(bag: Bag, outcome: Outcome) -> list[Fraction]:
    """Held-out rank as a plain share."""
    calibration = calibration_of(bag, outcome)
    rhos = [calibration.mean(s) for s in outcome.held]
    return [
        Fraction(at_most(rhos, calibration.mean(s)), len(rhos)) for s in bag.scores[outcome.test]
    ]


def pac_one_too_far(
    held: Sequence[float], scores: Sequence[float], alphas: Sequence[Fraction]
) -> list[list[bool]]:
    """BinomCDF(k - 2) where it should be BinomCDF(k - 1)."""
    decisions = []
    for alpha in alphas:
        k = 0
        while k < len(held) and binomial_cdf(k - 1, len(held), alpha) <= DELTA:
            k += 1
        decisions.append([k == 0 or s >= sorted(held)[k - 1] for s in scores])
    return decisions


def plain_share(
    held: Sequence[float], scores: Sequence[float], alphas: Sequence[Fraction]
) -> list[list[bool]]:
    """The empirical distribution without its band."""
    shares = [Fraction(sum(a <= s for a in held), len(held)) for s in scores]
    return [[share > alpha for share in shares] for alpha in alphas]


DELTA = Fraction(1, 4)

MUTANTS = (
    Mutant("own mass 1: decisions", lambda: check_average(by_p(own_mass_one))),
    Mutant("own mass 1: enumeration", lambda: check_drawn(bagged(own_mass_one))),
    Mutant("(c + 1) / (m n + 1): enumeration", lambda: check_drawn(bagged(naive_rank))),
    Mutant("(c + 1) / (m n + 1): decisions", lambda: check_average(by_p(naive_rank))),
    Mutant("(c + m) / (m n + 1): decisions", lambda: check_average(by_p(wrong_total))),
    Mutant("no own mass: enumeration", lambda: check_drawn(bagged(strictly_below))),
    Mutant("p >= alpha: decisions", lambda: check_average(not_strict)),
    Mutant("p >= alpha, expected: decisions", lambda: check_expected(not_strict)),
    Mutant("k + 1", lambda: check_average(by_rank(lambda a, m, n: algorithm_rank(a, m, n) + 1))),
    Mutant("k - 1", lambda: check_average(by_rank(lambda a, m, n: algorithm_rank(a, m, n) - 1))),
    Mutant("floor of floats", lambda: check_average(by_rank(float_floor))),
    Mutant("standard rank on the pool", lambda: check_average(by_rank(standard_rank))),
    Mutant("cumulative sum of doubles", lambda: check_expected(float_masses)),
    Mutant("expected without own mass", lambda: check_masses(no_own_mass)),
    Mutant("least for largest", lambda: check_drawn(first_replicate_of_least)),
    Mutant("held-out + 1 with ten labels", lambda: check_split(repeated_labels)),
    Mutant("held-out share without + 1", lambda: check_split(rank_without_one)),
    Mutant("pac one too far", lambda: check_guarantee(pac_one_too_far, DELTA)),
    Mutant("ecdf without band", lambda: check_guarantee(plain_share, DELTA)),
)
