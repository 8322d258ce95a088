"""What users of other libraries reported, by the number in the study: about votes and agreement.

Reports about a file format are beside its reader.
"""

from __future__ import annotations

from collections.abc import Sequence

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


@pytest.mark.parametrize("label", ["task", "worker", "label", "example", "annotator", "response"])
@pytest.mark.parametrize("aggregator", ["label-frequency", "dawid-skene", "one-coin"])
def test_a_label_may_be_called_like_a_column(aggregator: str, label: str) -> None:
    found = plausibly.aggregate(votes(("1", "a", label), ("1", "b", label)), aggregator)
    assert found["label"].values.tolist() == [label]
    assert found.values.tolist() == [[pytest.approx(1.0)]]


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


def test_report_55_weights_decide_a_tie_by_the_final_share() -> None:
    rows = [("t", f"a{place}", "5") for place in range(5)]
    rows += [("t", f"b{place}", "9") for place in range(9)]
    weights = {f"a{place}": 9.0 for place in range(5)} | {f"b{place}": 5.0 for place in range(9)}
    found = plausibly.aggregate(votes(*rows), "weighted-vote", weights=weights)
    assert found.values[0] == pytest.approx([0.5, 0.5], abs=1e-15)
