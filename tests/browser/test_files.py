"""The files of the page, read without a browser."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from plausibly.report.write import PAGE, render

from .reports import findings, report

FILES = sorted(path for path in PAGE.iterdir() if path.is_file())
SCRIPTS = [path for path in FILES if path.suffix == ".js"]


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_no_text_is_read_as_html(path: Path) -> None:
    ways = ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(")
    text = path.read_text("utf-8")
    assert [way for way in ways if way in text] == []
    assert not re.search(r"\{[{%#]", text), "Jinja would read it"


def test_the_page_asks_for_nothing_and_holds_every_script_and_style() -> None:
    page = render(report(findings(40)))
    assert "default-src 'none'" in page
    assert re.findall(r"<(?:link|script|img|iframe)[^>]*(?:src|href)=[\"'](?!data:)", page) == []
    addresses = set(re.findall(r"https?://[^\s\"'<)]+", page))
    assert addresses == {"http://www.w3.org/2000/svg"}  # a name, not an address to load
    for path in FILES:
        if path.suffix != ".j2":
            assert path.read_text("utf-8").strip() in page
