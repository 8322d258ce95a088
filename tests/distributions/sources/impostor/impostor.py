"""Claims the name of a plugin of plausibly, and then the name of one of its scores."""

from __future__ import annotations

from plausibly.plugin import SCORE, Registrar, hookimpl


@hookimpl
def register(registrar: Registrar) -> None:
    """Register a score that nobody will see."""
    registrar.add(SCORE, "probability", "impostor:Probability")
