"""Aggregators of the library choix, for rankings that are read as comparisons of two labels."""

from __future__ import annotations

from plausibly.plugin import AGGREGATOR, Registrar, hookimpl

_EXTRA = "ranking"


@hookimpl
def register(registrar: Registrar) -> None:
    """Register the components of this family."""
    registrar.add(
        AGGREGATOR,
        "mm",
        "plausibly_builtins.choix.models:MinorizationMaximization",
        summary="Bradley-Terry by minorization-maximization, from comparisons of two labels",
        extra=_EXTRA,
    )
    registrar.add(
        AGGREGATOR,
        "i-lsr",
        "plausibly_builtins.choix.models:IterativeSpectral",
        summary="Bradley-Terry by iterative Luce spectral ranking, quick for many responses",
        extra=_EXTRA,
    )
    registrar.add(
        AGGREGATOR,
        "opt",
        "plausibly_builtins.choix.models:Optimised",
        summary="Bradley-Terry by Newton's method, with a Gaussian prior",
        extra=_EXTRA,
    )
    registrar.add(
        AGGREGATOR,
        "lsr",
        "plausibly_builtins.choix.models:Spectral",
        summary="Luce spectral ranking: one step towards Bradley-Terry",
        extra=_EXTRA,
    )
    registrar.add(
        AGGREGATOR,
        "rank-centrality",
        "plausibly_builtins.choix.models:RankCentrality",
        summary="stationary distribution of a walk to labels that win their comparisons",
        extra=_EXTRA,
    )
