"""The public calls: what is read of new examples, what is warned of, and levels end to end."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import plausibly
from calibrators_labelled import CALIBRATORS, Table, inside, plausibilities, predictions
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.errors import IncompatibleComponents, PlausiblyWarning
from plausibly.kernels.random import hash_names
from plausibly.plugin import CALIBRATOR, CalibrationData, Keys, resolve
from refusals import refused, warned

N = 40
quiet = pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")
RISK = CALIBRATORS["risk"]


def calibrated(table: Table, weight: float | None = None, **coords: object) -> ConformalPredictor:
    model = predictions(N, weight=weight).assign_coords(coords)
    return plausibly.calibrate(model, plausibilities(N), calibrator=table)


def new_examples(count: int, **coords: object) -> xr.DataArray:
    """Return predictions whose scores are all low."""
    coords = {name: ("example", values) for name, values in coords.items()}
    return predictions(count, prefix="new", values=2).assign_coords(coords)


def details(caught: pytest.WarningsRecorder) -> object:
    message = caught[0].message
    assert isinstance(message, PlausiblyWarning)
    return message.details


def test_a_new_group_gets_every_label() -> None:
    predictor = calibrated(CALIBRATORS["group"])
    new = new_examples(4, site=["north", "east", "south", "east"])
    with warned("group-unseen", "2 examples", 'values of "site"', "found east"):
        sets = predictor.predict(new, "0.3")
    with warned("group-unseen") as caught:
        p = predictor.p_values(new)
    assert caught[0].filename == __file__
    assert details(caught) == {"examples": ["new 1", "new 3"]}
    with warned("group-unseen"):
        assert predictor.p_values(new.chunk(example=1)).identical(p)
    assert sets.values.all(axis=1).tolist() == [False, True, False, True]
    assert not sets.values[[0, 2]].any()
    assert (p.values[[1, 3]] == 1).all()


def test_a_label_without_mass_is_in_every_set() -> None:
    answers = plausibilities(N)
    totals = answers["denominator"].values[:, None]
    votes = answers.values * totals
    votes[:, 1] += votes[:, 2]
    votes[:, 2] = 0
    answers = answers.copy(data=votes / totals)
    predictor = plausibly.calibrate(predictions(N), answers, calibrator=CALIBRATORS["label"])
    new = new_examples(4)
    with warned("group-too-small", "1 of 3 labels", "mass of 3 or more for a label found high 0"):
        sets = predictor.predict(new, "0.3")
    with warned("group-too-small"):
        assert predictor.threshold("0.3").sel(label="high").item() == -np.inf
    assert sets.sel(label="high").all()
    assert (predictor.p_values(new).sel(label="high") == 1).all()


def test_a_group_that_is_too_small_gets_every_label() -> None:
    predictor = calibrated(CALIBRATORS["group"], site=("example", ["a"] * 38 + ["b"] * 2))
    expected = "expected 9 calibration examples or more in a group found b 2"
    with warned("group-too-small", '1 of 2 groups of "site"', expected) as caught:
        sets = predictor.predict(new_examples(2, site=["a", "b"]), "0.1")
    assert details(caught) == {"groups": ["b"]}
    assert sets.values[1].all()
    assert not predictor.guarantee("0.1").vacuous


# ---- weights


@pytest.mark.parametrize(
    ("name", "weights", "count", "full"),
    [
        # alpha W / (1 - alpha) is 10.
        ("weights", [1.0, 9.9, 10.1, 1e300], "2 of 4 examples", [2, 3]),
        ("group of weights", [1e300, 1e300], "2 of 2 examples", [0, 1]),
        # Half of the weight is in each group, and all of it does not help.
        ("group of weights", [6.0, 1.0], "1 of 2 examples", [0]),
        ("weights of risk", [1e300, 1e300], "2 of 2 examples", [0, 1]),
    ],
)
def test_new_examples_that_weigh_too_much(
    name: str, weights: list[float], count: str, full: list[int]
) -> None:
    site = ["north"] * 20 + ["south"] * 20
    predictor = calibrated(CALIBRATORS[name], weight=1.0, site=("example", site))
    new = new_examples(len(weights), weight=weights, site=["north", "south"] * (len(weights) // 2))
    with warned("weight-too-large", count, 'weights in "weight"'):
        sets = predictor.predict(new, "0.2")
    assert sets.values[full].all()


@quiet
@pytest.mark.parametrize("weight", [1e-300, 5e-324, 1.0, 1e300])
def test_extreme_weights(weight: float) -> None:
    """Nothing overflows; any weight counts for something, and heavier examples for more."""
    for table in (CALIBRATORS["weights"], CALIBRATORS["weights of risk"]):
        new = predictions(1, prefix="new").isel(example=[0] * 5)
        new[:, 0] = 0  # below every score of the calibration
        weights = ("example", [0.0, 5e-324, 1e-300, 1.0, 1e300])
        new = new.assign_coords(example=list("abcde"), weight=weights)
        p = calibrated(table, weight=weight).p_values(new).values
        assert ((p >= 0) & (p <= 1)).all()
        assert (p[1:] > 0).all()
        assert (np.diff(p, axis=0) >= 0).all()
        assert (p[-1] == 1).all() or weight == 1e300
    without = calibrated(CALIBRATORS["weights"], weight=0.0)
    assert (without.p_values(new_examples(3, weight=[0.0, 1.0, 1e300])) == 1).all()


@quiet
def test_examples_without_weight_do_not_count() -> None:
    model, new = predictions(N), predictions(6, prefix="new")
    weight = np.where(np.arange(N) < 20, model["weight"].values, 0.0)
    values = [
        plausibly.calibrate(
            inputs, plausibilities(N), calibrator=CALIBRATORS["weights"], only_common=True
        ).p_values(new)
        for inputs in (model.assign_coords(weight=("example", weight)), model[:20])
    ]
    assert np.allclose(values[0], values[1], rtol=1e-12, atol=0)


def test_no_threshold_with_weights() -> None:
    with refused(
        "weights-range", '40 of 40 weights in "weight" are no likelihood ratios', "found -1"
    ):
        calibrated(CALIBRATORS["weights"], weight=-1.0)
    heavy = predictions(N).assign_coords(weight=("example", ["heavy"] * N))
    with refused("weights-range", "40 of 40 weights", 'found "heavy"') as caught:
        plausibly.calibrate(heavy, plausibilities(N), calibrator=CALIBRATORS["weights"])
    assert caught.value.source == "predictions"
    for name in ("weights", "group of weights"):
        predictor = calibrated(CALIBRATORS[name])
        with refused(
            "threshold-none", "hint predict(...) or p_values(...)", kind=IncompatibleComponents
        ):
            predictor.threshold("0.3")
        with refused("array-not-enough", kind=IncompatibleComponents):
            predictor.predict_array(np.zeros(3), "0.3")


# ---- risk


@quiet
def test_a_risk_that_lets_every_label_go() -> None:
    """Leaving out everything costs less than alpha: no label is needed."""
    predictor = calibrated(RISK, risk=("label", [0.0, 0.1, 0.1]))
    assert predictor.threshold("0.5").item() == np.inf
    new = predictions(3, prefix="new")
    assert not predictor.predict(new, "0.5").any()
    assert (predictor.p_values(new) <= 0.5).all()
    assert predictor.guarantee("0.5").statement() == "E[risk left out] <= 0.50"


@quiet
def test_risks_above_one_with_many_fine_plausibilities() -> None:
    """Sums of losses far past the examples' own mass stay exact."""
    risks = [0.0, 1e6, 3e6]
    model = predictions(N).assign_coords(risk=("label", risks))
    answers = plausibilities(N, counted=False)
    predictor = plausibly.calibrate(model, answers, calibrator=RISK)
    assert (predictor.p_values(predictions(3, prefix="new")) == 1).all()
    pool = predictor.pools.pooled
    losses = float(pool.cumulative[-1]) / (pool.total - pool.base)
    assert np.isclose(losses, (answers.values * risks).sum(), rtol=1e-9)
    assert (np.diff(pool.cumulative) >= 0).all()


