"""Pages have links that lead somewhere, menus and tables; public names have docstrings."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from pathlib import Path
from types import FunctionType

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


MODULES = (
    "plausibly",
    "plausibly.annotators",
    "plausibly.evaluation",
    "plausibly.huggingface",
    "plausibly.io",
    "plausibly.planning",
    "plausibly.plots",
    "plausibly.plugin",
    "plausibly.plugin.readers",
    "plausibly.sklearn",
    "plausibly.testing",
    "plausibly.torch",
)


def undocumented(value: type | FunctionType) -> list[str]:
    """Return what lacks a docstring; a method may inherit that of the one that it overrides."""
    lacking = [] if value.__doc__ else [value.__qualname__]
    for member, part in vars(value).items() if inspect.isclass(value) else ():
        code = inspect.isfunction(getattr(part, "fget", part))
        if code and not member.startswith("_") and not inspect.getdoc(getattr(value, member)):
            lacking.append(f"{value.__qualname__}.{member}")
    return lacking


def test_every_public_name_has_a_docstring() -> None:
    seen, missing = 0, []
    for module in map(import_module, MODULES):
        for public in (each for each in dir(module) if not each.startswith("_")):
            value = getattr(module, public)
            ours = getattr(value, "__module__", "").startswith("plausibly")
            if ours and (inspect.isfunction(value) or inspect.isclass(value)):
                seen += 1
                missing += [f"{module.__name__}: {one}" for one in undocumented(value)]
    assert seen > 200
    assert missing == []
