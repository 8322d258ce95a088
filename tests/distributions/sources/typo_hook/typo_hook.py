"""A plugin that marks a hook which does not exist."""

from __future__ import annotations

import pluggy

from plausibly.plugin import AGGREGATOR, Registrar


@pluggy.HookimplMarker("plausibly")
def plausibly_registr(registrar: Registrar) -> None:
    """Register an aggregator that nobody will see."""
    registrar.add(AGGREGATOR, "typo", "typo_hook:Typo")
