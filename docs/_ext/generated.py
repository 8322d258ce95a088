"""Blocks and tables from the code, inserted into pages when Sphinx reads them."""

from __future__ import annotations

from pathlib import Path

from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

import cut_docs
import cut_reference


def fill(app: Sphinx, page: str, source: list[str]) -> None:
    """Insert blocks and tables below their marks."""
    if page.startswith("extend/"):
        source[0] = cut_docs.cut(source[0])
    elif Path(app.srcdir, f"{page}.md") in cut_reference.PAGES:
        source[0] = cut_reference.cut(source[0])


def setup(app: Sphinx) -> ExtensionMetadata:
    """Fill pages as they are read."""
    app.connect("source-read", fill)
    return {"parallel_read_safe": True}
