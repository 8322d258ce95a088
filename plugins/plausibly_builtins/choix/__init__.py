"""Aggregators of the library choix, for rankings that are read as comparisons of two labels."""

from __future__ import annotations

from plausibly.plugin import AGGREGATOR, Registrar, hookimpl

_MODELS = {
    "mm": (
        "MinorizationMaximization",
        "Bradley-Terry by minorization-maximization, from comparisons of two labels",
    ),
    "i-lsr": (
        "IterativeSpectral",
        "Bradley-Terry by iterative Luce spectral ranking; fast for many responses",
    ),
    "opt": ("Optimised", "Bradley-Terry by Newton's method, with a Gaussian prior"),
    "lsr": ("Spectral", "Luce spectral ranking: one step towards Bradley-Terry"),
    "rank-centrality": (
        "RankCentrality",
        "stationary distribution of a walk towards labels that win",
    ),
}


@hookimpl
def register(registrar: Registrar) -> None:
    for name, (model, summary) in _MODELS.items():
        where = f"plausibly_builtins.choix.models:{model}"
        registrar.add(AGGREGATOR, name, where, summary=summary, extra="ranking")
