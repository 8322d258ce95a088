"""What docs/regions.md names exists, and its figures are measured again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import plausibly
from exact_realdata import load
from methods_page import tables
from plausibly.kernels.random import Keys, hash_names

DATA = ("crema_d", "lidc_malignancy", "chaosnli_snli")


@pytest.fixture(scope="module")
def page(project: Path) -> Path:
    return project / "docs" / "regions.md"


@pytest.mark.realdata
@pytest.mark.parametrize("name", DATA)
def test_figures_are_measured(shared: Path, page: Path, name: str) -> None:
    rows = tables(page)[1][1:]
    assert [row[0].split("`")[1] for row in rows] == list(DATA)
    predictions, lam = load(shared, name)
    hashes = hash_names(predictions["example"].values)
    found = []
    for number in range(10):
        uniform = Keys(0, f"s{number}").uniform(hashes)[:, 0]
        test = uniform < np.median(uniform)
        halves = predictions[~test], lam[~test]
        new, vectors = predictions[test], lam[test]
        region = plausibly.calibrate_region(*halves)
        direct = plausibly.calibrate(
            *halves, calibrator={"name": "mass-coverage", "leave_out": 0.1}
        )
        sets = region.label_sets(new, 0.1)
        assert float(((sets * vectors).sum("label") >= 0.9 - 1e-9).mean()) >= 0.99
        found.append(
            [
                float(region.contains(new, vectors, 0.1).mean()),
                float(sets.sum("label").mean()),
                float(direct.predict(new, 0.1).sum("label").mean()),
                float(region.vote_sets(new, 0.1).sum("label").mean()),
            ]
        )
    covered, *sizes = np.mean(found, axis=0)
    assert abs(covered - 0.9) < 0.01
    row = next(row for row in rows if name in row[0])
    assert row[1:] == [f"{covered:.3f}", *(f"{size:.2f}" for size in sizes)]
    assert f"{len(lam['label'])} labels" in row[0]
