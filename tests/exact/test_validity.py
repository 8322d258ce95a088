"""Coverage by simulation, claims that were enumerated, numbers that doubles cannot tell apart."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np
import pytest
import xarray as xr
from numpy.typing import NDArray
from scipy.special import bdtri

import plausibly
from exact_checks import combiner, p_values, pools_of, threshold_of
from exact_oracles import (
    Drawn,
    Rule,
    algorithm_rank,
    band,
    binomial_cdf,
    expected,
    pac_rank,
    plausibilities_of,
    table,
)
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.kernels.random import Keys
from plausibly.kernels.types import Hashes
from tables import shares

from .pairs import PAIRS, Pair

pytestmark = pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")

LABELS = ["a", "b", "c"]
MEANS = np.array([[-1.0, -0.6], [1.0, -0.6], [0.0, 0.9]])
ALPHA = "0.1"
MARGIN = 4.0
"""Standard errors of the mean over calibrations; a false alarm is a chance of 1 in 30,000."""


@dataclass(frozen=True)
class Toy:
    """Three overlapping Gaussians in the plane, and five annotators drawn from the posterior."""

    scores: NDArray[np.float64]
    votes: NDArray[np.int64]
    posterior: NDArray[np.float64]


def toy(examples: int, random: np.random.Generator, *, ties: bool, spread: float = 1.0) -> Toy:
    """Return examples of the toy; with `ties` the model says only tenths."""
    truth = random.integers(3, size=examples)
    x = MEANS[truth] + spread * random.normal(size=(examples, 2))
    logits = -((x[:, None, :] - MEANS) ** 2).sum(axis=2) / (2 * spread**2)
    posterior = np.exp(logits - logits.max(axis=1, keepdims=True))
    posterior /= posterior.sum(axis=1, keepdims=True)
    votes = random.multinomial(5, posterior)
    blurred = np.exp(0.7 * logits - (0.7 * logits).max(axis=1, keepdims=True))
    blurred /= blurred.sum(axis=1, keepdims=True)
    return Toy(np.round(blurred, 1) if ties else blurred, votes, posterior)


def coverages(
    pair: Pair, n: int, runs: int, *, ties: bool, test: int = 400
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return aggregated and coverage of the majority vote of each of many calibrations."""
    aggregated, voted = np.zeros(runs), np.zeros(runs)
    names = [f"{i}" for i in range(n)]
    for run in range(runs):
        random = np.random.default_rng([run, n, ties])
        data = toy(n + test, random, ties=ties)
        predictor = plausibly.calibrate(
            table(data.scores[:n], names, LABELS),
            shares(data.votes[:n], names, LABELS),
            calibrator=pair.calibrator,
            combiner=pair.combiner,
            seed=run,
        )
        sets = predictor.predict_array(data.scores[n:], ALPHA)
        new = data.votes[n:] / 5
        aggregated[run] = (new * sets).sum(axis=1).mean()
        voted[run] = sets[np.arange(test), new.argmax(axis=1)].mean()
    return aggregated, voted


CLAIMING = [
    pair for pair in PAIRS if pair.calibrator != "majority-vote" and pair.rule.name != "ecdf"
]
VOTED = [
    pair
    for pair in PAIRS
    if str(pair) in ("majority-vote x average", "majority-vote x held-out-rank")
]


def least(values: NDArray[np.float64]) -> float:
    """Return the upper end of the margin around the mean of independent calibrations."""
    return float(values.mean() + MARGIN * values.std(ddof=1) / np.sqrt(len(values)))


@pytest.mark.parametrize("ties", [False, True], ids=["distinct", "tied"])
@pytest.mark.parametrize("n", [10, 50, 200])
@pytest.mark.parametrize("pair", CLAIMING, ids=str)
def test_aggregated_coverage_is_kept(pair: Pair, n: int, ties: bool) -> None:
    aggregated, _ = coverages(pair, n, runs=25, ties=ties)
    assert least(aggregated) >= 0.9


@pytest.mark.parametrize("pair", VOTED, ids=str)
def test_votes_are_covered_and_experts_are_not(pair: Pair) -> None:
    aggregated, voted = coverages(pair, n=200, runs=40, ties=False)
    assert least(voted) >= 0.9
    assert least(aggregated) < 0.9
    assert aggregated.mean() < 0.85


