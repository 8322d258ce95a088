"""Sets by threshold are sets by p-value; the numbers that vacuity names."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import attrs
import numpy as np
import pytest

import plausibly
from plausibly.conformal.predictor import ConformalPredictor
from tables import labelled, shares

from .designs import CLAIMING, MERGING, NONE, combiner, drawn

pytestmark = pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")

RULES: list[str | dict[str, object]] = [
    *CLAIMING,
    *NONE,
    {"name": "e-value", "power": 0.5},
    {"name": "fisher", "effective": "nyholt"},
    {"name": "stouffer", "effective": "galwey"},
]
ALPHAS = ("0.05", "0.1", "0.2", "0.25", "0.3", "0.5", "0.9")


def calibrated(
    rule: str | dict[str, object],
    n: int = 99,
    *,
    calibrator: str = "monte-carlo",
    tied: bool = False,
) -> ConformalPredictor:
    random = np.random.default_rng(n)
    scores = random.integers(1, 7, (n, 3)) if tied else random.permutation(3 * n).reshape(n, 3) + 1
    return plausibly.calibrate(
        labelled(scores.astype(np.float32), attrs={"scale": "any"}),
        shares(random.multinomial(4, [0.5, 0.3, 0.2], size=n)),
        calibrator=calibrator,
        combiner=rule,
        draws=4 if calibrator == "monte-carlo" else None,
        allow_no_guarantee=True,
    )


@pytest.mark.parametrize("tied", [False, True], ids=["distinct", "tied"])
@pytest.mark.parametrize("calibrator", ["monte-carlo", "majority-vote"])
@pytest.mark.parametrize("rule", RULES, ids=str)
def test_sets_by_threshold_are_sets_by_p_value(
    rule: str | dict[str, object], calibrator: str, tied: bool
) -> None:
    """At the scores of the calibration, and beside them."""
    predictor = calibrated(rule, calibrator=calibrator, tied=tied)
    atoms = np.unique(predictor.pools.pooled.ordered)
    rows = np.concatenate([atoms, np.nextafter(atoms, -np.inf), np.nextafter(atoms, np.inf)])
    new = labelled(np.repeat(rows[:, None], 3, axis=1), "new ", attrs={"scale": "any"})
    values = predictor.p_values(new).values
    for alpha in ALPHAS:
        assert np.array_equal(predictor.predict(new, alpha).values, values > float(alpha)), alpha


FACTORS: dict[str, Callable[[int], float]] = {
    "average": lambda m: 1,
    "maximum": lambda m: 1,
    "twice-average": lambda m: 2,
    "bonferroni": lambda m: m,
    "median": lambda m: m / math.ceil(m / 2),
    "geometric": lambda m: math.e,
    "harmonic": lambda m: math.e * math.log(m) if m > 2 else m,
    "exchangeable-average": lambda m: 2,
    "exchangeable-median": lambda m: 2,
    "exchangeable-geometric": lambda m: math.e,
}


@pytest.mark.parametrize("m", [1, 2, 3, 10])
@pytest.mark.parametrize("name", FACTORS)
def test_the_numbers_of_a_rule(name: str, m: int) -> None:
    """Every label until (n + 1) alpha reaches what the rule multiplies equal p-values by."""
    least = FACTORS[name](m)
    for text in ("0.1", "0.05", "0.29", "0.5", "0.999", "0.333333"):
        alpha = Fraction(text)
        guarantee = combiner(name).guarantee(*drawn(19, m), alpha)
        assert guarantee.level == 1 - alpha / (2 if name == "twice-average" else 1)
        assert guarantee.needed is not None
        assert (guarantee.needed + 1) * float(alpha) >= least * (1 - 1e-12)
        assert guarantee.needed * float(alpha) < least
        assert guarantee.vacuous is (guarantee.needed > 19)
        if least < 20:
            assert guarantee.least_alpha == pytest.approx(least / 20, rel=1e-15)
    claim, summary = drawn(19, m)
    apart = attrs.evolve(summary, shared_score=False)
    twice = combiner("twice-average").guarantee(claim, apart, Fraction(1, 10))
    assert (twice.level, twice.needed) == (1 - Fraction(1, 10 if m > 1 else 20), 19)
    assert twice.least_alpha == 0.1
    none = combiner("bonferroni").guarantee(*drawn(9, 10), Fraction(1, 10))
    assert (none.vacuous, none.needed, none.least_alpha) == (True, 99, None)


@pytest.mark.parametrize("rule", MERGING)
def test_vacuous_exactly_below_the_number(rule: str) -> None:
    for alpha in ("0.1", "0.29"):
        needed = calibrated(rule).guarantee(alpha).needed
        assert needed is not None
        below, above = calibrated(rule, needed - 1), calibrated(rule, needed)
        assert below.threshold(alpha) == -np.inf
        assert below.guarantee(alpha).vacuous
        assert above.threshold(alpha) > -np.inf
        assert not above.guarantee(alpha).vacuous


def test_e_values_are_vacuous_below_their_number() -> None:
    """At 1 / (n + 1) itself too: no label is so unfit that nothing else weighs."""
    for alpha, needed in (("0.1", 10), ("0.25", 4), ("0.3", 3)):
        below = calibrated("e-value", needed - 1).guarantee(alpha)
        assert (below.vacuous, below.needed) == (True, needed)
        assert not calibrated("e-value", needed).guarantee(alpha).vacuous
    least = combiner("e-value").guarantee(*drawn(9), Fraction(1, 10)).least_alpha
    assert least is not None
    assert 0.1 < least < 0.1 + 1e-12


def test_e_value_by_its_formula() -> None:
    predictor = calibrated({"name": "e-value", "power": 0.5}, n=12)
    score, rows = 0.75, predictor.pools.calibration.scores.tolist()
    e_values = [
        13 * score**-0.5 / (sum(max(s, 1e-6) ** -0.5 for s in row) + score**-0.5) for row in rows
    ]
    new = labelled(np.full((1, 3), score, np.float32), "new ", attrs={"scale": "any"})
    expected = min(1.0, len(e_values) / sum(e_values))
    assert predictor.p_values(new).values[0, 0] == pytest.approx(expected, rel=1e-12)
