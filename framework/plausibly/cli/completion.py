"""Values that a shell offers for an option: names of components, columns, plugins, figures."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeAlias

import typer

Offer: TypeAlias = "Callable[[str], list[tuple[str, str]]]"
"""Returns values that begin with what was typed, each with what it is."""

_HEAD = 1 << 16
_ENDINGS = frozenset({".csv", ".tsv", ".tab", ".txt"})


def offering(values: Callable[[], Iterable[tuple[str, str]]]) -> Offer:
    """Return what offers those of some values that begin with what was typed."""

    def offer(incomplete: str) -> list[tuple[str, str]]:
        # A shell asks while a command is typed: what goes wrong is no answer, never a message.
        with contextlib.suppress(Exception, SystemExit), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return [(name, about) for name, about in values() if name.startswith(incomplete)]
        return []

    return offer


def components(kind: str) -> Offer:
    return offering(lambda: _components(kind))


def choices(values: Iterable[object]) -> Offer:
    return offering(lambda: ((str(value), "") for value in values))


def columns(file: str) -> Callable[[typer.Context, str], list[tuple[str, str]]]:
    """Return what offers the columns of a table that another option named."""

    def offer(context: typer.Context, incomplete: str) -> list[tuple[str, str]]:
        return offering(lambda: _columns(context.params.get(file)))(incomplete)

    return offer


def _plugins() -> Iterator[tuple[str, str]]:
    from plausibly import registry

    yield from ((source.plugin, source.where) for source in registry.default().plugins())


def _components(kind: str = "") -> Iterator[tuple[str, str]]:
    """Yield name and summary of the components of a kind, or of all kinds."""
    from plausibly import registry
    from plausibly.registry.listing import overview

    for row in overview(registry.default()):
        if row.name and kind in ("", row.kind) and row.state == "ready":
            yield row.name, row.summary


def _figures() -> Iterator[tuple[str, str]]:
    from plausibly.paper.run import ENTRIES

    yield "all", "every figure"
    yield from ((entry.name, entry.shows) for entry in ENTRIES)


def _columns(path: object) -> Iterator[tuple[str, str]]:
    import csv

    if path is None or Path(str(path)).suffix.lower() not in _ENDINGS:
        return
    with Path(str(path)).open(encoding="utf-8-sig", newline="") as file:
        first = file.readline(_HEAD).rstrip("\r\n")
    delimiter = max(",\t;", key=first.count)
    for name in next(csv.reader([first], delimiter=delimiter)):
        yield name, ""


plugins = offering(_plugins)
plugins_and_components = offering(lambda: (*_plugins(), *_components()))
figures = offering(_figures)
