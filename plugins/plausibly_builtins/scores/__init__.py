"""Conformity scores: larger = fits better."""

from __future__ import annotations

from plausibly.plugin import SCORE, Registrar, hookimpl

_SCORES = {
    "probability": ("simple:Probability", "the probability itself (the default)"),
    "log-probability": ("simple:LogProbability", "its logarithm, by log-softmax from logits"),
    "margin": ("simple:Margin", "lead over the best other label"),
    "aps": ("adaptive:Aps", "mass of the labels that are less likely (adaptive sets)"),
    "raps": ("adaptive:Raps", "aps, less a penalty for labels far down the order"),
    "saps": ("adaptive:Saps", "aps in which only the largest probability counts"),
    "rank": ("simple:Rank", "place among the labels: sets are the k likeliest"),
}


@hookimpl
def register(registrar: Registrar) -> None:
    for name, (place, summary) in _SCORES.items():
        registrar.add(SCORE, name, f"plausibly_builtins.scores.{place}", summary=summary)