@pytest.mark.parametrize("name", ["expected x average", "monte-carlo x average"])
def test_coverage_is_not_much_more_than_guaranteed(name: str) -> None:
    """Without ties between examples: below 1 - alpha + 2 / N, and a margin."""
    pair = next(pair for pair in PAIRS if str(pair) == name)
    aggregated, _ = coverages(pair, n=200, runs=40, ties=False)
    slack = MARGIN * aggregated.std(ddof=1) / np.sqrt(len(aggregated))
    assert aggregated.mean() < 0.9 + 2 / 201 + slack


def test_pac_holds_for_nearly_every_calibration() -> None:
    """At delta 1/5 about one calibration in five may fall short, not more."""
    pair = next(pair for pair in PAIRS if str(pair) == "monte-carlo x pac")
    aggregated, _ = coverages(pair, n=200, runs=80, ties=False, test=2000)
    short = float((aggregated < 0.9).mean())
    assert short <= 0.2 + MARGIN * np.sqrt(0.2 * 0.8 / 80)


def share_missed(seeds: range) -> float:
    """Return how often one more example's drawn label is missed, of 100 examples of even odds."""
    names = [f"case {i}" for i in range(99)]
    scores = np.column_stack([np.linspace(0.6, 0.9, 99), np.linspace(0.1, 0.4, 99)])
    votes = np.ones((99, 2), dtype=np.int64)
    shares = xr.DataArray(
        votes / 2, dims=("example", "label"), coords={"example": names, "label": ["a", "b"]}
    )
    missed = []
    for seed in seeds:
        predictor = plausibly.calibrate(
            table(scores, names, ["a", "b"]), shares, calibrator="monte-carlo", draws=1, seed=seed
        )
        missed.append(1 - predictor.predict_array(scores, ALPHA).mean())
    return float(np.mean(missed))


def test_draws_of_different_examples_are_independent(monkeypatch: pytest.MonkeyPatch) -> None:
    """With one uniform for all examples the same calibration misses far more than alpha."""
    assert share_missed(range(60)) < 0.11
    uniform = Keys.uniform

    def shared(self: Keys, hashes: Hashes, count: int = 1) -> NDArray[np.float64]:
        return np.repeat(uniform(self, hashes[:1], count), len(hashes), axis=0)

    monkeypatch.setattr(Keys, "uniform", shared)
    assert share_missed(range(60)) > 0.2


# ---- claims are those that were enumerated


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


AVERAGE = Rule("average")
PRIMES = (19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71)


def calibrated(scores: NDArray[np.float64], votes: NDArray[np.int64]) -> ConformalPredictor:
    names = [f"case {i}" for i in range(len(votes))]
    labels = [f"label {k}" for k in range(votes.shape[1])]
    return plausibly.calibrate(
        table(scores, names, labels), plausibilities_of(votes, names, labels, counted=True)
    )


def masses_of(votes: NDArray[np.int64]) -> list[list[Fraction]]:
    return [[Fraction(int(v), int(row.sum())) for v in row] for row in votes]


@pytest.mark.parametrize("seed", range(6))
def test_numbers_of_annotators_with_no_small_common_multiple(seed: int) -> None:
    """Thirteen primes: the common denominator has 70 bits, so masses are Python integers."""
    assert lcm(*PRIMES).bit_length() > 62
    random = np.random.default_rng(seed)
    votes = np.array([random.multinomial(total, [0.5, 0.3, 0.2]) for total in PRIMES])
    scores = random.integers(6, size=votes.shape) / 8
    predictor = calibrated(scores, votes)
    bag = expected(scores.tolist(), masses_of(votes))
    for text in ("0.1", "0.25", "0.5", "0.75", "0.071429", "0.9"):
        tau = AVERAGE.threshold(bag, [], Fraction(text))
        assert float(predictor.threshold(text)) == tau
        grid = table(np.arange(-1, 7)[:, None] / 8 * np.ones(3), list("abcdefgh"), predictor.labels)
        sets = predictor.predict(grid, text)
        assert np.array_equal(sets.values, grid.values >= tau)
        assert np.array_equal(predictor.p_values(grid).values > float(text), sets.values)


