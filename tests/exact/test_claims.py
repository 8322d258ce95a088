"""Claims are those that were enumerated: levels by pair, and the numbers that vacuity names."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import plausibly
from exact_oracles import Rule, algorithm_rank, band, pac_rank
from exact_worlds import plausibilities_of, table
from plausibly.conformal.predictor import ConformalPredictor

from .pairs import PAIRS, Pair

pytestmark = pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")

ALPHAS = ("0.1", "0.05", "0.29", "0.3", "0.007")
SIZES = (2, 3, 6, 9, 10, 18, 19, 20, 21, 40, 180)


def level(rule: Rule, alpha: Fraction) -> tuple[Fraction, Fraction | None]:
    """Return level and confidence as `test_bags.py` enumerates them."""
    match rule.name:
        case "twice-average":
            return 1 - alpha / 2, None
        case "ecdf":
            return (1 - alpha) * (1 - rule.delta), None
        case "pac":
            return 1 - alpha, 1 - rule.delta
    return 1 - alpha, None


def distinct(pair: Pair, n: int) -> ConformalPredictor:
    """Return a predictor of n examples without ties."""
    random = np.random.default_rng(n)
    names, labels = [f"case {i}" for i in range(n)], ["a", "b", "c"]
    scores = random.permutation(3 * n).reshape(n, 3) + 1.0
    votes = random.multinomial(4, [0.5, 0.3, 0.2], size=n)
    return plausibly.calibrate(
        table(scores, names, labels),
        plausibilities_of(votes, names, labels, counted=True),
        calibrator=pair.calibrator,
        combiner=pair.combiner,
    )


@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_levels_are_the_enumerated_ones(pair: Pair) -> None:
    predictor = distinct(pair, 40)
    for text in ALPHAS:
        guarantee = predictor.guarantee(text)
        assert (guarantee.level, guarantee.confidence) == level(pair.rule, Fraction(text))
        assert guarantee.target == (
            "majority-vote" if pair.calibrator == "majority-vote" else "aggregated"
        )
        assert guarantee.alpha == Fraction(text)


def says_nothing(rule: Rule, count: int, alpha: Fraction) -> bool:
    """Return whether every set contains all labels, whatever the scores, by the equations."""
    match rule.name:
        case "twice-average":
            return algorithm_rank(alpha / 2, 1, count) <= 0
        case "ecdf":
            return band(count, rule.delta, rule.two_sided) > alpha
        case "pac":
            return pac_rank(count, alpha, rule.delta) == 0
    return algorithm_rank(alpha, 1, count) <= 0


@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_vacuity_and_the_number_that_would_end_it(pair: Pair) -> None:
    for n in SIZES:
        predictor = distinct(pair, n)
        for text in ALPHAS:
            alpha, guarantee = Fraction(text), predictor.guarantee(text)
            assert guarantee.has == (n // 2 if pair.rule.splits else n)
            assert guarantee.needed is not None
            assert says_nothing(pair.rule, guarantee.needed - 1, alpha) or guarantee.needed == 1
            assert not says_nothing(pair.rule, guarantee.needed, alpha)
            assert guarantee.vacuous == (float(predictor.threshold(text)) == -np.inf)
            vacuous = says_nothing(pair.rule, guarantee.has, alpha)
            assert vacuous == (guarantee.has < guarantee.needed)
            # A coarse first split may tie held-out examples at the bottom, never the reverse.
            assert guarantee.vacuous >= vacuous
            if not pair.rule.splits:
                assert guarantee.vacuous == vacuous
            assert guarantee.least_alpha is not None
            if not vacuous:
                assert guarantee.least_alpha <= float(alpha) * (1 + 1e-12)


def test_held_out_shares_are_read_as_they_were_typed() -> None:
    """0.29 * 100 is 28.999... in doubles; 29 examples are set aside."""
    for share, count in [(0.29, 29), (0.57, 57), (0.5, 50), (0.01, 1)]:
        pair = Pair("monte-carlo", Rule("held-out-rank"))
        random = np.random.default_rng(0)
        names, labels = [f"case {i}" for i in range(100)], ["a", "b"]
        predictor = plausibly.calibrate(
            table(random.random((100, 2)), names, labels),
            plausibilities_of(
                random.multinomial(3, [0.5, 0.5], size=100), names, labels, counted=True
            ),
            calibrator=pair.calibrator,
            combiner={"name": "held-out-rank", "held_out": share},
        )
        assert predictor.guarantee("0.1").has == count
        assert predictor.n == 100
