"""The site as a whole: links lead somewhere, every page is in a menu, words are spelled one way."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import cut_reference
import draw_docs
from site_pages import DOCS, PROJECT, links, menu, name, pages, prose, sections

NAMES = [name(page) for page in pages()]
BESIDE = [PROJECT / "README.md", PROJECT / "CONTRIBUTING.md"]

WRONG = {
    r"held out (?:example|share|p-value)": "held-out",
    r"heldout": "held-out",
    r"p value|pvalues?\b": "p-value",
    r"non-?conformity": "score: larger fits better",
    r"pseudo label": "pseudo-label",
    r"prediction-set": "prediction set",
    r"plausability|plausabilities": "plausibilities",
    r"labeled|labeling": "labelled",
    r"normaliz|randomiz|aggregatr": "normalise",
    r"mis-?coverage rate of": "alpha",
    r"credible set|confidence set": "prediction set",
    r"annotater|annotaters": "annotator",
    r"raters?|workers?|labell?ers?": "annotator",
    r"samples?|datapoints?": "example",
    r"(?:true|predicted|each|K|per) class|class (?:label|probabilit|name)": "label",
    r"ground truths?": "true label, or plausibilities",
}
"""What a word must not be written as in prose, and the word of the glossary."""

EXCUSED = re.compile(
    r"task, worker(?:, label| and label)?|crowd workers?|worker (?:process\w*|peak)|"
    r"worker-agreement|answers of workers|workers' answers|"
    r"finite sample|(?:both|two) samples|samplers? of|"
    r"Ground Truth writes|SageMaker Ground Truth",
    re.IGNORECASE,
)
"""Columns, processes, statistics, and what the tools of others call their own."""

ALLOWED = {
    "command_line": {"worker", "rater"},
    "comparison": {"class", "nonconformity", "non-conformity"},
    "formats": {"worker", "ground truth"},
    "larger_than_memory": {"worker"},
    "reference/study-file": {"worker", "ground truth"},
}
"""What a page says of other tools and their files, in their words."""


@pytest.mark.parametrize("page", [*pages(), *BESIDE], ids=lambda page: page.stem)
def test_links_lead_to_pages_and_sections(page: Path) -> None:
    for link in links(page.read_text(encoding="utf-8")):
        if re.match(r"[a-z]+:", link):
            assert link.startswith("https://")
            continue
        path, _, section = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        if section:
            assert section in sections(target.read_text(encoding="utf-8")), link


def test_sections_are_those_of_github() -> None:
    page = "# `plausibly.plugin`\n## What if? A *b*\n## Same\n```text\n# no\n```\n## Same\n"
    assert sections(page) == {"plausiblyplugin", "what-if-a-b", "same", "same-1"}


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("[a](nowhere.md) ![b](c.svg)\n```text\n[x](y)\n```\n", encoding="utf-8")
    assert links(page.read_text(encoding="utf-8")) == ["nowhere.md", "c.svg"]
    with pytest.raises(AssertionError, match=r"nowhere\.md"):
        test_links_lead_to_pages_and_sections(page)


def test_every_page_is_in_one_menu() -> None:
    entries = list(menu())
    assert len(entries) == len(set(entries))
    assert {*entries, "index"} == set(NAMES)


def test_no_two_pages_have_one_title() -> None:
    titles = [re.search(r"^# (.+)$", p.read_text(encoding="utf-8"), re.M) for p in pages()]
    found = [title[1] for title in titles if title]
    assert len(found) == len(set(found))


@pytest.mark.parametrize("page", pages(), ids=name)
def test_words_are_spelled_as_in_the_glossary(page: Path) -> None:
    text = EXCUSED.sub("", prose(page.read_text(encoding="utf-8")))
    for wrong, right in WRONG.items():
        for found in re.finditer(rf"\b(?:{wrong})\w*\b", text, re.IGNORECASE):
            known = any(found[0].lower().startswith(word) for word in ALLOWED.get(name(page), ()))
            assert known, f"{found[0]!r}: {right}; ... {text[max(0, found.start() - 60) :][:120]}"


def test_the_glossary_has_every_word_once() -> None:
    text = (DOCS / "glossary.md").read_text(encoding="utf-8")
    terms = re.findall(r"^\| ([a-z -]+) \| [A-Z0-9].+ \|$", text, re.MULTILINE)
    assert len(terms) == len(set(terms))
    assert {
        *("example", "label", "annotator", "response", "annotations", "plausibilities"),
        *("predictions", "score", "draw", "calibration", "held-out", "test", "replicate"),
        *(
            "combiner",
            "prediction set",
            "threshold",
            "aggregated coverage",
            "coverage of the majority vote",
        ),
        *("true coverage", "set size", "guarantee"),
    } <= set(terms)


@pytest.mark.parametrize("page", cut_reference.PAGES, ids=name)
def test_every_table_of_the_program_is_put_in(page: Path) -> None:
    text = cut_reference.cut(page.read_text(encoding="utf-8"))
    assert text.count("<!-- cut: ") == len(re.findall(r"<!-- cut: .*-->\n\n\S", text)) > 0


@pytest.mark.parametrize("picture", draw_docs.DRAWN)
def test_pictures_are_those_of_their_sources(picture: str) -> None:
    path = draw_docs.PICTURES / f"{picture}.svg"
    drawn = path.read_text(encoding="utf-8")
    assert drawn == draw_docs.DRAWN[picture](), "python scripts/draw_docs.py --write"
    assert "http://www.w3.org/2000/svg" in drawn
    assert drawn.count("http") == 1  # nothing from elsewhere


def test_a_diagram_says_what_it_cannot_read() -> None:
    with pytest.raises(ValueError, match="neither a box nor an arrow: nonsense"):
        draw_docs.flow("nonsense\n")
