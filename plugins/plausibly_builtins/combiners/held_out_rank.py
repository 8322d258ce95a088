"""The rank of a mean p-value among those of held-out examples."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

import attrs

from plausibly.plugin import (
    CalibrationSummary,
    Claim,
    Floats,
    Guarantee,
    Needs,
    PValues,
    held_out_field,
    require_held_out,
)


@attrs.frozen(kw_only=True)
class HeldOutRank:
    """Rank the mean p-value r: ``(#{i : rho_i <= r} + 1) / (h + 1)``, h held-out examples.

    Given the first split, rho is a fixed function of example and label, so held-out and new
    examples are exchangeable: 1 - alpha for any replicates.

    Attributes
    ----------
    held_out : float
        Share of the calibration examples that is set aside.
    """

    needs: ClassVar[Needs] = "mean"
    held_out: float = held_out_field()

    def combine(self, p: PValues, held_out: PValues | None) -> Floats:
        """Return the rank p-value of each query."""
        aside = require_held_out(held_out)
        ranks: Floats = (aside.at_most(p) + 1) / (aside.size + 1)
        return ranks

    def guarantee(self, claim: Claim, summary: CalibrationSummary, alpha: Fraction) -> Guarantee:
        """Return the promise of 1 - alpha."""
        return summary.guarantee_of_rank(
            claim,
            alpha,
            why="a new example's rank among the held-out ones is uniform, or larger with ties",
            reference="split conformal prediction on the mean p-value, docs/guarantee.md",
            held_out=True,
        )
