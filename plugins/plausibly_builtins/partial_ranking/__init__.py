"""Partial rankings with ties, and plausibilities from ranks."""

from __future__ import annotations

from plausibly.plugin import AGGREGATOR, ANNOTATION, Registrar, hookimpl

_HERE = "plausibly_builtins.partial_ranking"
_AGGREGATORS = {
    "inverse-rank": (
        "points:InverseRank",
        "1 / (rank x block size), normalised (default for partial rankings)",
    ),
    "plackett-luce": (
        "plackett_luce:PlackettLuce",
        "probability of being ranked first, fitted per example, with a prior",
    ),
    "plackett-luce-draws": (
        "plackett_luce:PlackettLuceDraws",
        "draws from the posterior of plackett-luce",
    ),
    "borda": ("points:Borda", "points by place, shared by ties, normalised"),
    "dirichlet": (
        "points:Dirichlet",
        "draws around the inverse ranks (probabilistic inverse rank)",
    ),
}


@hookimpl
def register(registrar: Registrar) -> None:
    registrar.add(
        ANNOTATION,
        "partial-ranking",
        f"{_HERE}.points:PartialRanking",
        summary="ranked blocks of labels; labels that are not named are excluded",
    )
    for name, (place, summary) in _AGGREGATORS.items():
        registrar.add(AGGREGATOR, name, f"{_HERE}.{place}", summary=summary)
