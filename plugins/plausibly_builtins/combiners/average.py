"""The mean of the replicates' p-values."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

import attrs

from plausibly.plugin import Evidence, Floats, Guarantee, PValues

RISK_CONTROL = "conformal risk control, arXiv 2208.02814; proof in docs/guarantee.md"


@attrs.frozen(kw_only=True)
class Average:
    """Average the p-values: ``rho = mean_j p_j = (c + m) / (m (n + 1))``, c the pooled count.

    All replicates share one test score, so nothing is lost by averaging: coverage is at least
    1 - alpha. (The paper states 1 - 2 alpha for two or more draws.)

    References
    ----------
    Stutz et al., TMLR 2023, Algorithm 1; Angelopoulos et al., arXiv 2208.02814.
    """

    held_out: ClassVar[float] = 0.0

    def combine(self, p: PValues, held_out: PValues | None) -> Floats:
        """Return the mean p-value of each query."""
        return p.mean()

    def guarantee(self, evidence: Evidence, alpha: Fraction) -> Guarantee:
        """Return the promise of 1 - alpha."""
        why = (
            "the score of the new example's vote is exchangeable with those of n others"
            if evidence.target == "voted"
            else "the new score is one of n + 1 exchangeable shares of plausibility (risk control)"
        )
        return evidence.promise_of_rank(alpha, why=why, reference=RISK_CONTROL)
