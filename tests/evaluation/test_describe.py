"""The table and the verdict: what they say, and that they say it honestly."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
import xarray as xr

from eval_said import check, said
from plausibly import registry
from plausibly.evaluation import evaluate
from plausibly.evaluation.result import decimal
from plausibly.guarantee import Guarantee, Target
from plausibly.protocols import ANNOTATION

LABELS = ["cat", "dog", "fox"]


def judged(
    covered: int,
    *,
    examples: int = 400,
    level: str | None = "9/10",
    target: Target = "aggregated",
    has: int = 100,
    confidence: str | None = None,
    vacuous: bool = False,
    overlap: int = 0,
) -> xr.DataArray:
    """Sets that hold the certain label of `covered` examples, and no other label."""
    held = np.arange(examples) < covered
    guarantee = Guarantee(
        alpha=Fraction(1, 10),
        level=None if level is None else Fraction(level),
        target=target,
        reason="w",
        has=has,
        confidence=None if confidence is None else Fraction(confidence),
        vacuous=vacuous,
    )
    return xr.DataArray(
        np.stack([held, ~held, np.zeros_like(held)], axis=1),
        dims=("example", "label"),
        coords={"example": [f"e{i}" for i in range(examples)], "label": LABELS, "alpha": 0.1},
        attrs={"guarantees": json.dumps([guarantee.to_json()]), "calibration_overlap": overlap},
    )


def certain(examples: int = 400) -> xr.DataArray:
    rows = np.tile([1.0, 0.0, 0.0], (examples, 1))
    coords = {"example": [f"e{i}" for i in range(examples)], "label": LABELS}
    return xr.DataArray(rows, dims=("example", "label"), coords=coords)


def test_the_verdict_on_calibration_examples() -> None:
    with pytest.warns(match="calibrated their predictor"):
        found = evaluate(judged(364, overlap=40), certain())
    assert found.verdict().endswith("40 of the examples calibrated the predictor: no evidence.")


def split_experts() -> tuple[xr.DataArray, xr.DataArray]:
    """Sets that hold one label: all of what is said of the certain, 0.4 of the disputed ones."""
    lam = certain()
    lam[300:] = [0.4, 0.3, 0.3]
    sets = judged(400, level="4/5").assign_coords(
        site=("example", np.where(np.arange(400) < 280, "north", "a far southern site")),
        known=("example", ["cat"] * 400),
    )
    return sets, lam


def test_many_groups_show_the_weakest() -> None:
    sets, lam = split_experts()
    sets = sets.assign_coords(ward=("example", np.arange(400) // 25))
    lines = evaluate(sets, lam, by="ward").lines()
    start = lines.index("by ward (lowest 8 of 16 groups, intervals widened for all)")
    assert [line.split()[0] for line in lines[start + 1 : start + 5]] == ["12", "13", "14", "15"]
    parts = [line for line in lines if line.startswith("  ") and not line.startswith("   ")]
    assert len(parts) == 3 + 8
    assert len(lines) <= 25


def test_several_alphas_have_a_block_each_and_ties_are_counted() -> None:
    sets = judged(400).drop_vars("alpha")
    lam = certain()
    lam[:100] = [0.5, 0.5, 0]
    both = xr.concat([sets, ~sets], dim=xr.Variable("alpha", [0.1, 0.25])).assign_attrs(sets.attrs)
    text = "\n".join(evaluate(both, lam, ties="fractional").lines())
    first, second = text.split("\n\n")
    assert first.startswith("alpha 0.1  ")
    assert second.startswith("alpha 0.25  ")
    flat = " ".join(first.split())
    assert flat.startswith("alpha 0.1 examples coverage")
    assert evaluate(both, lam, ties="fractional").attrs["tied_share"] == 0.25
    assert " ".join(second.split()).endswith("No guarantee; the sets cover 0.125 of the answers.")
    assert evaluate(both, lam).verdict().count("\n") == 1


def test_without_alpha_and_with_another_confidence() -> None:
    sets = judged(364).drop_vars("alpha")
    lines = evaluate(sets, certain(), confidence=0.9).lines()
    assert lines[0].startswith(" ")
    assert "90% interval" in lines[0]
    assert " ".join(lines[-1].split()) == (
        "verdict Consistent with the guarantee: 0.90 on average, measured 0.910."
    )
    bare = evaluate(sets.drop_attrs(), certain()).lines()
    assert bare[-1].endswith("No guarantee; the sets cover 0.910 of the answers.")


def test_the_same_as_plain_data() -> None:
    sets, lam = split_experts()
    found = evaluate(sets.assign_attrs(left_out='{"x": 1}'), lam, by="site")
    data = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert (data["n"], data["ties"], data["left_out"]) == (400, "first", {"x": 1})
    (one,) = data["results"]
    assert one["alpha"] == 0.1
    assert one["aggregated_coverage"]["mean"] == pytest.approx(0.85)
    assert [part["ambiguity"] for part in one["strata"]] == [
        "below 0.5",
        "0.5 to 0.8",
        "0.8 and above",
    ]
    assert one["strata"][1]["n"] == 0
    assert one["strata"][1]["aggregated_coverage"] == {"mean": None, "low": None, "high": None}
    assert [(part["site"], part["n"]) for part in one["groups"]] == [
        ("a far southern site", 120),
        ("north", 280),
    ]
    assert one["guarantee"]["level"] == "4/5"
    assert one["verdict"].startswith("At or above the guarantee: 0.80 on average")


def test_decimals() -> None:
    values = (0.0, 0.5, -0.25, 0.9996, 1.0, -1.0, -0.0001, float("nan"))
    shown = "0.000 0.500 -0.250 1.000 1.000 -1.000 0.000 -"
    assert " ".join(map(decimal, values)) == shown
    assert decimal(0.671, 2) == "0.67"


def test_no_group_is_called_weak_that_may_keep_the_guarantee() -> None:
    sets = judged(364).assign_coords(site=("example", np.resize(["a", "b"], 400)))
    assert evaluate(sets, certain(), by="site").verdict() == (
        "Consistent with the guarantee: 0.90 on average, measured 0.910. No site is shown to be "
        "below 0.90; the lowest is a."
    )


def test_a_rough_interval_is_marked_where_it_stands() -> None:
    rows = np.arange(400)
    places = np.where(rows < 392, "north", "south")
    sets = judged(360).assign_coords(
        site=("example", places), patient=("example", np.where(rows < 392, rows, rows // 2))
    )
    lines = evaluate(sets, certain(), by="site", cluster="patient").lines()
    marked = [line.split()[0] for line in lines if line.rstrip("0123456789. ").endswith(" *")]
    assert marked == ["south"]
    assert "* a rough interval: fewer than ten clusters" in " ".join(" ".join(lines).split())


def test_annotations_are_aggregated_by_default() -> None:
    kind = registry.resolve(ANNOTATION, "single-label")
    votes = [("e0", "w1", "cat"), ("e0", "w2", "fox"), ("e1", "w1", "cat")]
    found = evaluate(judged(2, examples=2), kind.build(votes, LABELS)).data
    assert found["aggregated_coverage"].values.tolist() == [0.5, 1.0]


@said(__file__)
def test_what_is_told(call: str, text: str) -> None:
    check(call, text, globals())
