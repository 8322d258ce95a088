"""A report on real rankings of 419 conditions: the numbers of the page are what clicks show."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
import xarray as xr

import plausibly
from plausibly.report.write import Report

from .page import (
    NARROW,
    choose,
    listed_cases,
    open_case,
    opened,
    overflowing,
    unfold,
    wrong_counts,
)

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.browser, pytest.mark.realdata]


@pytest.fixture
def skin(shared: Path, tmp_path: Path) -> Report:
    """A report on one half, calibrated on the other; the model is a blur of the rankings."""
    source = shared / "data" / "derm_ddx"
    conditions = source / "dermatology_conditions.txt"
    every = plausibly.read_annotations(source / "dermatology_selectors.json", labels=conditions)
    names = every["example"].values[:200].tolist()
    old, new = (plausibly.select_annotations(every, example=n) for n in (names[:100], names[100:]))
    shares = plausibly.aggregate(plausibly.select_annotations(every, example=names))
    blurred = shares.values + np.random.default_rng(1).random(shares.shape) ** 30 * 0.5
    predictions = shares.copy(data=blurred / blurred.sum(axis=1, keepdims=True)).drop_vars(
        "denominator", errors="ignore"
    )
    levels = (source / "dermatology_risks.txt").read_text("utf-8").split()
    risk = {"label": shares["label"].values, "risk": ("label", [*map(int, levels)])}
    return plausibly.write_report(
        plausibly.calibrate(predictions.sel(example=names[:100]), old),
        tmp_path / "report.html",
        predictions=predictions.sel(example=names[100:]),
        annotations=new,
        labels=xr.Dataset(coords=risk),
        words={"example": "case", "annotator": "dermatologist"},
    )


def test_rankings_of_dermatologists(browser: Browser, skin: Report) -> None:
    with opened(browser, skin.path, width=NARROW) as page:
        assert wrong_counts(page, skin.data, skin.data.view(0, 0)) == []
        unfold(page)
        assert overflowing(page) == []
        assert " = " in " ".join(page.locator("#case .words").all_inner_texts())
        rows = page.locator("#case .judge:not(.head)").count()
        assert f"{419 - rows} labels more" in page.locator("#case").inner_text()
        choose(page, "sort", "risk of labels left out")
        assert "risk 2" in page.locator("#case").inner_text()
        assert open_case(page)
        choose(page, "label", "Melanoma")
        assert 0 < len(listed_cases(page)) <= 8
        assert "Melanoma" in page.locator("#case").inner_text()
