"""The site as a whole: links lead somewhere, every page is in a menu, words are spelled one way."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import cut_docs
import draw_docs

from .pages import DOCS, PROJECT, links, menu, name, pages, sections

NAMES = [name(page) for page in pages()]
BESIDE = [PROJECT / "README.md", PROJECT / "CONTRIBUTING.md"]


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


def test_every_page_is_in_one_menu() -> None:
    entries = list(menu())
    assert len(entries) == len(set(entries))
    assert {*entries, "index"} == set(NAMES)


@pytest.mark.parametrize("page", cut_docs.REFERENCE)
def test_every_table_of_the_program_is_put_in(page: str) -> None:
    text = cut_docs.cut((DOCS / f"{page}.md").read_text(encoding="utf-8"))
    assert text.count("<!-- cut: ") == len(re.findall(r"<!-- cut: .*-->\n\n\S", text)) > 0


@pytest.mark.parametrize("picture", draw_docs.DRAWN)
def test_pictures_are_those_of_their_sources(picture: str) -> None:
    path = draw_docs.PICTURES / f"{picture}.svg"
    drawn = path.read_text(encoding="utf-8")
    assert drawn == draw_docs.DRAWN[picture](), "python scripts/draw_docs.py --write"
    assert "http://www.w3.org/2000/svg" in drawn
    assert drawn.count("http") == 1  # nothing from elsewhere
