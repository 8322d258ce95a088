"""Names of components in messages and files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from plausibly import registry
from plausibly.errors import ComponentError
from plausibly.protocols import Kind

P = TypeVar("P")


def described(kind: Kind[P], component: P) -> Mapping[str, object] | None:
    """Return name and parameters, or None for an object whose class is not registered."""
    try:
        return registry.describe(kind, component)
    except ComponentError:
        return None


def called(kind: Kind[P], component: P) -> str:
    """Return the registered name of a component, or the name of its class."""
    table = described(kind, component)
    return type(component).__name__ if table is None else str(table["name"])
