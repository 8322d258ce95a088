"""Score `ordinal`: sets of ordered labels are intervals, by the hull of a score or greedily."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pytest
import xarray as xr
from hypothesis import given

import plausibly
from call_files import each_call
from plausibly import registry
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.ranks import hull
from plausibly.kernels.types import Bools, Floats
from plausibly.plugin import SCORE, ScoreFunction
from refusals import refused
from scores_oracles import (
    TABLES,
    filled,
    greedy,
    holes_at_any_threshold,
    hull as hull_of_row,
    rows_of_sixteenths,
    uneven_modes,
)
from tables import LABELS, world

INNER: dict[str, str | dict[str, object]] = {
    name: TABLES.get(name, name)
    for name in ("probability", "log-probability", "margin", "aps, randomised", "raps")
}
DRAWN = {"name": "aps", "randomised": True}
WIDTHS = [np.float32, np.float64]


def ordinal(**parameters: object) -> ScoreFunction:
    return registry.resolve(SCORE, {"name": "ordinal", **parameters})


def fractions(values: Floats) -> list[list[Fraction]]:
    finite = np.where(np.isinf(values), -1e30, values)
    return [[Fraction(value) for value in row] for row in finite.tolist()]


def test_by_hand() -> None:
    rows = np.array([[0.5, 0.125, 0.25, 0.0, 0.125]])
    assert ordinal().score(rows, None).tolist() == [[0.5, 0.25, 0.25, 0.125, 0.125]]
    assert ordinal(greedy=True).score(rows, None).tolist() == [[1.0, 0.5, 0.375, 0.125, 0.125]]
    scores = ordinal(greedy=True, randomised=True).score(rows, np.array([[0.5]]))
    assert scores.tolist() == [[0.75, 0.4375, 0.25, 0.125, 0.0625]]


@pytest.mark.parametrize("dtype", WIDTHS)
@given(data=rows_of_sixteenths())
def test_hulls_and_greedy_intervals_are_those_of_the_oracles(
    dtype: type, data: tuple[Floats, Floats]
) -> None:
    rows: Floats = data[0].astype(dtype)
    uniform = data[1]
    for inner in INNER.values():
        component, plain = ordinal(inner=inner), registry.resolve(SCORE, inner)
        drawn = uniform if component.randomised else None
        scores = component.score(rows, drawn)
        assert scores.dtype == dtype
        expected = [hull_of_row(row) for row in fractions(plain.score(rows, drawn))]
        assert fractions(scores) == expected
    scores = ordinal(greedy=True).score(rows, None)
    assert scores.dtype == dtype
    assert fractions(scores) == [greedy(row, Fraction(0)) for row in fractions(rows)]
    scores = ordinal(greedy=True, randomised=True).score(rows, uniform)
    pairs = zip(fractions(rows), uniform.tolist(), strict=True)
    assert fractions(scores) == [greedy(row, Fraction(u)) for row, (u,) in pairs]


@pytest.mark.parametrize("dtype", WIDTHS)
@pytest.mark.parametrize("labels", [1, 2, 3, 7])
def test_greedy_is_summed_so_that_rounding_makes_no_hole(labels: int, dtype: type) -> None:
    """One minus the mass so far, less U of the own, has holes in such rows; this sum has none."""
    rows = np.concatenate(
        [
            uneven_modes(150, labels, seed=labels, dtype=dtype),
            np.random.default_rng(3).dirichlet(np.full(labels, 0.05), 20_000).astype(dtype),
        ]
    )
    uniform = np.random.default_rng(1).random((len(rows), 1))
    uniform[:20] = [[0.0], [1 - 2**-53]] * 10
    scores = ordinal(greedy=True, randomised=True).score(rows, uniform)
    assert holes_at_any_threshold(scores[:150]) == 0
    np.testing.assert_array_equal(hull(scores), scores)
    places = np.argsort(-ordinal(greedy=True).score(rows, None), axis=1, kind="stable")
    own = np.take_along_axis(rows, places, axis=1)
    naive = 1 - (np.cumsum(own, axis=1) - own) - uniform * own
    assert (np.diff(naive, axis=1) > 0).any() or labels < 7


def test_a_hull_is_randomised_as_its_inner_score_is() -> None:
    assert ordinal(inner=DRAWN).randomised is True
    assert ordinal(inner=DRAWN, randomised=True) == ordinal(inner=DRAWN)
    assert ordinal(inner="log-probability").reads == "log-probability"
    table = registry.default().describe(SCORE, ordinal(inner=DRAWN))
    assert registry.resolve(SCORE, table) == ordinal(inner=DRAWN)


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
    for model, votes, table in (
        (PREDICTIONS.sel(label=["other", "malign", "benign", "unsure"]), ANSWERS, how),
        (PREDICTIONS.sortby("order"), ANSWERS, {**how, "order": "columns"}),
        (bare, answers, how),
        (bare, plausibly.to_sparse(answers), how),
    ):
        p = plausibly.calibrate(model, votes, score=table)
        np.testing.assert_array_equal(p.predict(NEW, ALPHAS).values, sets.values)


@pytest.mark.parametrize(
    ("places", "result"),
    [
        (None, "found risk hint"),
        ([1, 2, 2, 3], "found 1, 2, 2"),
        ([1, 2, 3, np.nan], "found 1.0, 2.0, 3.0"),
        (list("abcd"), "found a, b, c"),
    ],
)
def test_without_an_order_it_is_refused(places: list[object] | None, result: str) -> None:
    model, views = PREDICTIONS.drop_vars("order"), VIEWS[0].drop_vars("order")
    if places is not None:
        coords = {"order": ("label", places)}
        model, views = model.assign_coords(coords), views.assign_coords(coords)
    pieces = ("score ordinal reads the order of the labels", result, 'order = "columns"')
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
    for item in (p, service):
        sets = item.predict_array(NEW.values, "0.1", uniform=uniform)
        np.testing.assert_array_equal(sets, p.predict(NEW, "0.1").values)
        values = item.p_values_array(NEW.values, uniform=uniform)
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


test_each_call_gives_its_text = each_call(__file__, globals())
