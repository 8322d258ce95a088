"""Each pair that claims 1 - alpha keeps it on every enumerated bag, with the project's own code.

Every test example, test label, draw and role of small random bags; ties, one-hot examples and
impossible labels are among them. `exact_checks` says how; `test_mutants.py` shows that the same
checks fail for wrong rules.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from exact_checks import (
    Law,
    bags,
    check_average,
    check_drawn,
    check_expected,
    check_guarantee,
    check_masses,
    check_split,
    combiner,
    decide_by_p,
    decide_by_threshold,
    decide_guaranteed,
    excess,
    law_of,
    outcomes,
    p_values,
    pools_of,
    product_p,
    random_bag,
    recovered,
    voted_outcomes,
)
from exact_oracles import Drawn, Rule
from plausibly.calibration.data import ArrayScores, CalibrationData
from plausibly.calibration.examples import HashedNames
from plausibly.calibration.pvalues import Pools
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.sparse import Dense
from plausibly.protocols import CALIBRATOR
from plausibly.registry import resolve

from .test_mutants import DELTA

AVERAGE = Rule("average")
HALF = Fraction(1, 2)


def test_decisions_at_the_boundaries() -> None:
    check_average(decide_by_p)
    check_average(decide_by_threshold)
    check_expected(decide_by_p)
    check_expected(decide_by_threshold)


def test_average_keeps_one_minus_alpha() -> None:
    check_drawn(product_p(AVERAGE))


def test_expected_keeps_one_minus_alpha() -> None:
    check_masses(product_p(AVERAGE))


def test_maximum_keeps_one_minus_alpha() -> None:
    check_drawn(product_p(Rule("maximum")))


def test_twice_average_misses_half_as_often() -> None:
    check_drawn(product_p(Rule("twice-average")), level=HALF)
    check_masses(product_p(Rule("twice-average")), level=HALF, count=20)


def test_held_out_rank_keeps_one_minus_alpha() -> None:
    check_split(product_p(Rule("held-out-rank")))
    check_split(product_p(Rule("held-out-rank")), masses=True)


@pytest.mark.parametrize(
    "rule", [Rule("ecdf", DELTA), Rule("ecdf", DELTA, two_sided=False), Rule("pac", DELTA)]
)
def test_guarantees_for_one_calibration(rule: Rule) -> None:
    """`ecdf` and `pac`: with probability 1 - delta over the held-out part."""
    pools = pools_of(Drawn(((0.5, 2.5, 4.5), (1.5, 6.5, 8.5), (3.5, 5.5, 7.5))))
    check_guarantee(decide_guaranteed(rule, pools), DELTA)


def test_ecdf_s_marginal_claim() -> None:
    """P(p > alpha) >= (1 - alpha)(1 - delta) for independent examples, all enumerated."""
    pools = pools_of(Drawn(((0.5, 1.5), (1.5, 2.5))))
    scores = [0.0, 1.0, 2.0, 3.0]
    for delta in (Fraction(1, 2), Fraction(1, 4)):
        built_in = combiner(Rule("ecdf", delta))
        law: Law = {}
        for held in product(scores, repeat=3):
            for p in p_values(built_in, pools, list(held), scores).tolist():
                key = Fraction(p)
                law[key] = law.get(key, Fraction(0)) + Fraction(1, 4**4)
        below = Fraction(0)
        for p in sorted(law):
            below += law[p]
            if p < 1:
                assert 1 - below >= (1 - p) * (1 - delta)


def test_voted_keeps_it_of_the_vote_only() -> None:
    said_worst = Fraction(-1)
    calibrator = resolve(CALIBRATOR, "majority-vote")
    average = combiner(AVERAGE)
    for bag in bags((5, 2, 31), 40):
        voted: Law = {}
        answered: Law = {}
        for test, (chance, _, vote_score) in enumerate(voted_outcomes(bag)):
            rest = [i for i in range(bag.size) if i != test]
            data = CalibrationData(
                scores=ArrayScores(np.array([bag.scores[i] for i in rest], dtype=np.float64)),
                plausibilities=Dense(np.array([bag.masses[i] for i in rest], dtype=np.float64)),
                denominator=None,
                examples=HashedNames(hash_names(rest)),
                labels=("a", "b"),
            )
            pools = Pools(calibrator.calibrate(data, Keys(0)))
            (p,) = p_values(average, pools, [], [vote_score]).tolist()
            voted[recovered(p)] = voted.get(recovered(p), Fraction(0)) + chance
            values = p_values(average, pools, [], bag.scores[test]).tolist()
            for mass, p in zip(bag.masses[test], values, strict=True):
                answered[recovered(p)] = answered.get(recovered(p), Fraction(0)) + chance * mass
        assert excess(voted) <= 0
        said_worst = max(said_worst, excess(answered))
    assert said_worst >= Fraction(1, 10)


def test_expected_is_the_calibrator_s_own_atoms() -> None:
    """The built-in calibrator gives the masses that the enumeration above used."""
    from random import Random

    bag = random_bag(Random(5), size=6, labels=3, values=4)
    outcome = next(outcomes(bag, None))
    rows = list(outcome.first)
    data = CalibrationData(
        scores=ArrayScores(np.array([bag.scores[i] for i in rows], dtype=np.float64)),
        plausibilities=Dense(np.array([bag.masses[i] for i in rows], dtype=np.float64)),
        denominator=np.full(len(rows), 6),
        examples=HashedNames(hash_names(rows)),
        labels=("a", "b", "c"),
    )
    pools = Pools(resolve(CALIBRATOR, "expected").calibrate(data, Keys(0)))
    scores = bag.scores[outcome.test]
    want = product_p(AVERAGE)(bag, outcome)
    got = [recovered(p) for p in p_values(combiner(AVERAGE), pools, [], scores).tolist()]
    assert got == want


def test_the_enumeration_is_complete() -> None:
    """Chances of all outcomes sum to one, and the law of every p-value too."""
    for bag in bags((4, 2, 32), 3):
        for m, held in [(2, 0), (1, 1), (None, 2)]:
            assert sum(outcome.chance for outcome in outcomes(bag, m, held)) == 1
            rule = Rule("held-out-rank") if held else AVERAGE
            assert sum(law_of(bag, product_p(rule), m, held).values()) == 1
