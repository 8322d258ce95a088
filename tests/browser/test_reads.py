"""Accessibility of reports, names that try to be something else, data of unusual sizes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import pytest

from plausibly.report.model import Finding, ReportData, Section
from report_world import of_new, world

from .page import (
    NARROW,
    READERS,
    WIDE,
    Scheme,
    choose,
    findings,
    found_words,
    listed_cases,
    open_case,
    opened,
    overflowing,
    ranked,
    report,
    unfold,
    violations,
    written,
    wrong_counts,
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


# ---- names and texts that try to be something else


if TYPE_CHECKING:
    from playwright.sync_api import Browser


EVIL = (
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    "\"quotes\" & 'more'",
    "<img src=x onerror=alert(3)>",
    "😀👩🏽‍⚕️ emoji",
    "التهاب رئوي",
    "{{ 7 * 7 }} {% raw %}",
    "<!-- <script>",
    "L" * 300,
    "__proto__",
)
TITLE = "</title><script>alert(0)</script> " + "T" * 300
TEXT = "<script>alert(9)</script> نص من اليمين إلى اليسار\n" + "w" * 400
SITES = ("<u>north</u>", "جنوب", "s" * 300)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    names, annotators = "</script>{:03}<b>" + "x" * 290, ("<i>r</i>", "constructor", "q" * 300)
    made = findings(90, EVIL, name=names, annotators=annotators, text=TEXT)
    site = ("example", [SITES[i % 3] for i in range(90)])
    made = attrs.evolve(made, predictions=made.predictions.assign_coords(site=site))
    data = report(ranked(made), title=TITLE)
    for label in data.labels:
        label.risk = f"<b>{label.risk}</b>"
    return written(tmp_path_factory.mktemp("page"), data)


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_hostile_names_are_names(browser: Browser, hostile: Path, width: int) -> None:
    with opened(browser, hostile, width=width) as page:
        unfold(page)
        assert page.title() == f"{TITLE} · plausibly report"
        assert page.evaluate("document.scripts.length") == 3
        assert page.evaluate("document.querySelectorAll('main b b, main i i, u').length") == 0
        assert open_case(page).startswith("</script>0")
        seen = set()
        page.locator("#list [aria-current]").focus()
        for _ in range(6):
            seen |= set(page.locator("#case .judge bdi").all_inner_texts())
            page.keyboard.press("ArrowDown")
        assert seen == set(EVIL)
        assert page.locator("#case .written").inner_text() == TEXT
        assert "<b>high</b>" in page.locator("#case").inner_text()
        choose(page, "label", "التهاب رئوي")
        right_to_left = page.locator("#case .judge bdi:has-text('التهاب')")
        assert right_to_left.evaluate("e => getComputedStyle(e).direction") == "rtl"
        for button in page.locator("button:has-text('Show table')").all()[::-1]:
            button.click()
        assert overflowing(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert violations(page) == []


def test_hostile_names_stay_names_without_scripts(browser: Browser, hostile: Path) -> None:
    with opened(browser, hostile, scripts=False, width=NARROW) as page:
        assert "site <u>north</u>" in page.locator("#weak").inner_text()
        assert page.evaluate("document.documentElement.scrollWidth") == NARROW


def test_rankings_of_419_labels_and_scores_below_zero(browser: Browser, tmp_path: Path) -> None:
    made = ranked(findings(labels=[f"condition {i:03}" for i in range(419)]))
    risk = ("label", [i % 3 for i in range(419)])
    data = report(attrs.evolve(made, predictions=made.predictions.assign_coords(risk=risk)))
    margins = tuple((-250,) * len(part) for part in data.cases.listed)
    data.cases.scores = (Section(name="margin", values=margins),)
    with opened(browser, written(tmp_path, data), width=NARROW) as page:
        assert wrong_counts(page, data, data.view(0, 0)) == []
        unfold(page)
        scores = page.locator("#case [data-value=score]").all_inner_texts()
        assert set(scores) == {"\N{MINUS SIGN}0.250"}
        assert overflowing(page) == []
        assert " = " in " ".join(page.locator("#case .words").all_inner_texts())
        rows = page.locator("#case .judge:not(.head)").count()
        assert f"{419 - rows} labels more" in page.locator("#case").inner_text()
        choose(page, "sort", "risk of labels left out")
        assert "risk 2" in page.locator("#case").inner_text()
        answer = data.labels[data.cases.answers[0][0][1][0][0]].name
        choose(page, "label", answer)
        assert 0 < len(listed_cases(page)) <= 8
        assert answer in page.locator("#case").inner_text()


def test_one_example(browser: Browser, tmp_path: Path) -> None:
    made = world(31, ("a", "b"), examples=[f"case_{i:04}" for i in range(31)], agreed=True)
    made = attrs.evolve(made, predictions=made.predictions.drop_vars(["site", "sex"]))
    data = of_new(made, calibrating=30, alphas=("1/10",))
    with opened(browser, written(tmp_path, data)) as page:
        assert listed_cases(page) == ["case_0030"]
        assert found_words(page) == "1 example"
        assert page.locator("#where").inner_text() == "1 to 1 of 1"
        page.locator("#list .item").focus()
        page.keyboard.press("ArrowDown")
        assert open_case(page) == "case_0030"
        alpha = page.locator("#case .at-alpha").first
        assert alpha.evaluate("line => line.style.left") == "10%"
        assert page.locator(".plot polyline").count() == 0  # one point is no curve
        assert data.view(0, 0).realised.sentence in page.locator("main").inner_text()


@pytest.mark.parametrize("worst", ["broken", "vacuous"])
def test_no_disagreement_and_what_is_wrong_comes_first(
    browser: Browser, tmp_path: Path, worst: str
) -> None:
    data = report(findings(40, agreed=True))
    verdict = data.view(0, 0).verdict
    verdict.findings = (Finding(worst, "guarantee", f"It is {worst}."), *verdict.findings)
    with opened(browser, written(tmp_path, data)) as page:
        assert page.locator("#disagree .heat").count() == 0
        assert data.disagreement.nothing in page.locator("#disagree").inner_text()
        first = page.locator("#verdict .findings li").first
        assert first.get_attribute("data-finding") == worst
        assert page.locator("#verdict").get_attribute("data-state") == worst


def test_ten_thousand_of_twelve_thousand(browser: Browser, tmp_path: Path) -> None:
    data = of_new(world(12_030, annotators=READERS[:2]))
    shown = f"{data.cases.shown:,}"
    path = written(tmp_path, data)
    assert path.stat().st_size < 5_000_000
    with opened(browser, path) as page:
        assert data.cases.shown_sentence in page.locator("#cases").inner_text()
        assert found_words(page) == f"{shown} examples"
        assert page.locator("#list > li").count() == 8
        quick = """async () => {
            const begun = performance.now();
            const sort = document.getElementById("sort");
            sort.value = "size";
            sort.dispatchEvent(new Event("change"));
            await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
            return performance.now() - begun;
        }"""
        assert page.evaluate(quick) < 2000
        page.locator("#list .item").first.focus()
        page.keyboard.press("End")
        assert page.locator("#where").inner_text().endswith(f" to {shown} of {shown}")
