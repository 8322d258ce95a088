"""Partial rankings with ties, and plausibilities from ranks."""

from __future__ import annotations

from plausibly.plugin import AGGREGATOR, ANNOTATION, Registrar, hookimpl

_HERE = "plausibly_builtins.partial_ranking"
_AGGREGATORS = {
    "inverse-rank": (
        "points:InverseRank",
        "1 / (rank x block size), normalised (the default for partial rankings)",
    ),
    "plackett-luce": (
        "plackett_luce:PlackettLuce",
        "chance to be ranked first, fitted to the rankings of each example, with a prior",
    ),
    "plackett-luce-draws": (
        "plackett_luce_draws:PlackettLuceDraws",
        "what plackett-luce leaves open: plausibilities drawn from its posterior",
    ),
    "borda": ("points:Borda", "points by place, ties share theirs, normalised"),
    "dirichlet": (
        "points:Dirichlet",
        "plausibilities drawn around the inverse ranks (probabilistic inverse rank)",
    ),
}


@hookimpl
def register(registrar: Registrar) -> None:
    registrar.add(
        ANNOTATION,
        "partial-ranking",
        f"{_HERE}.annotation:PartialRanking",
        summary="labels in blocks of falling rank; what is not named is excluded",
    )
    for name, (place, summary) in _AGGREGATORS.items():
        registrar.add(AGGREGATOR, name, f"{_HERE}.{place}", summary=summary)
