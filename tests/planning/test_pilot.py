"""Measures of a pilot against the definitions, its resamples against real calibrations."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import attrs
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

import exact_oracles
import plausibly
from call_files import each_call
from plausibly.conformal.aggregate import aggregate
from plausibly.data.plausibilities import Plausibilities
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.types import Ints
from plausibly.planning.pilot import Law, Pilot, Shares, examples_needed, pool_rank

from .pilots import pilot

TENTH = Fraction(1, 10)
PREDICTIONS, VOTES = pilot(200, 3)
LAM = aggregate(VOTES)
CLUSTERS = np.unique(PREDICTIONS["patient"].values, return_inverse=True)[1]
ORDER = np.argsort(hash_names(PREDICTIONS["example"].values))


def made(clusters: Ints | None = None) -> Pilot:
    plausibilities = Plausibilities.of(LAM)
    return Pilot(
        predictions=PREDICTIONS,
        plausibilities=plausibilities,
        score="probability",
        seed=0,
        clusters=clusters,
    )


def missed_by_definition(alpha: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The plausibility left out by the largest threshold that leaves out at most alpha of it."""
    scores, shares = PREDICTIONS.values, LAM.values
    best = np.zeros(len(scores))
    for tau in np.append(np.unique(scores), 2.0):
        missed = (shares * (scores < tau)).sum(axis=1)
        if missed.mean() <= alpha + 1e-12:
            best = missed
    return best


def test_variances_between_and_within_examples() -> None:
    missed = missed_by_definition(0.1)
    assert 0.09 < missed.mean() <= 0.1
    result = made(CLUSTERS).shares(TENTH)
    assert result.between == pytest.approx(missed.var(ddof=1), rel=1e-12)
    assert result.within == pytest.approx((missed * (1 - missed)).mean(), rel=1e-12)
    mean = missed.mean()
    assert result.between * (1 - 1 / 200) + result.within == pytest.approx(
        mean * (1 - mean), rel=1e-12
    )
    off = missed - mean
    sums = np.array([off[code == CLUSTERS].sum() for code in range(CLUSTERS.max() + 1)])
    variance = len(sums) / (len(sums) - 1) * (sums**2).sum() / 200
    assert result.design_effect == pytest.approx(variance / missed.var(ddof=1), rel=1e-12)
    assert result.design_effect > 1.2
    assert made().shares(TENTH).design_effect == 1.0
    assert result.ratio(1) == pytest.approx(
        1 + (result.design_effect - 1) * result.between / (result.between + result.within)
    )


def calibrated(examples: Ints, alpha: Fraction) -> float:
    """Coverage on the pilot of what `calibrate` makes of these rows of it, ordered by hash."""
    rows = ORDER[examples]
    names = [f"copy {number}" for number in range(len(rows))]
    part = PREDICTIONS.isel(example=rows).assign_coords(example=names)
    plausibilities = LAM.isel(example=rows).assign_coords(example=names)
    sets = plausibly.calibrate(part, plausibilities).predict(PREDICTIONS, alpha)
    return float((LAM * sets).sum("label").mean())


@pytest.mark.parametrize("n", [9, 30, 150])
def test_resamples_calibrate_as_calibrate_does(n: int) -> None:
    held = made()
    result = held.resampled([TENTH, Fraction(1, 4)], n, [math.inf], 4, Keys(3))
    for number in range(4):
        stream = Keys(3).child(f"resample-{number}")
        examples = (stream.uniform(hash_names(["examples"]), n)[0] * 200).astype(np.int64)
        for row, alpha in enumerate((TENTH, Fraction(1, 4))):
            assert result[row, 0, number] == pytest.approx(calibrated(examples, alpha), abs=1e-9)


def test_fewer_draws_are_among_more() -> None:
    held = made()
    item = held.resampled([TENTH], 60, [1, 5], 6, Keys(0))
    two = held.resampled([TENTH], 60, [1, 2, 5], 6, Keys(0))
    np.testing.assert_array_equal(item[:, 0], two[:, 0])
    np.testing.assert_array_equal(item[:, 1], two[:, 2])
    more = held.resampled([TENTH], 60, [1], 9, Keys(0))
    np.testing.assert_array_equal(item[:, 0], more[:, 0, :6])


