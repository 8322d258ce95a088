"""Reports on real votes and rankings, opened: what they say of numbers is what clicks find."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from .page import NARROW, choose, listed_cases, open_case, opened, overflowing, unfold
from .realdata import crema_d, dermatology, imagenet16h

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
Made = Callable[[Path, Path], Path]


@pytest.mark.parametrize("made", [crema_d, imagenet16h, dermatology])
def test_every_number_that_can_be_clicked_leads_to_so_many_cases(
    browser: Browser, shared: Path, tmp_path: Path, made: Made
) -> None:
    path = made(shared, tmp_path)
    found = re.search(r'id="data">(.*?)</script>', path.read_text("utf-8"), re.DOTALL)
    assert found
    data = json.loads(found[1])
    shown = data["cases"]["shown"]

    def of(n: int) -> str:
        return f"{n} of {shown} {data['words']['examples']}"

    last = len(data["alphas"]) - 1
    view = data["views"][last]
    sizes = [(f"size {bar['low']}-{bar['high']}", bar["count"]) for bar in view["sizes"]["bars"]]
    cells = [
        (f"cell {cell['a']} {cell['b']}", cell["examples"])
        for cell in data["disagreement"]["cells"]
    ]
    parts = [(f"part {key(part)}", part["n"]) for part in view["weak"]["parts"]]
    assert all((sizes, cells, parts))
    with opened(browser, path) as page:
        choose(page, "alpha", data["alphas"][last])
        assert page.locator("#verdict .sentence").inner_text() == view["verdict"]["sentence"]
        places = [place for place, _ in (*sizes, *cells, *parts)]
        for (place, n), words in zip(
            (*sizes, *cells, *parts), page.evaluate(CLICKS, places), strict=True
        ):
            every = f"{n} {data['words']['examples']}"
            assert words in ({of(n), every} if n else {None}), place


def key(part: dict[str, object]) -> str:
    """Return what the page calls a group of examples."""
    if part["stratum"] is not None:
        return f"s:{part['stratum']}"
    where = part["where"]
    assert isinstance(where, list)
    return "+".join(f"{column}:{value}" for column, value in where)


def test_rankings_of_dermatologists_on_a_narrow_page(
    browser: Browser, shared: Path, tmp_path: Path
) -> None:
    path = dermatology(shared, tmp_path)
    with opened(browser, path, width=NARROW) as page:
        unfold(page)
        assert overflowing(page) == []
        assert " = " in " ".join(page.locator("#case .words").all_inner_texts())
        choose(page, "sort", "risk of labels left out")
        assert "risk 2" in page.locator("#case").inner_text()
        before = open_case(page)
        choose(page, "label", "Melanoma")
        assert 0 < len(listed_cases(page)) <= 8
        assert "Melanoma" in page.locator("#case").inner_text()
        assert before
