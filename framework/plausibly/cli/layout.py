"""Layout of results: titled lines and tables, in the width, characters and colours of a stream."""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import shutil
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TextIO, TypeAlias, cast

from plausibly.errors import counted, visible
from plausibly.text import wrapped

Row: TypeAlias = "tuple[str, str | list[str] | tuple[object, ...]]"
"""A title, and a text to wrap, lines that are wrapped already, or the words of a command."""

Choice: TypeAlias = "tuple[str, Mapping[str, object] | int, bool]"
"""A title, the component or number, and whether it is the default."""

WIDTH = 80  # columns without a terminal: files and pipes get the same text everywhere
_NARROWEST, _WIDEST = 40, 120  # with longer lines, text is hard to read


class Aside:
    """Standard output while components run: what they print goes to stderr."""

    def __init__(self, results: TextIO) -> None:
        self.results = results

    def __getattr__(self, name: str) -> Any:  # Any: whatever a file has
        return getattr(sys.stderr, name)


def aside() -> contextlib.AbstractContextManager[object]:
    return contextlib.redirect_stdout(cast("TextIO", Aside(results())))


def results() -> TextIO:
    return sys.stdout.results if isinstance(sys.stdout, Aside) else sys.stdout


def is_styled(stream: TextIO) -> bool:
    """Return whether to print colours: on a terminal, unless the environment says otherwise."""
    if os.environ.get("NO_COLOR"):
        return False
    forced = os.environ.get("FORCE_COLOR", "")
    if forced:
        return forced != "0"
    return stream.isatty() and os.environ.get("TERM", "") not in ("dumb", "unknown")


def columns() -> int:
    """Return how many columns a line may have: those of the terminal, 40 to 120; 80 in a pipe."""
    if not results().isatty():
        return WIDTH
    return min(max(shutil.get_terminal_size((WIDTH, 24)).columns, _NARROWEST), _WIDEST)


def tolerate() -> None:
    """Print a question mark where a terminal lacks a character; nothing to a closed stream."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            # Without a place of its own, what is printed would go into the next file opened.
            setattr(sys, name, io.TextIOWrapper(io.FileIO(os.devnull, "w"), encoding="utf-8"))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def print_styled(text: str, stream: TextIO) -> None:
    from rich.console import Console
    from rich.text import Text

    styled = Text(text)
    styled.highlight_regex(r"(?m)^[a-z]+(?: [a-z]+)*(?=  )", "bold")
    styled.highlight_regex(r"(?m)^error [a-z-]+", "bold red")
    styled.highlight_regex(r"(?m)^warning [a-z-]+", "bold yellow")
    styled.highlight_regex(r"(?m)^next +(?P<cyan>\S.*)$")
    styled.highlight_regex(r"(?P<red>✗|^FAILED\b)|(?P<yellow>(?<!-)\bvacuous\b)")
    console = Console(file=stream, highlight=False, force_terminal=True)
    console.print(styled, soft_wrap=True)


def fields(rows: Iterable[Row]) -> str:
    """Return titled lines, the titles in one column, long texts wrapped under their start."""
    kept = [(title, text) for title, text in rows if text]
    width = max((len(title) for title, _ in kept), default=0) + 2
    lines: list[str] = []
    for title, text in kept:
        if isinstance(text, str):
            text = wrapped(visible(text), columns() - width)
        elif isinstance(text, tuple):
            text = command_line(text, indent=width)
        titles = [title, *[""] * (len(text) - 1)]
        lines += [f"{name:<{width}}{line}" for name, line in zip(titles, text, strict=True)]
    return "\n".join(lines)


def command_line(words: Iterable[object], *, indent: int = 0) -> list[str]:
    """Return a command that can be pasted, in several lines where it is too long."""
    text = " ".join(shlex.quote(str(word)).replace(" ", "\0") for word in words)
    lines = [line.replace("\0", " ") for line in wrapped(text, columns() - indent - 2, indent=2)]
    return [*(f"{line} \\" for line in lines[:-1]), lines[-1]]


def component(table: Mapping[str, object]) -> str:
    """Return a component as people write it: ``monte-carlo (draws 10)``."""
    # A switch is shown where it is on; None leaves open what is chosen by other rules.
    parameters = [
        key if value is True else f"{key} {_value(value)}"
        for key, value in table.items()
        if key != "name" and value is not False and value is not None
    ]
    return f"{table['name']} ({', '.join(parameters)})" if parameters else str(table["name"])


def _value(value: object) -> str:
    if isinstance(value, Mapping) and "name" in value:
        return component(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def choices(made: Iterable[Choice]) -> str:
    chosen: list[str] = []
    defaults: list[str] = []
    for title, value, by_default in made:
        text = component(value) if isinstance(value, Mapping) else str(value)
        (defaults if by_default else chosen).append(f"{title} {text}")
    word = "default" if len(defaults) == 1 else "defaults"
    ours = f"{', '.join(defaults)} ({word})" if defaults else ""
    return "; ".join(filter(None, (", ".join(chosen), ours)))


def counts(by_reason: Mapping[str, int]) -> str:
    return ", ".join(f"{counted(count)} {reason}" for reason, count in by_reason.items())


def bytes_of(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())


def size(path: Path) -> str:
    total = bytes_of(path)
    if total < 1e5:
        return f"{total / 1e3:.1f} kB"
    return f"{total / 1e9:.1f} GB" if total >= 1e9 else f"{total / 1e6:.1f} MB"
