"""Reports on real votes and rankings, opened: the numbers of the page are what clicks show."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
import xarray as xr

import plausibly

from .page import NARROW, choose, listed_cases, open_case, opened, overflowing, unfold

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.browser, pytest.mark.realdata]

CLICKS = """places => places.map((place) => {
    const button = document.querySelector(`[data-pick="${place}"]`);
    if (button.disabled) return null;
    button.click();
    const words = document.getElementById("count").textContent;
    button.click();
    return words;
})"""


def written(
    folder: Path, predictions: xr.DataArray, annotations: xr.Dataset, **options: object
) -> Path:
    """Calibrate on one half, and report on the other."""
    half = len(predictions) // 2
    names = predictions["example"].values.tolist()
    known, new = (
        plausibly.select_annotations(annotations, example=some)
        for some in (names[:half], names[half:])
    )
    return plausibly.write_report(
        plausibly.calibrate(predictions[:half], known),
        folder / "report.html",
        predictions=predictions[half:],
        annotations=new,
        **options,  # type: ignore[arg-type]  # each caller names those that there are
    ).path


@pytest.fixture
def clips(shared: Path, tmp_path: Path) -> Path:
    """A report on emotions of acted clips, by the emotion that was intended."""
    with np.load(shared / "data" / "crema_d" / "data.npz", allow_pickle=False) as data:
        rows = np.random.default_rng(1).permutation(len(data["counts"]))[:300]
        labels = data["class_names"].tolist()
        names = data["file_name"][rows].tolist()
        counts, model, intended = (data[key][rows] for key in ("counts", "probs", "intended"))
    votes = [
        (name, f"r{place:02}", label)
        for name, row in zip(names, counts, strict=True)
        for place, label in enumerate(np.repeat(labels, row).tolist())
    ]
    coords = {
        "example": names,
        "label": labels,
        "intended": ("example", [labels[k] for k in intended]),
    }
    return written(
        tmp_path,
        xr.DataArray(model, coords, ("example", "label")),
        plausibly.build_annotations("single-label", votes, labels),
        alphas=("0.1", "0.05"),
        words={"example": "clip", "annotator": "rater"},
    )


@pytest.fixture
def skin(shared: Path, tmp_path: Path) -> Path:
    """A report on rankings of 419 conditions; the model is a blurred version of the rankings."""
    source = shared / "data" / "derm_ddx"
    conditions = source / "dermatology_conditions.txt"
    every = plausibly.read_annotations(source / "dermatology_selectors.json", labels=conditions)
    rankings = plausibly.select_annotations(every, example=every["example"].values[:200].tolist())
    shares = plausibly.aggregate(rankings)
    blurred = shares.values + np.random.default_rng(1).random(shares.shape) ** 30 * 0.5
    predictions = shares.copy(data=blurred / blurred.sum(axis=1, keepdims=True)).drop_vars(
        "denominator", errors="ignore"
    )
    levels = (source / "dermatology_risks.txt").read_text("utf-8").split()
    risk = {"label": shares["label"].values, "risk": ("label", [*map(int, levels)])}
    return written(
        tmp_path,
        predictions,
        rankings,
        labels=xr.Dataset(coords=risk),
        words={"example": "case", "annotator": "dermatologist"},
    )


@pytest.mark.parametrize("made", ["clips", "skin"])
def test_every_number_that_can_be_clicked_leads_to_so_many_cases(
    browser: Browser, request: pytest.FixtureRequest, made: str
) -> None:
    path: Path = request.getfixturevalue(made)
    found = re.search(r'id="data">(.*?)</script>', path.read_text("utf-8"), re.DOTALL)
    assert found
    data = json.loads(found[1])
    examples, shown = data["words"]["examples"], data["cases"]["shown"]
    last = len(data["alphas"]) - 1
    view = data["views"][last]
    sizes = [(f"size {bar['low']}-{bar['high']}", bar["count"]) for bar in view["sizes"]["bars"]]
    cells = [
        (f"cell {cell['a']} {cell['b']}", cell["examples"])
        for cell in data["disagreement"]["cells"]
    ]
    parts = [(f"part {key(part)}", part["n"]) for part in view["weak"]["parts"]]
    assert all((sizes, cells, parts))
    every = [*sizes, *cells, *parts]
    with opened(browser, path) as page:
        choose(page, "alpha", data["alphas"][last])
        assert page.locator("#verdict .sentence").inner_text() == view["verdict"]["sentence"]
        clicked = page.evaluate(CLICKS, [place for place, _ in every])
        for (place, n), words in zip(every, clicked, strict=True):
            right = {f"{n} of {shown} {examples}", f"{n} {examples}"}
            assert words in (right if n else {None}), place


def key(part: dict[str, object]) -> str:
    """Return the key of a group of examples on the page."""
    if part["stratum"] is not None:
        return f"s:{part['stratum']}"
    where = part["where"]
    assert isinstance(where, list)
    return "+".join(f"{column}:{value}" for column, value in where)


def test_rankings_of_dermatologists_on_a_narrow_page(browser: Browser, skin: Path) -> None:
    with opened(browser, skin, width=NARROW) as page:
        unfold(page)
        assert overflowing(page) == []
        assert " = " in " ".join(page.locator("#case .words").all_inner_texts())
        choose(page, "sort", "risk of labels left out")
        assert "risk 2" in page.locator("#case").inner_text()
        assert open_case(page)
        choose(page, "label", "Melanoma")
        assert 0 < len(listed_cases(page)) <= 8
        assert "Melanoma" in page.locator("#case").inner_text()
