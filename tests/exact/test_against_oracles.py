"""Every pair of calibrator and combiner, against brute force, in worlds full of ties."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import plausibly
from exact_pairs import PAIRS, REFUSED, Pair, calibrate, oracle
from exact_worlds import World, worlds
from plausibly.errors import IncompatibleComponents

pytestmark = pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")

SMALL = settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])


def usable(world: World) -> Iterator[Pair]:
    """Pairs that a world is large enough for: a split needs two examples."""
    yield from (pair for pair in PAIRS if len(world.names) > 1 or not pair.rule.splits)


@SMALL
@given(world=worlds())
def test_sets_thresholds_and_p_values_are_the_oracle_s(world: World) -> None:
    for pair in usable(world):
        predictor = calibrate(pair, world)
        calibration, rhos = oracle(pair, world)
        values = predictor.p_values(world.test).values
        for text in world.alphas:
            alpha = Fraction(text)
            tau = pair.rule.threshold(calibration, rhos, alpha)
            assert float(predictor.threshold(text)) == tau, (pair, text)
            kept = [
                [pair.rule.keeps(calibration, rhos, s, alpha) for s in row]
                for row in world.test_scores
            ]
            sets = predictor.predict(world.test, text).values
            assert sets.tolist() == kept, (pair, text)
            assert (values > float(text)).tolist() == kept, (pair, text)
        if pair.rule.name != "pac":
            exact = [
                [float(pair.rule.p(calibration, rhos, s)) for s in row] for row in world.test_scores
            ]
            np.testing.assert_allclose(values, exact, rtol=1e-15, atol=0)


@SMALL
@given(world=worlds(counted=False))
def test_without_denominators_sets_only_grow(world: World) -> None:
    """Plausibilities of no known total are rounded up; draws and votes do not need totals."""
    for pair in usable(world):
        predictor = calibrate(pair, world)
        calibration, rhos = oracle(pair, world)
        values = predictor.p_values(world.test).values
        for text in world.alphas:
            alpha = Fraction(text)
            kept = np.array(
                [
                    [pair.rule.keeps(calibration, rhos, s, alpha) for s in row]
                    for row in world.test_scores
                ]
            )
            sets = predictor.predict(world.test, text).values
            if pair.calibrator == "expected":
                assert (sets >= kept).all(), (pair, text)
                assert float(predictor.threshold(text)) <= pair.rule.threshold(
                    calibration, rhos, alpha
                )
            else:
                assert (sets == kept).all(), (pair, text)
            assert ((values > float(text)) == sets).all(), (pair, text)


@SMALL
@given(world=worlds(most=12, draws=4))
def test_several_alphas_at_once_are_one_at_a_time(world: World) -> None:
    alphas = sorted(world.alphas, key=Fraction)
    for pair in usable(world):
        predictor = calibrate(pair, world)
        together = predictor.predict(world.test, alphas).transpose("alpha", "example", "label")
        taus = predictor.threshold(alphas)
        assert taus.dims == ("alpha",)
        for i, text in enumerate(alphas):
            alone = predictor.predict(world.test, text)
            assert np.array_equal(together.values[i], alone.values)
            assert float(taus.values[i]) == float(predictor.threshold(text))
            fresh = calibrate(pair, world).predict(world.test, text)
            assert np.array_equal(fresh.values, alone.values)
        # A smaller alpha never gives a smaller set.
        assert (together.values[:-1] >= together.values[1:]).all()
        assert list(taus.values) == sorted(taus.values)


@SMALL
@given(world=worlds(most=12, draws=4))
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
@given(world=worlds(most=12, draws=4))
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
