"""Score `ordinal` through calibration and prediction: intervals with every calibrator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

import dask
import numpy as np
import pytest
import xarray as xr

import plausibly
from conformal_world import LABELS, world
from ordinal_oracles import filled
from plausibly import ConformalPredictor
from plausibly.kernels.hull import hull
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.types import Bools
from refusals import refused

pytestmark = pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")

ALPHAS = ["0.5", "0.3", "0.1", "0.05"]
Table: TypeAlias = str | Mapping[str, object]
HULL: dict[str, object] = {"name": "ordinal"}
SCORES: dict[str, dict[str, object]] = {
    "hull": HULL,
    "hull of aps": {**HULL, "inner": {"name": "aps", "randomised": True}},
    "greedy": {**HULL, "greedy": True},
    "greedy, randomised": {**HULL, "greedy": True, "randomised": True},
}
PLACES = [2, 0, 3, 1]
"""Places of the labels of the world in their order: unsure, other, benign, malign."""
CALIBRATORS: dict[str, Table] = {
    "expected": "expected",
    "monte-carlo": "monte-carlo",
    "majority-vote": "majority-vote",
    "mass-coverage": "mass-coverage",
    "risk": {"name": "risk", "by": "risk"},
    "clustered": {"name": "clustered", "by": "patient"},
    "weighted": {"name": "weighted", "by": "weight"},
    "mondrian": {"name": "mondrian", "by": "site"},
    "mondrian by label": {"name": "mondrian", "by": "label"},
}
AUGMENTED: dict[str, tuple[Table, str]] = {
    "mean": ({"name": "augmentation", "scores": "mean"}, "average"),
    "pooled": ({"name": "augmentation", "scores": "pooled"}, "average"),
    "separate, average": ({"name": "augmentation", "scores": "separate"}, "average"),
    "separate, maximum": ({"name": "augmentation", "scores": "separate"}, "maximum"),
    "separate, held-out-rank": ({"name": "augmentation", "scores": "separate"}, "held-out-rank"),
}


def ordered(array: xr.DataArray) -> xr.DataArray:
    """Return predictions with an order of their labels, and what calibrators read."""
    n = array.sizes["example"]
    return array.assign_coords(
        order=("label", PLACES),
        risk=("label", [0.25, 0.5, 1.0, 0.5]),
        site=("example", np.where(np.arange(n) % 3, "north", "south")),
        weight=("example", 1.0 + np.arange(n) % 4),
    )


def augmented(array: xr.DataArray, seed: int) -> xr.DataArray:
    """Return three augmentations: each row mixed with two other distributions."""
    random = np.random.default_rng(seed)
    parts = [array]
    for _ in range(2):
        noise = random.dirichlet(np.full(len(LABELS), 0.4), array.sizes["example"])
        parts.append((0.6 * array + 0.4 * noise).astype(array.dtype))
    return xr.concat(parts, dim="augmentation", coords="minimal", compat="override")


PREDICTIONS, LAM = world(60, dtype="float64")
PREDICTIONS = ordered(PREDICTIONS)
NEW = ordered(world(80, seed=1, start=100, dtype="float64")[0])


def along(sets: xr.DataArray) -> Bools:
    """Return sets of one alpha, (example, label), labels in their order."""
    values: Bools = sets.transpose("example", "label").values[:, np.argsort(PLACES)]
    return values


def demand_intervals(p: ConformalPredictor, new: xr.DataArray) -> None:
    sets, values = p.predict(new, ALPHAS), p.p_values(new)
    for alpha in ALPHAS:
        plane = sets.sel(alpha=float(alpha))
        np.testing.assert_array_equal(plane.values, (values > float(alpha)).values)
        np.testing.assert_array_equal(along(plane), filled(along(plane)))
    sizes = sets.sum("label").mean("example").values
    assert (np.diff(sizes) >= 0).all()
    assert sizes[0] < len(LABELS)


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("calibrator", CALIBRATORS)
def test_sets_are_intervals_and_those_of_the_p_values(calibrator: str, score: str) -> None:
    how = CALIBRATORS[calibrator]
    demand_intervals(
        plausibly.calibrate(PREDICTIONS, LAM, calibrator=how, score=SCORES[score]), NEW
    )


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("case", AUGMENTED)
def test_sets_of_augmentations_are_intervals(case: str, score: str) -> None:
    how, combiner = AUGMENTED[case]
    views = augmented(PREDICTIONS, 2)
    p = plausibly.calibrate(views, LAM, calibrator=how, combiner=combiner, score=SCORES[score])
    demand_intervals(p, NEW if case == "pooled" else augmented(NEW, 3))


def hulled(array: xr.DataArray) -> xr.DataArray:
    """Return the hull of probabilities along the order, as scores on any scale."""
    order = np.argsort(PLACES)
    values = hull(array.values[..., order])[..., np.argsort(order)]
    return array.copy(data=values).assign_attrs(scale="any")


@pytest.mark.parametrize("calibrator", ["expected", "mondrian by label"])
def test_only_the_holes_that_a_calibrator_makes_are_filled(calibrator: str) -> None:
    """The p-values are those of the hulled scores, and their hull where these have holes."""
    how = CALIBRATORS[calibrator]
    p = plausibly.calibrate(PREDICTIONS, LAM, calibrator=how, score=HULL)
    plain = plausibly.calibrate(hulled(PREDICTIONS), LAM, calibrator=how, score="probability")
    wanted = plain.p_values(hulled(NEW)).values
    order = np.argsort(PLACES)
    holes = hull(wanted[:, order])[:, np.argsort(order)]
    assert (holes != wanted).any() == (calibrator == "mondrian by label")
    np.testing.assert_array_equal(p.p_values(NEW).values, holes)
    for alpha in ALPHAS:
        xr.testing.assert_equal(plain.threshold(alpha), p.threshold(alpha))
        without = along(plain.predict(hulled(NEW), alpha))
        np.testing.assert_array_equal(along(p.predict(NEW, alpha)), filled(without))


@pytest.mark.parametrize("score", ["hull", "greedy, randomised"])
def test_joint_ranks_give_intervals(score: str) -> None:
    calibration, new = augmented(PREDICTIONS, 2), augmented(NEW, 3)
    how = SCORES[score]
    values = plausibly.joint_rank(calibration, LAM, new, score=how)
    for alpha in ALPHAS:
        sets = plausibly.joint_rank(calibration, LAM, new, alpha, score=how)
        np.testing.assert_array_equal(sets.values, (values > float(alpha)).values)
        np.testing.assert_array_equal(along(sets), filled(along(sets)))


@pytest.mark.parametrize("score", SCORES)
def test_the_order_of_the_columns_does_not_matter(score: str) -> None:
    """By a coordinate, or as the predictions list them: the same sets, label by label."""
    moved = ["other", "malign", "benign", "unsure"]
    places = PREDICTIONS.sortby("order")
    listed = {**SCORES[score], "order": "columns"}
    pairs = [
        (PREDICTIONS, SCORES[score]),
        (PREDICTIONS.sel(label=moved), SCORES[score]),
        (places, listed),
    ]
    made = [plausibly.calibrate(array, LAM, score=how) for array, how in pairs]
    for alpha in ALPHAS:
        first, *others = [p.predict(NEW, alpha).values for p in made]
        for other in others:
            np.testing.assert_array_equal(other, first)
    turned = made[0].predict(NEW.sel(label=moved), "0.1")
    xr.testing.assert_equal(turned.sel(label=list(LABELS)), made[0].predict(NEW, "0.1"))


def test_the_order_may_come_with_the_plausibilities() -> None:
    bare = PREDICTIONS.drop_vars("order")
    lam = LAM.assign_coords(order=("label", PLACES))
    for answers in (lam, plausibly.to_sparse(lam)):
        p = plausibly.calibrate(bare, answers, score=HULL)
        assert p.predict(NEW, "0.1").equals(
            plausibly.calibrate(PREDICTIONS, LAM, score=HULL).predict(NEW, "0.1")
        )


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda array: array.drop_vars("order"), "found risk hint"),
        (lambda array: array.assign_coords(order=("label", [1, 2, 2, 3])), "found 1, 2, 2"),
        (
            lambda array: array.assign_coords(order=("label", [1, 2, 3, np.nan])),
            "found 1.0, 2.0, 3.0",
        ),
        (lambda array: array.assign_coords(order=("label", list("abcd"))), "found a, b, c"),
        (lambda array: array.drop_vars(["order", "risk"]), "found none"),
    ],
)
def test_without_an_order_it_is_refused(
    change: Callable[[xr.DataArray], xr.DataArray], found: str
) -> None:
    model, views = change(PREDICTIONS), change(augmented(PREDICTIONS, 2))
    pieces = ("score ordinal reads the order of the labels", found, 'order = "columns"')
    for call in (
        lambda: plausibly.calibrate(model, LAM, score=HULL),
        lambda: plausibly.calibrate_region(model, LAM, score=HULL),
        lambda: plausibly.joint_rank(views, LAM, views, score=HULL),
    ):
        with refused("order-missing", *pieces):
            call()


@pytest.mark.parametrize("calibrator", ["expected", "mondrian by label"])
@pytest.mark.parametrize("score", SCORES)
def test_files_arrays_and_batches_give_the_same(
    tmp_path: Path, score: str, calibrator: str
) -> None:
    p = plausibly.calibrate(
        PREDICTIONS, LAM, calibrator=CALIBRATORS[calibrator], score=SCORES[score]
    )
    path = tmp_path / "predictor.nc"
    p.save(path)
    loaded = plausibly.load_predictor(path)
    rows = plausibly.load_predictor(path, array_only=True)
    assert loaded.fingerprint == rows.fingerprint == p.fingerprint
    whole = p.predict(NEW, "0.1")
    assert loaded.predict(NEW, "0.1").identical(whole)
    uniform = None
    if p.score.randomised:
        uniform = Keys(0).child("score").uniform(hash_names(NEW["example"].values))
    for one in (p, rows):
        found = one.predict_array(NEW.values, "0.1", uniform=uniform)
        np.testing.assert_array_equal(found, whole.values)
        values = one.p_values_array(NEW.values, uniform=uniform)
        np.testing.assert_array_equal(values, p.p_values(NEW).values)
    for place in range(0, len(NEW), 7):
        alone = p.predict(NEW[place : place + 1], "0.1")
        np.testing.assert_array_equal(alone.values, whole.values[place : place + 1])


@pytest.mark.parametrize("calibrator", ["expected", "monte-carlo", "mondrian by label"])
@pytest.mark.parametrize("score", SCORES)
def test_dense_sparse_and_chunks_give_the_same_bits(score: str, calibrator: str) -> None:
    def made(predictions: xr.DataArray, lam: xr.DataArray | xr.Dataset) -> ConformalPredictor:
        how = CALIBRATORS[calibrator]
        return plausibly.calibrate(predictions, lam, calibrator=how, score=SCORES[score])

    dense = made(PREDICTIONS, LAM)
    sets = dense.predict(NEW, ["0.1", "0.3"])
    with dask.config.set(scheduler="synchronous"):
        sparse = made(PREDICTIONS, plausibly.to_sparse(LAM))
        chunks = made(PREDICTIONS.chunk(example=17), LAM.chunk(example=11))
        for other in (sparse, chunks):
            assert other.fingerprint == dense.fingerprint
            assert other.predict(NEW.chunk(example=13), ["0.1", "0.3"]).equals(sets)
            assert other.p_values(NEW.chunk(example=13)).equals(dense.p_values(NEW))


def test_other_scores_read_no_order() -> None:
    """A predictor without an order has the fingerprint that it has without the coordinate."""
    one = plausibly.calibrate(PREDICTIONS, LAM, score="aps")
    other = plausibly.calibrate(PREDICTIONS.drop_vars("order"), LAM, score="aps")
    assert one.fingerprint == other.fingerprint
    assert "labels_along_order" not in one.predict(NEW, "0.1").attrs


def test_sets_say_in_which_order_they_are_intervals(tmp_path: Path) -> None:
    sets = plausibly.calibrate(PREDICTIONS, LAM, score=HULL).predict(NEW, "0.1")
    assert sets.attrs["labels_along_order"] == '["unsure", "other", "benign", "malign"]'
    plausibly.io.write_sets(sets, tmp_path / "sets.csv")
    assert plausibly.io.read_sets(tmp_path / "sets.csv").attrs == sets.attrs
