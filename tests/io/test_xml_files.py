"""XML as plain elements: lines, encodings, and what is refused."""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

import pytest
from hypothesis import given, strategies as st

from io_files import refusal, written
from plausibly.io.xml import Element, read_xml


def read(folder: Path, content: str | bytes) -> Element:
    return read_xml(written(folder, "a.xml", content), "annotations")


def test_elements_with_their_lines(tmp_path: Path) -> None:
    root = read(tmp_path, "<a>one\n<b x='1'/>two<c>\n<b x='&lt;'>t&amp;</b></c></a>\n")
    assert (root.tag, root.line, root.text) == ("a", 1, "one\ntwo")
    assert [(b.line, b.attributes) for b in root.all("b")] == [(2, {"x": "1"})]
    assert [(b.line, b.text) for b in root.all("*", "b")] == [(3, "t&")]
    assert list(root.all()) == [root]


NAMES = st.text("abc", min_size=1, max_size=3)
TEXTS = st.text(st.characters(exclude_categories=("Cs", "Cc", "Cn", "Co")), max_size=5)


@st.composite
def elements(draw: st.DrawFn, depth: int = 3) -> tuple[str, dict[str, str], str, list[object]]:
    children = draw(st.lists(elements(depth - 1), max_size=2)) if depth else []
    attributes = draw(st.dictionaries(NAMES, TEXTS, max_size=2))
    return draw(NAMES), attributes, draw(TEXTS), list(children)


def as_text(element: object) -> str:
    assert isinstance(element, tuple)
    tag, attributes, text, children = element
    pairs = "".join(f" {name}={quoteattr(value)}" for name, value in attributes.items())
    return f"<{tag}{pairs}>{escape(text)}{''.join(map(as_text, children))}</{tag}>"


def as_parts(element: Element) -> object:
    return (element.tag, element.attributes, element.text, [as_parts(c) for c in element.children])


@given(
    element=elements(),
    encoding=st.sampled_from(["utf-8", "utf-16", "utf-8-sig", "unicode-entities"]),
)
def test_any_elements_come_back(folder: Path, element: object, encoding: str) -> None:
    text = as_text(element)
    if encoding == "unicode-entities":
        data = text.encode("ascii", "xmlcharrefreplace")
    else:
        declared = "utf-16" if encoding == "utf-16" else "utf-8"
        data = f"<?xml version='1.0' encoding='{declared}'?>\n{text}".encode(encoding)
    assert as_parts(read(folder, data)) == element


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16-le"])
def test_the_encoding_that_it_declares(tmp_path: Path, encoding: str) -> None:
    mark = b"\xff\xfe" if encoding == "utf-16-le" else b""
    declared = encoding.removesuffix("-le")
    data = mark + f"<?xml version='1.0' encoding='{declared}'?><a>ä</a>".encode(encoding)
    assert read(tmp_path, data).text == "ä"


def test_elements_inside_elements(tmp_path: Path) -> None:
    error = refusal(lambda: read(tmp_path, "<a>" * 100_000))
    assert (error.name, error.found) == ("xml-broken", "<a>")
    assert read(tmp_path, "<a>" * 100 + "</a>" * 100).tag == "a"
