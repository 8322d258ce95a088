"""Every value, every pair of values, with intervals that hold together."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from eval_said import check, said
from plausibly import evaluate
from plausibly.evaluation import ByCoordinate, coverage_by

from .parts import case

SETS, LAM = case()


def test_values_and_their_crossings_are_evaluations_of_their_examples() -> None:
    found = coverage_by(SETS, LAM, by=ByCoordinate("site", "sex", at_least=1))
    assert found["subgroup"].values.tolist() == [
        *("site north", "site south", "sex f", "sex m"),
        *("site north, sex f", "site north, sex m", "site south, sex f", "site south, sex m"),
    ]
    assert found["depth"].values.tolist() == [1] * 4 + [2] * 4
    assert (found.attrs["compared"], found.attrs["left_out_subgroups"]) == (8, 0)
    site, sex = SETS["site"].values, SETS["sex"].values
    for name, mine in {
        "site north": site == "north",
        "sex m": sex == "m",
        "site south, sex f": (site == "south") & (sex == "f"),
    }.items():
        alone = evaluate(SETS[mine], LAM[mine], confidence=1 - 0.05 / 8, interval="wilson").data
        one = found.sel(subgroup=name)
        assert one["count"] == mine.sum()
        for figure in ("aggregated_coverage_mean", "aggregated_coverage_low", "set_size_high"):
            assert float(one[figure]) == pytest.approx(float(alone[figure]), rel=1e-12)


def test_one_coordinate_or_no_crossings() -> None:
    one = coverage_by(SETS, LAM, by="site")
    assert one["subgroup"].values.tolist() == ["site north", "site south"]
    flat = coverage_by(SETS, LAM, by=ByCoordinate("site", "sex", crossed=1))
    assert flat.sizes["subgroup"] == 4
    three = SETS.assign_coords(old=("example", np.arange(120) % 2 == 0))
    deep = coverage_by(three, LAM, by=ByCoordinate("site", "sex", "old", crossed=3, at_least=1))
    assert deep["depth"].values.tolist() == [1] * 6 + [2] * 12 + [3] * 8
    assert int(deep["count"].where(deep["depth"] == 3).sum()) == 120


def test_small_subgroups_are_left_out_and_counted() -> None:
    found = coverage_by(SETS, LAM, by=ByCoordinate("site", "sex", at_least=20))
    assert found.attrs["left_out_subgroups"] == 1
    assert "site north, sex f" not in found["subgroup"].values
    by_patient = coverage_by(SETS, LAM, by=ByCoordinate("sex", at_least=40), cluster="patient")
    assert by_patient.attrs["compared"] == 1  # 48 examples of fewer than 40 patients are "f"
    assert by_patient["subgroup"].values.tolist() == ["sex m"]


def test_the_weakest_is_the_one_whose_interval_ends_lowest() -> None:
    sets = SETS.copy()
    few = SETS["patient"].values < 3
    sets[few] = False
    sets[(SETS["site"].values == "north") & ~few, :2] = False
    sets = sets.assign_coords(ward=("example", np.where(few, "small", "large")))
    found = coverage_by(sets, LAM, by=ByCoordinate("ward", "site", crossed=1, at_least=1))
    order = found["aggregated_coverage_high"].values
    assert found["weakest"].item() == found["subgroup"].values[int(np.argmin(order))]
    both = xr.concat(
        [sets, SETS.assign_coords(ward=sets["ward"])], xr.Variable("alpha", [0.1, 0.3])
    )
    together = coverage_by(both, LAM, by=ByCoordinate("ward", "site", crossed=1, at_least=1))
    assert together["weakest"].dims == ("alpha",)
    assert together["weakest"].values[0] == found["weakest"].item()


def test_all_intervals_hold_together_in_95_of_100_cases() -> None:
    """Forty groups of one and the same coverage: each interval alone would miss two of them."""
    rng = np.random.default_rng(0)
    groups = np.repeat([f"g{i:02d}" for i in range(40)], 30)
    coords = {"example": [f"e{i}" for i in range(1200)], "label": ["a", "b"]}
    lam = xr.DataArray(np.tile([0.6, 0.4], (1200, 1)), dims=("example", "label"), coords=coords)
    held = 0
    for _ in range(40):
        values = np.stack([rng.random(1200) < 0.9, rng.random(1200) < 0.7], axis=1)
        sets = lam.copy(data=values).astype(bool).assign_coords(ward=("example", groups))
        found = coverage_by(sets, lam, by="ward")
        truth = 0.6 * 0.9 + 0.4 * 0.7
        held += bool(
            (
                (found["aggregated_coverage_low"] <= truth)
                & (found["aggregated_coverage_high"] >= truth)
            ).all()
        )
    assert held >= 38


def test_large_subgroups_have_the_interval_of_their_spread() -> None:
    sets, lam = case(600)
    found = coverage_by(sets, lam, by="site")
    mine = sets["site"].values == "north"
    alone = evaluate(sets[mine], lam[mine], confidence=0.975, interval="t").data
    one = found.sel(subgroup="site north")
    assert float(one["aggregated_coverage_low"]) == float(alone["aggregated_coverage_low"])


@said(__file__)
def test_the_text(call: str, text: str) -> None:
    check(call, text, globals())
