"""Known values of published data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import plausibly
from plausibly.plugin import build_table

pytestmark = pytest.mark.realdata


def value(found: xr.Dataset, measure: str) -> float:
    return float(found["value"].sel(measure=measure))


@pytest.fixture(scope="module")
def nodules(shared: Path) -> xr.Dataset:
    with np.load(shared / "data" / "lidc_malignancy" / "data.npz") as data:
        counts, patient = data["counts"], data["patient"]
    example, label = np.nonzero(counts)
    ann: xr.Dataset = build_table(
        "single-label",
        examples=[f"nodule {row}" for row in range(len(counts))],
        annotators=[],
        labels=list("12345"),
        response_example=example,
        response_annotator=np.full(len(example), -1),
        mention_response=np.arange(len(example)),
        mention_label=label,
        response_weight=counts[example, label].astype(float),
    )
    return ann.assign_coords(patient=("example", patient))


def test_lung_nodules(nodules: xr.Dataset) -> None:
    found = plausibly.agreement(nodules, order=list("12345")).data
    expected = {
        "percent": (0.385, 0.370, 0.401),
        "neighbouring": (0.787, None, None),
        "krippendorff-nominal": (0.191, 0.169, 0.215),
        "krippendorff-ordinal": (0.420, 0.384, 0.456),
        "fleiss-kappa": (0.193, 0.171, 0.217),
    }
    for name, (middle, low, high) in expected.items():
        one = found.sel(measure=name)
        assert float(one["value"]) == pytest.approx(middle, abs=5e-4)
        if low is not None:
            assert float(one["low"]) == pytest.approx(low, abs=5e-3)
            assert float(one["high"]) == pytest.approx(high, abs=5e-3)
    again = [round(float(x), 2) for x in found["label_again"].values]
    assert again == [0.67, 0.23, 0.42, 0.22, 0.41]
    assert value(found, "unanimous") == pytest.approx(0.1415, abs=5e-5)
    assert value(found, "tied") == pytest.approx(0.1981, abs=5e-5)
    assert value(found, "entropy") == pytest.approx(0.6956, abs=5e-5)
