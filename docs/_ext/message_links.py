"""In the reference, the name of a message leads to the page of messages."""

from __future__ import annotations

import re
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata


def _link(app: Sphinx, doctree: nodes.document, name: str) -> None:
    if not name.startswith("reference/"):
        return
    page = Path(app.srcdir, "messages.md").read_text(encoding="utf-8")
    known = set(re.findall(r"^### (\S+)$", page, re.MULTILINE))
    address = app.builder.get_relative_uri(name, "messages")
    for literal in list(doctree.findall(nodes.literal)):
        if literal.astext() in known and not isinstance(literal.parent, nodes.reference):
            link = nodes.reference("", "", refuri=f"{address}#{literal.astext()}", internal=True)
            literal.replace_self(link)
            link += literal


def setup(app: Sphinx) -> ExtensionMetadata:
    """Link what is resolved."""
    app.connect("doctree-resolved", _link)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
