"""How a command's result looks: titled lines, numbers and command lines that fit the terminal."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from plausibly.cli import terminal
from plausibly.errors import counted, visible

WIDTH = terminal.PIPED


def fields(rows: Iterable[tuple[str, str | list[str]]]) -> str:
    """Return titled lines, the titles in one column, long texts wrapped under their start."""
    kept = [(title, text) for title, text in rows if text]
    width = max((len(title) for title, _ in kept), default=0) + 2
    return "\n".join(_field(title, text, width) for title, text in kept)


def _field(title: str, text: str | list[str], width: int) -> str:
    if isinstance(text, str):
        text = wrapped(visible(text), terminal.width() - width)
    first, *rest = text
    return "\n".join([f"{title:<{width}}{first}", *(" " * width + line for line in rest)])


def wrapped(text: str, width: int = WIDTH, *, indent: int = 0) -> list[str]:
    """Return text in lines that break at spaces, from the second on indented."""
    return textwrap.wrap(
        text,
        width,
        subsequent_indent=" " * indent,
        break_on_hyphens=False,
        break_long_words=False,
        replace_whitespace=False,
    )


def command_line(words: Iterable[object], *, indent: int = 0) -> list[str]:
    """Return a command that can be pasted, broken before an option where it is too long."""
    parts: list[str] = []
    for word in words:
        text = shlex.quote(str(word))
        option = bool(parts) and parts[-1].startswith("-") and " " not in parts[-1]
        if option and not text.startswith("-"):
            parts[-1] += f" {text}"
        else:
            parts.append(text)
    lines = [parts[0]]
    most = terminal.width()
    for part in parts[1:]:
        if indent + len(lines[-1]) + 1 + len(part) + 2 <= most:
            lines[-1] += f" {part}"
        else:
            lines[-1] += " \\"
            lines.append(f"  {part}")
    return lines


def component(table: Mapping[str, object]) -> str:
    """Return a component as people write it: ``monte-carlo (draws 10)``."""
    # A switch is said where it is on; None leaves open what is chosen by other rules.
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


def choices(made: Iterable[tuple[str, Mapping[str, object] | int, bool]]) -> str:
    """Return what was chosen: first what the user said, then what was chosen for the user."""
    said: list[str] = []
    ours: list[str] = []
    for title, value, by_default in made:
        text = component(value) if isinstance(value, Mapping) else str(value)
        (ours if by_default else said).append(f"{title} {text}")
    if not ours:
        return ", ".join(said)
    word = "default" if len(ours) == 1 else "defaults"
    return "; ".join(part for part in (", ".join(said), f"{', '.join(ours)} ({word})") if part)


def counts(by_reason: Mapping[str, int]) -> str:
    """Return counts by reason in words: ``37 without a response, 3 bad rows``."""
    return ", ".join(f"{counted(count)} {reason}" for reason, count in by_reason.items())


def share(part: int, whole: int) -> str:
    """Return a share in percent: ``-`` for none, ``0 %`` for some that round to nothing."""
    return f"{100 * part / whole:.0f} %" if part else "-"


def number(value: float) -> str:
    """Return a threshold with four digits that mean something, and no leading zero."""
    text = f"{value:.4g}"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def size(path: Path) -> str:
    """Return how large a file or folder is, as people say it."""
    return size_text(bytes_of(path))


def bytes_of(path: Path) -> int:
    """Return how large a file or folder is."""
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())


def size_text(total: int) -> str:
    """Return a number of bytes as people say it."""
    if total < 1e5:
        return f"{total / 1e3:.1f} kB"
    return f"{total / 1e9:.1f} GB" if total >= 1e9 else f"{total / 1e6:.1f} MB"


def aligned(table: Sequence[Sequence[str]]) -> str:
    """Return a table as text whose columns start below each other."""
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    lines = (
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True))
        for row in table
    )
    return "\n".join(line.rstrip() for line in lines)
