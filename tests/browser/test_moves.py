"""Clicks, typing and choices change the page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import pytest

from plausibly.report.model import ReportData
from report_world import table

from .page import (
    FINDINGS,
    NARROW,
    READERS,
    choose,
    findings,
    found_words,
    listed_cases,
    open_case,
    opened,
    report,
    until,
    written,
    wrong_counts,
)

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def data() -> ReportData:
    """A report in which each annotator answers one case fewer than the one before."""
    made = findings()
    votes = [vote for vote in made.votes if int(vote[0][-4:]) >= READERS.index(vote[1])]
    return report(attrs.evolve(made, annotations=table(votes, FINDINGS), votes=votes))


@pytest.fixture(scope="module")
def file(data: ReportData, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("page"), data)


@pytest.fixture
def page(browser: Browser, file: Path) -> Iterator[Page]:
    with opened(browser, file) as page:
        yield page


def by_missed(data: ReportData, view: int) -> list[str]:
    cases = data.cases
    order = sorted(range(cases.shown), key=lambda i: (-cases.missed[view][i], cases.names[i]))
    return [cases.names[i] for i in order]


def test_method_and_alpha_change_everything_below(page: Page, data: ReportData) -> None:
    assert listed_cases(page) == by_missed(data, 0)[:8]
    texts = [page.locator(f"#{id_}-body").inner_text() for id_ in ("verdict", "weak", "sizes")]
    choose(page, "method", "majority-vote (to compare)")
    choose(page, "alpha", "0.05")
    view = data.view(2, 1)
    assert page.locator("#verdict .sentence").inner_text() == view.verdict.sentence
    assert view.verdict.guarantee.statement in page.locator("#verdict summary").inner_text()
    order = by_missed(data, 5)
    first = order.index(open_case(page)) // 8 * 8  # the open case stays open
    assert listed_cases(page) == order[first : first + 8]
    heights = page.locator("#sizes .column .value").all_inner_texts()
    assert heights == [str(bar.count) for bar in view.sizes.bars]
    after = [page.locator(f"#{id_}-body").inner_text() for id_ in ("verdict", "weak", "sizes")]
    assert all(a != b for a, b in zip(texts, after, strict=True))
    assert "alpha 0.05" in page.locator("#case .legend").inner_text()


def test_search_reads_names_and_texts(page: Page) -> None:
    page.fill("#search", "CASE_003")
    until(page, "document.getElementById('count').textContent.startsWith('10 of')")
    page.click("#next")
    rest = listed_cases(page)
    page.click("#previous")
    assert sorted([*listed_cases(page), *rest]) == [f"case_003{i}" for i in range(10)]
    assert open_case(page) == listed_cases(page)[0]
    page.fill("#search", "no such thing")
    until(page, "document.getElementById('count').textContent.startsWith('No')")
    assert found_words(page) == "No case matches."
    assert listed_cases(page) == []
    assert not page.locator("#case").is_visible()
    page.fill("#search", "6 MM")
    until(page, "document.getElementById('count').textContent === '60 cases'")


def test_a_label_and_a_group_filter_together(page: Page, data: ReportData) -> None:
    cases = data.cases
    choose(page, "label", "fibrosis")
    choose(page, "group", "site south")
    meant = [
        name
        for i, name in enumerate(cases.names)
        if cases.groups[0][i] == data.groups[0].values.index("south")
        and any(
            k == 1 and (cases.plausibility[i][j] or cases.sets[0][i] >> j & 1)
            for j, k in enumerate(cases.listed[i])
        )
    ]
    assert 0 < len(meant) < cases.shown
    assert found_words(page) == f"{len(meant)} of 60 cases"
    assert set(listed_cases(page)) <= set(meant)
    assert page.locator("#weak [aria-pressed=true]").inner_text().startswith("site south")
    page.click("#chips button")
    assert page.locator("#group").input_value() == ""
    page.click("#clear")
    assert found_words(page) == "60 cases"


@pytest.mark.parametrize(
    ("words", "column", "first"),
    [
        ("set size", "size", "Cases with the largest sets come first."),
        ("ambiguity", "largest", "Cases on which readers disagree most come first."),
        ("risk of labels left out", "risk", "Cases whose sets leave out the answers of the high"),
    ],
)
def test_sorting(page: Page, data: ReportData, words: str, column: str, first: str) -> None:
    cases = data.cases
    keys = {
        "size": [-size for size in cases.size[0]],
        "largest": list(cases.largest),
        "risk": [
            -2000 * level - missed
            for level, missed in zip(cases.severity_missed[0], cases.missed[0], strict=True)
        ],
    }[column]
    choose(page, "sort", words)
    order = sorted(range(cases.shown), key=lambda i: (keys[i], cases.names[i]))
    assert listed_cases(page) == [cases.names[i] for i in order[:8]]
    assert page.locator("#cases-sentence").inner_text().startswith(first)
    choose(page, "sort", "name")
    assert listed_cases(page) == list(cases.names[:8])


def test_every_number_that_can_be_clicked_leads_to_so_many_cases(
    page: Page, data: ReportData
) -> None:
    choose(page, "alpha", "0.05")
    assert wrong_counts(page, data, data.view(0, 1)) == []
    choose(page, "alpha", "0.1")
    page.click("#verdict button:has-text('Show cases') >> nth=0")
    shown = data.view(0, 0)
    part = next(f.part for f in shown.verdict.findings if f.part is not None)
    assert found_words(page) == f"{shown.weak.parts[part].n} of 60 cases"
    assert page.evaluate("document.activeElement.textContent.trim()") == "6 Cases"


def test_annotators_are_sorted_and_their_cases_shown(page: Page, data: ReportData) -> None:
    names = page.locator("#annotators tbody button")
    rows = data.disagreement.annotators
    assert names.all_inner_texts() == [row.name for row in rows]
    page.click("#annotators [data-key=answers]")
    assert names.all_inner_texts() == [*READERS]
    assert page.locator("#annotators [aria-sort]").inner_text().startswith("answers")
    page.click("#annotators [data-key=answers]")
    assert names.all_inner_texts() == [*READERS[::-1]]
    assert page.locator("#annotators [aria-sort=ascending]").count() == 1
    page.click("#annotators [data-key=vote]")
    by_vote = sorted(rows, key=lambda row: -row.vote)
    assert names.all_inner_texts() == [row.name for row in by_vote]
    page.click("#annotators tbody button:has-text('r03')")
    assert found_words(page) == "58 of 60 cases"


def test_arrow_keys_move_through_the_list_and_over_its_pages(page: Page, data: ReportData) -> None:
    order = by_missed(data, 0)
    page.locator("#list .item").first.focus()
    page.keyboard.press("ArrowDown")
    assert open_case(page) == order[1]
    assert page.evaluate("document.activeElement.textContent").startswith(order[1])
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    assert open_case(page) == order[0]
    page.keyboard.press("PageDown")
    assert (open_case(page), listed_cases(page)[0]) == (order[8], order[8])
    page.keyboard.press("End")
    assert open_case(page) == order[-1]
    assert page.locator("#next").is_disabled()
    page.keyboard.press("Home")
    page.click("#next")
    assert page.locator("#where").inner_text() == "9 to 16 of 60"
    page.click("#previous")
    assert open_case(page) == order[0]


def test_a_case_has_an_address(browser: Browser, file: Path) -> None:
    with opened(browser, file, anchor="#case=case_0042") as page:
        assert open_case(page) == "case_0042"
        assert "case_0042" in listed_cases(page)
        until(page, "document.getElementById('cases').getBoundingClientRect().top < 200")
        page.locator("#list .item").first.click()
        name = open_case(page)
        assert page.url.endswith(f"#case={name}")
        page.evaluate("location.hash = '#case=case_0007'")
        until(page, "document.querySelector('#case h3').textContent === 'case_0007'")
    with opened(browser, file, anchor="#case=unknown") as page:
        announced = page.locator("#announced").inner_text()
        assert announced == "This report shows no case of that name."


def test_a_case_shows_what_was_said_what_the_model_thinks_and_the_set(
    page: Page, data: ReportData
) -> None:
    cases = data.cases
    i = cases.names.index(open_case(page))
    rows = page.locator("#case .judge:not(.head)")
    assert rows.count() == len(cases.listed[i])
    for j, label in enumerate(cases.listed[i]):
        row = rows.nth(j)
        assert row.get_attribute("data-label") == data.labels[label].name
        inside = bool(cases.sets[0][i] >> j & 1)
        assert ("in the set" in row.inner_text()) == inside
        for title, values in (("answers", cases.plausibility), ("p", cases.p[0])):
            value = row.locator(f"[data-value={title}]").inner_text()
            assert float(value) == pytest.approx(values[i][j] / 1000, abs=0.0051)
    answers = page.locator("#case .words li").all_inner_texts()
    counts = [int(text.split("\N{MULTIPLICATION SIGN}")[0]) for text in answers]
    assert sum(counts) == len(cases.answers[i])


def test_the_most_surprising_cases_are_named(page: Page, data: ReportData) -> None:
    view = data.view(0, 0).surprising
    assert page.locator("#surprising").inner_text().startswith(view.sentence)
    page.fill("#search", "case_005")
    until(page, "document.getElementById('count').textContent.startsWith('10 of')")
    page.locator("#surprising button").nth(2).click()
    assert open_case(page) == data.cases.names[view.cases[2]]
    assert found_words(page) == "60 cases"


def test_every_chart_has_its_table(page: Page) -> None:
    buttons = page.locator("main button:has-text('Show table')")
    charts = buttons.count()
    assert charts >= 8
    for _ in range(charts):
        buttons.first.click()
    assert page.locator("main .figure .table table tbody tr").count() > 50
    hide = page.locator("main button:has-text('Hide table')")
    assert hide.first.get_attribute("aria-expanded") == "true"
    hide.first.click()
    assert buttons.count() == 1


def test_colours_are_the_computers_until_the_button_says_otherwise(
    browser: Browser, file: Path
) -> None:
    with opened(browser, file, scheme="dark") as page:
        ground = "getComputedStyle(document.body).backgroundColor"
        dark = page.evaluate(ground)
        page.click("#theme")
        assert page.evaluate(ground) != dark
        page.reload()
        assert page.evaluate(ground) != dark
        page.click("#theme")
        assert page.evaluate(ground) == dark


def test_the_verdict_can_be_copied(page: Page, data: ReportData) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click("button:has-text('Copy verdict')")
    until(page, "document.getElementById('announced').textContent === 'Copied'")
    text = page.evaluate("navigator.clipboard.readText()")
    verdict = data.view(0, 0).verdict
    assert text.startswith(f"{verdict.sentence}\n{verdict.about}\n")
    assert verdict.guarantee.statement in text


def test_sections_begin_folded_on_a_phone_and_open_where_they_are_needed(
    browser: Browser, file: Path
) -> None:
    with opened(browser, file, width=NARROW) as page:
        assert page.locator("#verdict .sentence").is_visible()
        assert page.locator("#cases-sentence").is_hidden()
        button = page.locator("#cases h2 button")
        assert button.get_attribute("aria-expanded") == "false"
        page.click("#verdict button:has-text('Show cases')")
        assert page.locator("#cases-sentence").is_visible()
        assert button.get_attribute("aria-expanded") == "true"
        button.click()
        assert page.locator("#cases-sentence").is_hidden()
        page.set_viewport_size({"width": 1200, "height": 900})
        assert page.locator("#cases-sentence").is_visible()
        assert page.locator("h2 button").count() == 0
    with opened(browser, file, width=NARROW, anchor="#case=case_0042") as page:
        assert page.locator("#case h3").first.is_visible()
