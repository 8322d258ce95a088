"""A plugin for a plausibly that is not there yet."""

from __future__ import annotations

from plausibly.plugin import AGGREGATOR, Registrar, hookimpl

requires_api = 99


@hookimpl
def register(registrar: Registrar) -> None:
    """Register an aggregator that nobody will see."""
    registrar.add(AGGREGATOR, "newer", "newer_api:Newer")
