"""Accessibility of reports: contrast, names, width, print."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from plausibly.report.model import ReportData

from .page import (
    NARROW,
    WIDE,
    Scheme,
    findings,
    opened,
    overflowing,
    report,
    unfold,
    violations,
    written,
)

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

# A picture of one dot.
DOT = (
    "data:image/png;base64,"
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@pytest.fixture(scope="module")
def data() -> ReportData:
    made = report(findings())
    made.cases.thumbnail = (DOT,) * made.cases.shown
    return made


@pytest.fixture(scope="module")
def file(data: ReportData, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("page"), data)


# Colours depend on the scheme alone, and places on the width alone.
@pytest.mark.parametrize(("width", "scheme"), [(WIDE, "light"), (NARROW, "dark")])
def test_no_serious_violation_and_nothing_to_scroll_sideways(
    browser: Browser, file: Path, width: int, scheme: Scheme
) -> None:
    with opened(browser, file, width=width, scheme=scheme) as page:
        assert violations(page) == []
        unfold(page)
        for fold in page.locator("summary").all():
            fold.click()
        page.locator("#weak button.line").first.click()
        page.locator("#vote button:has-text('Show table')").first.click()
        assert violations(page) == []
        assert overflowing(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") == width


def test_pictures_of_cases_are_shown(browser: Browser, file: Path) -> None:
    with opened(browser, file) as page:
        picture = page.locator("#case img")
        assert picture.evaluate("image => image.naturalWidth") == 1
        assert (picture.get_attribute("alt") or "").startswith("Picture of case_")


def test_the_keyboard_reaches_everything_and_skips_to_the_verdict(
    browser: Browser, file: Path
) -> None:
    with opened(browser, file) as page:
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Show cases"
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline == "solid"
        sections = ["verdict", "vote", "sizes", "weak", "disagree", "cases", "assumptions", "made"]
        seen = ["verdict"]
        while seen != sections:
            page.keyboard.press("Tab")
            section = page.evaluate("document.activeElement.closest('section')?.id")
            assert section in sections, f"after {seen}"
            seen += [section] if section != seen[-1] else []


def test_on_paper_everything_is_unfolded(browser: Browser, file: Path) -> None:
    with opened(browser, file, scheme="dark") as page:
        unfolded = "[...document.querySelectorAll('details')].every((one) => one.open)"
        assert not page.evaluate(unfolded)
        page.evaluate(
            "() => { window.printed = []; addEventListener('beforeprint', () =>"
            f" window.printed.push({unfolded})); }}"
        )
        page.emulate_media(media="print")
        white = "getComputedStyle(document.body).backgroundColor"
        assert page.evaluate(white) == "rgb(255, 255, 255)"
        assert not page.locator("#search").is_visible()
        assert page.locator("#annotators tbody button").first.is_visible()
        assert page.locator("#surprising button").first.is_visible()
        assert page.locator("#list > li").count() == 8
        assert len(page.pdf()) > 20_000
        assert page.evaluate("window.printed") == [True]
        assert not page.evaluate(unfolded)


def test_without_scripts_the_verdict_and_tables_are_there(
    browser: Browser, file: Path, data: ReportData
) -> None:
    with opened(browser, file, scripts=False) as page:
        text = page.locator("main").inner_text()
        view = data.view(0, 0)
        assert view.verdict.sentence in text
        assert view.verdict.guarantee.statement in text
        for title in ("Coverage and size by method", "Coverage by group", "Sets by size"):
            assert page.get_by_role("table", name=title).is_visible()
        assert data.assumptions.checks[0].words in text
        assert data.provenance.study.splitlines()[0] in text
        assert "Scripts are switched off" in page.locator("body").inner_text()
        assert not page.locator("#search").is_visible()
