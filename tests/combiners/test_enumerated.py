"""Every test example, test label and draw of small bags: what claims 1 - alpha keeps it."""

from __future__ import annotations

from fractions import Fraction

import pytest

from exact_bags import Bag, Law, Outcome, PValuesOf, calibration_of, excess, law_of, voted_outcomes
from exact_checks import SHAPES, bags
from exact_product import p_values, pools_of
from plausibly.protocols import PValueCombiner

from .designs import CLAIMING, NONE, combiner

ROUNDING = Fraction(1, 10**12)
"""p-values with e in them are doubles; a rule that is wrong is off by far more."""

OTHERWISE: dict[str, object] = {"name": "e-value", "power": 0.5, "floor": 0.01}


def product_p(rule: PValueCombiner) -> PValuesOf:
    def p_values_of(bag: Bag, outcome: Outcome) -> list[Fraction]:
        pools = pools_of(calibration_of(bag, outcome))
        values = p_values(rule, pools, outcome.held, bag.scores[outcome.test])
        return [Fraction(float(p)) for p in values]

    return p_values_of


def worst(like: str | dict[str, object], count: int = 4) -> Fraction:
    """Return the largest P(p <= alpha) - alpha over all bags and attained alphas."""
    rule = combiner(like)
    return max(
        excess(law_of(bag, product_p(rule), m))
        for size, labels, m in SHAPES
        for bag in bags((size, labels, 51), count)
    )


@pytest.mark.parametrize("like", [*CLAIMING, OTHERWISE], ids=str)
def test_drawn_labels(like: str | dict[str, object]) -> None:
    assert worst(like) <= ROUNDING


@pytest.mark.parametrize("like", ["fisher", "stouffer"])
def test_what_has_no_guarantee_misses_too_often(like: str) -> None:
    assert worst(like) > Fraction(1, 100)


@pytest.mark.parametrize("like", [*CLAIMING, OTHERWISE, *NONE], ids=str)
def test_votes(like: str | dict[str, object]) -> None:
    """One replicate; there the rules without a guarantee have one."""
    rule = combiner(like)
    for bag in bags((5, 2, 52), 30):
        law: Law = {}
        for chance, calibration, score in voted_outcomes(bag):
            (p,) = p_values(rule, pools_of(calibration), [], [score]).tolist()
            law[Fraction(p)] = law.get(Fraction(p), Fraction(0)) + chance
        assert excess(law) <= ROUNDING