@pytest.mark.parametrize(("more", "kept"), [(1, True), (0, False), (-1, False)])
def test_a_p_value_beside_alpha_by_less_than_a_double_sees(more: int, kept: bool) -> None:
    """Nine examples, alpha 0.2: the mass below is 1 + more / (d1 d2), about 2^-54 off."""
    first, second = 134_217_689, 134_217_757
    # low / totals sum to 1 + more / (first second): Bezout where more is not zero.
    a = more * pow(second, -1, first) % first if more else first // 2
    totals = [first, second if more else first]
    low = [a, (first * second + more - a * second) // first if more else first - a]
    total = sum((Fraction(x, d) for x, d in zip(low, totals, strict=True)), Fraction(0))
    assert total == 1 + Fraction(more, first * second)
    totals += [3] * 7
    low += [0] * 7
    votes = np.array([[x, d - x] for x, d in zip(low, totals, strict=True)], dtype=np.int64)
    scores = np.tile([0.25, 0.75], (9, 1))
    predictor = calibrated(scores, votes)
    test = table(np.array([[0.25, 0.75]]), ["new"], predictor.labels)
    assert predictor.predict(test, "0.2").values.tolist() == [[kept, True]]
    assert (predictor.p_values(test).values > 0.2).tolist() == [[kept, True]]
    bag = expected(scores.tolist(), masses_of(votes))
    assert AVERAGE.keeps(bag, [], 0.25, Fraction(1, 5)) is kept


@pytest.mark.parametrize("delta", [Fraction(1, 10_000), Fraction(1, 5), Fraction(1, 2)])
@pytest.mark.parametrize("h", [1, 2, 9, 44, 88])
def test_pac_s_p_value_is_the_root(h: int, delta: Fraction) -> None:
    """BinomCDF(c; h, p) crosses delta at the p-value, and alpha decides as the rank k does."""
    pools = pools_of(Drawn((tuple(float(i) for i in range(h)),)))
    held = [float(i) for i in range(h)]
    scores = [-1.0, *held]
    rule = combiner(Rule("pac", delta))
    values = p_values(rule, pools, held, scores).tolist()
    assert values[-1] == 1.0
    hair = Fraction(1, 10**10)
    for count in range(0, h, max(1, h // 6)):
        value = values[count]
        p = Fraction(value)
        assert binomial_cdf(count, h, p * (1 - hair)) > delta
        assert binomial_cdf(count, h, min(Fraction(1), p * (1 + hair))) < delta or value > 0.999
    for text in ("0.1", "0.29", "0.5", "0.05", "0.9"):
        k = pac_rank(h, Fraction(text), delta)
        tau = threshold_of(rule, pools, held, Fraction(text))
        assert tau == (held[k - 1] if k else -np.inf)
        assert [value > float(text) for value in values] == [s >= tau for s in scores]


def test_pac_where_alpha_is_the_root_itself() -> None:
    """h = 2, delta = 1/4: (1 - p)^2 = 1/4 at p = 1/2, so alpha 0.5 is not exceeded."""
    pools = pools_of(Drawn(((0.0, 1.0),)))
    rule = combiner(Rule("pac", Fraction(1, 4)))
    (value,) = p_values(rule, pools, [0.0, 1.0], [-1.0]).tolist()
    assert value == 0.5
    assert pac_rank(2, Fraction(1, 2), Fraction(1, 4)) == 1
    assert threshold_of(rule, pools, [0.0, 1.0], Fraction(1, 2)) == 0.0
    assert threshold_of(rule, pools, [0.0, 1.0], Fraction("0.499999")) == -np.inf
    assert abs(float(bdtri(0.0, 2, 0.25)) - 0.5) < 1e-9


def test_float32_scores_are_compared_as_float32() -> None:
    """0.1 as float32 is more than 0.1: test scores are cast before they are compared."""
    names = [f"case {i}" for i in range(9)]
    low = np.full((9, 2), 0.1, dtype=np.float32)
    votes = np.tile(np.array([1, 0]), (9, 1))
    predictor = plausibly.calibrate(
        table(low, names, ["a", "b"]),
        plausibilities_of(votes, names, ["a", "b"], counted=True),
        calibrator="majority-vote",
    )
    wide = table(np.array([[0.1, 0.0999]]), ["new"], ["a", "b"])
    assert predictor.threshold("0.2").dtype == np.float32
    assert predictor.predict(wide, "0.2").values.tolist() == [[True, False]]
    assert predictor.predict_array(wide.values, "0.2").tolist() == [[True, False]]
    assert (predictor.p_values(wide).values > 0.2).tolist() == [[True, False]]
