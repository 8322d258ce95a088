"""The mean of the replicates' p-values, twice the mean, and the largest."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

import attrs
import numpy as np

from plausibly.plugin import CalibrationSummary, Claim, Floats, Guarantee, Needs, PValues
from plausibly_builtins.combiners.merging import VOVK_WANG, promised

RISK_CONTROL = "conformal risk control, arXiv 2208.02814; proof in docs/guarantee.md"


@attrs.frozen(kw_only=True)
class Average:
    """Average the p-values: ``rho = mean_j p_j = (c + m) / (m (n + 1))``, c the pooled count.

    Where all replicates share one test score nothing is lost by averaging: coverage is at least
    1 - alpha. (The paper states 1 - 2 alpha for two or more draws.) Where they have test scores of
    their own, as separate augmentations do, 1 - 2 alpha is all that holds, and it is tight.

    Attributes
    ----------
    smoothed : bool
        Split ties by one uniform U a test example, the same for all its labels:
        ``(c_< + U c_= + m - 1 + U) / (m (n + 1))``. Sets are smaller where scores tie, and depend
        on the example's name; there is no one threshold.

    References
    ----------
    Stutz et al., TMLR 2023, Algorithm 1; Angelopoulos et al., arXiv 2208.02814.
    """

    held_out: ClassVar[float] = 0.0

    smoothed: bool = False

    @property
    def needs(self) -> Needs:
        """The mean p-value, with ties split where that is chosen."""
        return "smoothed" if self.smoothed else "mean"

    def combine(self, p: PValues, held_out: PValues | None) -> Floats:
        return p.smoothed_mean() if self.smoothed else p.mean()

    def guarantee(self, claim: Claim, summary: CalibrationSummary, alpha: Fraction) -> Guarantee:
        if not summary.shared_score and summary.m > 1:
            return promised(
                claim,
                summary,
                alpha,
                factor=Fraction(1),
                level=max(1 - 2 * alpha, Fraction(0)),
                why="an average of p-values of any dependence is at most alpha with probability "
                "at most 2 alpha; replicates have test scores of their own",
                reference=VOVK_WANG,
                notes=(
                    "1 - alpha here: combiner maximum or held-out-rank, or "
                    "augmentation(scores='mean')",
                ),
            )
        why = {
            "voted": "the score of the new example's vote is exchangeable with those of n others",
            "aggregated": "the new score is one of n + 1 exchangeable shares of plausibility "
            "(risk control)",
        }.get(claim.target, "")
        if self.smoothed and summary.equal_masses:
            # One of the m own draws is the tie itself, whose share can be next to nothing.
            mass = summary.test_mass - Fraction(1, summary.m)
            summary = attrs.evolve(summary, test_mass=mass)
        return summary.guarantee_of_rank(
            claim,
            alpha,
            why=why,
            reference=RISK_CONTROL if why else "",
            random=("the uniform that splits ties",) if self.smoothed else (),
        )


@attrs.frozen(kw_only=True)
class TwiceAverage:
    """Average the p-values and double: ``min(1, 2 mean_j p_j)``.

    Valid for p-values of any dependence. Where all replicates share one test score, as drawn
    labels do, it is the plain average at alpha / 2, hence 1 - alpha / 2.

    References
    ----------
    Vovk & Wang, Combining p-values via averaging, Biometrika 2020.
    """

    held_out: ClassVar[float] = 0.0
    needs: ClassVar[Needs] = "mean"

    def combine(self, p: PValues, held_out: PValues | None) -> Floats:
        return np.minimum(2 * p.mean(), 1.0)

    def guarantee(self, claim: Claim, summary: CalibrationSummary, alpha: Fraction) -> Guarantee:
        if not summary.shared_score and summary.m > 1:
            return promised(
                claim,
                summary,
                alpha,
                factor=Fraction(2),
                why="twice the average of p-values of any dependence is at most alpha with "
                "probability at most alpha",
                reference=VOVK_WANG,
            )
        return summary.guarantee_of_rank(
            claim,
            alpha,
            why="twice the mean is at most alpha where the mean is at most alpha / 2",
            reference="Vovk & Wang 2020; conformal risk control, arXiv 2208.02814",
            factor=2,
            notes=("the plain average already has 1 - alpha, with smaller sets",),
        )


@attrs.frozen(kw_only=True)
class Maximum:
    """Take the largest p-value: ``rho = max_j p_j``.

    Each replicate alone is valid, and the maximum is no smaller; its sets contain those of the
    average. Useful where replicates have test scores of their own.
    """

    held_out: ClassVar[float] = 0.0
    needs: ClassVar[Needs] = "each"

    def combine(self, p: PValues, held_out: PValues | None) -> Floats:
        largest: Floats = p.each().max(axis=0)
        return largest

    def guarantee(self, claim: Claim, summary: CalibrationSummary, alpha: Fraction) -> Guarantee:
        return summary.guarantee_of_rank(
            claim,
            alpha,
            why="the first replicate alone keeps 1 - alpha, and the union contains its set",
            reference="Vovk, Gammerman & Shafer, Algorithmic learning in a random world, 2005",
        )
