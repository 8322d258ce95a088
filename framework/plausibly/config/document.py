"""Study files as text: their tables, the line of each key, and plain data as TOML."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from functools import reduce
from pathlib import Path as FilePath
from typing import Any

import attrs
import tomli_w

from plausibly.errors import SLASHES, InputError, counted
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
    """Return a path as messages write it: ``methods[0].combiner.delta``."""
    return reduce(lambda inner, part: joined(part, inner), reversed(parts), "")


def lines_of(text: str) -> dict[str, int]:
    """Return the line, from 1, of every key, table and item of a list, by its path."""
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


_WHERE = re.compile(r" \(at (?:line (?P<line>\d+), column \d+|end of document)\)$")
_BACKSLASH = re.compile(r'"[^"]*\\[^"]*"')


@attrs.frozen(kw_only=True)
class Document:
    """The tables of a settings file, with the line of each key."""

    name: str
    tables: Mapping[str, object]
    path: FilePath | None = None
    lines: Mapping[str, int] = attrs.field(factory=dict)


def parse(text: str, name: str, path: FilePath | None = None) -> Document:
    """Return the tables of the text of a settings file."""
    try:
        tables = tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        reason = str(error)
        where = _WHERE.search(reason)
        number = int(where["line"]) if where and where["line"] else text.count("\n") + 1
        got = _WHERE.sub("", reason)
        do = "mend that line"
        line = "".join(text.splitlines()[number - 1 : number])
        if _BACKSLASH.search(line):
            got = f"a backslash between double quotation marks: {got[:1].lower()}{got[1:]}"
            do = SLASHES
        raise InputError(
            "toml-broken",
            f"{name} line {counted(number)} is no TOML",
            expected='key = value, [table] or [[list of tables]], and text in "quotation marks"',
            got=f"{got[:1].lower()}{got[1:]}",
            do=do,
            whose=name,
            details={"line": number},
        ) from None
    return Document(name=name, tables=tables, path=path, lines=lines_of(text))


Note = Callable[[str], str]
"""Returns the comment beside a value, by its path; empty for none."""


def toml_text(tables: Mapping[str, object], note: Note | None = None) -> str:
    """Return tables as TOML."""
    blocks = (_block(header, table, path, note) for header, path, table in _sections(tables))
    return "\n".join(blocks)


def values_of(tables: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Yield the path and the value of everything that has a line of its own."""
    for _, above, table in _sections(tables):
        for path, value in _leaves(table, ()):
            yield path_text((*above, *path)), value


def _sections(tables: Mapping[str, object]) -> Iterator[tuple[str, Path, Mapping[str, object]]]:
    plain = {key: value for key, value in tables.items() if not _is_section(value)}
    if plain:
        yield "", (), plain
    for name, value in tables.items():
        key = key_text(name)
        if isinstance(value, Mapping):
            yield f"[{key}]\n", (name,), value
        elif _is_section(value) and isinstance(value, list | tuple):
            for number, item in enumerate(value):
                yield f"[[{key}]]\n", (name, number), item


def _leaves(table: Mapping[str, object], path: Path) -> Iterator[tuple[Path, object]]:
    for key, value in table.items():
        if isinstance(value, Mapping) and "name" in value:
            yield from _leaves(value, (*path, key))
        else:
            yield (*path, key), value


def key_text(key: str) -> str:
    """Return a key as it is typed: in quotation marks where it needs them."""
    return tomli_w.dumps({key: 0}).removesuffix(" = 0\n")


def value_text(value: object) -> str:
    """Return a value on one line."""
    if isinstance(value, Mapping):
        pairs = [
            f"{key_text(str(key))} = {value_text(item)}"
            for key, item in value.items()
            if item is not None
        ]
        return f"{{ {', '.join(pairs)} }}" if pairs else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(value_text(item) for item in value)}]"
    scalar: Any = value  # Any: what tomli_w does not know it refuses
    return tomli_w.dumps({"x": scalar}).removeprefix("x = ").removesuffix("\n")


def _is_section(value: object) -> bool:
    if isinstance(value, list | tuple):
        return bool(value) and all(isinstance(item, Mapping) for item in value)
    return isinstance(value, Mapping)


def _block(header: str, table: Mapping[str, object], above: Path, note: Note | None) -> str:
    rows: list[tuple[str, str]] = []
    for path, value in _leaves(table, ()):
        key = ".".join(key_text(str(part)) for part in path)
        if value is not None:
            beside = note(path_text((*above, *path))) if note else ""
            rows.append((f"{key} = {value_text(value)}", beside))
        elif note:
            rows.append((f"# {key}", "not set"))
    width = max((len(text) for text, beside in rows if beside), default=0)
    lines = [f"{text:<{width}}  # {beside}" if beside else text for text, beside in rows]
    return header + "".join(f"{line}\n" for line in lines)
