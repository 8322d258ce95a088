"""Each rule is what its paper says: closed forms, levels, enumeration, held-out patients."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
import scipy.stats
import xarray as xr
from hypothesis import given, strategies as st

import plausibly
from exact_checks import (
    SHAPES,
    Bag,
    Law,
    Outcome,
    PValuesOf,
    bags,
    calibration_of,
    excess,
    law_of,
    p_values,
    pools_of,
    voted_outcomes,
)
from plausibly.calibration.pvalues import Pools, PValues, keyed_share, one_of_each
from plausibly.calibration.scores import CalibrationScores
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.types import Bools, Floats, Ints
from plausibly.plugin import COMBINER, CalibrationSummary, Claim, resolve
from plausibly.protocols import PValueCombiner
from plausibly_builtins.combiners.merging import Cauchy, Fisher, Stouffer, harmonic_factor
from refusals import refused
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


# ---- held-out patients with several examples: one of each is ranked


REPEATS, NEW = 250, 200


def few_large(rng: np.random.Generator, count: int) -> tuple[Ints, Bools]:
    """Return how many scans patients have: few have thirty; and whether these are hard."""
    sizes = np.where(rng.random(count) < 2 / 62, 30, 1)
    return sizes, sizes == 30


def many_hard(rng: np.random.Generator, count: int) -> tuple[Ints, Bools]:
    """Return those of patients, of whom one in five has thirty easy scans, others a hard one."""
    sizes = np.where(rng.random(count) < 0.2, 30, 1)
    return sizes, sizes == 1


@pytest.mark.parametrize(
    ("world", "count", "share", "exact"),
    [(few_large, 62, "0.4", 2 / 25), (many_hard, 98, "0.5", 5 / 50)],
)
def test_a_random_example_of_a_new_patient_is_missed_as_often_as_its_rank_says(
    world: Callable[[np.random.Generator, int], tuple[Ints, Bools]],
    count: int,
    share: str,
    exact: float,
) -> None:
    """The rank among h others is uniform: floor(alpha (h + 1)) of h + 1 places are misses."""
    rng = np.random.default_rng(11)
    names = hash_names(range(30 * count))

    def scores(hard: Bools) -> Floats:
        values: Floats = (rng.random(len(hard)) + ~hard) / 2
        return values

    misses = []
    for repeat in range(REPEATS):
        sizes, hard = world(rng, count)
        patient = np.repeat(np.arange(count), sizes)
        hashes = names[: len(patient)]
        away = keyed_share(Fraction(share), hashes, Keys(repeat, "some"), patient)
        away &= one_of_each(hashes, Keys(repeat, "one"), patient.astype(np.str_))
        held_out = np.sort(scores(hard[patient])[away])
        ranks = np.searchsorted(held_out, scores(world(rng, NEW)[1]), "right") + 1
        misses.append(float((10 * ranks <= len(held_out) + 1).mean()))
    assert abs(np.mean(misses) - exact) < 4 * np.std(misses) / np.sqrt(REPEATS)


@pytest.mark.parametrize("combiner", ["held-out-rank", "pac", "ecdf"])
def test_one_example_of_each_held_out_patient_is_ranked(combiner: str) -> None:
    """The others of its patient are set aside too, and the guarantee is for a new patient."""
    rng, sizes = np.random.default_rng(0), [1, 4, 30, 2, 3, 1, 5, 2, 1, 30]
    patient = np.array([f"patient {i}" for i in np.repeat(np.arange(10), sizes)])
    n = len(patient)
    predictions = labelled(rng.dirichlet([1, 1, 1], n), "scan ", patient=patient)
    answers = labelled(rng.multinomial(4, [1 / 3] * 3, n) / 4, "scan ")
    table: dict[str, object] = {"name": combiner, "held_out": 0.4}
    if combiner == "pac":
        table["bound"] = "held-out"
    calibrate = partial(
        plausibly.calibrate, calibrator="monte-carlo", combiner=table, cluster="patient", seed=2
    )
    predictor = calibrate(predictions, answers)
    hashes = hash_names(predictions["example"].values)
    away = keyed_share(Fraction(2, 5), hashes, Keys(2).child("held-out"), patient)
    assert len(set(patient[away])) == predictor.summary.n_held_out == 4
    assert predictor.metadata.calibrated_on == (~away).sum() < n - 4
    guarantee = predictor.guarantee("0.3")
    assert guarantee.cluster == "patient"
    assert 'random one of a new "patient"' in guarantee.covers
    assert any('values of "patient"' in text for text in guarantee.assumes)
    # Without held-out examples no patient matters.
    plain = plausibly.calibrate(predictions, answers, cluster="patient")
    assert plain.guarantee("0.1").cluster == ""
    again = calibrate(predictions[rng.permutation(n)], answers)
    expected = predictor.p_values(predictions)
    np.testing.assert_array_equal(again.p_values(predictions), expected)
    with refused("calibration-empty", "1 group"):
        calibrate(predictions[5:35], answers[5:35])


def test_resampled_plausibilities_stay_with_examples_that_are_not_held_out() -> None:
    """Every label of the first draw is the first one, of the second draw the second."""
    predictions = labelled(np.random.default_rng(0).dirichlet([1, 1], 40))
    certain = [labelled(np.tile(row, (40, 1))) for row in ([1.0, 0.0], [0.0, 1.0])]
    resampled = xr.concat(certain, xr.Variable("draw", [1, 2]))
    predictor = plausibly.calibrate(
        predictions,
        resampled,
        calibrator={"name": "monte-carlo", "draws": 2},
        combiner="held-out-rank",
    )
    scores = predictor.pools.calibration.scores
    assert scores.shape == (2, predictor.summary.n)
    for label in range(2):
        assert np.isin(scores[label], predictions[:, label]).all()
