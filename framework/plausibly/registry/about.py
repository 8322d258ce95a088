"""What a component takes, in words: its parameters with types, defaults and what they mean."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator

import attrs

from plausibly.errors import ComponentError

Describe = Callable[[object], object]
"""Returns a value as plain data: `config.describe.plain` with a registry."""

_SECTIONS = ("Attributes", "Parameters")
_UNDERLINE = re.compile(r"-{3,}\s*")


@attrs.frozen
class About:
    """One parameter of a component, in words.

    Attributes
    ----------
    name : str
        As it is written in a table.
    type : str
        What it takes.
    required : bool
        Whether it has no default.
    default : str
        As it is written in a table; empty where there is none.
    help : str
        What it means; empty where the author does not say.
    """

    name: str
    type: str
    required: bool
    default: str
    help: str


def about(target: Callable[..., object], plain: Describe) -> tuple[About, ...]:
    """Return the parameters of a component, in words.

    Parameters
    ----------
    target : callable
        The class or function that makes it.
    plain : callable
        Turns defaults into plain data.
    """
    from plausibly.registry.convert import expected
    from plausibly.registry.parameters import parameters_of

    meanings = helps(target)
    try:
        found = parameters_of(target, typed=True)
    except ComponentError:  # types that exist for type checkers only: as they are written
        found = parameters_of(target)
    return tuple(
        About(
            p.name,
            p.type if isinstance(p.type, str) else expected(p.type),
            p.required,
            "" if p.required or p.default is attrs.NOTHING else _written(plain(p.default)),
            meanings.get(p.name, meanings.get(p.field, "")),
        )
        for p in found
    )


def _written(value: object) -> str:
    """Return plain data as TOML writes them in one line; there is no word for nothing."""
    from plausibly.registry.mistakes import written

    if value is None:
        return "none"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key} = {_written(item)}' for key, item in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(_written(item) for item in value)}]"
    return written(value)


def helps(target: Callable[..., object]) -> dict[str, str]:
    """Return what the parameters of a class or function mean, where its author says it.

    That is ``metadata={"help": ...}`` of an attrs field, else the sections ``Attributes`` and
    ``Parameters`` of a numpydoc docstring.
    """
    found: dict[str, str] = {}
    for base in reversed(target.__mro__ if isinstance(target, type) else [target]):
        doc = vars(base).get("__doc__") if isinstance(base, type) else inspect.getdoc(base)
        found |= dict(_documented(inspect.cleandoc(doc or "")))
    if isinstance(target, type) and attrs.has(target):
        for field in attrs.fields(target):
            if isinstance(text := field.metadata.get("help"), str):
                found[field.name] = text
    return found


def _documented(doc: str) -> Iterator[tuple[str, str]]:
    lines = doc.splitlines()
    names: list[str] = []
    words: list[str] = []
    inside = False
    for line, after in zip(lines, [*lines, ""][1:], strict=True):
        title = bool(line.strip()) and bool(_UNDERLINE.fullmatch(after))
        if title or (line and not line[0].isspace() and not _UNDERLINE.fullmatch(line)):
            yield from ((name, _plain(words)) for name in names if inside)
            names, words = [], []
            inside = line.strip() in _SECTIONS if title else inside
            if not title:
                names = [name.strip() for name in line.partition(":")[0].split(",")]
        elif not _UNDERLINE.fullmatch(line):
            words += line.split()
    yield from ((name, _plain(words)) for name in names if inside)


def _plain(words: list[str]) -> str:
    return " ".join(words).replace("``", "")


def first_sentence(target: Callable[..., object]) -> str:
    """Return the first line of a docstring, for components without a summary."""
    doc = inspect.getdoc(target) or ""
    return doc.partition("\n")[0].strip()
