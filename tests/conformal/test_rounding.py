"""Rounding goes one way, so that sets only get larger; and draws come in a random order."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays

import plausibly
from plausibly.calibration import pools
from plausibly.calibration.data import ArrayScores, CalibrationData
from plausibly.calibration.examples import HashedNames
from plausibly.calibration.pools import Pools
from plausibly.calibration.pvalues import PValues
from plausibly.calibration.scores import CalibrationScores
from plausibly.kernels import masses as kernel
from plausibly.kernels.masses import WeightedSums, storable_masses
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.sparse import Dense
from plausibly.kernels.types import Floats
from plausibly_builtins.calibrators.drawn import MonteCarlo
from plausibly_builtins.calibrators.risk import Risk
from plausibly_builtins.calibrators.wrapped import Mondrian
from plausibly_builtins.combiners.merging import Median
from tables import labelled


def data(plausibilities: Floats, **labels: list[float]) -> CalibrationData:
    n, count = plausibilities.shape
    return CalibrationData(
        scores=ArrayScores(np.random.default_rng(0).random((n, count))),
        plausibilities=Dense(plausibilities),
        denominator=None,
        examples=HashedNames(hash_names([f"e{i}" for i in range(n)])),
        labels=tuple("abcdefgh"[:count]),
        label_coordinates={name: np.array(values) for name, values in labels.items()},
    )


def uneven(n: int = 20) -> Floats:
    return np.random.default_rng(1).dirichlet(np.ones(3), n)


@pytest.mark.parametrize("at_once", [1, 2, 1 << 16])
def test_sums_of_weights_enclose_the_exact_ones(
    at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numerators are rounded up, and the mass of all examples down; the smallest counts."""
    assert (
        WeightedSums.of(np.array([1e-300, 1e300]), 1, 1, whole=True).cumulative(
            np.ones(2, np.int64), np.arange(2)
        )[1]
        >= 1
    )
    monkeypatch.setattr(kernel, "_AT_ONCE", at_once)
    weight, masses = np.array([1.0, 2.0**-70, 1 / 3]), np.array([5, 7, 3])
    sums = WeightedSums.of(weight, 7, 1, whole=True)
    unit = Fraction(1, 2**sums.bits)
    exact = [Fraction(float(w)) for w in weight]
    assert sums.up.tolist()[1:2] == [1] > sums.down.tolist()[1:2]
    assert sums.base * unit <= sum(exact) < (sums.base + 2) * unit
    cumulative = sums.cumulative(masses, np.arange(3)).tolist()
    for place in range(4):
        whole = sum(e * int(m) / 7 for e, m in zip(exact[:place], masses[:place], strict=True))
        assert whole <= cumulative[place] * unit <= whole + 2 * unit


@pytest.mark.parametrize("weight", [1e-300, 1e-30, 1.0])
def test_a_new_example_of_any_weight_counts_for_something(weight: float) -> None:
    predictor = plausibly.calibrate(
        labelled(uneven(), w=np.linspace(0.3, 1, 20)),
        labelled(uneven()),
        calibrator={"name": "weighted", "by": "w"},
    )
    found = predictor.p_values(labelled([[0.0, 0.0, 1.0]], "n", w=[weight]))
    assert float(found[0, 0]) > 0


@pytest.mark.parametrize("own", [Fraction(1, 3), Fraction(5, 2), Fraction(7, 3)])
def test_the_mass_of_a_new_example_is_rounded_up(own: Fraction) -> None:
    pool = Pools(CalibrationScores(scores=np.arange(6.0)[None], test_mass=own)).pooled
    assert own <= pool.test_mass < own + 1


def test_the_total_of_a_label_is_rounded_down() -> None:
    """Its atoms are rounded up to 2^-40 each; their sum stands in the denominator."""
    shares = uneven()
    calibration = Mondrian(by="label").calibrate(data(shares), Keys(0))
    for label, group in enumerate(Pools(calibration).groups):
        exact = sum(Fraction(float(share)) for share in shares[:, label]) * 2**40
        assert group.pooled.base <= exact < group.pooled.base + len(shares) + 1


