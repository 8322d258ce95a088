"""Other names and parents over real answers: the counts are those of the files without them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import plausibly
from plausibly.data.labels import merge_aliases
from plausibly.data.names import name_texts
from plausibly.data.states import read_merged
from plausibly.plugin import ANNOTATION, resolve

pytestmark = pytest.mark.realdata

ECZEMA = (
    *("Allergic Contact Dermatitis", "Eczema", "Irritant Contact Dermatitis"),
    *("Perioral Dermatitis", "Seborrheic Dermatitis", "Stasis Dermatitis"),
)
"""Conditions that an invented label "dermatitis" stands above."""

Cases = list[list[list[list[int]]]]


@pytest.fixture(scope="module")
def conditions(shared: Path) -> list[str]:
    return (shared / "data/derm_ddx/dermatology_conditions.txt").read_text("utf-8").splitlines()


@pytest.fixture(scope="module")
def cases(shared: Path) -> Cases:
    text = (shared / "data/derm_ddx/dermatology_selectors.json").read_text("utf-8")
    found: Cases = json.loads(text)
    return found


def rankings(cases: Cases, names: list[str], labels: list[str]) -> xr.Dataset:
    """Return the table of rankings whose indices are called `names`."""
    records = [
        (f"{case:04}", None, [[names[k] for k in block] for block in ranking])
        for case, readers in enumerate(cases)
        for ranking in readers
    ]
    return resolve(ANNOTATION, "partial-ranking").build(records, labels)


def test_every_condition_under_another_name(cases: Cases, conditions: list[str]) -> None:
    """All 419 conditions in capitals in every second case: the same inverse ranks, bit by bit."""
    loud = [f"{name.upper()} (code {place})" for place, name in enumerate(conditions)]
    plain = rankings(cases, conditions, conditions)
    both = [
        (
            f"{case:04}",
            None,
            [[(loud if case % 2 else conditions)[k] for k in block] for block in one],
        )
        for case, readers in enumerate(cases)
        for one in readers
    ]
    table = resolve(ANNOTATION, "partial-ranking").build(both, [*conditions, *loud])
    found = merge_aliases(table, dict(zip(loud, conditions, strict=True)), conditions)
    assert (found.sizes["example"], found.sizes["response"]) == (1947, 9602)
    xr.testing.assert_identical(plausibly.aggregate(found), plausibly.aggregate(plain))
    odd = sum(len(block) for readers in cases[1::2] for one in readers for block in one)
    assert sum(read_merged(found.attrs).values()) == odd


@pytest.mark.parametrize("policy", ["uniform", "frequency"])
def test_a_label_above_six_kinds_of_dermatitis(
    cases: Cases, conditions: list[str], policy: str
) -> None:
    """Whoever said eczema now says dermatitis: its inverse ranks go to the six conditions."""
    names = ["dermatitis" if name == "Eczema" else name for name in conditions]
    labels = [*conditions, "dermatitis"]
    table = rankings(cases, names, labels)
    parents = ["dermatitis" if name in ECZEMA else "" for name in labels]
    table = table.assign_coords(parent=("label", parents))
    found = plausibly.aggregate(table, "spread", parents=policy)
    plain = plausibly.aggregate(rankings(cases, conditions, conditions))
    assert name_texts(found["label"].values) == conditions
    values = plain.values.copy()
    six = [conditions.index(name) for name in ECZEMA]
    eczema = conditions.index("Eczema")
    moved, values[:, eczema] = values[:, eczema].copy(), 0
    shares = np.full((len(values), 6), 1 / 6)
    if policy == "frequency":
        named = values[:, six].sum(axis=1) > 0
        shares[named] = values[np.ix_(named, six)]
        shares[named] /= shares[named].sum(axis=1, keepdims=True)
    values[:, six] += moved[:, None] * shares
    assert (moved > 0).sum() > 300
    np.testing.assert_allclose(found.values, values, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(found.values.sum(axis=1), 1, rtol=1e-12)
    outside = [k for k in range(419) if k not in six]
    np.testing.assert_array_equal(found.values[:, outside], plain.values[:, outside])
