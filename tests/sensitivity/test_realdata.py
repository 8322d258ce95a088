"""1,947 dermatology cases under several aggregators of rankings: the figures of the page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import xarray as xr

import plausibly
from plausibly.evaluation import Sensitivity
from plausibly.evaluation.sensitivity import sensitivity
from plausibly.paper import data

pytestmark = pytest.mark.realdata

ASKED: dict[str, Any] = {  # Any: arguments, by name
    "inverse-rank": "inverse-rank",
    "borda": "borda",
    "plackett-luce": "plackett-luce",
    "prior 2": {"name": "plackett-luce", "prior": 2.0},
    "temperature 1": {"name": "dirichlet", "temperature": 1.0, "draws": 1},
}


@pytest.fixture(scope="module")
def found(shared: Path) -> xr.Dataset:
    folder = shared / "data" / "derm_ddx"
    model = data.read(folder, simulate=True).predictions
    rankings = plausibly.read_annotations(
        folder / data.ANNOTATIONS, "selectors", folder / data.CONDITIONS
    )
    return sensitivity(model, rankings, ASKED, splits=4).data


def test_the_page_shows_it(found: xr.Dataset, project: Path) -> None:
    page = (project / "docs" / "sensitivity.md").read_text(encoding="utf-8")
    shown = re.findall(r"^```text\n(Sensitivity: [^`]*inverse-rank[^`]*?)^```$", page, re.M | re.S)
    verdict = "\n".join(Sensitivity(found).lines()).partition("\n\n")[0]
    assert shown == [f"{verdict}\n"]


def test_the_guarantee_is_about_who_calibrated(found: xr.Dataset) -> None:
    mean = found["aggregated_coverage"].mean("split").isel(alpha=0)
    for name in ASKED:
        own = mean.sel(calibrated_with=name, judged_by=name)
        assert float(own) == pytest.approx(0.9, abs=0.015)
    other = mean.sel(calibrated_with="inverse-rank", judged_by="prior 2")
    assert float(other) < 0.88
