"""The logarithm of the probability as conformity score."""

from __future__ import annotations

from typing import ClassVar

import attrs

from plausibly.plugin import Floats, ScoreFunction, ScoreInput


@attrs.frozen(kw_only=True)
class LogProbability(ScoreFunction):
    """Score a label by its log-probability: ``E(x, k) = log pi_k(x)``.

    The order of the labels is that of `Probability`, so the sets are equal but for ties of floats;
    logits stay in log space, where small probabilities do not underflow.
    """

    randomised: ClassVar[bool] = False
    reads: ClassVar[ScoreInput] = "log-probability"

    def score(self, probabilities: Floats, uniform: Floats | None) -> Floats:
        """Return the log-probabilities, (..., label)."""
        return probabilities
