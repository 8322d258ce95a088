"""The law of coverage: exact figures for one draw, a simulation for several."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

import plausibly
from plausibly.planning.law import Law, Shares, examples_needed, pool_rank

TENTH = Fraction(1, 10)


@given(
    st.integers(1, 5000),
    st.fractions(Fraction(1, 200), Fraction(1, 2), max_denominator=1000),
)
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
def test_several_draws_are_close_to_what_calibrations_do(draws: float, most: float) -> None:
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
def test_from_n_on_it_is_enough(
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


def test_ranks_are_exact_where_floats_are_not() -> None:
    # 0.29 * 100 is 28.999999999999996
    assert pool_rank(Fraction("0.29"), 99, 1) == 29
    law = Law.of(Fraction("0.29"), np.array([99]), 1)
    assert law.mean()[0] == pytest.approx(0.71, rel=1e-12)
    # at n = 9 and alpha .1 there is one rank, at n = 8 none
    assert Law.of(TENTH, np.array([8, 9]), 1).vacuous.tolist() == [True, False]
    # a denominator beyond 62 bits
    tiny = Fraction(1, 3**45)
    assert Law.of(tiny, np.array([10**6]), 1).vacuous.tolist() == [True]
    assert Law.of(Fraction(3**45, 3**46), np.array([2]), 1).vacuous.tolist() == [False]


def test_at_the_edge_of_saying_something() -> None:
    shares = Shares(between=0.03, within=0.06, atom=0.4)
    law = Law.of(TENTH, np.array([8, 9, 10]), math.inf, shares)
    assert law.vacuous.tolist() == [True, False, False]
    assert law.mean()[0] == 1
    assert 0.9 < law.mean()[2] < law.mean()[1] < 1
    assert (law.quantile(0.05)[1:] < 1).all()
    assert law.within(TENTH, 0.05)[0] == 0
    assert law.within(TENTH, 0.05, one_sided=True)[0] == 0


@pytest.mark.parametrize(("alpha", "within"), [("0.01", 0.02), ("0.1", 0.2), ("0.05", 0.9)])
@pytest.mark.parametrize("one_sided", [False, True])
def test_enough_is_never_so_few_that_every_set_is_every_label(
    alpha: str, within: float, *, one_sided: bool
) -> None:
    plan = plausibly.plan(alpha=alpha, within=within, confidence=0.9, one_sided=one_sided).data
    needed = int(plan["needed"].sel(combiner="average"))
    assert needed == math.ceil(1 / Fraction(alpha)) - 1
    # All calibrations of so many are within so much: the law of n examples is close enough.
    assert int(plan["n_within"].item()) == needed
