"""On which line of a TOML file each key stands: `tomllib` gives none.

The text has been parsed before, so that it is known to be right; a small scanner then only looks
for where things are. Where it loses its way it keeps what it found: a key without a line is shown
by its path alone.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from contextlib import suppress
from functools import reduce

from plausibly.registry.mistakes import joined

_BLANK = re.compile(r"[ \t]*")
_GAP = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_KEY = re.compile(r"""[A-Za-z0-9_-]+|"(?:\\.|[^"\\\n])*"|'[^'\n]*'""")
_TEXT = re.compile(
    r'''"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?'{3,5}|"(?:\\.|[^"\\\n])*"|'[^'\n]*\'''', re.DOTALL
)
_PLAIN = re.compile(r"[^,\]}#\n\r]+")

Path = tuple[str | int, ...]


class _Lost(Exception):
    """The scanner met something that it does not know."""


def path_text(parts: Sequence[str | int]) -> str:
    """Return a path as messages write it: ``calibrations[0].combiner.delta``."""
    return reduce(lambda inner, part: joined(part, inner), reversed(parts), "")


def lines_of(text: str) -> dict[str, int]:
    """Return the line, from 1, of every key, table and item of a list, by its path.

    Parameters
    ----------
    text : str
        TOML that `tomllib` reads.

    Returns
    -------
    dict of str to int
        Paths are written as `path_text` writes them. Two keys that would be written alike, such as
        ``a.b`` and ``"a.b"``, have none.
    """
    scanner = _Scanner(text)
    with suppress(_Lost):
        scanner.document()
    found: dict[str, set[int]] = {}
    for path, line in scanner.lines.items():
        found.setdefault(path_text(path), set()).add(line)
    return {path: lines.pop() for path, lines in found.items() if len(lines) == 1}


class _Scanner:
    def __init__(self, text: str) -> None:
        self.lines: dict[Path, int] = {}
        self._text = text
        self._at = 0
        self._lists: dict[Path, int] = {}  # last index of each array of tables

    def document(self) -> None:
        table: Path = ()
        self._skip(_GAP)
        while self._at < len(self._text):
            if self._next("[["):
                table = self._header(several=True)
            elif self._next("["):
                table = self._header(several=False)
            else:
                self._pair(table)
            self._skip(_GAP)

    def _header(self, *, several: bool) -> Path:
        line = self._line()
        self._skip(_BLANK)
        parts = self._key()
        self._need("]]" if several else "]")
        # A table below an array of tables belongs to the last one of it.
        path: Path = ()
        for part in parts[:-1]:
            path = self._inside((*path, part))
        path = (*path, parts[-1])
        if several:
            self.lines.setdefault(path, line)
            self._lists[path] = self._lists.get(path, -1) + 1
        path = self._inside(path)
        self.lines.setdefault(path, line)
        return path

    def _inside(self, path: Path) -> Path:
        return (*path, self._lists[path]) if path in self._lists else path

    def _pair(self, table: Path) -> None:
        line = self._line()
        path = table
        for part in self._key():
            path = (*path, part)
            self.lines.setdefault(path, line)
        self._need("=")
        self._skip(_BLANK)
        self._value(path)

    def _value(self, path: Path) -> None:
        if self._next("["):
            number = 0
            self._skip(_GAP)
            while not self._next("]"):
                self.lines[*path, number] = self._line()
                self._value((*path, number))
                self._comma("]")
                number += 1
        elif self._next("{"):
            self._skip(_GAP)
            while not self._next("}"):
                self._pair(path)
                self._comma("}")
        elif self._text[self._at : self._at + 1] in ('"', "'"):
            self._take(_TEXT)
        else:
            self._take(_PLAIN)

    def _comma(self, end: str) -> None:
        self._skip(_GAP)
        if self._next(","):
            self._skip(_GAP)
        elif not self._text.startswith(end, self._at):
            raise _Lost

    def _key(self) -> list[str]:
        parts = []
        while True:
            written = self._take(_KEY)
            parts.append(written if written[0] not in "\"'" else _unquoted(written))
            self._skip(_BLANK)
            if not self._next("."):
                return parts
            self._skip(_BLANK)

    def _skip(self, pattern: re.Pattern[str]) -> None:
        found = pattern.match(self._text, self._at)
        self._at = found.end() if found else self._at

    def _take(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self._text, self._at)
        if not found:
            raise _Lost
        self._at = found.end()
        return found.group()

    def _next(self, mark: str) -> bool:
        found = self._text.startswith(mark, self._at)
        self._at += len(mark) * found
        return found

    def _need(self, mark: str) -> None:
        if not self._next(mark):
            raise _Lost

    def _line(self) -> int:
        return self._text.count("\n", 0, self._at) + 1


def _unquoted(written: str) -> str:
    (key,) = tomllib.loads(f"{written} = 0")
    return key
