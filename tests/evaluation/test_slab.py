"""Worst slabs: found exactly, measured on examples that had no part in finding them."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings, strategies as st

from eval_said import check, said
from plausibly.evaluation import interval, worst_slab_coverage
from plausibly.evaluation.slab import _least_means

from .parts import case, features

SETS, LAM = case()
FEATURES = features(SETS)


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 10), st.integers(0, 6)), min_size=1, max_size=14),
    st.integers(1, 14),
)
def test_the_least_mean_is_that_of_all_runs(rows: list[tuple[int, int]], needed: int) -> None:
    needed = min(needed, len(rows))
    values = np.array([[value / 10] for value, _ in rows])
    places = np.sort(np.array([[float(place)] for _, place in rows]), axis=0)
    means, first, last = _least_means(values, places, needed)
    least = 2.0
    for begin in range(len(rows)):
        for end in range(begin + needed - 1, len(rows)):
            parts_left = begin and places[begin, 0] == places[begin - 1, 0]
            parts_right = end < len(rows) - 1 and places[end, 0] == places[end + 1, 0]
            if not (parts_left or parts_right):
                least = min(least, float(values[begin : end + 1, 0].mean()))
    assert float(means[0]) == pytest.approx(least)
    assert float(values[first[0] : last[0] + 1, 0].mean()) == pytest.approx(least)
    assert last[0] - first[0] + 1 >= needed


def weak(n: int, *, seed: int = 0, covered: float = 0.4) -> tuple[xr.DataArray, ...]:
    """Sets that cover less where x > 1; nothing else matters."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2))
    names = [f"e{i}" for i in range(n)]
    chance = np.where(x[:, 0] > 1, covered, 0.95)
    coords = {"example": names, "label": ["a", "b"]}
    dims = ("example", "label")
    lam = xr.DataArray(np.tile([1.0, 0.0], (n, 1)), dims=dims, coords=coords)
    held = rng.random(n) < chance
    sets = xr.DataArray(np.stack([held, ~held], axis=1), dims=dims, coords=coords)
    columns = {"example": names, "column": ["x", "y"]}
    return sets, lam, xr.DataArray(x, dims=("example", "column"), coords=columns)


def test_a_weak_slab_is_found_and_its_figure_is_honest() -> None:
    sets, lam, numbers = weak(4000)
    result = worst_slab_coverage(sets, lam, numbers, directions=200)
    assert float(result["aggregated_coverage_low"]) < 0.5
    assert float(result["aggregated_coverage_high"]) > 0.4
    assert float(result["others_mean"]) > 0.9
    direction = result["direction"].sel(feature="x")
    assert abs(float(direction)) > 0.9
    assert 0.05 < float(result["slab_share"]) < 0.2


def test_worst_slab_is_not_significant_when_coverage_is_uniform() -> None:
    above = 0
    for seed in range(20):
        sets, lam, numbers = weak(400, seed=seed, covered=0.95)
        result = worst_slab_coverage(sets, lam, numbers, directions=100, seed=seed)
        assert float(result["searched_coverage"]) < 0.93
        above += bool(result["aggregated_coverage_high"] >= 0.95)
    assert above >= 17


def test_reported_figures_are_those_of_examples_in_the_slab() -> None:
    result = worst_slab_coverage(SETS, LAM, FEATURES, directions=30, least=0.2)
    table = FEATURES.sel(column=result["feature"].values)
    z = (table.values - table.values.mean(axis=0)) / table.values.std(axis=0)
    np.testing.assert_allclose(result["centre"], table.values.mean(axis=0))
    np.testing.assert_allclose(result["scale"], table.values.std(axis=0))
    place = z @ result["direction"].values
    assert np.linalg.norm(result["direction"]) == pytest.approx(1)
    low, high = float(result["slab_from"]), float(result["slab_to"])
    inside = (place >= low - 1e-9) & (place <= high + 1e-9)
    np.testing.assert_array_equal(result["in_slab"], inside)
    searched = result["searched"].values
    assert searched.sum() == 60
    assert (inside & searched).sum() >= 12
    covered = (LAM * SETS).sum("label").values
    mean = float(covered[inside & searched].mean())
    assert float(result["searched_coverage"]) == pytest.approx(mean)
    rest = interval(covered[inside & ~searched])
    assert float(result["aggregated_coverage_mean"]) == pytest.approx(rest.mean)
    assert float(result["aggregated_coverage_low"]) == pytest.approx(rest.low)
    assert int(result["count"]) == (inside & ~searched).sum()
    assert float(result["others_mean"]) == pytest.approx(covered[~inside & ~searched].mean())


@pytest.mark.parametrize(("values", "columns"), [(2, 2), (2, 6), (3, 3), (5, 4)])
def test_examples_on_the_border_of_a_slab_are_in_it(values: int, columns: int) -> None:
    for seed in range(4):
        rng = np.random.default_rng(seed)
        named = [f"e{place}" for place in range(80)]
        coords = {"example": named, "label": ["a", "b", "c"]}
        dims = ("example", "label")
        lam = xr.DataArray(rng.dirichlet([1, 1, 1], 80), dims=dims, coords=coords)
        sets = xr.DataArray(rng.random((80, 3)) < 0.7, dims=dims, coords=coords)
        few = xr.DataArray(
            rng.integers(0, values, (80, columns)).astype(float),
            dims=("example", "column"),
            coords={"example": named, "column": [f"x{place}" for place in range(columns)]},
        )
        result = worst_slab_coverage(sets, lam, few, directions=30, seed=seed)
        inside, searched = result["in_slab"].values, result["searched"].values
        covered = (lam * sets).sum("label").values
        assert (inside & searched).sum() >= 4
        mean = covered[inside & searched].mean()
        assert float(result["searched_coverage"]) == pytest.approx(mean, abs=1e-12)
        assert int(result["count"]) == (inside & ~searched).sum()
        # Examples with equal features are on one side of the border.
        _, alike = np.unique(few.values, axis=0, return_inverse=True)
        shares = np.bincount(alike.ravel(), inside) / np.bincount(alike.ravel())
        assert set(shares) <= {0.0, 1.0}


def test_units_order_and_constants_of_features_do_not_matter() -> None:
    first = worst_slab_coverage(SETS, LAM, FEATURES, directions=20)
    other = FEATURES.transpose()[::-1] * xr.DataArray([2.0, 1e3, 0.01], dims="column") + 7
    second = worst_slab_coverage(SETS, LAM, other, directions=20)
    np.testing.assert_array_equal(first["in_slab"], second["in_slab"])
    constant = FEATURES.isel(column=[0]).assign_coords(column=["constant"]) * 0 + 3
    third = worst_slab_coverage(SETS, LAM, xr.concat([FEATURES, constant], "column"))
    assert np.isinf(third["scale"].sel(feature="constant"))


def test_clusters_stay_on_one_side() -> None:
    result = worst_slab_coverage(SETS, LAM, FEATURES, directions=5, cluster="patient")
    sides = result["searched"].values.reshape(60, 2)
    np.testing.assert_array_equal(sides[:, 0], sides[:, 1])


UNNAMED = FEATURES.drop_vars("column")
GAPS = FEATURES.where(FEATURES["example"] != "e0003")


@said(__file__)
def test_each_call_gives_its_text(call: str, text: str) -> None:
    check(call, text, globals())
