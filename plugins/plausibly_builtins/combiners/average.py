"""The mean of the replicates' p-values, and the guarantee of a factor times a p-value."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import ClassVar, Literal

import attrs

from plausibly.plugin import CalibrationSummary, Claim, Floats, Guarantee, PValueCombiner, PValues

PROOF = "docs/guarantee.md"
VOVK_WANG = "Vovk & Wang, Combining p-values via averaging, Biometrika 2020"
EXCHANGEABLE_REPLICATES = "replicates are exchangeable, as labels drawn alike are"
AVERAGE_SUFFICES = (
    "where replicates share the test score, as drawn labels do, combiner average already has "
    "1 - alpha; in every comparison of docs/combiners.md its sets are smaller"
)


def merged_guarantee(
    claim: Claim,
    summary: CalibrationSummary,
    alpha: Fraction,
    *,
    factor: Fraction,
    reason: str,
    reference: str,
    level: Fraction | None = None,
    exchangeable: bool = False,
    notes: tuple[str, ...] = (),
) -> Guarantee:
    """Return the guarantee of `level`, 1 - alpha by default, of `factor` times a p-value."""
    least = factor / (summary.n + 1)
    # Separate test scores are merged in a random order, in which any p-values are exchangeable.
    ordered = summary.m > 1 and not summary.shared_score
    if exchangeable and summary.m > 1 and summary.shared_score:
        conditions = (*claim.conditions, EXCHANGEABLE_REPLICATES)
        claim = attrs.evolve(claim, conditions=conditions)
    return summary.guarantee(
        claim,
        alpha,
        1 - alpha if level is None else level,
        reason=reason,
        reference=reference,
        needed=math.ceil(factor / alpha) - 1,
        # p-values are capped at 1, above every alpha.
        least_alpha=float(least) if least < 1 else None,
        vacuous=alpha < least,
        random=("the order of the augmentations",) if exchangeable and ordered else (),
        notes=(*notes, AVERAGE_SUFFICES) if summary.shared_score else notes,
    )


@attrs.frozen(kw_only=True)
class Average(PValueCombiner):
    """Average the p-values: ``rho = mean_j p_j = (c + m) / (m (n + 1))``, c the pooled count.

    Where all replicates share one test score, coverage is at least 1 - alpha. (The paper states
    1 - 2 alpha for two or more draws.) Where they have test scores of their own, as separate
    augmentations do, 1 - 2 alpha holds, and it is tight.

    Attributes
    ----------
    smoothed : bool
        Split ties by one uniform U per test example, the same for all its labels:
        ``(c_< + U c_= + m - 1 + U) / (m (n + 1))``. Sets are smaller where scores tie, and depend
        on the example's name; there is no one threshold.

    References
    ----------
    Stutz et al., TMLR 2023, Algorithm 1; Angelopoulos et al., arXiv 2208.02814.
    """

    held_out: ClassVar[float] = 0.0

    smoothed: bool = False

    @property
    def needs(self) -> Literal["mean", "smoothed"]:
        """The mean p-value, with ties split where that is chosen."""
        return "smoothed" if self.smoothed else "mean"

    def combine(self, p: PValues, held_out: PValues | None) -> Floats:
        return p.smoothed_mean() if self.smoothed else p.mean()

    def guarantee(self, claim: Claim, summary: CalibrationSummary, alpha: Fraction) -> Guarantee:
        if not summary.shared_score and summary.m > 1:
            return merged_guarantee(
                claim,
                summary,
                alpha,
                factor=Fraction(1),
                level=max(1 - 2 * alpha, Fraction(0)),
                reason="an average of p-values of any dependence is at most alpha with probability "
                "at most 2 alpha; replicates have test scores of their own",
                reference=VOVK_WANG,
                notes=(
                    "1 - alpha here: combiner maximum or held-out-rank, or "
                    "augmentation(scores='mean')",
                ),
            )
        reason = {
            "majority-vote": "split conformal prediction of the majority vote",
            "aggregated": "conformal risk control, arXiv 2208.02814",
        }.get(claim.target, "")
        if self.smoothed and summary.equal_masses:
            # One of the m own draws is the tie itself, whose share can be next to nothing.
            mass = summary.test_mass - Fraction(1, summary.m)
            summary = attrs.evolve(summary, test_mass=mass)
        return summary.guarantee_of_rank(
            claim,
            alpha,
            reason=reason,
            reference=PROOF if reason else "",
            random=("the uniform that splits ties",) if self.smoothed else (),
        )