@pytest.mark.parametrize("clustered", [False, True])
def test_the_bootstrap_agrees_with_the_formula(clustered: bool) -> None:
    predictions, votes = pilot(1500, 4, clusters=60, seed=4)
    plausibilities = aggregate(votes)
    codes = None
    if clustered:
        codes = np.unique(predictions["patient"].values, return_inverse=True)[1]
    held = attrs.evolve(
        made(codes), predictions=predictions, plausibilities=Plausibilities.of(plausibilities)
    )
    shares = held.shares(TENTH)
    assert (shares.design_effect > 1.4) == clustered
    result = held.resampled([TENTH], 600, [1, 10, math.inf], 300, Keys(1))[0]
    for place, m in enumerate((1, 10, math.inf)):
        law = Law.of(TENTH, np.array([600]), m, shares)
        # a spread of 300 is off by 4%, with clusters of several sizes by more
        assert result[place].std() == pytest.approx(law.spread()[0], rel=0.17)
        assert (
            abs(result[place].mean() - law.mean()[0]) < 4 * law.spread()[0] / math.sqrt(300) + 1e-3
        )


# ---- the law of coverage


@given(st.integers(1, 5000), st.fractions(Fraction(1, 200), Fraction(1, 2), max_denominator=1000))
def test_one_draw_is_the_beta_law(n: int, alpha: Fraction) -> None:
    law = Law.of(alpha, np.array([n]), 1)
    k = math.floor(alpha * (n + 1))
    assert bool(law.vacuous[0]) == (k < 1)
    if k < 1:
        assert (law.mean()[0], law.spread()[0], law.quantile(0.05)[0]) == (1, 0, 1)
        return
    beta = stats.beta(n + 1 - k, k)
    np.testing.assert_allclose(law.mean(), [1 - k / (n + 1)], rtol=1e-12)
    np.testing.assert_allclose(law.spread(), [beta.std()], rtol=1e-9)
    np.testing.assert_allclose(law.quantile(0.05), [beta.ppf(0.05)], rtol=1e-6)
    level = float(1 - alpha)
    within = beta.cdf(level + 0.02) - beta.cdf(level - 0.02)
    np.testing.assert_allclose(law.within(alpha, 0.02), [within], atol=1e-9)
    np.testing.assert_allclose(
        law.within(alpha, 0.02, one_sided=True), [beta.sf(level - 0.02)], atol=1e-9
    )


@pytest.mark.parametrize(("draws", "most"), [(1, 0.02), (10, 0.03), (math.inf, 0.03)])
def test_the_law_of_several_draws_is_close_to_simulated_calibrations(
    draws: float, most: float
) -> None:
    """Examples whose missed mass is 0, 1/2 or 1 at the threshold, for each with a chance."""
    rng = np.random.default_rng(1)
    n, repeats = 300, 4000
    # An example has two labels of plausibility 1/2; scores of one are alike in half the examples.
    alike = rng.random((repeats, n)) < 0.5
    first = rng.random((repeats, n))
    second = np.where(alike, first, rng.random((repeats, n)))
    scores = np.stack([first, second], axis=2)
    if math.isinf(draws):
        pool = np.sort(scores.reshape(repeats, -1), axis=1)
        # all mass, 1/2 an atom: the least atom with more than alpha N - 1 up to it
        tau = pool[:, math.floor((float(TENTH) * (n + 1) - 1) * 2)]
    else:
        m = int(draws)
        chosen = rng.integers(2, size=(repeats, n, m))
        drawn = np.take_along_axis(scores, chosen, axis=2).reshape(repeats, -1)
        tau = np.sort(drawn, axis=1)[:, pool_rank(TENTH, n, m) - 1]
    coverage = 1 - tau  # scores are uniform, whichever label
    # L is 0 or 1 where alike; else 1/2 with chance 2 alpha (1 - alpha), 1 with alpha^2.
    a = 0.1
    second_moment = 0.5 * a + 0.5 * (0.25 * 2 * a * (1 - a) + a**2)
    between, total = second_moment - a**2, a * (1 - a)
    shares = Shares(between=between, within=total - between, atom=0.75)
    law = Law.of(TENTH, np.array([n]), draws, shares)
    assert abs(coverage.mean() - law.mean()[0]) < 4 * coverage.std() / math.sqrt(repeats) + 1e-4
    assert coverage.std() == pytest.approx(law.spread()[0], rel=most + 0.02)
    for share in (0.05, 0.95):
        below = float((coverage < law.quantile(share)[0]).mean())
        assert abs(below - share) < 0.015


