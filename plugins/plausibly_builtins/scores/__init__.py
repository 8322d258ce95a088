"""Conformity scores: larger = fits better."""

from __future__ import annotations

from plausibly.plugin import SCORE, Registrar, hookimpl


@hookimpl
def register(registrar: Registrar) -> None:
    """Register the components of this family."""
    registrar.add(
        SCORE,
        "probability",
        "plausibly_builtins.scores.probability:Probability",
        summary="the probability itself (the default)",
    )
    registrar.add(
        SCORE,
        "log-probability",
        "plausibly_builtins.scores.log_probability:LogProbability",
        summary="its logarithm, by log-softmax from logits",
    )
    registrar.add(
        SCORE,
        "margin",
        "plausibly_builtins.scores.margin:Margin",
        summary="lead over the best other label",
    )
    registrar.add(
        SCORE,
        "aps",
        "plausibly_builtins.scores.aps:Aps",
        summary="mass of the labels that are less likely (adaptive sets)",
    )
    registrar.add(
        SCORE,
        "raps",
        "plausibly_builtins.scores.raps:Raps",
        summary="aps, less a penalty for labels far down the order",
    )
    registrar.add(
        SCORE,
        "saps",
        "plausibly_builtins.scores.saps:Saps",
        summary="aps in which only the largest probability counts",
    )
    registrar.add(
        SCORE,
        "rank",
        "plausibly_builtins.scores.rank:Rank",
        summary="place among the labels: sets are the k likeliest",
    )
