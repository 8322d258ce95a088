"""What the program knows is put into the pages when they are read: no copy of it is kept."""

from __future__ import annotations

from pathlib import Path

from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

import command_line
import cut_docs
import cut_reference


def write_page(app: Sphinx) -> None:
    """Write the page of all commands beside the others; version control ignores it."""
    (Path(app.srcdir) / "command_line.md").write_text(command_line.page(), encoding="utf-8")


def fill(app: Sphinx, page: str, source: list[str]) -> None:
    """Put blocks and tables below their marks."""
    if page.startswith("extend/"):
        source[0] = cut_docs.cut(source[0])
    elif page in {
        path.relative_to(app.srcdir).with_suffix("").as_posix() for path in cut_reference.PAGES
    }:
        source[0] = cut_reference.cut(source[0])


def setup(app: Sphinx) -> ExtensionMetadata:
    """Fill pages as they are read."""
    app.connect("builder-inited", write_page)
    app.connect("source-read", fill)
    return {"parallel_read_safe": True}
