"""What users of other libraries reported, by the number in the study: about votes and agreement.

Reports about a file format are beside its reader.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import xarray as xr

import plausibly
from plausibly import registry
from plausibly.data.records import Record
from plausibly.protocols import ANNOTATION


def build(kind: str, *records: Record, labels: Sequence[str] | None = None) -> xr.Dataset:
    return registry.resolve(ANNOTATION, kind).build(records, labels)


def votes(*records: Record, labels: Sequence[str] | None = None) -> xr.Dataset:
    return build("single-label", *records, labels=labels)


def measure(table: xr.Dataset, name: str = "krippendorff-nominal") -> float:
    return float(plausibly.agreement(table, resamples=0)["value"].sel(measure=name))


@pytest.mark.parametrize("number", [1, 56])
def test_reports_1_and_56_a_tie_stays_a_tie_until_a_policy_is_named(number: int) -> None:
    rows = [("t", "a", "dog"), ("t", "b", "cat")]
    for order in (rows, rows[::-1]):
        table = votes(*order)
        assert plausibly.aggregate(table).values.tolist() == [[0.5, 0.5]]
        hard = plausibly.aggregate(table, "majority-vote", ties="first", seed=number)
        assert hard.values.tolist() == [[1.0, 0.0]]
        drawn = plausibly.aggregate(table, "majority-vote", ties="random", seed=number)
        assert sorted(drawn.values[0].tolist()) == [0.0, 1.0]


@pytest.mark.parametrize("labels", [(0, 1), (False, True), ("0", "1")])
def test_report_3_zero_and_one_keep_their_names(labels: tuple[object, object]) -> None:
    no, yes = labels
    table = votes(("1", "a", no), ("1", "b", yes), ("2", "a", yes), ("2", "b", yes))
    found = plausibly.aggregate(table, "dawid-skene")
    assert found["label"].values.tolist() == [str(no), str(yes)]
    assert np.isfinite(found.values).all()


def test_report_32_label_sets_in_both_readings() -> None:
    said = [
        ["neutral"],
        ["anger", "annoyance", "optimism"],
        ["approval"],
        ["neutral"],
        ["annoyance"],
    ]
    table = build("label-set", *(("t", str(who), one) for who, one in enumerate(said)))
    found = plausibly.aggregate(table).sel(example="t")
    expected = {
        "neutral": 2 / 5,
        "annoyance": 4 / 15,
        "approval": 1 / 5,
        "anger": 1 / 15,
        "optimism": 1 / 15,
    }
    for label, share in expected.items():
        assert float(found.sel(label=label)) == pytest.approx(share)
    # included by how many: the share of answers that name it
    by_label = plausibly.agreement(table, resamples=0)["label_share"]
    included = {"neutral": 0.4, "annoyance": 0.4, "anger": 0.2, "optimism": 0.2, "approval": 0.2}
    for label, share in included.items():
        assert float(by_label.sel(label=label)) == pytest.approx(share)


SKIPPED: list[Record] = [
    *(("1", who, "1") for who in "ab"),
    *(("2", who, "1") for who in "ab"),
    *(("3", who, "2") for who in "ac"),
    *(("1", "c", None), ("2", "c", None), ("3", "b", None)),
]
ALONE: list[Record] = [("i1", "a", "yes"), ("i1", "b", "no"), ("i2", "a", "yes")]
ALONE += [("i2", "b", "no"), ("i2", "c", "no"), ("i3", "a", "yes")]
APART: list[Record] = [("x", "1", "2"), ("y", "1", "1"), ("z", "1", "0")]
APART += [("x", "2", "1"), ("y", "2", "0"), ("z", "2", "2")]


@pytest.mark.parametrize(
    ("rows", "name", "value"),
    [
        pytest.param(SKIPPED, "krippendorff-nominal", 1.0, id="report 45: a skip is no label"),
        pytest.param(ALONE, "krippendorff-nominal", -1 / 3, id="report 46: one answer is ignored"),
        pytest.param(APART, "percent", 0.0, id="report 11: no agreement"),
        pytest.param(APART[::-1], "percent", 0.0, id="report 11: in another order"),
    ],
)
def test_reports_about_agreement(rows: list[Record], name: str, value: float) -> None:
    assert measure(votes(*rows), name) == pytest.approx(value, abs=5e-5)


def test_report_47_one_label_alone_is_no_division_by_zero() -> None:
    rows = [("1", "c1", "1"), ("1", "c2", "1"), ("2", "c1", "2")]
    found = plausibly.agreement(votes(*rows), resamples=0).data.sel(measure="krippendorff-nominal")
    assert float(found["value"]) == 1.0 or str(found["reason"].values)


def test_report_48_one_pair_of_sets_has_a_likeness_beside_alpha() -> None:
    table = build("label-set", ("1", "a", ["l1"]), ("1", "b", ["l1", "l2"]))
    found = plausibly.agreement(table, resamples=0)["value"]
    assert float(found.sel(measure="krippendorff-masi")) == pytest.approx(0.0)
    assert float(found.sel(measure="masi")) == pytest.approx(0.5 * 2 / 3)
    assert float(found.sel(measure="jaccard")) == pytest.approx(0.5)


@pytest.mark.parametrize("name", ["krippendorff-nominal", "fleiss-kappa", "percent"])
def test_report_52_one_annotator_has_no_agreement_and_a_reason(name: str) -> None:
    found = plausibly.agreement(votes(("1", "a", "x"), ("2", "a", "y")), resamples=0).data
    one = found.sel(measure=name)
    assert np.isnan(float(one["value"]))
    assert str(one["reason"].values)


def test_report_55_weights_decide_a_tie_by_the_final_share() -> None:
    rows = [("t", f"a{place}", "5") for place in range(5)]
    rows += [("t", f"b{place}", "9") for place in range(9)]
    weights = {f"a{place}": 9.0 for place in range(5)} | {f"b{place}": 5.0 for place in range(9)}
    found = plausibly.aggregate(votes(*rows), "weighted-vote", weights=weights)
    assert found.values[0] == pytest.approx([0.5, 0.5], abs=1e-15)
