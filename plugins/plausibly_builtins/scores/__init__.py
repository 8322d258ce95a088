"""Conformity scores: larger = fits better."""

from __future__ import annotations

from plausibly.plugin import SCORE, Registrar, hookimpl

_SCORES = {
    "probability": ("unordered:Probability", "probability of the label (default)"),
    "log-probability": (
        "unordered:LogProbability",
        "logarithm of the probability, by log-softmax from logits",
    ),
    "margin": ("unordered:Margin", "lead of a label over the best other label"),
    "aps": ("unordered:Aps", "mass of the less probable labels (adaptive prediction sets)"),
    "raps": ("unordered:Raps", "aps with a penalty on low ranks (regularised)"),
    "saps": ("unordered:Saps", "aps from the largest probability and the rank (sorted)"),
    "ordinal": ("ordinal:Ordinal", "hull of a score along ordered labels: sets without holes"),
    "rank": ("unordered:Rank", "rank of the label: sets of the k most probable labels"),
}


@hookimpl
def register(registrar: Registrar) -> None:
    for name, (place, summary) in _SCORES.items():
        registrar.add(SCORE, name, f"plausibly_builtins.scores.{place}", summary=summary)
