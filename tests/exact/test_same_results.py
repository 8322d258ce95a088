"""Results do not change with row order, dim order, label order, batch size, read-only inputs.

Labels may be reordered in plausibilities and test predictions; the calibration predictions give
the order in which draws cumulate and ties break, so theirs is left alone.
"""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from hypothesis import HealthCheck, given, settings, strategies as st

import plausibly
from exact_oracles import World, plausibilities_of, table, worlds
from plausibly.conformal.predictor import ConformalPredictor

from .pairs import PAIRS, Pair, calibrate

pytestmark = pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")

FEW = settings(max_examples=5, suppress_health_check=[HealthCheck.too_slow])
EACH_PAIR = pytest.mark.parametrize("pair", PAIRS, ids=str)
SMALL = worlds(most=12, draws=4, alphas=2)


def shuffled(size: int, seed: int) -> list[int]:
    order: list[int] = np.random.default_rng(seed).permutation(size).tolist()
    return order


def again(
    pair: Pair, world: World, predictions: xr.DataArray, plausibilities: xr.DataArray
) -> ConformalPredictor:
    return plausibly.calibrate(
        predictions,
        plausibilities,
        calibrator=pair.calibrator,
        combiner=pair.combiner,
        draws=world.draws if pair.calibrator == "monte-carlo" else None,
        seed=world.seed,
    )


def usable(pair: Pair, world: World) -> bool:
    return len(world.names) > 1 or not pair.rule.splits


def assert_same(world: World, first: ConformalPredictor, second: ConformalPredictor) -> None:
    alphas = list(world.alphas)
    assert first.threshold(alphas).identical(second.threshold(alphas))
    assert first.predict(world.test, alphas).identical(second.predict(world.test, alphas))
    assert first.p_values(world.test).identical(second.p_values(world.test))
    assert first.fingerprint == second.fingerprint
    for alpha in alphas:
        assert first.guarantee(alpha) == second.guarantee(alpha)


@EACH_PAIR
@FEW
@given(world=SMALL, seed=st.integers(0, 2**16))
def test_calibration_rows_in_any_order(pair: Pair, world: World, seed: int) -> None:
    if not usable(pair, world):
        return
    n = len(world.names)
    predictions = world.predictions.isel(example=shuffled(n, seed))
    plausibilities = world.plausibilities.isel(example=shuffled(n, seed + 1))
    assert_same(world, calibrate(pair, world), again(pair, world, predictions, plausibilities))


@EACH_PAIR
@FEW
@given(world=SMALL, seed=st.integers(0, 2**16))
def test_dims_and_labels_by_name(pair: Pair, world: World, seed: int) -> None:
    if not usable(pair, world):
        return
    order = shuffled(world.test.sizes["label"], seed)
    predictor = again(
        pair,
        world,
        world.predictions.transpose("label", "example"),
        world.plausibilities.transpose("label", "example").isel(label=order),
    )
    assert_same(world, calibrate(pair, world), predictor)
    alphas = list(world.alphas)
    sets = predictor.predict(world.test, alphas)
    moved = predictor.predict(world.test.transpose("label", "example").isel(label=order), alphas)
    assert moved.transpose(*sets.dims).sel(label=sets["label"]).equals(sets)
    p = predictor.p_values(world.test)
    moved = predictor.p_values(world.test.transpose("label", "example").isel(label=order))
    assert moved.transpose(*p.dims).sel(label=p["label"]).equals(p)


@EACH_PAIR
@FEW
@given(world=SMALL, seed=st.integers(0, 2**16))
def test_one_row_a_batch_and_permuted_rows(pair: Pair, world: World, seed: int) -> None:
    if not usable(pair, world):
        return
    predictor = calibrate(pair, world)
    order = shuffled(world.test.sizes["example"], seed)
    permuted = world.test.isel(example=order)
    alphas = list(world.alphas)
    for ask in (predictor.p_values, lambda test: predictor.predict(test, alphas)):
        batch = ask(world.test)
        assert ask(permuted).equals(batch.isel(example=order))
        for i in range(world.test.sizes["example"]):
            assert ask(world.test.isel(example=[i])).equals(batch.isel(example=[i]))


