"""A plugin that forgot to mark its hook."""

from __future__ import annotations

from plausibly.plugin import AGGREGATOR, Registrar


def register(registrar: Registrar) -> None:
    """Register an aggregator that nobody will see."""
    registrar.add(AGGREGATOR, "unmarked", "unmarked_hook:Unmarked")
