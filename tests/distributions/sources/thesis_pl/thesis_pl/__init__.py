"""Plausibilities from rankings by the model of Plackett and Luce."""

from __future__ import annotations

from plausibly.plugin import AGGREGATOR, Registrar, hookimpl

requires_api = 1


@hookimpl
def register(registrar: Registrar) -> None:
    """Register the aggregator."""
    registrar.add(
        AGGREGATOR,
        "ranked-choice",
        "thesis_pl.plackett_luce:PlackettLuce",
        summary="chances of being ranked first, fitted to all rankings",
    )
