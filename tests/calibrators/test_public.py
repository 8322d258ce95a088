"""The public calls: what is read of new examples, what is warned of, and levels end to end."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import plausibly
from calibrators_labelled import CALIBRATORS, Table, inside, plausibilities, predictions
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.errors import IncompatibleComponents, InputError, PlausiblyWarning
from refusals import refused, warned

N = 40
quiet = pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")


def calibrated(
    table: Table, combiner: str = "average", weight: float | None = None
) -> ConformalPredictor:
    return plausibly.calibrate(
        predictions(N, weight=weight), plausibilities(N), calibrator=table, combiner=combiner
    )


def details(caught: pytest.WarningsRecorder) -> object:
    message = caught[0].message
    assert isinstance(message, PlausiblyWarning)
    return message.details


# Groups and labels that calibration lacks


def test_a_new_group_gets_every_label() -> None:
    predictor = calibrated(CALIBRATORS["group"])
    test = predictions(4, prefix="new", values=2).assign_coords(
        site=("example", ["north", "east", "south", "east"])
    )
    with warned("group-unseen", "2 examples", 'values of "site"', "found east"):
        sets = predictor.predict(test, "0.3")
    with warned("group-unseen") as caught:
        p = predictor.p_values(test)
    assert caught[0].filename == __file__
    assert details(caught) == {"examples": ["new 1", "new 3"]}
    with warned("group-unseen"):
        assert predictor.p_values(test.chunk(example=1)).identical(p)
    assert sets.values[[1, 3]].all()
    assert (p.values[[1, 3]] == 1).all()
    assert not sets.values[[0, 2]].all()


def test_a_label_without_mass_is_in_every_set() -> None:
    lam = plausibilities(N)
    votes = lam.values * lam["denominator"].values[:, None]
    votes[:, 1] += votes[:, 2]
    votes[:, 2] = 0
    lam = lam.copy(data=votes / lam["denominator"].values[:, None])
    predictor = plausibly.calibrate(predictions(N), lam, calibrator=CALIBRATORS["label"])
    test = predictions(4, prefix="new", values=2)
    with warned("group-too-small", "1 of 3 labels", "mass of 3 or more for a label found high 0"):
        sets = predictor.predict(test, "0.3")
    with warned("group-too-small"):
        tau = predictor.threshold("0.3")
    assert sets.sel(label="high").all()
    assert (predictor.p_values(test).sel(label="high") == 1).all()
    assert tau.sel(label="high").item() == -np.inf


def test_a_group_that_is_too_small_says_so() -> None:
    given = predictions(N).assign_coords(site=("example", ["a"] * 38 + ["b"] * 2))
    predictor = plausibly.calibrate(given, plausibilities(N), calibrator=CALIBRATORS["group"])
    test = predictions(2, prefix="new").assign_coords(site=("example", ["a", "b"]))
    expected = "expected 9 calibration examples or more in a group found b 2"
    with warned("group-too-small", '1 of 2 groups of "site"', expected) as caught:
        sets = predictor.predict(test, "0.1")
    assert details(caught) == {"groups": ["b"]}
    assert sets.values[1].all()
    assert not predictor.guarantee("0.1").vacuous


# Weights


def weighing(values: list[float]) -> xr.DataArray:
    return predictions(len(values), prefix="new", values=2).assign_coords(
        weight=("example", values)
    )


def test_new_examples_that_weigh_too_much() -> None:
    predictor = calibrated(CALIBRATORS["weights"], weight=1.0)
    # alpha W / (1 - alpha) is 10.
    with warned("weight-too-large", "2 of 4 examples", 'weights in "weight" below alpha / (1 - '):
        sets = predictor.predict(weighing([1.0, 9.9, 10.1, 1e300]), "0.2")
    assert sets.values[2:].all()


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        (
            "group of weights",
            'alpha / (1 - alpha) of the calibration weights of its "site" together',
        ),
        ("weights of risk", "alpha / (largest risk - alpha) of all calibration weights together"),
    ],
)
def test_what_too_much_is_depends_on_what_is_compared(name: str, limit: str) -> None:
    predictor = calibrated(CALIBRATORS[name], weight=1.0)
    with warned("weight-too-large", f'expected weights in "weight" below {limit} found more'):
        predictor.predict(weighing([1e300, 1e300]), "0.2")


@quiet
@pytest.mark.parametrize("weight", [1e-300, 5e-324, 1.0, 1e300])
def test_extreme_weights(weight: float) -> None:
    """Nothing overflows, p-values stay p-values, and heavier new examples have larger ones."""
    for table in (CALIBRATORS["weights"], CALIBRATORS["weights of risk"]):
        predictor = calibrated(table, weight=weight)
        new = [0.0, 5e-324, 1e-300, 1.0, 1e300]
        rows = predictions(1, prefix="new").isel(example=[0] * len(new))
        test = rows.assign_coords(
            example=[f"new {i}" for i in range(len(new))], weight=("example", new)
        )
        p = predictor.p_values(test).values
        assert ((p >= 0) & (p <= 1)).all()
        assert (np.diff(p, axis=0) >= 0).all()
        assert (p[-1] == 1).all() or weight == 1e300
    without = calibrated(CALIBRATORS["weights"], weight=0.0)
    assert (without.p_values(weighing([0.0, 1.0, 1e300])) == 1).all()


@quiet
def test_examples_without_weight_do_not_count() -> None:
    given = predictions(N)
    halved = given.assign_coords(
        weight=("example", np.where(np.arange(N) < 20, given["weight"].values, 0.0))
    )
    first = given.isel(example=slice(20))
    test = predictions(6, prefix="new")
    lam = plausibilities(N)
    values = [
        plausibly.calibrate(one, lam, calibrator=CALIBRATORS["weights"], only_common=True).p_values(
            test
        )
        for one in (halved, first)
    ]
    assert np.allclose(values[0], values[1], rtol=1e-12, atol=0)


def test_weights_that_are_none() -> None:
    with refused("weights-range", '40 of 40 weights in "weight" are no likelihood ratios'):
        calibrated(CALIBRATORS["weights"], weight=-1.0)


# Thresholds that are not there


@pytest.mark.parametrize("name", ["weights", "group of weights"])
def test_no_threshold_with_weights(name: str) -> None:
    predictor = calibrated(CALIBRATORS[name])
    reason = "the threshold depends on the weight of the example hint predict(...) or p_values(...)"
    with refused("threshold-none", reason, kind=IncompatibleComponents):
        predictor.threshold("0.3")
    with refused("array-not-enough", kind=IncompatibleComponents):
        predictor.predict_array(np.zeros(3), "0.3")


@quiet
def test_a_risk_that_lets_every_label_go() -> None:
    """Leaving out everything costs less than alpha: no label is needed."""
    given = predictions(N).assign_coords(risk=("label", [0.0, 0.1, 0.1]))
    predictor = plausibly.calibrate(given, plausibilities(N), calibrator=CALIBRATORS["risk"])
    assert predictor.threshold("0.5").item() == np.inf
    test = predictions(3, prefix="new")
    assert not predictor.predict(test, "0.5").any()
    assert (predictor.p_values(test) <= 0.5).all()
    assert predictor.guarantee("0.5").statement() == "E[risk left out] <= 0.50"


@quiet
def test_risks_above_one_with_many_fine_plausibilities() -> None:
    """Sums of losses far past the examples' own mass stay exact."""
    risk = ("label", [0.0, 1e6, 3e6])
    given = predictions(N).assign_coords(risk=risk)
    lam = plausibilities(N, counted=False)
    predictor = plausibly.calibrate(given, lam, calibrator=CALIBRATORS["risk"])
    assert (predictor.p_values(predictions(3, prefix="new")) == 1).all()
    pool = predictor.pools.pooled
    losses = (lam.values * [0.0, 1e6, 3e6]).sum()
    assert np.isclose(float(pool.cumulative[-1]) / (pool.total - pool.base), losses, rtol=1e-9)
    assert (np.diff(pool.cumulative) >= 0).all()


