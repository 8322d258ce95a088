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
