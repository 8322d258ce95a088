"""Calibrators that must agree, and what no calibrator's answer may depend on."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import xarray as xr

import plausibly
from calibrators_labelled import (
    AUGMENTED,
    CALIBRATORS,
    POOLED,
    Table,
    inside,
    plausibilities,
    predictions,
    shuffled,
)
from plausibly.conformal.predictor import ConformalPredictor
from tables import labelled, shares

pytestmark = pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")

N = 40
ALPHAS = ("0.05", "0.1", "0.2", "0.25", "0.5", "0.137")
DRAWS: Table = {"name": "monte-carlo", "draws": 3}
SMOOTHED: Table = {"name": "average", "smoothed": True}
INNER: dict[str, Table] = {
    "expected": {"name": "expected"},
    "draws": DRAWS,
    "votes": {"name": "majority-vote"},
    "risk": {"name": "risk", "by": "risk"},
    "mass": {"name": "mass-coverage", "leave_out": 0.2},
    "systematic": CALIBRATORS["systematic"],
}


def calibrated(
    table: Table,
    combiner: Table | str = "average",
    *,
    given: xr.DataArray | None = None,
    lam: xr.DataArray | None = None,
    weight: float | None = None,
) -> ConformalPredictor:
    return plausibly.calibrate(
        predictions(N, weight=weight) if given is None else given,
        plausibilities(N) if lam is None else lam,
        calibrator=table,
        combiner=combiner,
    )


def same(one: ConformalPredictor, other: ConformalPredictor, test: xr.DataArray) -> None:
    """Both give the same p-values, to the last bit, and the same sets."""
    assert np.array_equal(one.p_values(test).values, other.p_values(test).values)
    assert np.array_equal(one.predict(test, ALPHAS).values, other.predict(test, ALPHAS).values)


TEST = predictions(12, prefix="new", seed=1, values=8)


@pytest.mark.parametrize("name", list(INNER))
@pytest.mark.parametrize("wrapper", [("mondrian", "same"), ("clustered", "alone")])
def test_one_group_and_groups_of_one(name: str, wrapper: tuple[str, str]) -> None:
    same(calibrated(inside(*wrapper, INNER[name])), calibrated(INNER[name]), TEST)
    if name in ("draws", "votes", "systematic"):
        for rule in ("maximum", "median", "exchangeable-average"):
            wrapped = calibrated(inside(*wrapper, INNER[name]), rule)
            same(wrapped, calibrated(INNER[name], rule), TEST)
    if wrapper[0] == "mondrian" or name not in ("draws", "votes", "mass", "systematic"):
        # Of counted draws one is the tie itself, which masses do not say.
        wrapped = calibrated(inside(*wrapper, INNER[name]), SMOOTHED)
        same(wrapped, calibrated(INNER[name], SMOOTHED), TEST)


@pytest.mark.parametrize("weight", [3.0, 0.25, 2.0**300])
@pytest.mark.parametrize("name", ["expected", "draws", "risk", "mass"])
def test_equal_weights_are_no_weights(name: str, weight: float) -> None:
    test = TEST.assign_coords(weight=("example", np.full(12, weight)))
    weighted = calibrated(inside("weighted", "weight", INNER[name]), weight=weight)
    same(weighted, calibrated(INNER[name]), test)
    if name == "draws":
        weighted = calibrated(inside("weighted", "weight", INNER[name]), "maximum", weight=weight)
        same(weighted, calibrated(INNER[name], "maximum"), test)


def scaled(array: xr.DataArray, factor: float) -> xr.DataArray:
    return array.assign_coords(weight=array["weight"] * factor)


@pytest.mark.parametrize("name", ["weights", "weights of draws", "group of weights"])
def test_weights_are_known_up_to_a_factor(name: str) -> None:
    table, given = CALIBRATORS[name], predictions(N)
    one = calibrated(table, given=given)
    for factor in (2.0**-400, 0.5, 8.0, 2.0**400):
        other = calibrated(table, given=scaled(given, factor))
        same_scaled = other.p_values(scaled(TEST, factor))
        assert np.array_equal(one.p_values(TEST).values, same_scaled.values)
    for factor in (3.0, 1 / 3, 0.1):
        other, test = calibrated(table, given=scaled(given, factor)), scaled(TEST, factor)
        near = other.p_values(test).values
        assert np.allclose(one.p_values(TEST).values, near, rtol=1e-12, atol=0)
        sets = [p.predict(t, "0.137").values for p, t in ((one, TEST), (other, test))]
        assert np.array_equal(sets[0], sets[1])


def test_risks_of_one_are_expected() -> None:
    same(calibrated({"name": "risk", "by": "ones"}), calibrated({"name": "expected"}), TEST)
    lam = plausibilities(N, counted=False)
    risk = calibrated({"name": "risk", "by": "ones"}, lam=lam)
    same(risk, calibrated({"name": "expected"}, lam=lam), TEST)


@pytest.mark.parametrize("leave_out", [0.0, 0.1, 1 / 3, 0.999])
def test_mass_of_one_label_is_expected(leave_out: float) -> None:
    lam = plausibilities(N, one_hot=True)
    mass = calibrated({"name": "mass-coverage", "leave_out": leave_out}, lam=lam)
    same(mass, calibrated({"name": "expected"}, lam=lam), TEST)
    same(
        calibrated({"name": "majority-vote"}, lam=lam),
        calibrated(DRAWS | {"draws": 1}, lam=lam),
        TEST,
    )


@pytest.mark.parametrize("scores", ["mean", "separate", "pooled"])
def test_one_augmentation_is_expected(scores: str) -> None:
    given = predictions(N)
    table: Table = {"name": "augmentation", "scores": scores}
    augmented = calibrated(table, given=given.expand_dims("augmentation"))
    plain = calibrated({"name": "expected"}, given=given)
    test = TEST if scores == "pooled" else TEST.expand_dims("augmentation")
    assert np.array_equal(augmented.p_values(test).values, plain.p_values(TEST).values)
    sets = [augmented.predict(test, ALPHAS), plain.predict(TEST, ALPHAS)]
    assert np.array_equal(sets[0].values, sets[1].values)
    for alpha in ALPHAS:
        assert augmented.guarantee(alpha).level == plain.guarantee(alpha).level


@pytest.mark.parametrize("scores", ["mean", "separate"])
def test_copies_of_an_image_have_one_uniform(scores: str) -> None:
    random = np.random.default_rng(40)
    model = labelled(random.dirichlet(np.ones(3), 40))
    lam = shares(random.multinomial(4, model.values))
    copies = xr.concat([model, model], dim="augmentation")
    aps = {"name": "aps", "randomised": True}
    alone = plausibly.calibrate(model, lam, score=aps).p_values(model)
    table = {"name": "augmentation", "scores": scores}
    several = plausibly.calibrate(copies, lam, calibrator=table, score=aps)
    np.testing.assert_array_equal(several.p_values(copies).values, alone.values)
    one = several.p_values(copies.isel(example=[7]))
    np.testing.assert_array_equal(one.values, alone.isel(example=[7]).values)


WITH_THRESHOLD = [name for name, table in CALIBRATORS.items() if "weights" not in name]


@pytest.mark.parametrize("name", WITH_THRESHOLD)
def test_thresholds_and_p_values_decide_alike(name: str) -> None:
    """At every alpha that a p-value attains, and beside it."""
    rules = ["average", "twice-average"]
    if name in ("group of draws", "patients of draws", "systematic"):
        rules += ["maximum", "bonferroni", "exchangeable-median"]
    for rule in rules:
        predictor = calibrated(CALIBRATORS[name], rule)
        p = predictor.p_values(TEST).values
        attained = {Fraction(one).limit_denominator(10**5) for one in p.ravel().tolist()}
        alphas = [a for a in sorted(attained) if 0 < a < 1]
        assert alphas
        beside = [
            a + step for a in alphas[:5] for step in (Fraction(1, 10**7), -Fraction(1, 10**7))
        ]
        every = [*alphas, *(a for a in beside if 0 < a < 1)]
        kept = predictor.predict(TEST, every).transpose("alpha", ...).values
        for alpha, one in zip(every, kept, strict=True):
            assert np.array_equal(one, p > float(alpha)), (rule, alpha)


EVERY = {**CALIBRATORS, **AUGMENTED, "pooled": POOLED}


def made(
    name: str, combiner: Table | str = "average", dtype: str = "float64"
) -> tuple[ConformalPredictor, xr.DataArray]:
    """Return a predictor, and new examples as it reads them."""
    count = 2 if name in AUGMENTED or name == "pooled" else 0
    given = predictions(N, augmentations=count, dtype=dtype)
    predictor = calibrated(EVERY[name], combiner, given=given)
    count = 0 if name == "pooled" else count
    test = predictions(12, prefix="new", seed=1, values=8, augmentations=count, dtype=dtype)
    return predictor, test


RULES: list[tuple[str, Table | str]] = [
    *((name, "average") for name in EVERY),
    ("separate", "exchangeable-average"),
    ("group of separate", "exchangeable-median"),
    ("separate", "held-out-rank"),
    ("pooled", "held-out-rank"),
    ("mean", SMOOTHED),
    ("group of draws", SMOOTHED),
    ("label", SMOOTHED),
    ("weights of draws", "median"),
]


@pytest.mark.parametrize(("name", "rule"), RULES, ids=str)
def test_neither_order_nor_number_of_rows_matters(name: str, rule: Table | str) -> None:
    predictor, test = made(name, rule)
    count = 2 if name in AUGMENTED or name == "pooled" else 0
    given = predictions(N, augmentations=count)
    # Ties and draws cumulate in label order, so that labels keep theirs where they calibrate.
    again = plausibly.calibrate(
        shuffled(given, ["example"]),
        shuffled(plausibilities(N)),
        calibrator=EVERY[name],
        combiner=rule,
    )
    assert again.fingerprint == predictor.fingerprint
    found = again.p_values(shuffled(test)).sel(example=test["example"], label=test["label"])
    together = predictor.p_values(test)
    assert np.array_equal(found.values, together.values)
    sets = predictor.predict(test, ["0.1", "0.3"])
    for place in (0, 5, 11):
        one = test.isel(example=[place])
        assert np.array_equal(predictor.p_values(one).values[0], together.values[place])
        alone = predictor.predict(one, ["0.1", "0.3"])
        assert np.array_equal(alone.values, sets.isel(example=[place]).values)


@pytest.mark.parametrize("name", list(EVERY))
def test_float32_stays_float32(name: str) -> None:
    predictor, test = made(name, dtype="float32")
    assert predictor.pools.dtype == np.float32
    for pools in predictor.pools.groups:
        assert pools.pooled.ordered.dtype == np.float32
    if name in WITH_THRESHOLD or name in ("mean", "pooled"):
        assert predictor.threshold("0.3").dtype == np.float32
    # New examples in double precision are compared as the calibration's floats are.
    wide = test.astype("float64")
    assert np.array_equal(predictor.p_values(wide).values, predictor.p_values(test).values)


@pytest.mark.parametrize("name", ["label", "label of draws"])
def test_p_values_of_labels_are_at_most_one(name: str) -> None:
    """Masses that are no counts are rounded up; totals are rounded down."""
    predictor = calibrated(CALIBRATORS[name], lam=plausibilities(N, counted=False))
    high = TEST.copy(data=np.full(TEST.shape, 9.0))
    assert (predictor.p_values(high) == 1).all()
