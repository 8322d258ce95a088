"""Regions as users meet them: names, dims, alphas, messages, pictures, real data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
import xarray as xr

import plausibly
from conformal_world import world
from plausibly import plots
from plausibly.conformal.regions import PlausibilityRegion
from plausibly.guarantee import Guarantee
from plausibly.plugin import SCORE, Floats, ScoreFunction
from refusals import refused, warned

ALPHAS = [0.3, 0.1]
Pair = tuple[xr.DataArray, xr.DataArray]


@pytest.fixture(scope="module")
def region() -> PlausibilityRegion:
    return plausibly.calibrate_region(*world(60))


@pytest.fixture(scope="module")
def fresh() -> Pair:
    return world(12, seed=1, start=500)


def test_results_keep_names_and_gain_alphas(region: PlausibilityRegion, fresh: Pair) -> None:
    predictions, lam = fresh
    assert region.threshold(0.1).dims == ()
    assert region.threshold(ALPHAS).dims == ("alpha",)
    inside = region.contains(predictions, lam, ALPHAS)
    assert inside.dims == ("example", "alpha")
    assert list(inside.patient.values) == list(predictions.patient.values)
    p = region.p_values(predictions, lam)
    for alpha in ALPHAS:
        np.testing.assert_array_equal(inside.sel(alpha=alpha), p > alpha)
        one = region.contains(predictions, lam, alpha)
        xr.testing.assert_identical(one.drop_vars("alpha"), inside.sel(alpha=alpha, drop=True))
    bounds = region.bounds(predictions.transpose("label", "example"), ALPHAS)
    assert bounds["most"].dims == ("alpha", "label", "example")
    assert (bounds["least"] <= bounds["most"]).all()
    grid = region.grid(predictions, ALPHAS, parts=4)
    assert dict(grid.sizes) == {"point": 35, "label": 4, "example": 12, "alpha": 2}
    np.testing.assert_array_equal(grid["inside"].sel(alpha=0.1), grid["p_values"] > 0.1)


def test_points_of_the_grid_are_asked_like_any_vector(
    region: PlausibilityRegion, fresh: Pair
) -> None:
    predictions = fresh[0].isel(example=[3])
    grid = region.grid(predictions, 0.1, parts=3)
    for point in range(grid.sizes["point"]):
        vector = grid["plausibilities"].isel(point=[point]).rename(point="example")
        vector = vector.assign_coords(example=predictions["example"].values)
        p = region.p_values(predictions, vector)
        assert p.item() == grid["p_values"].values[0, point]


def test_order_and_batch_change_nothing(fresh: Pair) -> None:
    predictions, lam = world(60)
    score = {"name": "aps", "randomised": True}
    one = plausibly.calibrate_region(predictions, lam, score=score)
    turned = plausibly.calibrate_region(predictions[::-1], lam[:, [2, 0, 3, 1]], score=score)
    assert one.fingerprint == turned.fingerprint
    np.testing.assert_array_equal(one.ordered, turned.ordered)
    new, vectors = fresh
    p = one.p_values(new, vectors)
    for name in new["example"].values[:3]:
        alone = one.p_values(new.sel(example=[name]), vectors.sel(example=[name]))
        assert alone.item() == p.sel(example=name).item()
    mixed = one.p_values(new[::-1, [3, 1, 0, 2]], vectors)
    xr.testing.assert_equal(mixed, p[::-1])


def test_annotations_are_aggregated_by_the_default_of_their_kind() -> None:
    from plausibly_builtins.single_label.annotation import SingleLabel

    predictions, _ = world(12)
    labels = list(predictions["label"].values)
    names = predictions["example"].values
    records = [(n, f"r{j}", labels[(i + j) % 2]) for i, n in enumerate(names) for j in (0, 1)]
    table = SingleLabel().build(records, labels)
    lam = plausibly.aggregate(table)
    a, b = (plausibly.calibrate_region(predictions, given) for given in (table, lam))
    np.testing.assert_array_equal(a.ordered, b.ordered)


def test_sets_carry_their_guarantee(region: PlausibilityRegion, fresh: Pair) -> None:
    predictions, _ = fresh
    sets = region.label_sets(predictions, [0.1, 0.3], leave_out="0.2")
    assert sets.dims == ("alpha", "example", "label")
    stated = [Guarantee.from_json(one) for one in json.loads(sets.attrs["guarantees"])]
    assert [one.statement() for one in stated] == [
        "P(lambda(C(X)) >= 0.80) >= 0.90",
        "P(lambda(C(X)) >= 0.80) >= 0.70",
    ]
    assert stated[0].notes == ("hence 0.72 of the annotators' answers are covered on average",)
    assert sets.attrs["fingerprint"] == region.fingerprint
    assert sets.attrs["calibration_overlap"] == 0
    votes = region.vote_sets(predictions, 0.1)
    assert votes.dims == predictions.dims
    (guarantee,) = json.loads(votes.attrs["guarantees"])
    assert guarantee["statement"] == "P(vote in C(X)) >= 0.90"
    assert region.guarantee(0.1).statement() == "P(lambda in R(X)) >= 0.90"
    of_what = str(region.guarantee(0.1)).splitlines()[1]
    assert " ".join(of_what.split()) == (
        "covers the plausibilities of a new example, as one vector"
    )
    assert repr(region).splitlines() == [
        "PlausibilityRegion  score probability, n 60, 4 labels",
        f"  alpha 0.1  threshold {float(region.threshold(0.1)):.4g}  guaranteed 0.90",
        f"  alpha 0.05  threshold {float(region.threshold(0.05)):.4g}  guaranteed 0.95",
    ]


def test_an_example_with_which_nothing_conforms_has_no_bounds_and_an_empty_set() -> None:
    predictions, lam = world(40)
    sure = xr.zeros_like(predictions) + np.eye(4)[0]
    sure.attrs["scale"] = "any"
    certain = xr.zeros_like(lam) + np.eye(4)[0]
    region = plausibly.calibrate_region(sure, certain)
    vague = sure.isel(example=[0]).assign_coords(example=["new"]) * 0 + 0.25
    vague.attrs["scale"] = "any"
    bounds = region.bounds(vague, 0.1)
    assert np.isnan(bounds["most"]).all()
    assert np.isnan(bounds["least"]).all()
    assert not region.label_sets(vague, 0.1).any()
    assert not region.vote_sets(vague, 0.1).any()


def test_a_share_to_leave_out_is_between_0_and_1(region: PlausibilityRegion, fresh: Pair) -> None:
    with refused("option-range", "found 0 hint leave_out=0.1"):
        region.label_sets(fresh[0], 0.1, leave_out=0)


def test_a_grid_that_is_too_large_says_which_fits(region: PlausibilityRegion, fresh: Pair) -> None:
    with refused(
        "grid-too-large", "1,373,701 points over 4 labels", "found 16,484,412 for 12", "parts=77"
    ):
        region.grid(fresh[0], 0.1, parts=200)
    assert 12 * region.grid(fresh[0], 0.1, parts=77).sizes["point"] <= 1_000_000
    with refused("option-range", "found 0 hint parts=10"):
        region.grid(fresh[0], 0.1, parts=0)


def test_too_few_examples_are_said_with_the_number(fresh: Pair) -> None:
    predictions, lam = fresh
    small = plausibly.calibrate_region(*world(8))
    hint = "hint alpha 0.12 works with 8; or annotate 1 more"
    with warned("region-vacuous", "expected at least 9 calibration examples found 8", hint):
        assert small.threshold(0.1) == -np.inf
    with warned("region-vacuous"):
        assert small.contains(predictions, lam, 0.1).all()
    with warned("region-vacuous"):
        assert small.label_sets(predictions, 0.1).all()
    assert small.guarantee(0.1).vacuous
    assert not small.guarantee(0.12).vacuous


def test_names_that_differ_are_refused(region: PlausibilityRegion, fresh: Pair) -> None:
    predictions, lam = fresh
    with refused("examples-differ"):
        region.contains(predictions, lam[1:], 0.1)
    with refused("labels-differ"):
        region.contains(predictions, lam.assign_coords(label=["a", "b", "c", "d"]), 0.1)
    with refused("predictor-labels"):
        region.bounds(predictions.assign_coords(label=["a", "b", "c", "d"]), 0.1)


class Boundless(ScoreFunction):
    """A score that is +inf for the best label."""

    randomised = False
    reads: Literal["probability"] = "probability"

    def score(self, probabilities: Floats, uniform: Floats | None) -> Floats:
        top = probabilities.max(axis=-1, keepdims=True)
        return np.where(probabilities == top, np.inf, probabilities).astype(probabilities.dtype)


def test_scores_without_a_mean_are_refused() -> None:
    with refused("score-malformed", "found inf"):
        plausibly.calibrate_region(*world(10), score=Boundless())
    assert SCORE.name == "score"


def drawn(labels: int, alphas: list[float], axes: Any = None) -> Any:  # Any: matplotlib axes
    predictions, lam = (a.isel(label=slice(labels)) + 0.01 for a in world(50))
    predictions, lam = (a / a.sum("label") for a in (predictions, lam))
    region = plausibly.calibrate_region(predictions, lam)
    one = predictions.isel(example=[4]), lam.isel(example=[4])
    return plots.region(region, one[0], alphas, plausibilities=one[1], axes=axes)


@pytest.mark.parametrize("labels", [2, 3, 4])
def test_regions_of_few_labels_are_drawn(labels: int, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    axes = drawn(labels, [0.3, 0.1])
    texts = [text.get_text() for text in axes.texts]
    assert set(world(1)[0]["label"].values[:labels]) <= set(texts)
    legend = [text.get_text() for text in axes.get_legend().get_texts()]
    assert legend == ["region, 90%", "region, 70%", "model", "annotators"]
    assert axes.get_title("left") == "plausibilities of case 4"
    axes.figure.savefig(tmp_path / "region.png")


def test_a_region_is_drawn_into_axes_that_are_given() -> None:
    figure = pytest.importorskip("matplotlib.figure")
    axes = figure.Figure().subplots(1, 2)
    assert drawn(3, [0.1], axes[1]) is axes[1]
    assert not axes[0].lines


def test_a_region_that_is_empty_is_said_to_be() -> None:
    pytest.importorskip("matplotlib")
    predictions, lam = (a.isel(label=slice(3)) for a in world(40))
    predictions = xr.zeros_like(predictions) + np.eye(3)[0]
    predictions.attrs["scale"] = "any"
    region = plausibly.calibrate_region(predictions, xr.zeros_like(lam) + np.eye(3)[0])
    vague = predictions.isel(example=[0]) * 0 + 0.3
    axes = plots.region(region, vague.assign_attrs(scale="any"), 0.1)
    legend = [text.get_text() for text in axes.get_legend().get_texts()]
    assert legend == ["region, 90%: no vector conforms"]


def test_what_cannot_be_drawn_is_refused(region: PlausibilityRegion, fresh: Pair) -> None:
    with refused("examples-several", 'found 12 hint predictions.sel(example=["NAME"])'):
        plots.region(region, fresh[0], 0.1)
    predictions, lam = world(30)
    wide = predictions.assign_coords(label=["a", "b", "c", "d"])
    more = xr.concat([predictions, 0 * wide], "label")
    region = plausibly.calibrate_region(
        more, xr.concat([lam, 0 * lam.assign_coords(label=["a", "b", "c", "d"])], "label")
    )
    with refused("region-undrawable", "found 8"):
        plots.region(region, more.isel(example=[0]), 0.1)
