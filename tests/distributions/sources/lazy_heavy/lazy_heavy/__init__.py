"""Registers lazily what needs numpy and xarray; tests install many copies of this."""

from __future__ import annotations

from plausibly.plugin import AGGREGATOR, SCORE, Registrar, hookimpl


@hookimpl
def register(registrar: Registrar) -> None:
    """Register two components by their places."""
    registrar.add(AGGREGATOR, "lazy-heavy", "lazy_heavy.parts:Votes", summary="votes")
    registrar.add(SCORE, "same-for-all", "lazy_heavy.parts:Identity", summary="as it comes")
