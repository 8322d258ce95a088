"""Aggregators in sparse form: the dense form to the last bit."""

from __future__ import annotations

from typing import Any, ClassVar

import attrs
import pytest
import xarray as xr

import plausibly
from plausibly import to_dense, to_sparse
from plausibly.plugin import AGGREGATOR, Aggregator, Keys, answered_rows, resolve
from refusals import refused
from sparse_world import label_names, mentions

PAIRS = [
    ("single-label", "label-frequency"),
    ("partial-ranking", "inverse-rank"),
    ("single-label", "inverse-rank"),
    ("partial-ranking", "borda"),
    ("label-set", "label-set"),
    ("single-label", "label-set"),
    ("soft-label", "soft-label"),
    ("single-label", "majority-vote"),
    ("single-label", "worker-agreement"),
]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("kind", "name"), PAIRS)
def test_sparse_is_dense_to_the_bit(kind: str, name: str, weighted: bool) -> None:
    table = mentions(kind, 60, 90, weighted=weighted)
    native = resolve(AGGREGATOR, name).aggregate_sparse(table, Keys(0)) is not None
    assert native is (name not in ("majority-vote", "worker-agreement"))
    dense = plausibly.aggregate(table, name)
    sparse = plausibly.aggregate(table, name, sparse=True)
    assert to_dense(sparse).identical(dense)
    assert sparse.identical(to_sparse(dense))
    assert sparse.sizes["slot"] <= 5


def test_unanswered_examples_are_dropped_and_counted() -> None:
    answers = [(f"case {row}", "r0", f"label {row}" if row % 4 else None) for row in range(20)]
    table = plausibly.build_annotations("single-label", answers, labels=label_names(40))
    with refused("example-unanswered"):
        plausibly.aggregate(table, sparse=True)
    sparse = plausibly.aggregate(table, unanswered="drop", sparse=True)
    assert sparse.sizes["example"] == 15
    assert to_dense(sparse).identical(plausibly.aggregate(table, unanswered="drop"))


def test_labels_above_others_give_on_what_they_have() -> None:
    parents = ["label 39" if code < 5 else "" for code in range(40)]
    table = mentions("single-label", 12, 40, parents=parents)
    sparse = plausibly.aggregate(table, "spread", sparse=True)
    assert "label 39" not in sparse.label_name
    assert to_dense(sparse).identical(plausibly.aggregate(table, "spread"))


def test_draws_have_no_sparse_form() -> None:
    with refused("sparse-draws", "hint sparse=False"):
        plausibly.aggregate(mentions("single-label", 6, 40), "bootstrap", draws=3, sparse=True)


@attrs.frozen(kw_only=True)
class OnlySparse(Aggregator):
    """An aggregator of a plugin that returns the sparse form, its weights moved."""

    accepts: ClassVar[frozenset[str]] = frozenset({"single-label"})
    shift: float = 0.0

    def aggregate(self, annotations: xr.Dataset, keys: Keys) -> Any:  # Any: sparse, dense later
        return self.aggregate_sparse(annotations, keys)

    def aggregate_sparse(self, annotations: xr.Dataset, keys: Keys) -> xr.Dataset:
        rows = answered_rows(annotations, self.accepts)
        sparse = rows.sparse_shares(rows.weight[rows.response], rows.votes)
        return sparse.assign(weight=sparse["weight"] + self.shift * (sparse["label"] >= 0))


def test_a_plugin_may_return_the_sparse_form_which_is_checked_too() -> None:
    table = mentions("single-label", 10, 50)
    dense = plausibly.aggregate(table).drop_vars("denominator")
    assert plausibly.aggregate(table, OnlySparse()).identical(dense)
    assert plausibly.aggregate(table, OnlySparse(), sparse=True).identical(to_sparse(dense))
    rows = "found plausibilities: 10 of 10 rows sum to 1.2 (case 0, case 1,"
    with refused("component-failed", rows):
        plausibly.aggregate(table, OnlySparse(shift=0.1), sparse=True)
