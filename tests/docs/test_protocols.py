"""The pages for authors say everything that the code asks of them, as it stands there."""

from __future__ import annotations

import re

import pytest

import cut_docs
from cut_docs import PAGES
from plausibly import plugin
from plausibly.plugin import readers
from plausibly.protocols import KINDS

PAGE = {path.stem: cut_docs.page(path.name) for path in sorted(PAGES.glob("*.md"))}
OF_KIND = {
    **dict.fromkeys(("annotation", "reader"), PAGE["format"]),
    **dict.fromkeys(("score", "calibrator", "combiner"), PAGE["methods"]),
    "aggregator": PAGE["aggregator"],
}
KIND_NAMES = [kind.name for kind in KINDS]


@pytest.mark.parametrize("page", PAGE)
def test_every_mark_is_filled(page: str) -> None:
    assert len(cut_docs.marks(PAGE[page])) == PAGE[page].count("<!-- cut: ")


@pytest.mark.parametrize("kind", KIND_NAMES)
def test_a_page_has_all_its_parts(kind: str) -> None:
    marks = cut_docs.marks(OF_KIND[kind])
    assert {("protocol", kind), ("rules", kind), ("components", kind)} <= set(marks)
    name = next(name for name, of in cut_docs.NEW.items() if of == kind)
    module = name.replace("-", "_")
    assert ("file", f"{name}/{module}/{kind}.py") in marks
    assert ("file", f"{name}/tests/test_kit.py") in marks
    assert f"`plausibly plugins new {name} --kind {kind}`" in OF_KIND[kind]


def test_what_an_author_can_import_is_listed() -> None:
    table = PAGE["index"].partition("## What `plausibly.plugin` offers")[2]
    listed = set(re.findall(r"`(\w+)`", table))
    protocols = {kind.protocol.__name__ for kind in KINDS}
    assert {*dir(plugin), *dir(readers)} - listed == protocols
