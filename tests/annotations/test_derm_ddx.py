"""Inverse rank on the paper's dermatology rankings: golden fractions and published facts."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import labelled_records as lr
import plausibly
from plausibly.plugin import Floats

pytestmark = pytest.mark.realdata


@pytest.fixture(scope="module")
def table(shared: Path) -> xr.Dataset:
    folder = shared / "data" / "derm_ddx"
    labels = folder / "dermatology_conditions.txt"
    return plausibly.read_annotations(folder / "dermatology_selectors.json", labels=labels)


@pytest.fixture(scope="module")
def plausibilities(table: xr.Dataset) -> xr.DataArray:
    return plausibly.aggregate(table, "inverse-rank")


def test_facts_of_the_rankings(table: xr.Dataset) -> None:
    sizes = {dim: table.sizes[dim] for dim in ("example", "response", "label")}
    assert sizes == {"example": 1_947, "response": 9_602, "label": 419}
    readers = np.bincount(table["response_example"].values)
    assert (readers.min(), readers.max()) == (1, 10)
    assert ((readers == 1).sum(), (readers == 10).sum()) == (25, 84)
    blocks = np.stack([table["mention_response"].values, table["mention_block"].values])
    _, in_block = np.unique(blocks, axis=1, return_counts=True)
    assert in_block.max() == 6
    assert np.unique(blocks[0][np.repeat(in_block, in_block) > 1]).size == 1_519
    assert np.bincount(blocks[0]).max() == 7


def test_golden_cases(shared: Path, plausibilities: xr.DataArray) -> None:
    golden = json.loads((shared / "golden/inverse_rank_derm25.json").read_text("utf-8"))
    conditions = plausibilities["label"].values.tolist()
    assert len(golden["case_index"]) == 25
    exact = {
        f"{case}": {conditions[int(k)]: Fraction(value) for k, value in row.items()}
        for case, row in zip(golden["case_index"], golden["plausibilities"], strict=True)
    }
    lr.assert_exact(plausibilities.sel(example=list(exact)), exact)


def test_facts_of_the_plausibilities(shared: Path, plausibilities: xr.DataArray) -> None:
    values: Floats = plausibilities.values
    largest = values.max(axis=1)
    entropy = -(values * np.log(np.where(values > 0, values, 1))).sum(axis=1)
    support = (values > 0).sum(axis=1)
    tied = (values == largest[:, None]).sum(axis=1) > 1
    assert largest.mean() == pytest.approx(0.598, abs=5e-4)
    assert (largest == 1).sum() == 131
    assert entropy.mean() == pytest.approx(0.981, abs=5e-4)
    assert support.mean() == pytest.approx(3.96, abs=5e-3)
    assert support.max() == 15
    assert (values > 0).mean() == pytest.approx(0.0094, abs=5e-5)
    assert tied.sum() == 196
    risks = np.loadtxt(shared / "data/derm_ddx/dermatology_risks.txt")
    mass = [values[:, risks == risk].sum() / len(values) for risk in (0, 1, 2)]
    # published as .550, .356, .094: rounded so that they sum to 1 (the second is .35549)
    assert mass == pytest.approx([0.550, 0.356, 0.094], abs=6e-4)
