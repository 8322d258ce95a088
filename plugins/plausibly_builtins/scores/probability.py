"""The probability itself as conformity score."""

from __future__ import annotations

from typing import ClassVar

import attrs

from plausibly.plugin import Floats, ScoreFunction, ScoreInput


@attrs.frozen(kw_only=True)
class Probability(ScoreFunction):
    """Score a label by its probability: ``E(x, k) = pi_k(x)``.

    References
    ----------
    Sadinle, Lei & Wasserman, Least ambiguous set-valued classifiers, JASA 2019 (there called LAC).
    """

    randomised: ClassVar[bool] = False
    reads: ClassVar[ScoreInput] = "probability"
    identity: ClassVar[bool] = True

    def score(self, probabilities: Floats, uniform: Floats | None) -> Floats:
        """Return the probabilities, (..., label)."""
        return probabilities
