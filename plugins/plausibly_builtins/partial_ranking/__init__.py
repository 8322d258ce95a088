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
    registrar.add(
        AGGREGATOR,
        "plackett-luce",
        "plausibly_builtins.partial_ranking.plackett_luce:PlackettLuce",
        summary="chance to be ranked first, fitted to the rankings of each example, with a prior",
    )
    registrar.add(
        AGGREGATOR,
        "plackett-luce-draws",
        "plausibly_builtins.partial_ranking.plackett_luce_draws:PlackettLuceDraws",
        summary="what plackett-luce leaves open: plausibilities drawn from its posterior",
    )
    registrar.add(
        AGGREGATOR,
        "borda",
        "plausibly_builtins.partial_ranking.borda:Borda",
        summary="points by place, ties share theirs, normalised",
    )
    registrar.add(
        AGGREGATOR,
        "dirichlet",
        "plausibly_builtins.partial_ranking.dirichlet:Dirichlet",
        summary="plausibilities drawn around the inverse ranks (probabilistic inverse rank)",
    )
