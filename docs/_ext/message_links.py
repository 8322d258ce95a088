"""Names of messages: an anchor for each on its page, and links to it from the reference."""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

from messages import causes


def _link(app: Sphinx, doctree: nodes.document, page: str) -> None:
    if page == "messages":
        for row in doctree.findall(nodes.row):
            for name in list(row.findall(nodes.literal))[:1]:
                row["ids"].append(name.astext())
    if not page.startswith("reference/"):
        return
    names = causes()
    address = app.builder.get_relative_uri(page, "messages")
    for literal in list(doctree.findall(nodes.literal)):
        if literal.astext() in names and not isinstance(literal.parent, nodes.reference):
            link = nodes.reference("", "", refuri=f"{address}#{literal.astext()}", internal=True)
            literal.replace_self(link)
            link += literal


def setup(app: Sphinx) -> ExtensionMetadata:
    """Link names once the references of a page are resolved."""
    app.connect("doctree-resolved", _link)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
