"""`pac`: its bounds by brute force, by enumeration and simulation, its defaults and refusals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from itertools import accumulate, pairwise, product, takewhile
from operator import mul
from pathlib import Path
from typing import Any, Literal, TypeAlias

import attrs
import numpy as np
import pytest
import scipy.stats
import xarray as xr
from hypothesis import example, given, settings, strategies as st
from numpy.typing import NDArray

import plausibly
from calibrators_labelled import Table, inside, plausibilities, predictions
from call_files import each_call
from exact_oracles import binomial_cdf
from plausibly.calibration.pvalues import Pools, PValues
from plausibly.calibration.scores import CalibrationScores
from plausibly.guarantee import CalibrationSummary, Claim
from plausibly_builtins.combiners.held_out import Ecdf
from plausibly_builtins.combiners.pac import Pac
from refusals import refused
from tables import world

pytestmark = pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")

Bound: TypeAlias = Literal["betting", "binomial", "hoeffding-bentkus"]
BOUNDS: tuple[Bound, ...] = ("betting", "binomial", "hoeffding-bentkus")
DELTA = Fraction(1, 5)
CALIBRATORS: dict[str, Table] = {
    "expected": {"name": "expected"},
    "monte-carlo": {"name": "monte-carlo", "draws": 4},
    "one draw": {"name": "monte-carlo", "draws": 1},
    "majority-vote": {"name": "majority-vote"},
    "risk": {"name": "risk", "by": "risk"},
    "mass-coverage": {"name": "mass-coverage", "leave_out": 0.3},
    "clustered": inside("clustered", "patient"),
    "clustered vote": inside("clustered", "patient", "majority-vote"),
}
BINOMIAL = ("one draw", "majority-vote", "mass-coverage")
SEPARATE: Table = {"name": "augmentation", "scores": "separate"}
MODEL, ANSWERS = predictions(60), plausibilities(60)


def calibrated(
    calibrator: Table | str = "expected",
    *,
    model: xr.DataArray = MODEL,
    answers: xr.DataArray = ANSWERS,
    **combiner: Any,  # Any: parameters
) -> plausibly.ConformalPredictor:
    table = CALIBRATORS[calibrator] if isinstance(calibrator, str) else calibrator
    rule = {"name": "pac", "delta": float(DELTA), **combiner}
    return plausibly.calibrate(model, answers, calibrator=table, combiner=rule, seed=3)


Losses: TypeAlias = Sequence[Sequence[tuple[float, int]]]
"""Scores with masses, in parts of a total, of each example."""


def pools(losses: Losses, total: int, seed: int = 0) -> Pools:
    random = np.random.default_rng(seed)
    flat = [(row, score, mass) for row, pairs in enumerate(losses) for score, mass in pairs if mass]
    row, score, mass = zip(*flat, strict=True)
    return Pools(
        CalibrationScores(
            scores=np.array([score]),
            units=np.array(mass),
            row=np.array(row),
            denominator=np.full(len(losses), total),
            separate=False,
            order=random.permutation(len(losses)),
            uniform=random.random(len(losses)),
        )
    )


def random_pools(seed: int, n: int) -> Pools:
    random = np.random.default_rng(seed)
    scores = random.integers(1, 12, (n, 3)) / 10
    masses = random.multinomial(6, random.dirichlet([3, 1, 0.5]), n)
    scores[:, 0] += 0.6
    rows = zip(scores.tolist(), masses.tolist(), strict=True)
    return pools([list(zip(*row, strict=True)) for row in rows], 6, seed)


# ---- oracles


def losses_at(result: Pools, tau: float) -> list[Fraction]:
    """Return the missed mass of each example in its order, by brute force."""
    calibration = result.calibration
    assert calibration.order is not None
    units, rows, denominator = calibration.masses()
    missed = [Fraction(0)] * calibration.examples
    for row, score, unit in zip(rows, calibration.scores[0], units, strict=True):
        if score < tau:
            place = int(calibration.order[row])
            missed[place] += Fraction(int(unit), int(denominator[row]))
    return [loss / calibration.test_mass for loss in missed]


def binomial_rejects(
    result: Pools, at_each: list[list[Fraction]], alpha: Fraction, delta: Fraction
) -> list[bool]:
    order, uniform = result.calibration.order, result.calibration.uniform
    assert order is not None
    assert uniform is not None
    draws = [Fraction(float(uniform[row])) for row in np.argsort(order)]
    missed = [sum(loss > u for loss, u in zip(row, draws, strict=True)) for row in at_each]
    return [binomial_cdf(count, len(draws), alpha) <= delta for count in missed]


def hoeffding_bentkus_rejects(
    result: Pools, at_each: list[list[Fraction]], alpha: Fraction, delta: Fraction
) -> list[bool]:
    passes = []
    for losses in at_each:
        n, mean = len(losses), sum(losses) / len(losses)
        low, limit = float(min(mean, alpha)), float(alpha)
        parts = (
            low * math.log(low / limit) if low else 0.0,
            (1 - low) * math.log((1 - low) / (1 - limit)),
        )
        hoeffding = math.exp(-n * sum(parts))
        bentkus = math.e * float(binomial_cdf(math.ceil(n * mean), n, alpha))
        passes.append(min(hoeffding, bentkus) <= float(delta))
    return passes


def betting_rejects(
    result: Pools, at_each: list[list[Fraction]], alpha: Fraction, delta: Fraction
) -> list[bool]:
    """Return at which thresholds the capital reaches 1 / delta; each bet is of examples before."""
    n = len(at_each[0])
    renewed, at = [0], 0
    while at < n:
        at = min(n, max(at + 1, int(1.25 * at)))
        renewed.append(at)
    largest = float(alpha * (1 - alpha))
    bets: list[Fraction] = []
    for start, end in pairwise(renewed):
        variance = largest
        if start:
            held = [row[:start] for row in at_each if sum(row[:start]) <= alpha * start]
            spread = float(sum((loss - alpha) ** 2 for loss in held[-1]))
            variance = min(largest, (5 * largest + spread) / (5 + start))
        bet = min(1.0, math.sqrt(2 * -math.log(delta) / (n * variance)))
        bets += [Fraction(bet)] * (end - start)
    passes = []
    for losses in at_each:
        factors = (1 + bet * (alpha - loss) for bet, loss in zip(bets, losses, strict=True))
        passes.append(max(accumulate(factors, mul, initial=Fraction(1))) >= 1 / delta)
    return passes


ORACLES = {
    "betting": betting_rejects,
    "binomial": binomial_rejects,
    "hoeffding-bentkus": hoeffding_bentkus_rejects,
}


@pytest.mark.parametrize("bound", BOUNDS)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 50),
    alpha=st.sampled_from([Fraction(1, 20), Fraction(1, 10), Fraction(2, 5), Fraction(9, 10)]),
    delta=st.sampled_from([0.01, 0.1, 0.2, 0.5]),
)
@example(seed=142, n=4, alpha=Fraction(1, 20), delta=0.01)  # a p-value next to 1
# Thresholds at which bets that are a tenth larger or smaller end elsewhere.
@example(seed=16, n=36, alpha=Fraction(1, 10), delta=0.5)
@example(seed=60, n=49, alpha=Fraction(2, 5), delta=0.5)
@example(seed=156, n=21, alpha=Fraction(2, 5), delta=0.1)
@settings(max_examples=40, deadline=None)
def test_bounds_by_brute_force(
    bound: Bound, seed: int, n: int, alpha: Fraction, delta: float
) -> None:
    """The threshold ends the first run of scores at which the bound holds, and no more follow."""
    result = random_pools(seed, n)
    atoms = [*np.unique(result.calibration.scores).tolist(), math.inf]
    at_each = [losses_at(result, atom) for atom in atoms]
    passes = ORACLES[bound](result, at_each, alpha, Fraction(str(delta)))
    if bound != "binomial":
        assert passes == sorted(passes, reverse=True)
    run = [atom for atom, _ in takewhile(lambda pair: pair[1], zip(atoms, passes, strict=True))]
    expected = run[-1] if run else -math.inf
    combiner = Pac(delta=delta, bound=bound)
    assert combiner.threshold(result, alpha) == expected
    if bound != "betting":
        p = combiner.combine(PValues.of(result, np.array(atoms[:-1])), None)
        assert (p > float(alpha)).tolist() == [atom >= expected for atom in atoms[:-1]]


def test_pac_with_thousands_of_held_out_examples() -> None:
    """Each p-value is where the tail is delta; exact sums of fractions would take minutes."""
    trials, delta = 3000, 1e-4
    places = np.arange(-1.0, trials)
    result = Pools(CalibrationScores(scores=places[None, 1:]))
    held_out = PValues.of(result, np.random.default_rng(3).permutation(places[1:]))
    rule = Pac(delta=delta, bound="held-out")
    p = rule.combine(PValues.of(result, places), held_out)
    assert p[-1] == 1
    tail = scipy.stats.binom.cdf(np.arange(trials), trials, p[:-1])
    np.testing.assert_allclose(tail, delta, rtol=1e-6)


def test_one_order_of_the_examples_and_another_one_by_another_seed() -> None:
    """Order and draws belong to names and seed; a file without names does not give them away."""
    rows = np.random.default_rng(0).permutation(60)
    names = {"example": [f"other {place}" for place in range(60)]}
    orders, by_place = [], []
    for predictor in (
        calibrated(),
        calibrated(model=MODEL[rows], answers=ANSWERS[rows[::-1]]),
        calibrated(model=MODEL.assign_coords(names), answers=ANSWERS.assign_coords(names)),
    ):
        order, uniform = predictor.pools.calibration.order, predictor.pools.calibration.uniform
        assert order is not None
        assert uniform is not None
        orders.append(order.tolist())
        by_place.append(dict(zip(orders[-1], uniform.tolist(), strict=True)))
    assert sorted(orders[0]) == list(range(60))
    assert orders[0] not in orders[1:]
    assert by_place[0] == by_place[1] == by_place[2]


# ---- what is guaranteed


@pytest.mark.parametrize("bound", [*BOUNDS, "held-out"])
@pytest.mark.parametrize(
    ("alpha", "delta"),
    [
        *(("0.1", delta) for delta in (0.729, 0.7289, 0.1, 0.01, 1e-4)),
        *(("0.5", delta) for delta in (0.25, 0.125)),
        *(("0.01", 0.95), ("0.05", 0.1), ("0.9", 0.5)),
    ],
)
def test_the_least_number_that_says_something(bound: str, alpha: str, delta: float) -> None:
    """The capital of bets of 1, or the chance of no miss, says something from that number on."""
    share = Fraction(alpha)
    unlikely = [1 / (1 + share) ** n if bound == "betting" else (1 - share) ** n for n in range(99)]
    needed = next(n for n, chance in enumerate(unlikely) if chance <= Fraction(str(delta)))
    combiner = Pac(delta=delta, bound=bound)  # type: ignore[arg-type]  # of these
    for n in (needed - 1, needed, needed + 1, 2 * needed, 5 * needed):
        if n:
            summary = CalibrationSummary(n=n, n_held_out=n if bound == "held-out" else 0)
            guarantee = combiner.guarantee(Claim(), summary, share)
            assert (guarantee.needed, guarantee.has) == (needed, n)
            assert guarantee.vacuous is (n < needed)
            assert ((guarantee.least_alpha or 1) > float(alpha)) is (n < needed)
            if bound != "held-out":
                assert guarantee.unit == "calibration examples"
                tau = combiner.threshold(random_pools(n, n), share)
                assert (tau == -math.inf) is (n < needed)


def test_an_alpha_of_one_is_no_least_alpha() -> None:
    """Of one example, with delta 1/2: the capital at most doubles, at alpha 1."""
    rule = Pac(delta=0.5, bound="betting")
    assert rule.guarantee(Claim(), CalibrationSummary(n=1), Fraction(1, 10)).least_alpha is None


@pytest.mark.parametrize("combiner", [Pac(bound="held-out"), Ecdf()])
def test_without_held_out_examples_the_guarantee_is_vacuous(combiner: Pac | Ecdf) -> None:
    guarantee = combiner.guarantee(Claim(), CalibrationSummary(n=50), Fraction(9, 10))
    assert (guarantee.has, guarantee.vacuous) == (0, True)
    assert (guarantee.least_alpha or 1) == 1


@pytest.mark.parametrize("calibrator", CALIBRATORS)
def test_what_is_guaranteed_by_default(calibrator: str) -> None:
    """The bound is binomial where losses are 0 or 1 by construction, not by these answers."""
    bound = "binomial" if calibrator in BINOMIAL else "betting"
    default, chosen = calibrated(calibrator), calibrated(calibrator, bound=bound)
    assert default.threshold([0.1, 0.3]).identical(chosen.threshold([0.1, 0.3]))
    assert default.has_p_values is (bound == "binomial")
    guarantee = default.guarantee("0.1")
    assert guarantee == chosen.guarantee("0.1")
    assert (guarantee.level, guarantee.confidence) == (Fraction(9, 10), 1 - DELTA)
    assert "with probability 0.80 over the calibration" in guarantee.statement()
    assert "independent draws of one distribution" in guarantee.assumes[0]
    assert "chosen without these answers" in guarantee.assumes[-1]
    # What holds on average is a level of coverage, and of no other loss.
    assert bool(guarantee.notes) is (calibrator not in ("risk", "mass-coverage"))
    clusters = calibrator.startswith("clustered")
    assert guarantee.cluster == ("patient" if clusters else "")
    if clusters:
        assert guarantee.has == len(np.unique(MODEL["patient"].values))
    alike = calibrated(calibrator, answers=plausibilities(60, one_hot=True))
    assert alike.has_p_values is default.has_p_values
    assert ("bets" in alike.guarantee(0.1).reason) is (bound == "betting")


def test_a_risk_in_other_units_has_the_same_threshold() -> None:
    whole, half, tenth = (
        calibrated("risk", model=MODEL.assign_coords(risk=MODEL["risk"] / parts))
        for parts in (1, 2, 10)
    )
    assert float(whole.threshold(0.4)) == float(half.threshold(0.2))
    assert float(half.threshold(0.9)) > float(half.threshold(0.2))
    assert float(tenth.threshold(0.25)) == math.inf
    assert tenth.guarantee(0.25).needed == 1


def test_betting_has_no_p_values(tmp_path: Path) -> None:
    predictor, new = calibrated(), predictions(5, prefix="new")
    with refused("p-values-none", "combiner pac"):
        predictor.p_values(new)
    with refused("p-values-none"):
        predictor.p_values_array(np.full(3, 0.4))
    assert predictor.predict_array(np.full((2, 3), 0.9), 0.2).all()
    path, (model, answers) = tmp_path / "report.html", world(30, seed=5, start=1000)
    predictor = plausibly.calibrate(*world(100), combiner={"name": "pac", "delta": 0.1})
    plausibly.write_report(predictor, path, predictions=model, plausibilities=answers)
    assert '"p":[null]' in path.read_text(encoding="utf-8").replace(" ", "")


# ---- what is refused


PAIRS: dict[str, tuple[Table, str]] = {
    "group": (inside("mondrian", "site"), 'groups by "site"'),
    "label": (inside("mondrian", "label"), 'groups by "label"'),
    "group of patients": (
        inside("mondrian", "site", CALIBRATORS["clustered"]),
        'groups by "site", clusters by "patient"',
    ),
    "weights": (inside("weighted", "weight"), 'weights by "weight"'),
    "separate": (
        SEPARATE,
        'one of each augmentation hint combiner average, or pac(bound="held-out")',
    ),
}


@pytest.mark.parametrize("bound", [{}, *({"bound": bound} for bound in BOUNDS)], ids=str)
@pytest.mark.parametrize("pair", PAIRS)
def test_pairs_without_a_guarantee(pair: str, bound: dict[str, Any]) -> None:  # Any: as above
    model = predictions(60, augmentations=3) if pair == "separate" else MODEL
    calibrator, reason = PAIRS[pair]
    with refused("pair-incompatible", f"found {reason}"):
        calibrated(calibrator, model=model, **bound)


def test_p_values_at_a_short_decimal_are_on_the_side_of_the_sets() -> None:
    """Of one example without a loss: (1 - alpha)^1 <= delta from alpha = 0.6 on."""
    predictor = calibrated(
        model=MODEL[:1], answers=ANSWERS[:1], delta=0.4, bound="hoeffding-bentkus"
    )
    new = predictions(20, prefix="new")
    p, sets = predictor.p_values(new).values, predictor.predict(new, "0.6").values
    assert np.isclose(p, 0.6, rtol=0, atol=1e-9).any()
    np.testing.assert_array_equal(sets, p > 0.6)


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [1, 2, 3, 0], [3, 2, 1, 0]])
def test_an_example_without_a_mass_loses_nothing_wherever_it_stands(order: list[int]) -> None:
    calibration = pools([[(0.1, 4)], [(0.5, 4)], [(0.9, 4)], []], 4).calibration
    ordered = Pools(attrs.evolve(calibration, order=np.array(order)))
    threshold = Pac(delta=0.4, bound="binomial").threshold(ordered, Fraction(1, 2))
    assert threshold == 0.5  # P(Bin(4, 1/2) <= 1) <= 0.4 < P(Bin(4, 1/2) <= 2)


def test_separate_test_scores_have_the_held_out_rule() -> None:
    predictor = calibrated(SEPARATE, model=predictions(60, augmentations=3), bound="held-out")
    assert predictor.summary.n_held_out == 30
    assert predictor.pools.calibration.order is None


def test_clusters_are_not_taken_for_examples() -> None:
    calibrate = partial(plausibly.calibrate, MODEL, ANSWERS, combiner="pac", cluster="patient")
    with refused("pair-incompatible", 'hint calibrator clustered(by="patient")'):
        calibrate()
    assert calibrate(calibrator=CALIBRATORS["clustered"]).guarantee(0.1).cluster == "patient"


# ---- validity


Outcome = tuple[Fraction, Sequence[tuple[float, int]]]
"""Probability of an example, and its scores with masses, in parts of four."""
HARD: list[Outcome] = [(Fraction(41, 100), [(0.1, 4)]), (Fraction(59, 100), [(0.9, 4)])]
SOFT: list[Outcome] = [
    (Fraction(2, 5), [(0.1, 3), (0.9, 1)]),
    (Fraction(2, 5), [(0.1, 1), (0.5, 2), (0.9, 1)]),
    (Fraction(1, 5), [(0.7, 4)]),
]


@pytest.mark.parametrize(
    ("outcomes", "n", "bound"),
    [*((HARD, 8, bound) for bound in BOUNDS), (SOFT, 5, "betting"), (SOFT, 5, "hoeffding-bentkus")],
)
def test_every_calibration_enumerated(outcomes: list[Outcome], n: int, bound: Bound) -> None:
    """Missing more than alpha on average is no likelier than delta, and not impossible here."""
    alpha, combiner = Fraction(2, 5), Pac(delta=float(DELTA), bound=bound)

    def risk(tau: float) -> Fraction:
        missed = (
            chance * Fraction(mass, 4)
            for chance, pairs in outcomes
            for score, mass in pairs
            if score < tau
        )
        return sum(missed, start=Fraction(0))

    failed = Fraction(0)
    for chosen in product(outcomes, repeat=n):
        calibration = pools([pairs for _, pairs in chosen], 4).calibration
        ordered = attrs.evolve(calibration, order=np.arange(n))
        if risk(combiner.threshold(Pools(ordered), alpha)) > alpha:
            failed += math.prod((chance for chance, _ in chosen), start=Fraction(1))
    assert failed <= DELTA
    assert failed > 0 or outcomes is SOFT or bound == "hoeffding-bentkus"


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize(
    "values",
    [
        np.append(np.zeros(897), np.ones(103)),
        np.append(np.zeros(794), np.full(206, 0.5)),
        np.linspace(0, 0.206, 500),
    ],
    ids=["0 or 1", "0 or a half", "uniform"],
)
def test_failures_are_no_more_frequent_than_delta(
    values: NDArray[np.float64], bound: Bound
) -> None:
    """Missing the worse label is just too much, and there is no threshold between."""
    combiner, repeats, delta = Pac(delta=0.1, bound=bound), 150, 0.1
    assert 0.1 < values.mean() < 0.104
    failed = 0
    for repeat in range(repeats):
        random = np.random.default_rng([4, repeat])
        masses = random.choice(np.rint(values * 1000).astype(int), 60).tolist()
        pairs = [[(0.0, mass), (1.0, 1000 - mass)] for mass in masses]
        edge = pools(pairs, 1000, int(random.integers(9**9)))
        failed += combiner.threshold(edge, Fraction(1, 10)) > 0
    assert failed / repeats <= delta + 4 * math.sqrt(delta * (1 - delta) / repeats)


@pytest.mark.parametrize("total", [2**53, 2**62])
def test_masses_of_more_digits_than_a_double_has(total: int) -> None:
    random = np.random.default_rng(0)
    scores = [[(score, 1) for score in pair] for pair in random.random((200, 2)).tolist()]
    large = [[(score, total // 2) for score, _ in pair] for pair in scores]
    rule = Pac(delta=0.25, bound="betting")
    for alpha in (Fraction(1, 5), Fraction(2, 5)):
        assert rule.threshold(pools(large, total), alpha) == rule.threshold(pools(scores, 2), alpha)


test_each_call_gives_its_text = each_call(__file__, globals())