@quiet
@pytest.mark.parametrize(
    ("risk", "held"),
    [(1e-6, 1e-6), (0.1234567, 129454 / 2**20)],  # rounded up from more than six digits on
)
def test_fine_risks_are_rounded_up(risk: float, held: float) -> None:
    """Nine examples lose the risk of one label."""
    model = predictions(9).copy(data=np.full((9, 3), 0.5))
    model = model.assign_coords(risk=("label", [0.0, risk, 1.0]))
    answers = plausibilities(9, one_hot=True).copy(data=np.tile([0.0, 1.0, 0.0], (9, 1)))
    predictor = plausibly.calibrate(model, answers, calibrator=RISK)
    p = predictor.p_values(predictions(1, prefix="new").copy(data=np.full((1, 3), 0.7)))
    np.testing.assert_allclose(p, (9 * held + 1) / 10, rtol=1e-14)


def test_new_examples_without_a_group() -> None:
    predictor, new = calibrated(CALIBRATORS["group"]), predictions(2, prefix="new")
    with refused("coordinate-missing", 'calibrator mondrian needs "site" of the exa') as caught:
        predictor.predict(new.drop_vars("site"), "0.3")
    assert caught.value.details == {"coordinates": ["alone", "patient", "same", "weight"]}
    with refused("coordinate-empty", "calibrator mondrian reads it") as caught:
        predictor.predict(new.assign_coords(site=("example", ["north", ""])), "0.3")
    assert caught.value.details == {"examples": ["new 1"]}


@quiet
@pytest.mark.parametrize(
    ("table", "combiner", "alpha", "needed"),
    [
        (RISK, "average", "0.5", 4),
        (RISK, "twice-average", "0.5", 9),
        (inside("mondrian", "same"), "average", "0.2", 4),
        (inside("clustered", "alone"), "average", "0.2", 4),
        ({"name": "mass-coverage"}, "average", "0.2", 4),
    ],
    ids=str,
)
def test_sets_say_something_from_the_needed_number_on(
    table: Table, combiner: str, alpha: str, needed: int
) -> None:
    for count, vacuous in ((needed, False), (needed - 1, True)):
        model = predictions(count).copy(data=np.full((count, 3), 0.5))
        answers = plausibilities(count, one_hot=True)
        answers = answers.copy(data=np.tile([0.0, 0.0, 1.0], (count, 1)))
        predictor = plausibly.calibrate(model, answers, calibrator=table, combiner=combiner)
        guarantee = predictor.guarantee(alpha)
        assert (guarantee.vacuous, guarantee.needed) == (vacuous, needed)
        low = model.copy(data=np.zeros((count, 3)))[:1].assign_coords(example=["new"])
        assert predictor.predict(low, alpha).all() == vacuous


def test_a_calibrator_alone_on_plain_arrays() -> None:
    model, answers = predictions(N), plausibilities(N)
    data = CalibrationData.of(
        model.values,
        answers.values,
        examples=model["example"].values,
        labels=model["label"].values.tolist(),
    )
    assert data.labels == tuple(model["label"].values)
    np.testing.assert_array_equal(data.hashes, hash_names(model["example"].values))
    alone = resolve(CALIBRATOR, "majority-vote").calibrate(data, Keys(0))
    together = plausibly.calibrate(model, answers, calibrator="majority-vote").pools.calibration
    np.testing.assert_array_equal(alone.scores, together.scores)
