"""Partial rankings with ties, and plausibilities from ranks."""

from __future__ import annotations

from plausibly.plugin import AGGREGATOR, ANNOTATION, Registrar, hookimpl


@hookimpl
def register(registrar: Registrar) -> None:
    """Register the components of this family."""
    registrar.add(
        ANNOTATION,
        "partial-ranking",
        "plausibly_builtins.partial_ranking.annotation:PartialRanking",
        summary="labels in blocks of falling rank; what is not named is excluded",
    )
    registrar.add(
        AGGREGATOR,
        "inverse-rank",
        "plausibly_builtins.partial_ranking.inverse_rank:InverseRank",
        summary="1 / (rank x block size), normalised (the default for partial rankings)",
    )
