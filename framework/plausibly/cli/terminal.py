"""What a stream can show: colours, characters, and how wide a line may be."""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import re
import shutil
import sys
import textwrap
from typing import Any, TextIO, cast

PIPED = 80
"""Columns where nobody looks: files and pipes get the same text everywhere."""

_NARROWEST, _WIDEST = 40, 120  # with longer lines, text is hard to read

_PLAIN = {
    "\u2026": "...",  # ellipsis
    "\u2717": "x",  # ballot cross
    "\u2713": "ok",  # check mark
    "\u00b1": "+-",  # plus or minus
    "\u00b7": "-",  # middle dot
    "\u00d7": "x",  # times
    "\u2265": ">=",
    "\u2264": "<=",
    "\u2013": "-",  # dashes
    "\u2014": "-",
    "\u2018": "'",  # quotes
    "\u2019": "'",
    "\u201c": '"',
    "\u201d": '"',
    "\u2192": "->",
}
_ERRORS = "plausibly"

_NUMBER = re.compile(r"[-+]?\.?\d")
_MEASURED = re.compile(r"[-+]?\d*\.\d|\d+ %$")
_CELLS = re.compile(r" {2,}")


class Aside:
    """Standard output while components run: what they print goes to stderr."""

    def __init__(self, results: TextIO) -> None:
        self.results = results

    def __getattr__(self, name: str) -> Any:  # Any: whatever a file has
        return getattr(sys.stderr, name)


def aside() -> contextlib.AbstractContextManager[object]:
    """Return a context in which only what is written to `results` reaches standard output."""
    return contextlib.redirect_stdout(cast("TextIO", Aside(results())))


def results() -> TextIO:
    """Return where results go: standard output, also while components run."""
    return sys.stdout.results if isinstance(sys.stdout, Aside) else sys.stdout


def is_styled(stream: TextIO) -> bool:
    """Return whether to print colours: on a terminal, unless the environment says otherwise.

    ``NO_COLOR`` turns them off and ``FORCE_COLOR`` on, where they are not empty; ``TERM=dumb`` is
    a terminal that has none.
    """
    if os.environ.get("NO_COLOR"):
        return False
    forced = os.environ.get("FORCE_COLOR", "")
    if forced:
        return forced != "0"
    return stream.isatty() and os.environ.get("TERM", "") not in ("dumb", "unknown")


def width(stream: TextIO | None = None) -> int:
    """Return how many columns a line may have: those of the terminal, 40 to 120; 80 in a pipe."""
    if not (results() if stream is None else stream).isatty():
        return PIPED
    return min(max(shutil.get_terminal_size((PIPED, 24)).columns, _NARROWEST), _WIDEST)


def narrowed(text: str, columns: int) -> str:
    """Return text without a line that is longer than `columns`, where its words allow it.

    Lines go on under the place where their text starts, behind a title, or a little to the right.
    """
    return "\n".join(
        line if len(line) <= columns else _broken(line, columns) for line in text.split("\n")
    )


def _broken(line: str, columns: int) -> str:
    title = re.match(r" *\S+(?: \S+)* {2,}(?=\S)|( *)", line)
    indent = title.end() if title is not None else 0
    if indent > columns // 2:
        indent = len(line) - len(line.lstrip()) + 2
    return "\n".join(
        textwrap.wrap(
            line,
            columns,
            subsequent_indent=" " * indent,
            break_long_words=False,
            break_on_hyphens=False,
        )
    )


def tolerate() -> None:
    """Print another character where a terminal lacks one; nothing where a stream is closed."""
    codecs.register_error(_ERRORS, _others)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            # Without a place of its own, what is printed would go into the next file opened.
            setattr(sys, name, io.TextIOWrapper(io.FileIO(os.devnull, "w"), encoding="utf-8"))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_ERRORS)


def _others(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(
        _PLAIN.get(letter, "?") for letter in error.object[error.start : error.end]
    ), error.end


def print_styled(text: str, stream: TextIO) -> None:
    """Print text with its titles, heads of tables and marks in bold and colours."""
    from rich.console import Console
    from rich.text import Text

    styled = Text(text)
    styled.highlight_regex(r"(?m)^[a-z]+(?: [a-z]+)*(?=  )", "bold")
    styled.highlight_regex(r"(?m)^error [a-z-]+", "bold red")
    styled.highlight_regex(r"(?m)^warning [a-z-]+", "bold yellow")
    styled.highlight_regex(r"(?m)^next +(?P<cyan>\S.*)$")
    styled.highlight_regex(r"(?P<red>✗|^FAILED\b)|(?P<yellow>(?<!-)\bvacuous\b)")
    # Rows of the tables of plugins.
    styled.highlight_regex(r"(?m)(?P<red>^.*  failed$)|(?P<yellow>^.*  (?:needs|no) extra$)")
    styled.highlight_regex(r"(?m)(?P<dim>^.*  disabled$)")
    for start, end in _heads(text):
        styled.stylize("bold", start, end)
    console = Console(file=stream, highlight=False, force_terminal=True)
    console.print(styled, soft_wrap=True)


def _heads(text: str) -> list[tuple[int, int]]:
    """Return where the heads of tables are: cells of words above cells of numbers."""
    lines = text.split("\n")
    found, start = [], 0
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        cells, under = _CELLS.split(line.strip()), _CELLS.split(below.strip())
        named = len(cells) > 2 and not any(map(_MEASURED.match, cells))
        if named and sum(_NUMBER.match(cell) is not None for cell in under) > 1:
            found.append((start, start + len(line)))
        start += len(line) + 1
    return found
