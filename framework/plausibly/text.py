"""Shares as text, and small tables for notebooks: texts escaped, colours of the page, no script."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Iterable, Sequence
from typing import NewType

Html = NewType("Html", str)
"""A piece of a page that is complete in itself; plain text becomes one through these functions."""


def percent(share: float) -> str:
    """Return a share in whole percents; only none is 0% and only all is 100%."""
    if 0 < share < 0.01:
        return "under 1%"
    return "over 99%" if 0.99 < share < 1 else f"{100 * share:.0f}%"


def wrapped(text: str, width: int = 80, *, indent: int = 0) -> list[str]:
    """Return the lines of a text, `indent` columns in but for the first; words are never cut."""
    return textwrap.wrap(
        text,
        width,
        subsequent_indent=" " * indent,
        break_on_hyphens=False,
        break_long_words=False,
        replace_whitespace=False,
    )


_TABLE = "border-collapse:collapse;margin:0.3em 0;font-size:0.95em"
_CELL = "text-align:left;vertical-align:top;padding:0.1em 1em 0.1em 0"
_TEXT = f"{_CELL};max-width:40em;overflow-wrap:anywhere;white-space:normal"
_HEAD = f"{_CELL};font-weight:600;border-bottom:1px solid currentColor"


def escaped(text: object) -> Html:
    """Return a text as it is written, without interpretation."""
    return Html(html.escape(str(text)))


def table(
    rows: Iterable[Sequence[object]], *, head: Sequence[object] = (), titled: bool = False
) -> Html:
    """Return rows of texts as a table."""
    written = []
    if head:
        titles = "".join(f'<th scope="col" style="{_HEAD}">{escaped(cell)}</th>' for cell in head)
        written.append(f"<thead><tr>{titles}</tr></thead>")
    written.append("<tbody>")
    for row in rows:
        cells = [f'<td dir="auto" style="{_TEXT}">{escaped(cell)}</td>' for cell in row]
        if titled and cells:
            cells[0] = f'<th scope="row" dir="auto" style="{_CELL}">{escaped(row[0])}</th>'
        written.append(f"<tr>{''.join(cells)}</tr>")
    written.append("</tbody>")
    return Html(f'<table style="{_TABLE}">{"".join(written)}</table>')


def paragraph(text: object) -> Html:
    """Return a line of text."""
    return Html(f'<p dir="auto" style="margin:0.2em 0">{escaped(text)}</p>')


def preformatted(text: object) -> Html:
    """Return a text whose lines and columns stay."""
    return Html(f"<pre>{escaped(text)}</pre>")


def unfolded(summary: object, *parts: Html) -> Html:
    """Return what is shown when its summary is clicked."""
    return Html(f"<details><summary>{escaped(summary)}</summary>{''.join(parts)}</details>")


def framed(title: object, *parts: Html) -> Html:
    """Return a title and what belongs to it."""
    return Html(
        f'<div class="plausibly"><p dir="auto" style="margin:0.2em 0"><strong>{escaped(title)}'
        f"</strong></p>{''.join(parts)}</div>"
    )
