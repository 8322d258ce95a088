"""What cannot be compared is refused in words."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import xarray as xr

import plausibly
from agreement_oracles import coders, table
from plausibly.annotators import annotation_certainty, uncertainty_adjusted_accuracy
from plausibly.errors import InputError
from plausibly.plugin import build_table

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


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: plausibly.agreement(SOFT),
            "error agreement-kind: annotations: agreement of soft-label answers is not\n"
            "  defined here\n"
            "  expected  single-label or label-set or partial-ranking; got soft-label\n"
            "  do        evaluation.entropy(plausibly.aggregate(ann)) for how certain the\n"
            "            examples are",
        ),
        (
            lambda: plausibly.agreement(weighted(0.5)),
            "error weights-fractional: annotations: no whole number of times counts for 1\n"
            "  response\n"
            "  expected  whole numbers: an answer agrees with another one or does not; got\n"
            "            0.5, about e\n"
            "  do        leave the weights out of the file, or give whole counts",
        ),
        (
            lambda: plausibly.agreement(weighted(2.0**32)),
            "error answers-many: annotations stand for 4,294,967,296 answers\n"
            "  expected  fewer than 2,147,483,648, so that pairs can be counted exactly; got\n"
            "            4,294,967,296\n"
            "  do        plausibly.select(ann, example=...) some of the examples",
        ),
        (
            lambda: plausibly.agreement(GRADES, order=["low", "middle", "high"]),
            'error order-incomplete: the order of labels lacks "mid", which annotators say\n'
            "  expected  each label that is said, once; got low, middle, high; 1 missing\n"
            "  do        order=['high', 'low', 'mid'] (--order high,low,mid), in their order",
        ),
        (
            lambda: plausibly.agreement(GRADES, order=["low", "mid", "hihg"]),
            'error order-incomplete: the order of labels lacks "high", which annotators say\n'
            "  expected  each label that is said, once; got low, mid, hihg; 1 missing\n"
            '  do        "high" instead of "hihg" in the order',
        ),
        (
            lambda: plausibly.agreement(GRADES, order=["low", "mid", "high", "low"]),
            'error order-incomplete: the order of labels names "low" twice\n'
            "  expected  each label that is said, once; got low, mid, high, … (4 in all); 1\n"
            "            repeated\n"
            "  do        order=['high', 'low', 'mid'] (--order high,low,mid), in their order",
        ),
        (
            lambda: plausibly.agreement(table([("e", "w", ["a"])], kind="label-set"), order=["a"]),
            "error order-unfit: an order of labels has no meaning for label-set answers\n"
            "  expected  single-label answers; got label-set\n"
            "  do        leave order (--order) out",
        ),
        (
            lambda: plausibly.agreement(GRADES, depth=2),
            "error depth-unfit: depth 2 has no meaning for single-label answers\n"
            "  expected  partial-ranking answers; got single-label\n"
            "  do        leave depth (--depth) out",
        ),
        (
            lambda: plausibly.agreement(GRADES, by="site"),
            'error coordinate-missing: the examples have no coordinate "site"\n'
            "  expected  a coordinate over example; got none\n"
            "  do        assign_coords, or an example table (-e)",
        ),
        (
            lambda: plausibly.agreement(GRADES, resamples=1),
            "error resamples-range: 1 resamples show no spread\n"
            "  expected  2 or more, or 0 for none; got 1\n"
            "  do        resamples=200 (--resamples 200)",
        ),
        (
            lambda: plausibly.agreement(GRADES, confidence=95),
            "error confidence-range: confidence 95 is not a probability\n"
            "  expected  0 < confidence < 1; got 95\n"
            "  do        confidence=0.95 for 95 % intervals",
        ),
        (
            lambda: annotation_certainty(LAM.isel(draw=0)),
            "error draws-missing: plausibilities have no draws: they say nothing of how\n"
            "  uncertain they are\n"
            "  expected  dims draw, example and label; got example, label\n"
            '  do        plausibly.aggregate(ann, {"name": "bootstrap", "draws": 100})',
        ),
        (
            lambda: uncertainty_adjusted_accuracy(LAM.isel(draw=0), LAM, top=[1, 3]),
            "error top-range: top 3 of 2 labels\n"
            "  expected  1 to 2; got 3\n"
            "  do        top=1 for the most plausible label",
        ),
    ],
)
def test_messages(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert str(caught.value) == message


def test_a_table_that_was_cut_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        plausibly.agreement(GRADES.isel(example=[0]))
    assert caught.value.name == "table-detached"


def test_the_order_of_a_label_table_is_used() -> None:
    order = {"high": 2, "low": 0, "mid": 1}
    ann = GRADES.assign_coords(order=("label", [order[k] for k in GRADES["label"].values]))
    found = plausibly.agreement(ann)
    assert "krippendorff-ordinal" in found["measure"].values
    assert found.attrs["order"] == '["low", "mid", "high"]'
    same = plausibly.agreement(GRADES, order=["low", "mid", "high"])
    xr.testing.assert_equal(found.drop_vars("order", errors="ignore"), same)
    assert "krippendorff-ordinal" not in plausibly.agreement(GRADES)["measure"].values


def test_labels_of_the_order_that_nobody_says_are_steps_too() -> None:
    few = table(coders("1 3\n3 1"))
    found = plausibly.agreement(few, order=["1", "2", "3"])
    assert float(found["value"].sel(measure="neighbouring")) == 0.0
    found = plausibly.agreement(few, order=["1", "3"])
    assert float(found["value"].sel(measure="neighbouring")) == 1.0