def test_new_examples_without_a_group() -> None:
    predictor = calibrated(CALIBRATORS["group"])
    test = predictions(2, prefix="new")
    with pytest.raises(InputError) as caught:
        predictor.predict(test.drop_vars("site"), "0.3")
    text = " ".join(str(caught.value).split())
    assert text.startswith('error coordinate-missing: calibrator mondrian needs "site" of the')
    with refused("coordinate-empty"):
        predictor.predict(test.assign_coords(site=("example", ["north", ""])), "0.3")


# From how many examples on a set says something


@quiet
@pytest.mark.parametrize(
    ("table", "combiner", "alpha", "needed"),
    [
        ({"name": "risk", "by": "risk"}, "average", "0.5", 4),
        ({"name": "risk", "by": "risk"}, "twice-average", "0.5", 9),
        (inside("mondrian", "same"), "average", "0.2", 4),
        (inside("clustered", "alone"), "average", "0.2", 4),
        ({"name": "mass-coverage"}, "average", "0.2", 4),
    ],
    ids=str,
)
def test_as_many_as_needed(table: Table, combiner: str, alpha: str, needed: int) -> None:
    lam = plausibilities(needed, one_hot=True)
    lam = lam.copy(data=np.tile([0.0, 0.0, 1.0], (needed, 1)))
    for count, vacuous in ((needed, False), (needed - 1, True)):
        given = predictions(count).copy(data=np.tile([0.5, 0.5, 0.5], (count, 1)))
        predictor = plausibly.calibrate(
            given, lam, calibrator=table, combiner=combiner, only_common=True
        )
        guarantee = predictor.guarantee(alpha)
        assert (guarantee.vacuous, guarantee.needed) == (vacuous, needed)
        low = given.isel(example=[0]) * 0
        low.attrs = given.attrs
        assert predictor.predict(low.assign_coords(example=["new"]), alpha).all() == vacuous


def test_heavy_examples_are_those_of_their_group() -> None:
    """Half of the weight is in each group, and all of it does not help a new example."""
    given = predictions(N, weight=1.0)
    given = given.assign_coords(site=("example", ["north"] * 20 + ["south"] * 20))
    predictor = plausibly.calibrate(
        given, plausibilities(N), calibrator=CALIBRATORS["group of weights"]
    )
    new = weighing([6.0, 1.0]).assign_coords(site=("example", ["north", "south"]))
    with warned("weight-too-large", "1 of 2 examples"):
        sets = predictor.predict(new, "0.2")
    assert sets.values[0].all()
