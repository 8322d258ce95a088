"""Aggregators that resample responses, around any other aggregator."""

from __future__ import annotations

from plausibly.plugin import AGGREGATOR, Registrar, hookimpl


@hookimpl
def register(registrar: Registrar) -> None:
    registrar.add(
        AGGREGATOR,
        "bootstrap",
        "plausibly_builtins.resampling.bootstrap:Bootstrap",
        summary="any aggregator on resampled responses, one draw per resample",
    )
