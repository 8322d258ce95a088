"""Inverse rank on the paper's dermatology rankings: golden fractions and published facts."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import labelled_records as lr
from plausibly.data.annotations import AnnotationTable
from plausibly.plugin import Floats, Keys
from plausibly_builtins.partial_ranking.annotation import PartialRanking
from plausibly_builtins.partial_ranking.points import InverseRank

pytestmark = pytest.mark.realdata


@pytest.fixture(scope="module")
def conditions(shared: Path) -> list[str]:
    text = (shared / "data/derm_ddx/dermatology_conditions.txt").read_text("utf-8")
    return text.splitlines()


@pytest.fixture(scope="module")
def table(shared: Path, conditions: list[str]) -> AnnotationTable:
    text = (shared / "data/derm_ddx/dermatology_selectors.json").read_text("utf-8")
    records: lr.Records = [
        (f"{case:04}", None, [[conditions[k] for k in block] for block in ranking])
        for case, readers in enumerate(json.loads(text))
        for ranking in readers
    ]
    return PartialRanking().build(records, conditions)


@pytest.fixture(scope="module")
def plausibilities(table: AnnotationTable) -> xr.DataArray:
    return InverseRank().aggregate(table, Keys(0))


def test_golden_cases(shared: Path, plausibilities: xr.DataArray, conditions: list[str]) -> None:
    golden = json.loads((shared / "golden/inverse_rank_derm25.json").read_text("utf-8"))
    assert len(golden["case_index"]) == 25
    exact = {
        f"{case:04}": {conditions[int(k)]: Fraction(value) for k, value in row.items()}
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
