"""Rounding goes one way, so that sets only get larger; and draws come in a random order."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from plausibly.calibration.data import ArrayScores, CalibrationData
from plausibly.calibration.examples import HashedNames
from plausibly.calibration.pvalues import Pools, PValues
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
    far = WeightedSums.of(np.array([1e-300, 1e300]), 1, 1, whole=True)
    assert far.cumulative(np.ones(2, np.int64), np.arange(2))[1] >= 1
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
    stored, unit = storable_masses(units, np.arange(3), whole)
    for before, after, size in zip(units.tolist(), stored.tolist(), unit.tolist(), strict=True):
        assert 0 <= Fraction(after, size) - Fraction(before, 2**56) < Fraction(1, size)
    assert stored.tolist()[1] == 1


def test_fine_risks_are_rounded_up() -> None:
    risks = [0.12345678901, 1.0, 1 / 3]
    shares = np.full((4, 3), [0.5, 0.25, 0.25])
    calibration = Risk(by="risk").calibrate(data(shares, risk=risks), Keys(0))
    assert calibration.units is not None
    assert calibration.denominator is not None
    unit = int(calibration.denominator[0])
    for share, risk, mass in zip(shares[0].tolist(), risks, calibration.units, strict=False):
        exact = Fraction(share) * Fraction(str(risk))
        assert exact <= Fraction(int(mass), unit) < exact + Fraction(1, 10**6)
    small = Risk(by="risk").calibrate(data(uneven(), risk=[0.0123456789, 0.001, 0.0]), Keys(0))
    assert calibration.contents() == small.contents() == ""


def test_risks_and_alpha_may_be_divided_by_the_largest() -> None:
    scores, p_values = np.linspace(0, 1, 50), []
    for largest in (4.0, 1.0):
        risks = data(uneven(), risk=[0.0, largest / 4, largest])
        pool = Pools(Risk(by="risk").calibrate(risks, Keys(0))).pooled
        p_values.append(np.minimum(pool.numerators(scores) / pool.total * 4 / largest, 1))
    np.testing.assert_allclose(np.minimum(p_values[0], 1), p_values[1], rtol=1e-9)


@pytest.mark.parametrize("m", [1, 2, 3])
def test_p_values_are_ranks_again_in_rules_that_merge_them(m: int) -> None:
    """n + 1 times a p-value is a whole number, whichever side its double is on."""
    for n in (48, 97, 102, 1000):
        pooled = Pools(CalibrationScores(scores=np.tile(np.arange(float(n)), (m, 1))))
        p_values = Median().combine(PValues.of(pooled, np.arange(-0.5, n)), None)
        factor = Fraction(m, -(-m // 2))
        exact = [min(Fraction(1), factor * rank / (n + 1)) for rank in range(1, n + 2)]
        assert p_values.tolist() == [float(p) for p in exact]


def test_each_systematic_draw_follows_the_plausibilities() -> None:
    """In order of their places the first would always be the first label."""
    shares = data(np.full((600, 3), 1 / 3))
    labels = MonteCarlo(draws=3, systematic=True).calibrate(shares, Keys(2)).label
    assert labels is not None
    for draw in labels:
        counts = np.bincount(draw, minlength=3)
        # Four standard deviations of a binomial count.
        assert np.abs(counts - 200).max() <= 4 * np.sqrt(600 * 2 / 9)
    assert (np.sort(labels, axis=0) == np.arange(3)[:, None]).mean() > 0.6


def test_the_mass_of_all_examples_is_rounded_down_next_to_a_whole_number() -> None:
    bits = WeightedSums.of(np.array([1.0, 2.0**-70]), 1, 1, whole=True).bits
    weight = np.array([1.0, np.nextafter(2.0**-bits, 0.0)])
    sums = WeightedSums.of(weight, 1, 1, whole=True)
    exact = sum(map(Fraction, weight.tolist()))
    assert (sums.bits, sums.exact) == (bits, False)
    assert sums.base * Fraction(1, 2**bits) <= exact
