"""From annotations to plausibilities: defaults by kind, policies, refusals."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import plausibly
from plausibly.conformal.aggregate import DEFAULT_AGGREGATORS, default_aggregator
from plausibly.data.states import read_left_out
from plausibly.errors import IncompatibleComponents, InputError
from plausibly.plugin import ANNOTATION, Record, resolve
from refusals import refused

ANSWERS: dict[str, object] = {
    "single-label": "b",
    "partial-ranking": [["b"], ["a", "c"]],
    "label-set": ["b"],
    "soft-label": {"b": 2.0, "a": 1.0},
}


def table(kind: str, more: list[Record] | None = None) -> xr.Dataset:
    records: list[Record] = [("e1", "r1", ANSWERS[kind]), ("e2", "r1", ANSWERS[kind])]
    return resolve(ANNOTATION, kind).build([*records, *(more or [])], ["a", "b", "c"])


@pytest.mark.parametrize("kind", sorted(DEFAULT_AGGREGATORS))
def test_every_kind_has_its_default(kind: str) -> None:
    lam = plausibly.aggregate(table(kind))
    named = plausibly.aggregate(table(kind), default_aggregator(kind))
    assert lam.identical(named)
    assert lam.dims == ("example", "label")
    assert list(lam.label.values) == ["a", "b", "c"]
    assert (lam.sel(label="b") > 0.5).all()


def test_other_kinds_need_an_aggregator_by_name() -> None:
    with refused(
        "aggregator-missing",
        'hint aggregator="NAME"; all: plausibly plugins list --kind aggregator',
    ):
        default_aggregator("pairwise")


def test_an_aggregator_reads_the_kinds_that_it_accepts() -> None:
    with refused("kind-unsuitable", "aggregator label-frequency does not read soft-label"):
        plausibly.aggregate(table("soft-label"), "label-frequency")


def test_unanswered_examples_are_refused_or_dropped_and_counted() -> None:
    annotations = table("single-label", [("e3", "r1", None), ("e4", "r2", "")])
    with refused("example-unanswered"):
        plausibly.aggregate(annotations)
    lam = plausibly.aggregate(annotations, unanswered="drop")
    assert list(lam.example.values) == ["e1", "e2"]
    assert read_left_out(lam.attrs)["without a response"] == 2


def test_parameters_of_the_aggregator() -> None:
    annotations = table("single-label", [("e1", "r2", "a")])
    first = plausibly.aggregate(annotations, "majority-vote", ties="first")
    shared = plausibly.aggregate(annotations, "majority-vote", ties="fractional")
    np.testing.assert_array_equal(first.sel(example="e1"), [1, 0, 0])
    np.testing.assert_array_equal(shared.sel(example="e1"), [0.5, 0.5, 0])
    with pytest.raises(InputError, match="tie"):
        plausibly.aggregate(annotations, "majority-vote", tie="first")


def test_combiners_with_held_out_examples_say_when_they_get_none() -> None:
    """A direct call, as a plugin's test would make it."""
    from conformal_world import world
    from plausibly.plugin import COMBINER, PValues

    p = plausibly.calibrate(*world(20))
    queries = PValues.of(p.pools, np.array([0.5], dtype=np.float32))
    with refused("held-out-missing", kind=IncompatibleComponents):
        resolve(COMBINER, "held-out-rank").combine(queries, None)
