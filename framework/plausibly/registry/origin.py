"""From a component back to the name under which its class is registered."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from plausibly.errors import ComponentError, InputError
from plausibly.protocols import Kind
from plausibly.registry.entries import Entry
from plausibly.registry.messages import dashed

Places = Callable[[], Iterable[Entry]]
"""Returns the components of one kind that are known in a place."""


# Any: each kind has its own Protocol
def entry_of(kind: Kind[Any], component: object, *places: Places) -> Entry:
    """Return the entry whose class made a component."""
    cls = type(component)
    path = f"{cls.__module__}:{cls.__qualname__}"
    for place in places:
        here = tuple(place())
        for entry in here:
            if entry.target is cls or entry.target == path:
                return entry
        # A target may name another module of the same package, which re-exports the class.
        top = cls.__module__.partition(".")[0]
        for entry in here:
            if str(entry.target).startswith(top) and _is_at(entry, cls):
                return entry
    raise ComponentError(
        "component-unregistered",
        f"{kind.name} {cls.__name__} has no name here",
        expected="a component of a registered class: a file holds names, never code",
        got=path,
        do=f'plausibly.register({kind.name.upper()}, "{dashed(cls.__name__)}", '
        f"{cls.__name__}) before this, and again before loading",
        whose=cls.__name__,
    )


def _is_at(entry: Entry, cls: type[object]) -> bool:
    try:
        return entry.load() is cls
    except InputError:  # what cannot be loaded made no component
        return False


def identity(target: object) -> object:
    """Return what two definitions of one class have in common."""
    if isinstance(target, str):
        return target
    return getattr(target, "__module__", None), getattr(target, "__qualname__", target)
