"""The oracles agree with each other: each equation is there in two forms."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import ceil, floor, inf
from random import Random

import pytest

from exact_checks import Law, excess, law_of, oracle_p, random_bag, voted_outcomes
from exact_oracles import (
    Drawn,
    Rule,
    algorithm_rank,
    algorithm_threshold,
    band,
    binomial_cdf,
    drawn,
    expected,
    label_at,
    pac_rank,
    vote,
)

AVERAGE = Rule("average")


def random_calibration(random: Random, m: int, n: int) -> Drawn:
    values = random.choice([2, 5, 1000])
    return Drawn(tuple(tuple(float(random.randrange(values)) for _ in range(n)) for _ in range(m)))


def test_algorithm_1_is_the_averaged_p_value_at_every_boundary() -> None:
    random = Random(1)
    for _ in range(150):
        m, n = random.randint(1, 6), random.randint(1, 12)
        calibration = random_calibration(random, m, n)
        boundary = Fraction(random.randint(1, m * (n + 1) - 1 or 1), m * (n + 1))
        for alpha in (boundary, boundary + Fraction(1, 10**9), Fraction(1, 10), Fraction(29, 100)):
            if 0 < alpha < 1:
                assert algorithm_threshold(calibration, alpha) == AVERAGE.threshold(
                    calibration, [], alpha
                )


def test_an_imagined_infinity_of_draws_is_the_expected_calibration() -> None:
    """Draws in exact proportion to the plausibilities give the expected p-value at once."""
    random = Random(2)
    for _ in range(40):
        bag = random_bag(random, size=4, labels=3, values=4, annotators=(3, 4))
        labels = [
            [k for k in range(3) for _ in range(int(12 * masses[k]))] for masses in bag.masses
        ]
        by_draws = drawn(bag.scores, list(zip(*labels, strict=True)))
        limit = expected(bag.scores, bag.masses)
        for s in range(-1, 5):
            assert by_draws.mean(s) == limit.mean(s)


def test_one_hot_draws_give_the_threshold_of_one_draw() -> None:
    random = Random(3)
    for _ in range(50):
        (row,) = random_calibration(random, 1, 9).scores
        for alpha in (Fraction(1, 10), Fraction(3, 10), Fraction(57, 100)):
            rank = floor(alpha * 10)
            assert algorithm_threshold(Drawn((row,) * 7), alpha) == sorted(row)[rank - 1]
            assert ceil(Fraction(algorithm_rank(alpha, 7, 9), 7)) == rank


def test_the_rank_is_the_paper_s_at_ten_percent_of_nine() -> None:
    assert algorithm_rank(Fraction(1, 10), 1, 9) == 1
    assert algorithm_rank(Fraction(1, 10), 1, 8) == 0
    assert algorithm_threshold(Drawn(((5.0,) * 8,)), Fraction(1, 10)) == -inf
    # 0.29 * 100 and 0.7 * 3 * 10 are below 29 and 21 in floats.
    assert floor(0.29 * 100) == 28
    assert algorithm_rank(Fraction("0.29"), 1, 99) == 29
    assert algorithm_rank(Fraction("0.7"), 3, 9) == 19


def test_the_bands_known_numbers() -> None:
    delta, alpha = Fraction(1, 10_000), Fraction(1, 10)
    assert band(495, delta, True) > alpha > band(496, delta, True)
    assert band(460, delta, False) > alpha > band(461, delta, False)
    # exp(2 h eps^2) = 2 / delta, to more digits than a double has.
    eps = Decimal(band(60, delta, True).numerator) / Decimal(band(60, delta, True).denominator)
    assert abs((120 * eps * eps).exp() - 20_000) < Decimal("1e-20")


def test_the_pac_rank_s_known_number() -> None:
    delta, alpha = Fraction(1, 10_000), Fraction(1, 10)
    assert pac_rank(87, alpha, delta) == 0
    assert pac_rank(88, alpha, delta) == 1
    assert binomial_cdf(0, 88, alpha) == (1 - alpha) ** 88
    assert binomial_cdf(5, 5, alpha) == 1


def test_votes_and_draws_break_ties_in_the_order_of_labels() -> None:
    half = Fraction(1, 2)
    assert vote([Fraction(0), half, half]) == 1
    assert label_at([Fraction(0), half, half], Fraction(0)) == 1
    assert label_at([half, Fraction(0), half], half) == 2


@pytest.mark.parametrize("rule", ["average", "maximum"])
def test_drawn_rules_are_valid_on_every_bag(rule: str) -> None:
    random = Random(4)
    for size, labels, m in [(2, 3, 3), (3, 2, 3), (3, 3, 2), (4, 2, 2), (6, 2, 1)]:
        for _ in range(3):
            bag = random_bag(random, size, labels, values=4)
            assert excess(law_of(bag, oracle_p(Rule(rule)), m)) <= 0


def test_expected_is_valid_on_every_bag() -> None:
    random = Random(5)
    for _ in range(300):
        bag = random_bag(
            random, random.randint(2, 6), random.randint(1, 4), values=5, annotators=(3, 4)
        )
        law = law_of(bag, oracle_p(AVERAGE), None)
        assert excess(law) <= 0
        assert excess(law_of(bag, oracle_p(Rule("twice-average")), None), Fraction(1, 2)) <= 0


def test_held_out_rank_is_valid_over_random_roles() -> None:
    random = Random(6)
    for size, held, m in [(4, 1, 2), (5, 2, 1), (5, 2, None), (5, 3, None)]:
        for _ in range(3):
            bag = random_bag(random, size, labels=2, values=4)
            assert excess(law_of(bag, oracle_p(Rule("held-out-rank")), m, held)) <= 0


def test_votes_do_not_cover_what_experts_say() -> None:
    """The calibration that everybody uses is valid for the vote and only for the vote."""
    random = Random(7)
    worst = Fraction(-1)
    for _ in range(60):
        bag = random_bag(random, size=5, labels=2, values=5)
        voted: Law = {}
        answered: Law = {}
        for test, (chance, calibration, score) in enumerate(voted_outcomes(bag)):
            p = calibration.mean(score)
            voted[p] = voted.get(p, Fraction(0)) + chance
            for mass, another in bag.choices(test):
                p = calibration.mean(another)
                answered[p] = answered.get(p, Fraction(0)) + chance * mass
        assert excess(voted) <= 0
        worst = max(worst, excess(answered))
    assert worst >= Fraction(1, 10)
