"""Pages opened in a browser that may ask for nothing, and reports of small made worlds."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import attrs
import numpy as np

import plausibly
from plausibly.report.model import ReportData, Words
from plausibly.report.subject import Options
from plausibly.report.write import render
from report_world import Made, compared, of_compared, world

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Dialog, Page, Route

    from plausibly.report.model import ReportData, Section

WIDE, NARROW = 1440, 390
Scheme = Literal["light", "dark"]

OVERFLOWING = """() => {
    const wide = document.documentElement.clientWidth;
    const clipped = (e) => e.parentElement && (
        ["auto", "hidden", "scroll"].includes(getComputedStyle(e.parentElement).overflowX)
        || clipped(e.parentElement));
    return [...document.querySelectorAll("body *")]
        .filter((e) => e.getBoundingClientRect().right > wide + 1 && !clipped(e))
        .map((e) => `${e.tagName}.${e.getAttribute("class")} ${e.textContent.slice(0, 40)}`);
}"""


CLICKS = """places => places.map((place) => {
    const button = document.querySelector(`[data-pick="${place}"]`);
    if (button.disabled) return null;
    button.click();
    const words = document.getElementById("count").textContent;
    button.click();
    return words;
})"""


@contextmanager
def opened(
    browser: Browser,
    file: Path | str,
    *,
    site: str = "",
    width: int = WIDE,
    height: int = 900,
    scheme: Scheme = "light",
    anchor: str = "",
    scripts: bool = True,
) -> Iterator[Page]:
    """Open a file as by a double click, or a page of a site; a fault of it fails the block."""
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme=scheme,
        java_script_enabled=scripts,
        reduced_motion="reduce",
    )
    address, faults = file if isinstance(file, str) else file.as_uri(), list[str]()

    def refuse(route: Route) -> None:
        url = route.request.url
        if url.partition("#")[0] == address or (site and url.startswith((site, "data:"))):
            route.continue_()
        else:
            faults.append(f"asked for {url[:200]}")
            route.abort()

    def log(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            faults.append(f"console {message.type}: {message.text}")

    def dismiss(dialog: Dialog) -> None:
        faults.append(f"a dialog: {dialog.message}")
        dialog.dismiss()

    try:
        page = context.new_page()
        page.route("**/*", refuse)
        page.on("pageerror", lambda error: faults.append(f"failed: {error}"))
        page.on("console", log)
        page.on("dialog", dismiss)
        page.on("download", lambda _: faults.append("a download"))
        page.on("popup", lambda _: faults.append("a second window"))
        page.goto(address + anchor)
        yield page
        assert not faults, faults
    finally:
        context.close()


def overflowing(page: Page) -> list[str]:
    """Return what makes the page scroll sideways."""
    texts: list[str] = page.evaluate(OVERFLOWING)
    return texts


def violations(page: Page) -> list[str]:
    """Return what axe-core finds serious or critical, with the first place of each."""
    axe = import_module("axe_playwright_python.sync_playwright").Axe()
    rules = axe.run(page).response["violations"]
    return [
        f"{rule['id']} ({rule['impact']}) {len(rule['nodes'])}x: {rule['nodes'][0]['html'][:300]} "
        f"{rule['nodes'][0]['failureSummary'][:300]}"
        for rule in rules
        if rule["impact"] in {"serious", "critical"}
    ]


def unfold(page: Page) -> None:
    """Unfold the sections, which begin folded on a narrow page."""
    folded = page.locator(".card.folded > h2 > button")
    while folded.count():
        folded.first.click()


def listed_cases(page: Page) -> list[str]:
    """Return the names of the cases that the list shows."""
    names: list[str] = page.locator("#list .item .id").all_inner_texts()
    return names


def found_words(page: Page) -> str:
    """Return what is said of how many cases were found."""
    words: str = page.locator("#count").inner_text()
    return words


def open_case(page: Page) -> str:
    name: str = page.locator("#case h3").first.inner_text()
    return name


def until(page: Page, holds: str) -> None:
    ends = time.monotonic() + 10
    while not page.evaluate(holds):
        assert time.monotonic() < ends, f"never: {holds}"
        time.sleep(0.02)


def choose(page: Page, what: str, words: str) -> None:
    page.locator(f"#{what}").select_option(label=words)


def wrong_counts(page: Page, data: ReportData, view: Section) -> list[str]:
    counts = {f"size {bar.low}-{bar.high}": bar.count for bar in view.sizes.bars}
    counts |= {f"cell {cell.a} {cell.b}": cell.examples for cell in data.disagreement.cells}
    for part in view.weak.parts:
        where = "+".join(f"{column}:{value}" for column, value in part.where)
        counts[f"part {where or f's:{part.stratum}'}"] = part.n
    nouns, clicked = data.words.examples, page.evaluate(CLICKS, [*counts])
    return [
        f"{place}: {words} for {n}"
        for (place, n), words in zip(counts.items(), clicked, strict=True)
        if words not in ({f"{n} of {data.cases.shown} {nouns}", f"{n} {nouns}"} if n else {None})
    ]


FINDINGS = ("nodule", "fibrosis", "normal", "effusion", "mass")
READERS = tuple(f"r{i:02}" for i in range(1, 9))
TEXT = "a finding of 6 mm"


def findings(
    n: int = 60,
    labels: Sequence[str] = FINDINGS,
    *,
    name: str = "case_{:04}",
    annotators: Sequence[str] = READERS,
    agreed: bool = False,
    text: str = TEXT,
) -> Made:
    """Return cases with a text, of labels of low and high risk; the model is wrong at one site."""
    examples = [name.format(i) for i in range(n)]
    made = world(n, labels, examples=examples, annotators=annotators, agreed=agreed)
    risk = [("low", "high")[k % 2] for k in range(len(labels))]
    known = {"text": ("example", [text] * n), "risk": ("label", risk)}
    predictions = made.predictions.assign_coords(known)
    predictions[::3] = np.roll(predictions.values[::3], 1, axis=1)
    return attrs.evolve(made, predictions=predictions)


def ranked(made: Made) -> Made:
    """Return rankings that begin with the label of each vote, two labels at the second place."""
    labels = made.predictions["label"].values.tolist()
    rankings = []
    for example, annotator, label in made.votes:
        second, third, fourth = [another for another in labels if another != label][:3]
        rankings.append((example, annotator, [label, [second, third], fourth]))
    table = plausibly.build_annotations("partial-ranking", rankings, labels)
    return attrs.evolve(made, annotations=table)


def report(made: Made, **options: Any) -> ReportData:  # Any: each option has its own type
    """Return the data of the report on a study of two alphas."""
    known = {"title": "chest findings", "text": "text", "study": "seed = 1\n", **options}
    words = Words(example="case", examples="cases", annotator="reader", annotators="readers")
    study = compared(made, alphas=(0.1, 0.05))
    return of_compared(made, study, Options(words=words, **known))


def written(folder: Path, data: ReportData) -> Path:
    path = folder / "report.html"
    path.write_text(render(data), "utf-8")
    return path
