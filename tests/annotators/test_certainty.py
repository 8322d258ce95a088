"""Certainty of annotations, and accuracy against every draw, by hand."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, strategies as st

import plausibly
from plausibly.annotators import annotation_certainty, uncertainty_adjusted_accuracy

from .oracles import table

LABELS = ["a", "b", "c"]


def drawn(draws: list[list[list[float]]]) -> xr.DataArray:
    values = np.array(draws)
    return xr.DataArray(
        values,
        dims=("draw", "example", "label"),
        coords={"example": [f"e{i}" for i in range(values.shape[1])], "label": LABELS},
    )


FOUR = drawn(
    [
        [[0.6, 0.3, 0.1], [0.5, 0.5, 0.0]],
        [[0.5, 0.4, 0.1], [0.2, 0.8, 0.0]],
        [[0.3, 0.6, 0.1], [0.1, 0.2, 0.7]],
        [[0.6, 0.1, 0.3], [0.4, 0.4, 0.2]],
    ]
)
PREDICTED = xr.DataArray(
    [[0.2, 0.7, 0.1], [0.4, 0.4, 0.2]],
    dims=("example", "label"),
    coords={"example": ["e0", "e1"], "label": LABELS},
)


def test_certainty_by_hand() -> None:
    found = annotation_certainty(FOUR)
    np.testing.assert_allclose(found["first"].values, [[0.75, 0.25, 0], [0.25, 0.5, 0.25]])
    np.testing.assert_allclose(found["certainty"].values, [0.75, 0.5])
    assert float(found["mean"]) == pytest.approx(0.625)
    assert float(found["low"]) < 0.625 < float(found["high"])


@pytest.mark.parametrize("labels", [3, 100])
def test_labels_without_mass_are_in_no_set(labels: int) -> None:
    values = np.zeros((40, 2, labels))
    values[:, 0, 0] = 1.0  # all say one label
    values[:20, 1, :2], values[20:, 1, 2] = 0.5, 1.0
    lam = xr.DataArray(
        values,
        dims=("draw", "example", "label"),
        coords={"example": ["e", "f"], "label": [f"k{place}" for place in range(labels)]},
    )
    risk = {f"k{place}": "low" if place < 2 else "high" for place in range(labels)}
    found = annotation_certainty(lam, top=2, risk=risk)
    assert found["certainty"].values.tolist() == [1.0, 0.5]
    assert found["level_certainty"].values.tolist() == [1.0, 0.5]


def test_ties_do_not_depend_on_the_order_of_labels_or_on_rounding() -> None:
    values = np.tile([0.5, 0.25, 0.25 * (1 + 1e-15), 0.0], (200, 5, 1))
    lam = xr.DataArray(
        values,
        dims=("draw", "example", "label"),
        coords={"example": list("efghi"), "label": list("abcd")},
    )
    risk = {"a": "low", "b": "low", "c": "high", "d": "high"}
    first = annotation_certainty(lam, top=2, risk=risk)
    assert float(first["certainty"].max()) < 0.65
    for order in ([2, 1, 0, 3], [3, 2, 1, 0], [1, 3, 0, 2]):
        again = annotation_certainty(lam.isel(label=order), top=2, risk=risk, order=["low", "high"])
        for name in ("certainty", "mean", "low", "high", "level_certainty", "level_mean"):
            np.testing.assert_array_equal(first[name].values, again[name].values)


def test_certainty_of_a_level() -> None:
    risk = {"a": "low", "b": "low", "c": "high"}
    found = annotation_certainty(FOUR, risk=risk)
    assert found["level"].values.tolist() == ["low", "high"]
    np.testing.assert_allclose(found["first_level"].values, [[1.0, 0.0], [0.75, 0.25]])
    np.testing.assert_allclose(found["level_certainty"].values, [1.0, 0.75])
    assert float(found["level_mean"]) == pytest.approx(0.875)
    two = annotation_certainty(FOUR, top=2, risk=risk)
    np.testing.assert_allclose(two["level_certainty"].values, [0.75, 0.75])


def test_accuracy_by_hand() -> None:
    found = uncertainty_adjusted_accuracy(
        PREDICTED, FOUR, top=[1, 2], risk={"a": 1, "b": 1, "c": 2}
    )
    # e0: the model says b, which is first in 1 of 4; e1: a and b are tied, half of .25 + .5
    np.testing.assert_allclose(found["example_accuracy"].values, [[0.25, 1.0], [0.375, 0.75]])
    np.testing.assert_allclose(found["accuracy_mean"].values, [0.3125, 0.875])
    np.testing.assert_allclose(found["draw_accuracy"].values[:, 0], [0.25, 0.25, 0.5, 0.25])
    # the mean plausibilities are (.5, .35, .15) and (.3, .475, .225): a and b
    np.testing.assert_allclose(found["majority-vote"].values, [0.25, 1.0])
    np.testing.assert_allclose(found["level_mass"].values, [1.75, 0.25])
    np.testing.assert_allclose(found["level_accuracy"].values, [[0.625 / 1.75, 1.0], [0.0, 0.0]])


@given(st.integers(0, 10_000))
def test_it_is_the_mean_over_draws(seed: int) -> None:
    rng = np.random.default_rng(seed)
    lam = drawn(rng.dirichlet([1, 1, 1], size=(5, 4)).tolist())
    model = xr.DataArray(
        rng.dirichlet([1, 1, 1], size=4), dims=("example", "label"), coords=lam.isel(draw=0).coords
    )
    found = uncertainty_adjusted_accuracy(model, lam, top=2)
    first = lam.values.argmax(axis=-1)
    held = np.argsort(-model.values, axis=1)[:, :2]
    hits = (first[:, :, None] == held[None]).any(axis=-1)
    np.testing.assert_allclose(found["example_accuracy"].values[:, 0], hits.mean(axis=0))
    np.testing.assert_allclose(found["draw_accuracy"].values[:, 0], hits.mean(axis=1))


def test_nothing_depends_on_the_order_of_rows_and_labels() -> None:
    rng = np.random.default_rng(3)
    lam = drawn(rng.dirichlet([1, 1, 1], size=(6, 9)).tolist())
    model = lam.mean("draw")
    risk = {"a": "low", "b": "high", "c": "low"}
    one = uncertainty_adjusted_accuracy(model, lam, risk=risk)
    turned = lam.isel(example=slice(None, None, -1), label=[2, 0, 1])
    other = uncertainty_adjusted_accuracy(model, turned, risk=risk)
    xr.testing.assert_allclose(one, other)
    certain, again = annotation_certainty(lam, top=2), annotation_certainty(turned, top=2)
    np.testing.assert_array_equal(certain["certainty"].values, again["certainty"].values[::-1])
    assert float(certain["mean"]) == float(again["mean"])


def test_responses_that_all_say_the_same_are_certain() -> None:
    records = [("e", w, "a") for w in "xyz"] + [
        ("f", w, s) for w, s in zip("xyz", "abc", strict=True)
    ]
    lam = plausibly.aggregate(table(records, LABELS), {"name": "bootstrap", "draws": 60})
    certain = annotation_certainty(lam)["certainty"]
    assert float(certain.sel(example="e")) == 1.0
    assert float(certain.sel(example="f")) < 0.7
