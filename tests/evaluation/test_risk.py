"""What sets miss of each risk level, against loops, and the levels' order."""

from __future__ import annotations

import pytest
import xarray as xr

from eval_said import check, said
from plausibly.evaluation import ByRisk, coverage_by, interval

from .parts import case

SETS, LAM = case()
WORDS = {"l0": "low", "l1": "high", "l2": "medium", "l3": "low"}


def test_missed_shares_are_what_loops_say() -> None:
    found = coverage_by(SETS, LAM, by=ByRisk())
    assert found["level"].values.tolist() == ["low", "medium", "high"]
    assert found["labels"].values.tolist() == [2, 1, 1]
    for level in found["level"].values:
        mine = [label for label, word in WORDS.items() if word == level]
        mass = missed = 0.0
        some = 0
        for row in range(120):
            here = [float(LAM.sel(label=label)[row]) for label in mine]
            out = [not bool(SETS.sel(label=label)[row]) for label in mine]
            mass += sum(here)
            missed += sum(p for p, lost in zip(here, out, strict=True) if lost)
            some += sum(here) > 0
        one = found.sel(level=level)
        assert float(one["mass"]) == pytest.approx(mass)
        assert float(one["missed_mean"]) == pytest.approx(missed / mass)
        assert one["examples"] == some
        assert one["missed_low"] <= one["missed_mean"] <= one["missed_high"]
    assert float(found["mass_share"].sum()) == pytest.approx(1)
    assert "risk_missed_mean" not in found


def test_numbers_ascend_and_have_a_mean_loss() -> None:
    found = coverage_by(SETS, LAM, by=ByRisk("cost"))
    assert found["level"].values.tolist() == [0, 1, 2]
    loss = ((LAM * SETS["cost"]) * ~SETS).sum("label").values
    alone = interval(loss, top=2.0)
    assert float(found["risk_missed_mean"]) == pytest.approx(float(loss.mean()))
    assert float(found["risk_missed_high"]) == pytest.approx(alone.high)
    mean = (found["missed_mean"] * found["mass_share"] * found["level"]).sum("level")
    assert float(mean) == pytest.approx(float(loss.mean()))


def test_levels_come_as_a_mapping_an_array_or_a_coordinate_of_either_side() -> None:
    named = coverage_by(SETS, LAM, by=ByRisk(WORDS))
    array = xr.DataArray(
        [*WORDS.values(), "unheard"], dims="label", coords={"label": [*WORDS, "other"]}
    )
    bare = SETS.drop_vars("risk")
    other_side = LAM.assign_coords(risk=("label", list(WORDS.values())))
    for found in (
        coverage_by(SETS, LAM, by=ByRisk(array)),
        coverage_by(bare, other_side, by=ByRisk()),
    ):
        xr.testing.assert_equal(named, found)


@pytest.mark.parametrize(
    ("levels", "order", "expected"),
    [
        (["High", "low", "Moderate", "low"], None, ["low", "Moderate", "High"]),
        (["b", "a", "c", "a"], None, ["a", "b", "c"]),
        (["b", "a", "c", "a"], ["c", "b", "never", "a"], ["c", "b", "a"]),
        ([3, 1, 10, 1], None, [1, 3, 10]),
        ([3, 1, 10, 1], [10, 3, 1], [10, 3, 1]),
        ([0.5, 2, 2, 2], None, [0.5, 2]),
    ],
)
def test_levels_go_from_the_least_on(
    levels: list[object], order: list[object] | None, expected: list[object]
) -> None:
    table = dict(zip(WORDS, levels, strict=True))
    found = coverage_by(SETS, LAM, by=ByRisk(table, order=order))
    assert found["level"].values.tolist() == expected
    assert int(found["labels"].sum()) == 4
    assert float(found["mass"].sum()) == pytest.approx(120)


@said(__file__)
def test_the_text(call: str, text: str) -> None:
    check(call, text, globals())