@EACH_PAIR
@FEW
@given(world=SMALL)
def test_inputs_are_read_and_never_written(pair: Pair, world: World) -> None:
    if not usable(pair, world):
        return
    inputs = (world.predictions, world.plausibilities, world.test)
    before = [array.copy(deep=True) for array in inputs]
    free = calibrate(pair, world)
    for array in inputs:
        array.values.setflags(write=False)
    locked = calibrate(pair, world)
    assert_same(world, free, locked)
    for values in (world.test.values, world.test.values[0]):
        locked.predict_array(values, world.alphas[0])
    for array, copy in zip(inputs, before, strict=True):
        assert array.identical(copy)


@FEW
@given(world=worlds(most=20, draws=6))
def test_more_draws_keep_the_first_ones(world: World) -> None:
    """Draws are prefix-stable: the largest of m + 1 p-values is no smaller than that of m."""
    pair = next(p for p in PAIRS if str(p) == "monte-carlo x maximum")
    fewer = calibrate(pair, world).p_values(world.test)
    more = plausibly.calibrate(
        world.predictions,
        world.plausibilities,
        calibrator=pair.calibrator,
        combiner=pair.combiner,
        draws=world.draws + 1,
        seed=world.seed,
    ).p_values(world.test)
    assert (more >= fewer).all()


@FEW
@given(world=worlds(most=20, draws=6))
def test_maximum_contains_average(world: World) -> None:
    pairs = {str(pair): pair for pair in PAIRS}
    union = calibrate(pairs["monte-carlo x maximum"], world)
    average = calibrate(pairs["monte-carlo x average"], world)
    alphas = list(world.alphas)
    assert (union.predict(world.test, alphas) >= average.predict(world.test, alphas)).all()
    assert (union.p_values(world.test) >= average.p_values(world.test)).all()


@FEW
@given(world=worlds(most=20, draws=6))
def test_a_seed_names_the_draws(world: World) -> None:
    """The same seed gives the same predictor; expected and majority-vote use none."""
    pairs = {str(pair): pair for pair in PAIRS}
    for name in ("expected x average", "majority-vote x average", "monte-carlo x average"):
        item, two = calibrate(pairs[name], world), calibrate(pairs[name], world)
        assert_same(world, item, two)
    for calibrator in ("expected", "majority-vote"):
        seeded = [
            plausibly.calibrate(
                world.predictions, world.plausibilities, calibrator=calibrator, seed=seed
            )
            for seed in (1, 2)
        ]
        alphas = list(world.alphas)
        assert seeded[0].threshold(alphas).identical(seeded[1].threshold(alphas))


@pytest.mark.parametrize("pair", PAIRS, ids=str)
@pytest.mark.parametrize("scale", ["probability", "logit"])
def test_log_probabilities_keep_the_order_and_so_the_sets(pair: Pair, scale: str) -> None:
    """Sixty-fourths have distinct logarithms, a probability of zero scores -inf; logits do not tie,
    since the two soft maxima round equal probabilities differently.
    """
    random = np.random.default_rng(3)
    n, labels = 24, ["a", "b", "c", "d"]
    shares = random.multinomial(64, [0.6, 0.25, 0.1, 0.05], size=n + 6) / 64
    if scale == "logit":
        shares = random.normal(size=shares.shape)
    names = [f"case {i}" for i in range(n)]
    votes = random.multinomial(5, [0.5, 0.2, 0.2, 0.1], size=n)
    plausibilities = plausibilities_of(votes, names, labels, counted=True)
    sets = []
    for score in ("probability", "log-probability"):
        predictor = plausibly.calibrate(
            table(shares[:n], names, labels).assign_attrs(scale=scale),
            plausibilities,
            calibrator=pair.calibrator,
            combiner=pair.combiner,
            score=score,
        )
        new = table(shares[n:], [f"new {i}" for i in range(6)], labels).assign_attrs(scale=scale)
        sets.append(predictor.predict(new, ["0.1", "0.29", "0.5"]).values)
    assert np.array_equal(sets[0], sets[1])
