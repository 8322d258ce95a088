"""What a shell offers for the value of an option: names of components, columns, plugins, figures.

A shell asks while somebody types: whatever goes wrong here is no answer, never a message.
"""

from __future__ import annotations

import contextlib
import itertools
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import typer

if TYPE_CHECKING:
    from plausibly.registry import Registry

Offered: TypeAlias = "list[tuple[str, str]]"
"""Values, each with what it is."""

Offer: TypeAlias = Callable[[str], Offered]
OfferBeside: TypeAlias = Callable[[typer.Context, str], Offered]

_HEAD = 1 << 16
_ENDINGS = frozenset({".csv", ".tsv", ".tab", ".txt"})


def components(kind: str) -> Offer:
    """Return what offers the components of a kind that can be used here."""

    def offer(incomplete: str) -> Offered:
        return _beginning(incomplete, lambda: _components(kind))

    return offer


def choices(values: Iterable[object]) -> Offer:
    """Return what offers some values."""

    def offer(incomplete: str) -> Offered:
        return _beginning(incomplete, lambda: ((str(value), "") for value in values))

    return offer


def plugins(incomplete: str) -> Offered:
    """Offer plugins by name."""
    return _beginning(
        incomplete, lambda: ((source.plugin, source.where) for source in _registry().plugins())
    )


def plugins_and_components(incomplete: str) -> Offered:
    """Offer whatever ``plugins info`` and ``plugins check`` take."""
    kinds = [name for name, _ in kinds_of_component("")]
    parts = [plugins(incomplete), *(components(kind)(incomplete) for kind in kinds)]
    return list(itertools.chain.from_iterable(parts))


def kinds_of_component(incomplete: str) -> Offered:
    """Offer the kinds of components."""
    from plausibly.protocols import KINDS

    return choices(kind.name for kind in KINDS)(incomplete)


def kind_option(text: str) -> Any:  # Any: Typer exports no type of its options
    """Return the option ``--kind``."""
    return typer.Option("--kind", autocompletion=kinds_of_component, metavar="KIND", help=text)


def figures(incomplete: str) -> Offered:
    """Offer the figures of the paper."""

    def found() -> Iterator[tuple[str, str]]:
        from plausibly.paper.run import ENTRIES

        yield "all", "every figure"
        for entry in ENTRIES:
            yield entry.name, entry.shows

    return _beginning(incomplete, found)


def columns(file: str) -> OfferBeside:
    """Return what offers the columns of a table that another option named."""

    def offer(context: typer.Context, incomplete: str) -> Offered:
        return _beginning(incomplete, lambda: _columns(context.params.get(file)))

    return offer


def _beginning(incomplete: str, found: Callable[[], Iterable[tuple[str, str]]]) -> Offered:
    with contextlib.suppress(Exception, SystemExit), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [(name, about) for name, about in found() if name.startswith(incomplete)]
    return []


def _registry() -> Registry:
    from plausibly import registry

    return registry.default()


def _components(kind: str) -> Iterator[tuple[str, str]]:
    from plausibly.registry.listing import overview

    for row in overview(_registry()):
        if row.kind == kind and row.state == "ready":
            yield row.name, row.summary


def _columns(path: object) -> Iterator[tuple[str, str]]:
    import csv

    if path is None or Path(str(path)).suffix.lower() not in _ENDINGS:
        return
    with Path(str(path)).open(encoding="utf-8-sig", newline="") as file:
        first = file.readline(_HEAD).rstrip("\r\n")
    delimiter = max(",\t;", key=first.count)
    for name in next(csv.reader([first], delimiter=delimiter)):
        yield name, ""
