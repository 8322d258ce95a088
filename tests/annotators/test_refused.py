"""What cannot be compared is refused in words."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import plausibly
from eval_said import check, said
from plausibly.errors import InputError
from plausibly.plugin import build_table

from .oracles import coders, table

GRADES = table(coders("low high mid\nlow mid high"))
SOFT = table([("e", "w", {"a": 1.0})], kind="soft-label")
LAM = xr.DataArray(
    np.full((2, 1, 2), 0.5),
    dims=("draw", "example", "label"),
    coords={"example": ["e"], "label": ["a", "b"]},
)


def weighted(weight: float) -> xr.Dataset:
    return build_table(
        "single-label",
        examples=["e"],
        annotators=[],
        labels=["a"],
        response_example=[0],
        response_annotator=[-1],
        mention_response=[0],
        mention_label=[0],
        response_weight=[weight],
    )


@said(__file__)
def test_messages(call: str, text: str) -> None:
    check(call, text, globals())


def test_a_table_that_was_cut_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        plausibly.agreement(GRADES.isel(example=[0]))
    assert caught.value.name == "table-detached"


def test_the_order_of_a_label_table_is_used() -> None:
    order = {"high": 2, "low": 0, "mid": 1}
    ann = GRADES.assign_coords(order=("label", [order[k] for k in GRADES["label"].values]))
    found = plausibly.agreement(ann).data
    assert "krippendorff-ordinal" in found["measure"].values
    assert found.attrs["order"] == '["low", "mid", "high"]'
    same = plausibly.agreement(GRADES, order=["low", "mid", "high"]).data
    xr.testing.assert_equal(found.drop_vars("order", errors="ignore"), same)
    assert "krippendorff-ordinal" not in plausibly.agreement(GRADES)["measure"].values


def test_labels_of_the_order_that_nobody_says_are_steps_too() -> None:
    few = table(coders("1 3\n3 1"))
    found = plausibly.agreement(few, order=["1", "2", "3"]).data
    assert float(found["value"].sel(measure="neighbouring")) == 0.0
    found = plausibly.agreement(few, order=["1", "3"]).data
    assert float(found["value"].sel(measure="neighbouring")) == 1.0
