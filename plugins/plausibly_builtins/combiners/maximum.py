"""The largest of the replicates' p-values: the union of their prediction sets."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

import attrs

from plausibly.plugin import CalibrationSummary, Claim, Floats, Guarantee, Needs, PValues


@attrs.frozen(kw_only=True)
class Maximum:
    """Take the largest p-value: ``rho = max_j p_j``.

    Each replicate alone is valid, and the maximum is no smaller; its sets contain those of the
    average. Useful where replicates have test scores of their own.
    """

    held_out: ClassVar[float] = 0.0
    needs: ClassVar[Needs] = "each"

    def combine(self, p: PValues, held_out: PValues | None) -> Floats:
        """Return the largest p-value of each query."""
        largest: Floats = p.each().max(axis=0)
        return largest

    def guarantee(self, claim: Claim, summary: CalibrationSummary, alpha: Fraction) -> Guarantee:
        """Return the promise of 1 - alpha."""
        return summary.guarantee_of_rank(
            claim,
            alpha,
            why="the first replicate alone keeps 1 - alpha, and the union contains its set",
            reference="Vovk, Gammerman & Shafer, Algorithmic learning in a random world, 2005",
        )
