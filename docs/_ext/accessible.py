"""Accessibility of the built pages, for keyboards and screen readers.

- Captions of the menu are headings of a level.
- Blocks of code and tables can scroll, so that they can be reached by keyboard.
- Parameters of a long signature are lines, not definitions without a term.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

_MENU = "furo_navigation_tree"
_TABLE, _REACHED = '<div class="table-wrapper', '<div tabindex="0" class="table-wrapper'
_SIGNATURE = re.compile(r"<dl>\s*((?:<dd><em class=\"sig-param\">.*?</dd>\s*)+)</dl>", re.DOTALL)


def _lines(found: re.Match[str]) -> str:
    shown = found[1].replace("<dd>", '<span class="sig-line">').replace("</dd>", "</span>")
    return f'<span class="sig-lines">{shown}</span>'


def _adapt(
    app: Sphinx,
    page: str,
    template: str,
    context: dict[str, Any],  # Any: values of templates
    doctree: nodes.document | None,
) -> None:
    if menu := context.get(_MENU):
        context[_MENU] = menu.replace('role="heading"', 'role="heading" aria-level="2"')
    if body := context.get("body"):
        reached = body.replace("<pre>", '<pre tabindex="0">').replace(_TABLE, _REACHED)
        context["body"] = _SIGNATURE.sub(_lines, reached)


def setup(app: Sphinx) -> ExtensionMetadata:
    """Change every page after the theme has made its menu."""
    app.connect("html-page-context", _adapt, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
