"""Score `ordinal` through calibration and prediction: intervals with every calibrator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pytest
import xarray as xr

import plausibly
from conformal_world import LABELS, world
from ordinal_oracles import filled
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
ALONG = np.argsort(PLACES)
LABEL: Table = {"name": "mondrian", "by": "label"}
SEPARATE: Table = {"name": "augmentation", "scores": "separate"}
METHODS: dict[str, tuple[Table, str]] = {
    "expected": ("expected", "average"),
    "monte-carlo": ("monte-carlo", "average"),
    "majority-vote": ("majority-vote", "average"),
    "mass-coverage": ("mass-coverage", "average"),
    "risk": ({"name": "risk", "by": "risk"}, "average"),
    "clustered": ({"name": "clustered", "by": "patient"}, "average"),
    "weighted": ({"name": "weighted", "by": "weight"}, "average"),
    "mondrian": ({"name": "mondrian", "by": "site"}, "average"),
    "mondrian by label": (LABEL, "average"),
    "mean": ({"name": "augmentation", "scores": "mean"}, "average"),
    "pooled": ({"name": "augmentation", "scores": "pooled"}, "average"),
    "separate, average": (SEPARATE, "average"),
    "separate, maximum": (SEPARATE, "maximum"),
    "separate, held-out-rank": (SEPARATE, "held-out-rank"),
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


PREDICTIONS, ANSWERS = world(60, dtype="float64")
PREDICTIONS = ordered(PREDICTIONS)
NEW = ordered(world(80, seed=1, start=100, dtype="float64")[0])
VIEWS = augmented(PREDICTIONS, 2), augmented(NEW, 3)


def along(sets: xr.DataArray) -> Bools:
    """Return sets of one alpha, (example, label), labels in their order."""
    values: Bools = sets.transpose("example", "label").values[:, ALONG]
    return values


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("method", METHODS)
def test_sets_are_intervals_and_those_of_the_p_values(method: str, score: str) -> None:
    calibrator, combiner = METHODS[method]
    model, new = PREDICTIONS, NEW
    if isinstance(calibrator, Mapping) and calibrator["name"] == "augmentation":
        model, new = VIEWS[0], NEW if method == "pooled" else VIEWS[1]
    p = plausibly.calibrate(
        model, ANSWERS, calibrator=calibrator, combiner=combiner, score=SCORES[score]
    )
    sets, values = p.predict(new, ALPHAS), p.p_values(new)
    for alpha in ALPHAS:
        plane = sets.sel(alpha=float(alpha))
        np.testing.assert_array_equal(plane.values, (values > float(alpha)).values)
        np.testing.assert_array_equal(along(plane), filled(along(plane)))
    sizes = sets.sum("label").mean("example").values
    assert (np.diff(sizes) >= 0).all()
    assert sizes[0] < len(LABELS)


def hulled(array: xr.DataArray) -> xr.DataArray:
    """Return the hull of probabilities along the order, as scores on any scale."""
    values = hull(array.values[..., ALONG])[..., PLACES]
    return array.copy(data=values).assign_attrs(scale="any")


@pytest.mark.parametrize("calibrator", ["expected", LABEL], ids=str)
def test_only_the_holes_that_a_calibrator_makes_are_filled(calibrator: Table) -> None:
    """The p-values are those of the hulled scores, and their hull where these have holes."""
    p = plausibly.calibrate(PREDICTIONS, ANSWERS, calibrator=calibrator, score=HULL)
    plain = plausibly.calibrate(hulled(PREDICTIONS), ANSWERS, calibrator=calibrator)
    values = plain.p_values(hulled(NEW)).values
    without_holes = hull(values[:, ALONG])[:, PLACES]
    assert (without_holes != values).any() == (calibrator == LABEL)
    np.testing.assert_array_equal(p.p_values(NEW).values, without_holes)
    for alpha in ALPHAS:
        xr.testing.assert_equal(plain.threshold(alpha), p.threshold(alpha))
        sets = along(plain.predict(hulled(NEW), alpha))
        np.testing.assert_array_equal(along(p.predict(NEW, alpha)), filled(sets))


@pytest.mark.parametrize("score", ["hull", "greedy, randomised"])
def test_joint_ranks_give_intervals(score: str) -> None:
    how = SCORES[score]
    values = plausibly.joint_rank(VIEWS[0], ANSWERS, VIEWS[1], score=how)
    for alpha in ALPHAS:
        sets = plausibly.joint_rank(VIEWS[0], ANSWERS, VIEWS[1], alpha, score=how)
        np.testing.assert_array_equal(sets.values, (values > float(alpha)).values)
        np.testing.assert_array_equal(along(sets), filled(along(sets)))


@pytest.mark.parametrize("score", SCORES)
def test_the_order_is_a_coordinate_or_that_of_the_columns(score: str) -> None:
    """By a coordinate, or as the predictions list them: the same sets, label by label."""
    how = SCORES[score]
    bare, answers = PREDICTIONS.drop_vars("order"), ANSWERS.assign_coords(order=("label", PLACES))
    sets = plausibly.calibrate(PREDICTIONS, ANSWERS, score=how).predict(NEW, ALPHAS)
    for model, given, score_table in (
        (PREDICTIONS.sel(label=["other", "malign", "benign", "unsure"]), ANSWERS, how),
        (PREDICTIONS.sortby("order"), ANSWERS, {**how, "order": "columns"}),
        (bare, answers, how),
        (bare, plausibly.to_sparse(answers), how),
    ):
        p = plausibly.calibrate(model, given, score=score_table)
        np.testing.assert_array_equal(p.predict(NEW, ALPHAS).values, sets.values)


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
    model, views = change(PREDICTIONS), change(VIEWS[0])
    pieces = ("score ordinal reads the order of the labels", found, 'order = "columns"')
    for call in (
        lambda: plausibly.calibrate(model, ANSWERS, score=HULL),
        lambda: plausibly.calibrate_region(model, ANSWERS, score=HULL),
        lambda: plausibly.joint_rank(views, ANSWERS, views, score=HULL),
    ):
        with refused("order-missing", *pieces):
            call()


@pytest.mark.parametrize("calibrator", ["expected", LABEL], ids=str)
@pytest.mark.parametrize("score", SCORES)
def test_a_service_answers_plain_arrays(tmp_path: Path, score: str, calibrator: Table) -> None:
    p = plausibly.calibrate(PREDICTIONS, ANSWERS, calibrator=calibrator, score=SCORES[score])
    p.save(tmp_path / "predictor.nc")
    service = plausibly.load_predictor(tmp_path / "predictor.nc", array_only=True)
    assert service.fingerprint == p.fingerprint
    uniform = None
    if p.score.randomised:
        uniform = Keys(0).child("score").uniform(hash_names(NEW["example"].values))
    for one in (p, service):
        sets = one.predict_array(NEW.values, "0.1", uniform=uniform)
        np.testing.assert_array_equal(sets, p.predict(NEW, "0.1").values)
        values = one.p_values_array(NEW.values, uniform=uniform)
        np.testing.assert_array_equal(values, p.p_values(NEW).values)


def test_sets_say_in_which_order_they_are_intervals(tmp_path: Path) -> None:
    """A predictor without an order has the fingerprint that it has without the coordinate."""
    sets = plausibly.calibrate(PREDICTIONS, ANSWERS, score=HULL).predict(NEW, "0.1")
    assert sets.attrs["labels_along_order"] == '["unsure", "other", "benign", "malign"]'
    plausibly.io.write_sets(sets, tmp_path / "sets.csv")
    assert plausibly.io.read_sets(tmp_path / "sets.csv").attrs == sets.attrs
    aps = plausibly.calibrate(PREDICTIONS, ANSWERS, score="aps")
    bare = plausibly.calibrate(PREDICTIONS.drop_vars("order"), ANSWERS, score="aps")
    assert aps.fingerprint == bare.fingerprint
    assert "labels_along_order" not in aps.predict(NEW, "0.1").attrs
