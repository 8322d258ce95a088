"""A plugin that stops in the middle of its hook."""

from __future__ import annotations

from plausibly.plugin import COMBINER, SCORE, Registrar, hookimpl


@hookimpl
def register(registrar: Registrar) -> None:
    """Register one of two components."""
    registrar.add(SCORE, "half-score", "half_registration:Score")
    registrar.add(COMBINER, "half-combiner", "half_registration:Combiner")
    raise KeyError("licence")
