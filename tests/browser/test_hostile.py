"""Names and texts that try to be something else, and data of unusual sizes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from plausibly.report.model import ReportData
from plausibly.report.write import render

from .page import (
    NARROW,
    WIDE,
    choose,
    found_words,
    listed_cases,
    open_case,
    opened,
    overflowing,
    unfold,
    violations,
)
from .reports import World, report

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

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
HOSTILE = World(
    title="</title><script>alert(0)</script> " + "T" * 300,
    names=EVIL,
    example_name="</script>{:03}<b>" + "x" * 290,
    annotators=("<i>r</i>", "constructor", "q" * 300),
    sites=("<u>north</u>", "جنوب", "s" * 300),
    text="<script>alert(9)</script> نص من اليمين إلى اليسار\n" + "w" * 400,
    ranked=True,
    severities=("<b>low</b>", "حرج"),
    examples=30,
)


def written(folder: Path, world: World) -> tuple[Path, ReportData]:
    data = report(world)
    path = folder / "report.html"
    path.write_text(render(data), "utf-8")
    return path, data


def test_hostile_names_are_names(browser: Browser, tmp_path: Path) -> None:
    path, data = written(tmp_path, HOSTILE)
    for width in (WIDE, NARROW):
        with opened(browser, path, width=width) as page:
            unfold(page)
            assert page.title() == f"{HOSTILE.title} · plausibly report"
            assert page.evaluate("document.scripts.length") == 3
            assert page.evaluate("document.querySelectorAll('main b b, main i i, u').length") == 0
            assert open_case(page) in data.cases.names
            seen = set()
            page.locator("#list [aria-current]").focus()
            for _ in range(6):
                seen |= set(page.locator("#case .judge bdi").all_inner_texts())
                page.keyboard.press("ArrowDown")
            assert seen == set(EVIL)
            assert page.locator("#case .written").inner_text() == HOSTILE.text
            choose(page, "label", "التهاب رئوي")
            right_to_left = page.locator("#case .judge bdi:has-text('التهاب')")
            assert right_to_left.evaluate("e => getComputedStyle(e).direction") == "rtl"
            for button in page.locator("button:has-text('Show table')").all()[::-1]:
                button.click()
            assert overflowing(page) == []
            assert page.evaluate("document.documentElement.scrollWidth") == width
    with opened(browser, path) as page:
        assert violations(page) == []


def test_hostile_names_stay_names_without_scripts(browser: Browser, tmp_path: Path) -> None:
    path, _ = written(tmp_path, HOSTILE)
    with opened(browser, path, scripts=False, width=NARROW) as page:
        assert "site <u>north</u>" in page.locator("#weak").inner_text()
        assert page.evaluate("document.documentElement.scrollWidth") == NARROW


def test_419_labels(browser: Browser, tmp_path: Path) -> None:
    names = tuple(f"condition {i}" for i in range(419))
    path, data = written(tmp_path, World(names=names, ranked=True, own_scores=True))
    with opened(browser, path, width=NARROW) as page:
        unfold(page)
        rows = page.locator("#case .judge:not(.head)").count()
        assert f"{419 - rows} labels more" in page.locator("#case").inner_text()
        scores = page.locator("#case [data-value=score]").all_inner_texts()
        assert set(scores) == {"\N{MINUS SIGN}0.250"}
        page.locator("#label").select_option("418")
        assert found_words(page) != "60 cases"
        assert overflowing(page) == []
    assert data.cases.unlisted[0] > 380


def test_one_example(browser: Browser, tmp_path: Path) -> None:
    world = World(
        names=("a", "b"), examples=1, sites=(), agreed=True, annotators=("r01",), alphas=("1/10",)
    )
    path, data = written(tmp_path, world)
    with opened(browser, path) as page:
        assert listed_cases(page) == ["case_0000"]
        assert found_words(page) == "1 case"
        assert page.locator("#where").inner_text() == "1 to 1 of 1"
        page.locator("#list .item").focus()
        page.keyboard.press("ArrowDown")
        assert open_case(page) == "case_0000"
        alpha = page.locator("#case .at-alpha").first
        assert alpha.evaluate("line => line.style.left") == "10%"
        assert page.locator(".plot polyline").count() == 0  # one point is no curve
        assert data.view(0, 0).realised.sentence in page.locator("main").inner_text()


@pytest.mark.parametrize("worst", ["broken", "vacuous"])
def test_no_disagreement_and_what_is_wrong_comes_first(
    browser: Browser, tmp_path: Path, worst: str
) -> None:
    path, data = written(tmp_path, World(agreed=True, worst=worst, examples=20))
    with opened(browser, path) as page:
        assert page.locator("#disagree .heat").count() == 0
        assert data.disagreement.nothing in page.locator("#disagree").inner_text()
        first = page.locator("#verdict .findings li").first
        assert first.get_attribute("data-finding") == worst
        assert page.locator("#verdict").get_attribute("data-state") == worst


def test_ten_thousand_of_a_hundred_thousand(browser: Browser, tmp_path: Path) -> None:
    world = World(examples=10_000, total=100_000, annotators=("r01", "r02"), answers=3)
    path, data = written(tmp_path, world)
    assert path.stat().st_size < 5_000_000
    with opened(browser, path) as page:
        assert data.cases.shown_sentence in page.locator("#cases").inner_text()
        assert found_words(page) == "10,000 cases"
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
        assert page.locator("#where").inner_text() == "9,993 to 10,000 of 10,000"
