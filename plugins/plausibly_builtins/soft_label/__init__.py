"""Soft labels, and plausibilities from their weighted mean."""

from __future__ import annotations

from plausibly.plugin import AGGREGATOR, ANNOTATION, Registrar, hookimpl

_WEIGHTS = "plausibly_builtins.soft_label.weights"


@hookimpl
def register(registrar: Registrar) -> None:
    kind, mean = f"{_WEIGHTS}:SoftLabel", f"{_WEIGHTS}:WeightedMean"
    registrar.add(ANNOTATION, "soft-label", kind, summary="one weight per label")
    summary = "mean of the normalised weights (default for soft labels)"
    registrar.add(AGGREGATOR, "soft-label", mean, summary=summary)
