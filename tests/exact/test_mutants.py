"""The checks can fail: every listed mutant does, and so does the project's code with a slip in it.

`exact_checks` holds the checks that `test_bags.py` puts the project to. Here the same checks meet
wrong rules, then the project's own code with one line replaced. A slip's check names the test that
goes red: `check_average` and `check_expected` are `test_decisions_at_the_boundaries`, `check_drawn`
`test_average_keeps_one_minus_alpha`, `check_split` `test_held_out_rank_keeps_one_minus_alpha`,
`check_guarantee` `test_guarantees_for_one_calibration`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor

import numpy as np
import pytest

from exact_checks import (
    Bag,
    Decide,
    Outcome,
    PValuesOf,
    calibration_of,
    check_average,
    check_drawn,
    check_expected,
    check_guarantee,
    check_masses,
    check_split,
    decide_by_p,
    decide_by_threshold,
    decide_guaranteed,
    pools_of,
    product_p,
)
from exact_oracles import (
    Calibration,
    Drawn,
    Rule,
    Weighted,
    algorithm_rank,
    at_most,
    binomial_cdf,
    order_statistic,
)
from plausibly.calibration import pvalues as pools
from plausibly.calibration.pvalues import PValues
from plausibly.kernels import ranks
from plausibly.kernels.types import Floats
from plausibly_builtins.combiners.held_out import HeldOutRank


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


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: str(mutant.name))
def test_a_mutant_goes_red(mutant: Mutant) -> None:
    with pytest.raises(AssertionError):
        mutant.run()


@dataclass(frozen=True)
class Slip:
    """One place in the project's code, what it becomes, and the check that must fail."""

    place: str
    becomes: object
    check: Callable[[], None]
    name: str


def average_by_p() -> None:
    check_average(decide_by_p)


def average_by_threshold() -> None:
    check_average(decide_by_threshold)


def expected_by_p() -> None:
    check_expected(decide_by_p)


def expected_by_threshold() -> None:
    check_expected(decide_by_threshold)


def average_in_bags() -> None:
    check_drawn(product_p(Rule("average")))


def ranks_in_bags() -> None:
    check_split(product_p(Rule("held-out-rank")))


def guarantee(name: str) -> Callable[[], None]:
    bag = Drawn(((0.5, 2.5, 4.5), (1.5, 6.5, 8.5), (3.5, 5.5, 7.5)))
    return lambda: check_guarantee(decide_guaranteed(Rule(name, DELTA), pools_of(bag)), DELTA)


def share_of_ranks(self: HeldOutRank, p: PValues, held_out: PValues | None) -> Floats:
    assert held_out is not None
    shares: Floats = held_out.at_most(p) / held_out.size
    return shares


counting = pools._counting
statistic = ranks.order_statistic
rank = ranks.weighted_rank
searched = np.searchsorted

SLIPS = (
    Slip(
        "plausibly.calibration.pvalues._counting",
        lambda scores, test_mass: counting(scores, 1),
        average_by_p,
        "own mass 1: decisions",
    ),
    Slip(
        "plausibly.calibration.pvalues._counting",
        lambda scores, test_mass: counting(scores, 1),
        average_in_bags,
        "own mass 1: enumeration",
    ),
    Slip(
        "plausibly.calibration.pvalues.Pool.numerators",
        lambda self, scores: (
            self.cumulative[searched(self.ordered, scores, side="left")] + self.test_mass
        ),
        average_by_p,
        "ties of scores not counted: decisions",
    ),
    Slip(
        "plausibly.calibration.threshold.exceed",
        lambda combined, alpha: combined >= float(alpha),
        average_by_threshold,
        "p >= alpha: decisions",
    ),
    Slip(
        "plausibly.calibration.threshold.exceed",
        lambda combined, alpha: combined >= float(alpha),
        expected_by_threshold,
        "p >= alpha, expected: decisions",
    ),
    Slip(
        "plausibly.calibration.threshold.order_statistic",
        lambda ordered, k: statistic(ordered, k + 1),
        average_by_threshold,
        "k + 1: decisions",
    ),
    Slip(
        "plausibly.calibration.threshold.order_statistic",
        lambda ordered, k: statistic(ordered, k - 1),
        average_by_threshold,
        "k - 1: decisions",
    ),
    Slip(
        "plausibly.calibration.threshold.weighted_rank",
        lambda cumulative, mass: rank(cumulative, mass + 1),
        expected_by_threshold,
        "one unit of mass more: decisions",
    ),
    Slip(
        "plausibly.calibration.pvalues.common_masses",
        lambda units, row, denominator, **_: (units.astype(np.int64), int(denominator.max())),
        expected_by_p,
        "no common denominator: decisions",
    ),
    Slip(
        "plausibly_builtins.combiners.held_out.HeldOutRank.combine",
        share_of_ranks,
        ranks_in_bags,
        "held-out share without + 1: enumeration",
    ),
    Slip(
        "plausibly_builtins.combiners.held_out._band",
        lambda delta, sides, count: 0,
        guarantee("ecdf"),
        "no band: guarantee",
    ),
    Slip(
        "scipy.special.bdtri",
        lambda counts, trials, delta: (counts + 1) / (trials + 1),
        guarantee("pac"),
        "plain rank for Clopper-Pearson: guarantee",
    ),
)


@pytest.mark.parametrize("slip", SLIPS, ids=lambda slip: str(slip.name))
def test_a_slip_in_the_code_goes_red(slip: Slip, monkeypatch: pytest.MonkeyPatch) -> None:
    # A place that does not exist is an error here, so no slip outlives what it slips in.
    monkeypatch.setattr(slip.place, slip.becomes)
    with pytest.raises(AssertionError):
        slip.check()
