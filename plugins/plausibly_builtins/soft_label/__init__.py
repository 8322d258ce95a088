"""Soft labels, and plausibilities from their weighted mean."""

from __future__ import annotations

from plausibly.plugin import AGGREGATOR, ANNOTATION, Registrar, hookimpl


@hookimpl
def register(registrar: Registrar) -> None:
    registrar.add(
        ANNOTATION,
        "soft-label",
        "plausibly_builtins.soft_label.annotation:SoftLabel",
        summary="a weight for each label a response names",
    )
    registrar.add(
        AGGREGATOR,
        "soft-label",
        "plausibly_builtins.soft_label.weighted_mean:WeightedMean",
        summary="mean of the normalised weights (the default for soft labels)",
    )