def test_masses_that_doubles_cannot_hold_are_rounded_up() -> None:
    units, whole = np.array([2**55 + 1, 3, 2**54 - 7]), np.full(3, 2**56)
    found, one = storable_masses(units, np.arange(3), whole)
    for before, after, unit in zip(units.tolist(), found.tolist(), one.tolist(), strict=True):
        assert 0 <= Fraction(after, unit) - Fraction(before, 2**56) < Fraction(1, unit)
    assert found.tolist()[1] == 1


def test_fine_risks_are_rounded_up() -> None:
    risks = [0.12345678901, 1.0, 1 / 3]
    lam = np.full((4, 3), [0.5, 0.25, 0.25])
    made = Risk(by="risk").calibrate(data(lam, risk=risks), Keys(0))
    assert made.units is not None
    assert made.denominator is not None
    found = [Fraction(int(u), int(made.denominator[0])) for u in made.units[:3]]
    for share, risk, mass in zip(lam[0].tolist(), risks, found, strict=True):
        exact = Fraction(share) * Fraction(str(risk))
        assert exact <= mass < exact + Fraction(1, 10**6)
    small = Risk(by="risk").calibrate(data(uneven(), risk=[0.0123456789, 0.001, 0.0]), Keys(0))
    assert made.contents() == small.contents() == ""


def test_risks_and_alpha_may_be_divided_by_the_largest() -> None:
    lam, risks = uneven(), [0.0, 1.0, 4.0]
    large, small = (
        Pools(Risk(by="risk").calibrate(data(lam, risk=[one / by for one in risks]), Keys(0)))
        for by in (1, 4)
    )
    scores = np.linspace(0, 1, 50)
    found = [pools.pooled.numerators(scores) / pools.pooled.total for pools in (large, small)]
    shares = 4 * found[1]
    np.testing.assert_allclose(np.minimum(found[0], 1), np.minimum(shares, 1), rtol=1e-9)


@pytest.mark.parametrize("m", [1, 2, 3])
def test_p_values_are_ranks_again_in_rules_that_merge_them(m: int) -> None:
    """n + 1 times a p-value is a whole number, whichever side its double is on."""
    for n in (48, 97, 102, 1000):
        atoms = np.tile(np.arange(float(n)), (m, 1))
        queries = np.arange(-0.5, n)
        found = Median().combine(PValues.of(Pools(CalibrationScores(scores=atoms)), queries), None)
        factor = Fraction(m, -(-m // 2))
        exact = [min(Fraction(1), factor * rank / (n + 1)) for rank in range(1, n + 2)]
        assert found.tolist() == [float(one) for one in exact]


def test_each_systematic_draw_follows_the_plausibilities() -> None:
    """In order of their places the first would always be the first label."""
    lam = np.full((600, 3), 1 / 3)
    made = MonteCarlo(draws=3, systematic=True).calibrate(data(lam), Keys(2))
    assert made.label is not None
    for draw in made.label:
        counts = np.bincount(draw, minlength=3)
        # Four standard deviations of a binomial count.
        assert np.abs(counts - 200).max() <= 4 * np.sqrt(600 * 2 / 9)
    assert (np.sort(made.label, axis=0) == np.arange(3)[:, None]).mean() > 0.6


def test_the_mass_of_all_examples_is_rounded_down_next_to_a_whole_number() -> None:
    bits = WeightedSums.of(np.array([1.0, 2.0**-70]), 1, 1, whole=True).bits
    weight = np.array([1.0, np.nextafter(2.0**-bits, 0.0)])
    sums = WeightedSums.of(weight, 1, 1, whole=True)
    exact = sum(Fraction(float(one)) for one in weight)
    assert (sums.bits, sums.exact) == (bits, False)
    assert sums.base * Fraction(1, 2**bits) <= exact


@given(
    arrays(
        np.float32,
        st.integers(0, 30),
        elements=st.floats(width=32, allow_nan=False) | st.sampled_from([-0.0, 0.0, 1.0, -1.0]),
    )
)
def test_scores_and_places_are_sorted_together(scores: Floats) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pools, "_FEW", 0)
        order = pools.stable_order(scores)
    assert order.tolist() == np.argsort(scores, kind="stable").tolist()
    assert pools.stable_order(scores.astype(np.float64)).tolist() == order.tolist()
