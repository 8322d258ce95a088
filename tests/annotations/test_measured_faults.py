"""Faults that were measured in other libraries: what happens here on the same input.

The numbers are those of the study of annotation libraries.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import xarray as xr

import plausibly
from plausibly import registry
from plausibly.data.records import Record
from plausibly.protocols import ANNOTATION

Records = Sequence[Record]


def build(kind: str, records: Records, labels: Sequence[str] | None = None) -> xr.Dataset:
    return registry.resolve(ANNOTATION, kind).build(records, labels)


def votes(*records: Record, labels: Sequence[str] | None = None) -> xr.Dataset:
    return build("single-label", records, labels)


@pytest.mark.parametrize(
    "aggregator",
    ["label-frequency", "majority-vote", "dawid-skene", "one-coin", "worker-agreement"],
)
def test_fault_04_nobody_labelled_it_has_one_answer(aggregator: str) -> None:
    """It was dropped without a word, or the prior, or 1.0, or one half each."""
    table = votes(("t1", "a", "cat"), ("t1", "b", "dog"), ("t2", "a", None))
    with pytest.raises(plausibly.InputError, match=r"1 of 2 examples has no response \(t2\)"):
        plausibly.aggregate(table, aggregator)
    found = plausibly.aggregate(table, aggregator, unanswered="drop")
    assert found["example"].values.tolist() == ["t1"]
    assert found.attrs["left_out"] == '{"without a response": 1}'


@pytest.mark.parametrize("label", ["task", "worker", "label", "example", "annotator", "response"])
@pytest.mark.parametrize("aggregator", ["label-frequency", "dawid-skene", "one-coin"])
def test_fault_08_a_label_may_be_called_like_a_column(aggregator: str, label: str) -> None:
    """A label called task was "columns overlap"."""
    found = plausibly.aggregate(votes(("1", "a", label), ("1", "b", label)), aggregator)
    assert found["label"].values.tolist() == [label]
    assert found.values.tolist() == [[pytest.approx(1.0)]]
