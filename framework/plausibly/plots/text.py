"""Names and notes in figures: names of any length and of any characters, cut where it is seen."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Sequence

from plausibly.plots.style import Axes, tone

ELLIPSIS = "…"
UNREADABLE = "�"
WIDTH = 26
LINES = 2
SIZE = 10
_LEAST = 6
_LEADING = 1.25  # from line to line, in units of the size of the font
_MARGINS = 0.6  # inches
_SHARED = 0.9  # of the width of axes that have neighbours, which may want some of it
_LETTER = 0.53  # mean width of a letter, in units of the size of the font


def shown_name(name: object, *, width: int = WIDTH, lines: int = LINES) -> str:
    """Return a name as figures show it: on few short lines, the middle left out where it is long.

    Parameters
    ----------
    name : object
    width : int
        Characters on a line.
    lines : int

    Notes
    -----
    Spaces of any kind become one space, since a line that a name begins by itself would break the
    figure; what has no picture, such as marks that turn the direction of writing, becomes �.
    """
    text = " ".join(str(name).split())
    text = "".join(UNREADABLE if unicodedata.category(c)[0] == "C" else c for c in text)
    text = text or '""'
    for room in range(width * lines, width, -1):
        # Words stay whole where less of the name lets them.
        broken = textwrap.wrap(_cut(text, room), width, break_on_hyphens=False)
        if len(broken) <= lines:
            return "\n".join(broken)
    return _cut(text, width)


def _cut(text: str, room: int) -> str:
    """Return a text without its middle, where it is longer than there is room."""
    if len(text) <= room:
        return text
    tail = room // 3
    return f"{text[: room - tail - 1].rstrip()}{ELLIPSIS}{text[-tail:].lstrip()}"


def shown_names(names: Sequence[object], *, width: int = WIDTH, lines: int = LINES) -> list[str]:
    """Return names as figures show them; those that look alike once they are cut are numbered."""
    shown = [shown_name(name, width=width, lines=lines) for name in names]
    twice = {one for one in shown if shown.count(one) > 1}
    return [f"{one} #{place + 1}" if one in twice else one for place, one in enumerate(shown)]


def heading(axes: Axes, title: str, *notes: str) -> None:
    """Write the title of a figure and below it, smaller, what it stands on.

    Parameters
    ----------
    axes : matplotlib Axes
    title : str
    *notes : str
        Such as the number of examples and what lines are; empty ones are left out.
    """
    text = axes.set_title(title, loc="left", fontsize=10, color=tone(axes).ink)
    text.set_parse_math(False)
    room = max(24, int(width_of(axes) * 72 / (text.get_fontsize() * _LETTER)))
    said = "; ".join(note for note in notes if note)
    text.set_text("\n".join([*textwrap.wrap(title, room), *textwrap.wrap(said, room)]))


def width_of(axes: Axes) -> float:
    """Return how wide these axes will be, in inches; their rows are named by now."""
    dpi = axes.figure.dpi
    if len(axes.figure.axes) > 1 or axes.figure.get_layout_engine() is None:
        return float(axes.bbox.width / dpi) * _SHARED
    # Alone in a figure that is laid out when it is drawn: what the names of the rows leave.
    lines = [line for text in axes.get_yticklabels() for line in text.get_text().split("\n")]
    named = max(map(len, lines), default=0) * SIZE * _LETTER / 72
    return float(axes.figure.bbox.width / dpi - named - _MARGINS)


def name_rows(axes: Axes, names: Sequence[str]) -> None:
    """Name the rows of a figure from the top down, and make room for just these."""
    lines = max((name.count("\n") + 1 for name in names), default=1)
    row = axes.bbox.height / axes.figure.dpi / max(1, len(names))
    size = min(SIZE, max(_LEAST, row * 72 / (lines * _LEADING)))
    axes.set_yticks(range(len(names)), names, parse_math=False, fontsize=size)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)


def share(value: float, digits: int = 3) -> str:
    """Return a share without the leading zero, as tables print it."""
    text = f"{value:.{digits}f}"
    return text.removeprefix("0") if text.startswith("0.") else text
