"""Hooks that plausibly could not call: every marked line is an error, and no other."""

from __future__ import annotations

from plausibly.plugin import Registrar, hookimpl


@hookimpl  # error: arg-type
def renamed(to: Registrar) -> None:
    """Pluggy matches arguments by their names."""


@hookimpl  # error: arg-type
def returning(registrar: Registrar) -> int:
    return 1


@hookimpl  # error: arg-type
def without() -> None:
    """Take nothing."""


@hookimpl  # error: arg-type
def more(registrar: Registrar, registry: object) -> None:
    """Want more than there is."""


@hookimpl  # error: arg-type
def other(registrar: dict[str, object]) -> None:
    """Want something else."""


@hookimpl
def right(registrar: Registrar) -> None:
    registrar.add_aggregator("mine")  # error: attr-defined
