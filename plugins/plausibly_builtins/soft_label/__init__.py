"""Soft labels, and plausibilities from their weighted mean."""

from __future__ import annotations

from plausibly.plugin import AGGREGATOR, ANNOTATION, Registrar, hookimpl


@hookimpl
def register(registrar: Registrar) -> None:
    registrar.add(
        ANNOTATION,
        "soft-label",
        "plausibly_builtins.soft_label.weights:SoftLabel",
        summary="one weight per label",
    )
    registrar.add(
        AGGREGATOR,
        "soft-label",
        "plausibly_builtins.soft_label.weights:WeightedMean",
        summary="mean of the normalised weights (default for soft labels)",
    )
