"""Study files as text: their tables, the line of each key, and plain data as TOML."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cached_property, reduce
from pathlib import Path as FilePath
from typing import Any

import attrs
import tomli_w

from plausibly.errors import SLASHES, InputError, counted
from plausibly.registry.mistakes import joined

_QUOTED = re.compile(r"\"(?:\\.|[^\"\\])*\"|'[^']*'|#.*")
_WHERE = re.compile(r" \(at (?:line (?P<line>\d+), column \d+|end of document)\)$")

Path = tuple[str | int, ...]


def path_text(parts: Sequence[str | int]) -> str:
    """Return a path as messages write it: ``methods[0].combiner.delta``."""
    return reduce(lambda inner, part: joined(part, inner), reversed(parts), "")


def paths_of(value: object, above: Path = ()) -> Iterator[Path]:
    yield above
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from paths_of(item, (*above, str(key)))
    elif isinstance(value, list | tuple):
        for number, item in enumerate(value):
            yield from paths_of(item, (*above, number))


def lines_of(text: str) -> dict[str, int]:
    """Return the line, from 1, of every key, table and item of a list, by its path.

    The text up to a line is TOML once its open brackets are closed, unless a string goes on. A
    path that it has, and the text before has not, begins after that text.
    """
    rows = text.split("\n")
    lines: dict[Path, int] = {}
    start, closing = 1, ""
    for number, row in enumerate(rows, 1):
        for mark in re.findall(r"[]\[{}]", _QUOTED.sub("", row)):
            closing = {"[": "]", "{": "}"}[mark] + closing if mark in "[{" else closing[1:]
        try:
            tables = tomllib.loads("\n".join([*rows[:number], closing]))
        except tomllib.TOMLDecodeError:
            continue
        for path in paths_of(tables):
            lines.setdefault(path, start)
        start = number + 1
    lines.pop((), None)
    return {path_text(path): line for path, line in lines.items()}


@attrs.frozen(kw_only=True)
class Document:
    name: str
    tables: Mapping[str, object]
    path: FilePath | None = None
    text: str = ""

    @cached_property
    def lines(self) -> dict[str, int]:
        return lines_of(self.text)


def parse(text: str, name: str, path: FilePath | None = None) -> Document:
    """Return the tables of the text of a settings file."""
    try:
        tables = tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        reason = str(error)
        where = _WHERE.search(reason)
        number = int(where["line"]) if where and where["line"] else text.count("\n") + 1
        problem = _WHERE.sub("", reason)
        line = "".join(text.splitlines()[number - 1 : number])
        raise InputError(
            "toml-broken",
            f"{name} line {counted(number)} is no TOML",
            expected='key = value, [table] or [[list of tables]], and text in "quotation marks"',
            found=f"{problem[:1].lower()}{problem[1:]}",
            hint=SLASHES if "\\" in line else "fix that line",
            source=name,
            details={"line": number},
        ) from None
    return Document(name=name, tables=tables, path=path, text=text)


Note = Callable[[str], str]  # returns the comment beside a value, by its path; empty for none


def toml_text(tables: Mapping[str, object], note: Note | None = None) -> str:
    blocks = (_block(header, table, path, note) for header, path, table in _sections(tables))
    return "\n".join(blocks)


def values_of(tables: Mapping[str, object]) -> Iterator[tuple[str, object]]:
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
