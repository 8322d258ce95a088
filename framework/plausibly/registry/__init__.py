"""Plugins and their components: one hook and one registry."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, suppress
from functools import cache
from typing import TypeVar

from plausibly.errors import ComponentError
from plausibly.protocols import ComponentLike, Kind
from plausibly.registry.entries import Disabled, Entry, Source
from plausibly.registry.registry import (
    API_VERSION,
    Plugin,
    RegisterHook,
    Registrar,
    Registry,
    hookimpl,
)

__all__ = [
    "API_VERSION",
    "Disabled",
    "Entry",
    "Plugin",
    "RegisterHook",
    "Registrar",
    "Registry",
    "Source",
    "called",
    "default",
    "hookimpl",
    "register",
    "resolve",
]

P = TypeVar("P")


@cache
def default() -> Registry:
    """Return the registry of this process, which runs no plugin before a component is needed."""
    return Registry()


def resolve(kind: Kind[P], like: ComponentLike[P], params: Mapping[str, object] | None = None) -> P:
    """Return the component that a name, a table or an object stands for; see `Registry.create`."""
    return default().create(kind, like, params)


def called(kind: Kind[P], component: P) -> str:
    """Return the registered name of a component, or the name of its class."""
    with suppress(ComponentError):
        return default().name_of(kind, component)
    return type(component).__name__


def register(
    kind: Kind[P], name: str, target: Callable[..., P] | str, *, summary: str = ""
) -> None:
    """Offer a component in this process, as a plugin would with `Registrar.add`.

    The same class may come again, as when a notebook cell is run twice; another class, or a name of
    ours, is a ``name-clash``.

    Examples
    --------
    >>> import plausibly
    >>> from plausibly.plugin import AGGREGATOR
    >>> plausibly.register(AGGREGATOR, "plackett-luce", "my_package:PlackettLuce")
    """
    default().register(kind, name, target, summary=summary)


def disabling(names: Iterable[str], *, by: str = "disabling(...)") -> AbstractContextManager[None]:
    """Do without some plugins until the block ends, in every thread of this process."""
    return default().disabling(*([names] if isinstance(names, str) else names), by=by)
