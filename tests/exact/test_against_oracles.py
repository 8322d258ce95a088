"""Every pair of calibrator and combiner, against brute force, in worlds full of ties."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import plausibly
from exact_oracles import World, worlds
from plausibly.errors import IncompatibleComponents

from .pairs import PAIRS, REFUSED, Oracle, Pair, calibrate, oracle

pytestmark = pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")

THOROUGH = settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])
SMALL = settings(max_examples=5, suppress_health_check=[HealthCheck.too_slow])


def usable(world: World) -> Iterator[Pair]:
    """Pairs that a world is large enough for: a split needs two examples."""
    yield from (pair for pair in PAIRS if len(world.names) > 1 or not pair.rule.splits)


def kept_by(pair: Pair, known: Oracle, world: World, alpha: Fraction) -> list[list[bool]]:
    """Return the oracle's sets."""
    calibration, rhos = known
    return [
        [pair.rule.keeps(calibration, rhos, s, alpha) for s in row] for row in world.test_scores
    ]


@THOROUGH
@given(world=worlds())
def test_sets_thresholds_and_p_values_are_the_oracle_s(world: World) -> None:
    alphas = list(world.alphas)
    for pair in usable(world):
        predictor = calibrate(pair, world)
        calibration, rhos = known = oracle(pair, world)
        values = predictor.p_values(world.test).values
        sets = predictor.predict(world.test, alphas).transpose("alpha", "example", "label").values
        taus = predictor.threshold(alphas).values
        for text, plane, tau in zip(alphas, sets, taus, strict=True):
            alpha = Fraction(text)
            kept = kept_by(pair, known, world, alpha)
            assert float(tau) == pair.rule.threshold(calibration, rhos, alpha), (pair, text)
            assert plane.tolist() == kept, (pair, text)
            assert (values > float(text)).tolist() == kept, (pair, text)
        if pair.rule.name != "pac":
            exact = [
                [float(pair.rule.p(calibration, rhos, s)) for s in row] for row in world.test_scores
            ]
            np.testing.assert_allclose(values, exact, rtol=1e-15, atol=0)


@THOROUGH
@given(world=worlds(counted=False))
def test_without_denominators_sets_only_grow(world: World) -> None:
    """Plausibilities of no known total are rounded up; draws and votes do not need totals."""
    alphas = list(world.alphas)
    for pair in usable(world):
        predictor = calibrate(pair, world)
        calibration, rhos = known = oracle(pair, world)
        values = predictor.p_values(world.test).values
        sets = predictor.predict(world.test, alphas).transpose("alpha", "example", "label").values
        taus = predictor.threshold(alphas).values
        for text, plane, tau in zip(alphas, sets, taus, strict=True):
            alpha = Fraction(text)
            kept = np.array(kept_by(pair, known, world, alpha))
            if pair.calibrator == "expected":
                assert (plane >= kept).all(), (pair, text)
                assert float(tau) <= pair.rule.threshold(calibration, rhos, alpha), (pair, text)
            else:
                assert (plane == kept).all(), (pair, text)
            assert ((values > float(text)) == plane).all(), (pair, text)


@SMALL
@given(world=worlds(most=12, draws=4, alphas=2))
def test_several_alphas_at_once_are_one_at_a_time(world: World) -> None:
    alphas = sorted(world.alphas, key=Fraction)
    for pair in usable(world):
        predictor = calibrate(pair, world)
        fresh = calibrate(pair, world)
        together = fresh.predict(world.test, alphas).transpose("alpha", "example", "label")
        taus = fresh.threshold(alphas)
        assert taus.dims == ("alpha",)
        for i, text in enumerate(alphas):
            alone = predictor.predict(world.test, text)
            assert np.array_equal(together.values[i], alone.values)
            assert float(taus.values[i]) == float(predictor.threshold(text))
        # A smaller alpha never gives a smaller set.
        assert (together.values[:-1] >= together.values[1:]).all()
        assert list(taus.values) == sorted(taus.values)


@SMALL
@given(world=worlds(most=12, draws=4, alphas=2))
def test_arrays_are_answered_as_tables_are(world: World) -> None:
    for pair in usable(world):
        predictor = calibrate(pair, world)
        for text in world.alphas:
            sets = predictor.predict(world.test, text).transpose("example", "label").values
            batch = predictor.predict_array(world.test.values, text)
            assert np.array_equal(batch, sets)
            rows = [predictor.predict_array(row, text) for row in world.test.values]
            assert np.array_equal(np.stack(rows), sets)


@SMALL
@given(world=worlds(most=12, draws=4, alphas=2))
def test_saved_predictors_are_the_same(
    world: World, tmp_path_factory: pytest.TempPathFactory
) -> None:
    for pair in usable(world):
        predictor = calibrate(pair, world)
        path = Path(tmp_path_factory.mktemp("predictors")) / "predictor.nc"
        predictor.save(path)
        loaded = plausibly.load_predictor(path)
        assert loaded.labels == predictor.labels
        assert loaded.n == predictor.n
        assert loaded.fingerprint == predictor.fingerprint
        assert loaded.threshold(world.alphas).identical(predictor.threshold(world.alphas))
        assert loaded.predict(world.test, world.alphas).identical(
            predictor.predict(world.test, world.alphas)
        )
        assert loaded.p_values(world.test).identical(predictor.p_values(world.test))
        for text in world.alphas:
            assert loaded.guarantee(text) == predictor.guarantee(text)


@given(world=worlds(most=5))
@settings(max_examples=5)
def test_the_one_pair_without_separate_p_values_is_refused(world: World) -> None:
    with pytest.raises(IncompatibleComponents) as caught:
        calibrate(REFUSED, world)
    assert caught.value.name == "pair-incompatible"
    assert str(caught.value).startswith(
        "error pair-incompatible: combiner maximum does not go with calibrator expected"
    )
