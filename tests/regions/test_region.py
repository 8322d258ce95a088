"""Regions as users meet them: names, dims, alphas, messages, pictures, figures of their page."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
import xarray as xr

import plausibly
from exact_oracles import load
from plausibly import plots
from plausibly.conformal.regions import PlausibilityRegion
from plausibly.guarantee import Guarantee
from plausibly.kernels.random import Keys, hash_names
from plausibly.plugin import Floats, ScoreFunction
from readme_world import tables
from refusals import refused, warned
from tables import LABELS, world

ALPHAS = [0.3, 0.1]
REGION = plausibly.calibrate_region(*world(60))
NEW, VECTORS = world(12, seed=1, start=500)


def test_results_keep_names_and_gain_alphas() -> None:
    assert REGION.threshold(0.1).dims == ()
    assert REGION.threshold(ALPHAS).dims == ("alpha",)
    inside = REGION.contains(NEW, VECTORS, ALPHAS)
    assert inside.dims == ("example", "alpha")
    assert list(inside.patient.values) == list(NEW.patient.values)
    p = REGION.p_values(NEW, VECTORS)
    for alpha in ALPHAS:
        np.testing.assert_array_equal(inside.sel(alpha=alpha), p > alpha)
        item = REGION.contains(NEW, VECTORS, alpha)
        xr.testing.assert_identical(item.drop_vars("alpha"), inside.sel(alpha=alpha, drop=True))
    bounds = REGION.bounds(NEW.transpose("label", "example"), ALPHAS)
    assert bounds["most"].dims == ("alpha", "label", "example")
    assert (bounds["least"] <= bounds["most"]).all()
    grid = REGION.grid(NEW, ALPHAS, parts=4)
    assert dict(grid.sizes) == {"point": 35, "label": 4, "example": 12, "alpha": 2}
    np.testing.assert_array_equal(grid["inside"].sel(alpha=0.1), grid["p_values"] > 0.1)


def test_order_and_batch_change_nothing() -> None:
    predictions, answers = world(60)
    score = {"name": "aps", "randomised": True}
    region = plausibly.calibrate_region(predictions, answers, score=score)
    turned = plausibly.calibrate_region(predictions[::-1], answers[:, [2, 0, 3, 1]], score=score)
    assert region.fingerprint == turned.fingerprint
    np.testing.assert_array_equal(region.ordered, turned.ordered)
    p = region.p_values(NEW, VECTORS)
    for name in NEW["example"].values[:3]:
        alone = region.p_values(NEW.sel(example=[name]), VECTORS.sel(example=[name]))
        assert alone.item() == p.sel(example=name).item()
    xr.testing.assert_equal(region.p_values(NEW[::-1, [3, 1, 0, 2]], VECTORS), p[::-1])


def test_sets_carry_their_guarantee() -> None:
    sets = REGION.label_sets(NEW, [0.1, 0.3], leave_out="0.2")
    assert sets.dims == ("alpha", "example", "label")
    stated = [Guarantee.from_json(text) for text in json.loads(sets.attrs["guarantees"])]
    statements = [f"P(lambda(C(X)) >= 0.80) >= {level}" for level in ("0.90", "0.70")]
    assert [guarantee.statement() for guarantee in stated] == statements
    assert stated[0].notes == ("hence 0.72 of the annotators' answers are covered on average",)
    assert sets.attrs["fingerprint"] == REGION.fingerprint
    assert sets.attrs["calibration_overlap"] == 0
    votes = REGION.vote_sets(NEW, 0.1)
    assert votes.dims == NEW.dims
    (guarantee,) = json.loads(votes.attrs["guarantees"])
    assert guarantee["statement"] == "P(vote in C(X)) >= 0.90"
    assert REGION.guarantee(0.1).statement() == "P(lambda in R(X)) >= 0.90"
    text = " ".join(str(REGION.guarantee(0.1)).splitlines()[1].split())
    assert text == "covers the plausibilities of a new example, as one vector"


def certain(labels: int) -> tuple[PlausibilityRegion, xr.DataArray]:
    """Return a region of vectors that are all alike, and an example with which none conforms."""
    predictions, answers = (array.isel(label=slice(labels)) for array in world(40))
    sure = (xr.zeros_like(predictions) + np.eye(labels)[0]).assign_attrs(scale="any")
    vague = (sure[:1] * 0 + 1 / labels).assign_coords(example=["new"]).assign_attrs(scale="any")
    return plausibly.calibrate_region(sure, xr.zeros_like(answers) + np.eye(labels)[0]), vague


def test_an_example_with_which_nothing_conforms_has_no_bounds_and_an_empty_set() -> None:
    region, vague = certain(4)
    bounds = region.bounds(vague, 0.1)
    assert np.isnan(bounds["most"]).all()
    assert np.isnan(bounds["least"]).all()
    assert not region.label_sets(vague, 0.1).any()
    assert not region.vote_sets(vague, 0.1).any()
    pytest.importorskip("matplotlib")
    region, vague = certain(3)
    legend = plots.region(region, vague, 0.1).get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["region, 90%: no vector conforms"]


def test_too_few_examples_are_warned_of_with_the_number() -> None:
    small = plausibly.calibrate_region(*world(8))
    pieces = ("expected at least 9 calibration examples found 8", "hint alpha 0.12")
    calls: list[Callable[[], xr.DataArray]] = [
        lambda: small.threshold(0.1) == -np.inf,
        lambda: small.contains(NEW, VECTORS, 0.1),
        lambda: small.label_sets(NEW, 0.1),
    ]
    for call in calls:
        with warned("region-vacuous", *pieces):
            assert call().all()
    assert small.guarantee(0.1).vacuous
    assert not small.guarantee(0.12).vacuous


class Boundless(ScoreFunction):
    """A score that is +inf for the best label."""

    randomised = False
    reads: Literal["probability"] = "probability"

    def score(self, probabilities: Floats, uniform: Floats | None) -> Floats:
        top = probabilities.max(axis=-1, keepdims=True)
        return np.where(probabilities == top, np.inf, probabilities).astype(probabilities.dtype)


RENAMED = {"label": list("abcd")}
EIGHT = {"label": [*LABELS, *"abcd"]}
WIDE = plausibly.calibrate_region(*(array.reindex(EIGHT, fill_value=0) for array in world(30)))
REFUSED: list[tuple[Callable[[], object], tuple[str, ...]]] = [
    (lambda: REGION.label_sets(NEW, 0.1, leave_out=0), ("option-range", "0 hint leave_out=0.1")),
    (lambda: REGION.grid(NEW, 0.1, parts=200), ("grid-too-large", "found 16,484,412")),
    (lambda: REGION.grid(NEW, 0.1, parts=0), ("option-range", "found 0 hint parts=10")),
    (lambda: REGION.contains(NEW, VECTORS[1:], 0.1), ("examples-differ",)),
    (lambda: REGION.contains(NEW, VECTORS.assign_coords(RENAMED), 0.1), ("labels-differ",)),
    (lambda: REGION.bounds(NEW.assign_coords(RENAMED), 0.1), ("predictor-labels",)),
    (
        lambda: plausibly.calibrate_region(*world(10), score=Boundless()),
        ("score-malformed", "found inf"),
    ),
    (lambda: plots.region(REGION, NEW, 0.1), ("figure-unsuitable", "found 12 examples of")),
    (
        lambda: plots.region(WIDE, NEW[:1].reindex(EIGHT, fill_value=0), 0.1),
        ("figure-unsuitable", "found 1 example of 8 labels"),
    ),
]


@pytest.mark.parametrize(("call", "pieces"), REFUSED)
def test_what_a_region_cannot_answer_is_refused(
    call: Callable[[], object], pieces: tuple[str, ...]
) -> None:
    with refused(*pieces):
        call()


def drawn(labels: int, alphas: list[float], axes: Any = None) -> Any:  # Any: matplotlib axes
    predictions, answers = (a.isel(label=slice(labels)) + 0.01 for a in world(50))
    predictions, answers = (a / a.sum("label") for a in (predictions, answers))
    region = plausibly.calibrate_region(predictions, answers)
    return plots.region(region, predictions[4:5], alphas, plausibilities=answers[4:5], axes=axes)


@pytest.mark.parametrize("labels", [2, 3, 4])
def test_regions_of_few_labels_are_drawn(labels: int, tmp_path: Path) -> None:
    figure = pytest.importorskip("matplotlib.figure")
    axes = drawn(labels, [0.3, 0.1])
    assert set(LABELS[:labels]) <= {text.get_text() for text in axes.texts}
    legend = [text.get_text() for text in axes.get_legend().get_texts()]
    assert legend == ["region, 90%", "region, 70%", "model", "annotators"]
    assert axes.get_title("left") == "plausibilities of case 4"
    axes.figure.savefig(tmp_path / "region.png")
    own = figure.Figure().subplots(1, 2)
    assert drawn(labels, [0.1], own[1]) is own[1]
    assert not own[0].lines


DATA = ("crema_d", "lidc_malignancy", "chaosnli_snli")


@pytest.fixture(scope="module")
def page(project: Path) -> Path:
    return project / "docs" / "regions.md"


@pytest.mark.realdata
@pytest.mark.parametrize("name", DATA)
def test_figures_are_measured(shared: Path, page: Path, name: str) -> None:
    rows = tables(page)[1][1:]
    assert [row[0].split("`")[1] for row in rows] == list(DATA)
    predictions, answers = load(shared, name)
    hashes = hash_names(predictions["example"].values)
    measured = []
    for number in range(10):
        uniform = Keys(0, f"s{number}").uniform(hashes)[:, 0]
        test = uniform < np.median(uniform)
        halves = predictions[~test], answers[~test]
        new, vectors = predictions[test], answers[test]
        region = plausibly.calibrate_region(*halves)
        direct = plausibly.calibrate(
            *halves, calibrator={"name": "mass-coverage", "leave_out": 0.1}
        )
        sets = region.label_sets(new, 0.1)
        assert float(((sets * vectors).sum("label") >= 0.9 - 1e-9).mean()) >= 0.99
        measured.append(
            [
                float(region.contains(new, vectors, 0.1).mean()),
                float(sets.sum("label").mean()),
                float(direct.predict(new, 0.1).sum("label").mean()),
                float(region.vote_sets(new, 0.1).sum("label").mean()),
            ]
        )
    covered, *sizes = np.mean(measured, axis=0)
    assert abs(covered - 0.9) < 0.01
    row = next(row for row in rows if name in row[0])
    assert row[1:] == [f"{covered:.3f}", *(f"{size:.2f}" for size in sizes)]
    assert f"{len(answers['label'])} labels" in row[0]