@settings(max_examples=30)
@given(
    st.fractions(Fraction(1, 50), Fraction(2, 5), max_denominator=100),
    st.sampled_from([1, 2, 10, math.inf]),
    st.floats(0.5, 2.0),
    st.floats(0.1, 1.0),
    st.floats(0.2, 0.6),
    st.booleans(),
)
def test_every_n_from_the_smallest_on_is_enough(
    alpha: Fraction, draws: float, effect: float, atom: float, share: float, one_sided: bool
) -> None:
    width = share * float(alpha)
    shares_of = Shares(between=0.6, within=0.4, design_effect=effect, atom=atom)
    needed = examples_needed(
        alpha, draws, within=width, confidence=0.9, shares=shares_of, one_sided=one_sided
    )
    n = np.arange(1, 3 * needed + 500)
    shares = Law.of(alpha, n, draws, shares_of).within(alpha, width, one_sided=one_sided)
    assert (shares[needed - 1 :] >= 0.9).all()
    assert needed == 1 or shares[needed - 2] < 0.9


@given(st.integers(1, 60), st.integers(1, 12), st.fractions(Fraction(1, 40), Fraction(3, 4)))
def test_the_rank_is_that_of_algorithm_1(n: int, draws: int, alpha: Fraction) -> None:
    """The least count c whose mean p-value (c + m) / (m N) exceeds alpha."""
    counts = [c for c in range(draws * n + 1) if Fraction(c + draws, draws * (n + 1)) > alpha]
    assert max(pool_rank(alpha, n, draws), 0) == counts[0]


EDGE = Law.of(TENTH, np.array([8, 9, 10]), math.inf, Shares(between=0.03, within=0.06, atom=0.4))


test_each_call_gives_its_text = each_call(__file__, globals())


# ---- real pilots


PREDICTED = {
    "crema_d": (0.0053, 0.0033, 0.0030),
    "imagenet16h": (0.0141, 0.0105, 0.0100),
    "lidc_malignancy": (0.0130, 0.0093, 0.0088),
}
"""Standard deviation over half splits with 1, 10 and expected draws, as predicted beforehand."""

DESIGN_EFFECTS = {"crema_d": ("actor", 1.91), "lidc_malignancy": ("patient", 1.25)}
SPLITS = 60


@pytest.mark.realdata
@pytest.mark.slow
@pytest.mark.parametrize("name", PREDICTED)
def test_random_halves_spread_as_predicted(shared: Path, name: str) -> None:
    predictions, plausibilities = exact_oracles.load(shared, name)
    methods: dict[str, dict[str, object]] = {
        "1": {"calibrator": "monte-carlo", "draws": 1},
        "10": {"calibrator": "monte-carlo", "draws": 10},
        "expected": {"calibrator": "expected"},
    }
    study = plausibly.compare(
        predictions, plausibilities, methods, alphas=[0.1], splits=SPLITS, seed=2
    ).data
    observed = study["aggregated_coverage"].isel(alpha=0).std("split", ddof=1)
    # the spread of so many splits is off by a share of 1 / sqrt(2 splits)
    margin = 3 / math.sqrt(2 * SPLITS)
    for method, predicted in zip(methods, PREDICTED[name], strict=True):
        spread = float(observed.sel({"method": method}))
        assert spread == pytest.approx(predicted, rel=margin + 0.1)


@pytest.mark.realdata
@pytest.mark.parametrize("name", DESIGN_EFFECTS)
def test_design_effects(shared: Path, name: str) -> None:
    cluster, effect = DESIGN_EFFECTS[name]
    predictions, plausibilities = exact_oracles.load(shared, name)
    arrays = np.load(shared / "data" / name / "data.npz", allow_pickle=False)
    predictions = predictions.assign_coords({cluster: ("example", arrays[cluster].astype(str))})
    grouped, alone = (
        plausibly.plan(predictions, plausibilities, cluster=by, within=0.02, resamples=0).data
        for by in (cluster, None)
    )
    assert float(grouped["design_effect"]) == pytest.approx(effect, rel=0.03)
    assert (grouped["n_within"] > alone["n_within"]).all()
