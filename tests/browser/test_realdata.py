"""Reports on real votes and rankings, opened: what they say of numbers is what clicks find."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from browser_page import NARROW, choose, found_words, listed_cases, open_case, opened, overflowing
from browser_realdata import crema_d, dermatology, imagenet16h

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.browser, pytest.mark.realdata]

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
        for cell in data["disagreement"]["cells"][:6]
    ]
    parts = [(f"part {key(part)}", part["n"]) for part in view["weak"]["parts"][:6]]
    assert all((sizes, cells, parts))
    with opened(browser, path) as page:
        choose(page, "alpha", data["alphas"][last])
        assert page.locator("#verdict .sentence").inner_text() == view["verdict"]["sentence"]
        for place, n in (*sizes, *cells, *parts):
            button = page.locator(f"[data-pick='{place}']").first
            if n:
                button.click()
                assert found_words(page) in {of(n), f"{n} {data['words']['examples']}"}
                button.click()
            else:
                assert button.is_disabled()


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
        assert overflowing(page) == []
        assert " = " in " ".join(page.locator("#case .words").all_inner_texts())
        choose(page, "sort", "most dangerous left out")
        assert "risk 2" in page.locator("#case").inner_text()
        before = open_case(page)
        choose(page, "label", "Melanoma")
        assert 0 < len(listed_cases(page)) <= 12
        assert "Melanoma" in page.locator("#case").inner_text()
        assert before
