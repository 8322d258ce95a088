"""Each rule is what its paper says: closed forms, tests at a level, scipy, enumeration."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, strategies as st

import plausibly
from exact_bags import Bag, Law, Outcome, PValuesOf, calibration_of, excess, law_of, voted_outcomes
from exact_checks import SHAPES, bags
from exact_product import p_values, pools_of
from plausibly.calibration.pvalues import Pools, PValues
from plausibly.calibration.scores import CalibrationScores
from plausibly.plugin import COMBINER, CalibrationSummary, Claim, resolve
from plausibly.protocols import PValueCombiner
from plausibly_builtins.combiners.merging import Cauchy, Fisher, Stouffer, harmonic_factor
from tables import labelled, shares

from .designs import CLAIMING, MERGING, NONE, calibration_with, combiner

N = 59
RANKS = st.lists(st.integers(1, N + 1), min_size=1, max_size=7)
GIVING_BACK: list[str | dict[str, object]] = [
    "cauchy",
    {"name": "fisher", "effective": "nyholt"},
    {"name": "fisher", "effective": "galwey"},
    {"name": "stouffer", "effective": "nyholt"},
    {"name": "stouffer", "effective": "galwey"},
]
ALPHAS = st.sampled_from([Fraction(k, 120) for k in range(1, 120)] + [Fraction(1, 10)])


def merged(name: str, ranks: Sequence[int]) -> float:
    """Return what the built-in makes of p-values ranks / (N + 1)."""
    return float(combiner(name).combine(calibration_with(ranks, N), None)[0])


def exact(ranks: Sequence[int]) -> list[Fraction]:
    return [Fraction(rank, N + 1) for rank in ranks]


@given(RANKS)
def test_rational_rules_round_once(ranks: list[int]) -> None:
    p, m = exact(ranks), len(ranks)
    k = math.ceil(m / 2)
    assert merged("bonferroni", ranks) == float(min(Fraction(1), m * min(p)))
    assert merged("median", ranks) == float(min(Fraction(1), sorted(p)[k - 1] * m / k))
    if m <= 2:
        harmonic = m * m / sum(1 / item for item in p)
        assert merged("harmonic", ranks) == float(min(Fraction(1), harmonic))


@given(RANKS)
def test_rules_with_e(ranks: list[int]) -> None:
    p, m = [float(item) for item in exact(ranks)], len(ranks)
    geometric = min(1.0, math.e * math.prod(p) ** (1 / m))
    assert merged("geometric", ranks) == pytest.approx(geometric, rel=1e-12)
    if m >= 3:
        harmonic = math.e * math.log(m) * scipy.stats.hmean(p)
        assert merged("harmonic", ranks) == pytest.approx(min(1.0, harmonic), rel=1e-12)


def prefixes(f: Callable[[Fraction], Fraction | float], p: list[Fraction], alpha: Fraction) -> bool:
    """Return whether the mean of f(p / alpha) over some prefix reaches 1."""
    values = [f(item / alpha) for item in p]
    return any(sum(values[:length]) >= length for length in range(1, len(p) + 1))


@pytest.mark.parametrize(
    ("name", "f"),
    [
        ("average", lambda u: max(Fraction(0), 2 - 2 * u)),
        ("median", lambda u: Fraction(2 if u <= Fraction(1, 2) else 0)),
        # No rational alpha is ever a tie: every value is e to some power times a root.
        ("geometric", lambda u: max(0.0, -math.log(u))),
    ],
)
@given(RANKS, ALPHAS)
def test_exchangeable_rules_are_their_tests(
    name: str, f: Callable[[Fraction], Fraction | float], ranks: list[int], alpha: Fraction
) -> None:
    value = merged(f"exchangeable-{name}", ranks)
    assert name != "geometric" or abs(value - float(alpha)) > 1e-12
    assert (value <= float(alpha)) is prefixes(f, exact(ranks), alpha)


@pytest.mark.parametrize("m", [3, 4, 5, 10, 100, 10**4, 10**6])
def test_the_harmonic_constant_is_enough(m: int) -> None:
    """a_m >= min over b of log((m - (m - 1) b) / b) / (1 - b): the proof of docs/combiners.md."""
    b = np.linspace(1e-4, 1 - 1e-6, 100_001)
    bounds = np.log((m - (m - 1) * b) / b) / (1 - b)
    assert bounds.min() <= 2 * math.log(m + 1) <= float(harmonic_factor(m))
    # The exact constant of Vovk & Wang, by the equation of their proposition.
    y = scipy.optimize.brentq(lambda y: y * y - m * ((y + 1) * math.log(y + 1) - y), 0.01, 1e12)
    assert bounds.min() == pytest.approx((y + m) ** 2 / ((y + 1) * m), rel=1e-3)


@pytest.mark.parametrize("m", [1, 2, 10])
def test_fisher_and_stouffer_are_those_of_scipy(m: int) -> None:
    p = np.random.default_rng(m).random((m, 30))
    fisher = [scipy.stats.combine_pvalues(column, method="fisher").pvalue for column in p.T]
    stouffer = [scipy.stats.combine_pvalues(column, method="stouffer").pvalue for column in p.T]
    np.testing.assert_allclose(Fisher().merge(p), fisher, rtol=1e-10)
    np.testing.assert_allclose(Stouffer().merge(p), stouffer, rtol=1e-10)


def test_cauchy_is_the_distribution_function_of_a_mean_of_cauchy_variables() -> None:
    p = np.random.default_rng(3).random((10, 50))
    mean = scipy.stats.cauchy.isf(p).mean(axis=0)
    np.testing.assert_allclose(Cauchy().merge(p), scipy.stats.cauchy.sf(mean), rtol=1e-9)


@given(st.integers(1, N + 1), st.integers(1, 12))
def test_copies_are_given_back_where_that_is_the_rule(rank: int, m: int) -> None:
    """Cauchy, and one effective test, to the last bit; others multiply."""
    p = calibration_with([rank] * m, N)
    for like in GIVING_BACK:
        assert float(combiner(like).combine(p, None)[0]) == rank / (N + 1)


@pytest.mark.parametrize("alpha", [Fraction(1, 10), Fraction(3, 5)])
def test_average_of_separate_test_scores_guarantees_twice_alpha_less(alpha: Fraction) -> None:
    summary = CalibrationSummary(n=20, m=2, shared_score=False)
    stated = resolve(COMBINER, "average").guarantee(Claim(), summary, alpha)
    assert stated.level == max(1 - 2 * alpha, 0)


def test_one_of_the_draws_of_a_smoothed_average_is_the_tie_itself() -> None:
    rule = resolve(COMBINER, {"name": "average", "smoothed": True})
    stated = rule.guarantee(Claim(), CalibrationSummary(n=20, m=4), Fraction(1, 10))
    assert stated.needed == 7  # 3/4 / (n + 1) <= 1/10


RULES = [*MERGING, "average", "twice-average", "maximum"]


def test_two_equal_views_give_twice_the_p_value() -> None:
    """The harmonic mean of copies is the copy: products of numerators must not pass 64 bits."""
    rng = np.random.default_rng(0)
    values = rng.dirichlet(np.ones(3), 200)
    answers = labelled(rng.multinomial(3, values[:100]) / 3)
    views = np.stack([values, values])
    item = plausibly.calibrate(labelled(values[:100]), answers)
    two = plausibly.calibrate(
        labelled(views[:, :100]),
        answers,
        calibrator={"name": "augmentation", "scores": "separate"},
        combiner="harmonic",
    )
    alone = item.p_values(labelled(values[100:], "new ")).values
    doubled = two.p_values(labelled(views[:, 100:], "new ")).values
    assert two.pools.each[0].total > 2**40
    np.testing.assert_allclose(doubled, np.minimum(1.0, 2 * alone), rtol=1e-12)


def test_e_values_of_floats_are_computed_in_doubles() -> None:
    """The scores are the same numbers in both types."""
    values = np.random.default_rng(0).integers(1, 32, (60, 3)) / 32
    answers = shares(np.eye(3, dtype=int)[np.arange(50) % 3])
    results = [
        plausibly.calibrate(
            labelled(values[:50].astype(dtype), attrs={"scale": "any"}),
            answers,
            calibrator={"name": "monte-carlo", "draws": 2},
            combiner={"name": "e-value", "power": 0.3},
        )
        .p_values(labelled(values[50:].astype(dtype), "new ", attrs={"scale": "any"}))
        .values
        for dtype in (np.float32, np.float64)
    ]
    np.testing.assert_array_equal(results[0], results[1])


@pytest.mark.parametrize("name", RULES)
def test_totals_near_the_limit_of_64_bits(name: str) -> None:
    """Eight replicates, apart, with masses whose sum over them passes 2^63."""
    rng, m, n = np.random.default_rng(1), 8, 40
    # Their least common multiple is next to 2^56.
    units = 2**28 - np.arange(n) % 2
    scores, new = rng.random((m, n)), rng.random((m, 25))
    large = Pools(
        CalibrationScores(
            scores=scores, units=units, row=np.arange(n), denominator=units, augmentation="separate"
        )
    )
    component = combiner(name)
    result = component.combine(PValues.of(large, new), None)
    # The same scores with masses of one, each replicate compared with its own.
    small = Pools(CalibrationScores(scores=scores))
    p_values = np.stack(
        [pool.numerators(row) / pool.total for pool, row in zip(small.each, new, strict=True)]
    )
    mean = p_values.mean(axis=0)
    expected = {
        "average": mean,
        "twice-average": np.minimum(1, 2 * mean),
        "maximum": p_values.max(axis=0),
    }.get(name)
    if expected is None:
        expected = component.merge(p_values)  # type: ignore[attr-defined]  # has it
    np.testing.assert_allclose(result, expected, rtol=1e-12)


@pytest.mark.parametrize("name", [*RULES, *NONE])
@pytest.mark.parametrize("draws", [1, 2, 5])
def test_a_new_example_of_weight_zero_has_p_values_of_zero(name: str, draws: int) -> None:
    """Below all atoms it is 0, and nothing is NaN or warned of."""
    rng = np.random.default_rng(2)
    values = rng.dirichlet(np.ones(3), 60)
    inner = {"name": "monte-carlo", "draws": draws}
    predictor = plausibly.calibrate(
        labelled(values, w=rng.uniform(0.5, 2, 60)),
        shares(rng.multinomial(3, values), counted=False),
        calibrator={"name": "weighted", "by": "w", "inner": inner},
        combiner=name,
        allow_no_guarantee=True,
    )
    with np.errstate(all="raise"):
        new = labelled([[0.0, 0.0, 1.0], [0.0, 0.5, 0.5]], "new ", w=[0.0, 1.0])
        p_values = predictor.p_values(new).values
    assert np.isfinite(p_values).all()
    assert p_values[0, 0] == 0 < p_values[1, 0]
    assert p_values[0, 2] == 1


def test_the_least_p_value_is_above_zero() -> None:
    """Also where the rule's own number is smaller than any double."""
    assert Fisher().merge(np.full((400, 1), 1e-5)).item() > 0


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
