"""Plain data as TOML: a line a value, each under its full path, so that a note can stand beside."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import tomli_w

from plausibly.config.locate import path_text

Path = tuple[str | int, ...]

Note = Callable[[str], str]
"""Returns what to write beside a value, of which it is given the path."""


def toml_text(tables: Mapping[str, object], note: Note | None = None) -> str:
    """Return tables as TOML.

    Parameters
    ----------
    tables : mapping
        Plain data; what is None has a comment where notes are asked for, else nothing. Tables in
        lists stand under ``[[name]]`` where the list is at the top; components, which are tables
        with a name, have a line a parameter.
    note : callable, optional
        What to write as a comment beside each value.
    """
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
    width = max((len(text) for text, _ in rows), default=0)
    lines = [f"{text:<{width}}  # {beside}" if note else text for text, beside in rows]
    return header + "".join(f"{line}\n" for line in lines)
