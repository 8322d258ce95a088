"""The mean of the replicates' p-values, twice the mean, the largest, and the mean of e-values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from typing import ClassVar, Literal

import attrs
import numpy as np

from plausibly.plugin import (
    CalibrationSummary,
    Claim,
    Floats,
    Guarantee,
    IncompatibleComponents,
    PValueCombiner,
    PValues,
)

PROOF = "docs/guarantee.md"
VOVK_WANG = "Vovk & Wang, Combining p-values via averaging, Biometrika 2020"
EXCHANGEABLE_REPLICATES = "replicates are exchangeable, as labels drawn alike are"
AVERAGE_SUFFICES = (
    "where replicates share the test score, as drawn labels do, combiner average already has "
    "1 - alpha; in every comparison of docs/combiners.md its sets are smaller"
)
_POSITIVE = attrs.validators.gt(0.0)


def in_order(rows: Floats | Sequence[Floats]) -> Floats:
    """Return the sum over replicates, added in their order whatever the shape of the queries."""
    total: Floats = reduce(np.add, rows)
    return total


def capped(p_values: Floats) -> Floats:
    kept: Floats = np.minimum(p_values, 1.0)
    return kept


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


@attrs.frozen(kw_only=True)
class TwiceAverage(PValueCombiner):
    """Average the p-values and double: ``min(1, 2 mean_j p_j)``.

    Valid for p-values of any dependence. Where all replicates share one test score, as drawn
    labels do, it is the plain average at alpha / 2, hence 1 - alpha / 2.

    References
    ----------
    Vovk & Wang, Combining p-values via averaging, Biometrika 2020.
    """

    held_out: ClassVar[float] = 0.0
    needs = "mean"

    def combine(self, p: PValues, held_out: PValues | None) -> Floats:
        return np.minimum(2 * p.mean(), 1.0)

    def guarantee(self, claim: Claim, summary: CalibrationSummary, alpha: Fraction) -> Guarantee:
        if not summary.shared_score and summary.m > 1:
            return merged_guarantee(
                claim,
                summary,
                alpha,
                factor=Fraction(2),
                reason="twice the average of p-values of any dependence is at most alpha with "
                "probability at most alpha",
                reference=VOVK_WANG,
            )
        return summary.guarantee_of_rank(
            claim,
            alpha,
            reason="twice the mean is at most alpha where the mean is at most alpha / 2",
            reference="Vovk & Wang 2020; conformal risk control, arXiv 2208.02814",
            factor=2,
            notes=("the plain average already has 1 - alpha, with smaller sets",),
        )


@attrs.frozen(kw_only=True)
class Maximum(PValueCombiner):
    """Take the largest p-value: ``rho = max_j p_j``.

    Each replicate alone is valid, and the maximum is no smaller; its sets contain those of the
    average. Useful where replicates have test scores of their own.
    """

    held_out: ClassVar[float] = 0.0
    needs = "each"

    def combine(self, p: PValues, held_out: PValues | None) -> Floats:
        largest: Floats = p.each().max(axis=0)
        return largest

    def guarantee(self, claim: Claim, summary: CalibrationSummary, alpha: Fraction) -> Guarantee:
        return summary.guarantee_of_rank(
            claim,
            alpha,
            reason="the first replicate alone keeps 1 - alpha, and the union contains its set",
            reference="Vovk, Gammerman & Shafer, Algorithmic learning in a random world, 2005",
        )


@attrs.frozen(kw_only=True)
class EValue(PValueCombiner):
    """Average conformal e-values instead of p-values: a label stays while the mean is < 1 / alpha.

    ``E_j = (n + 1) a(s) / (a(S_1^j) + ... + a(S_n^j) + a(s))``, ``a(s) = max(s, floor)^-power``;
    the p-value is ``min(1, 1 / mean_j E_j)``. Made for scores above zero, such as probabilities.
    Sets are very large: Markov's inequality is all that holds them.

    Attributes
    ----------
    power : float
        1 for 1/p; smaller for a flatter transform, and larger sets.
    floor : float
        Least score that counts as such, so that no single one outweighs all others.

    References
    ----------
    Gauthier, Bach & Jordan, E-values expand the scope of conformal prediction, arXiv 2503.13050.
    """

    held_out: ClassVar[float] = 0.0
    needs = "each"

    power: float = attrs.field(
        default=1.0, validator=attrs.validators.and_(_POSITIVE, attrs.validators.le(1.0))
    )
    floor: float = attrs.field(
        default=1e-6, validator=attrs.validators.and_(_POSITIVE, attrs.validators.lt(1.0))
    )

    def _inverse(self, scores: Floats) -> Floats:
        wide = np.asarray(scores, dtype=np.float64)
        powers: Floats = np.clip(wide, self.floor, np.finfo(np.float64).max) ** self.power
        return powers

    def combine(self, p: PValues, held_out: PValues | None) -> Floats:
        pools = p.pools.each
        if max(pool.ordered[-1] for pool in pools) < 0:
            raise IncompatibleComponents(
                "scores-not-positive",
                "combiner e-value needs scores above zero",
                expected="a score such as probability",
                found="calibration scores that are all below it",
                hint="score probability, or combiner average",
                source="combiner e-value",
            )
        inverse = self._inverse(np.asarray(p.scores))
        with np.errstate(over="ignore", divide="ignore"):
            e_values = [
                pool.total / (1.0 + math.fsum(1.0 / self._inverse(pool.ordered)) * inverse)
                for pool in pools
            ]
            return capped(len(pools) / in_order(e_values))

    def guarantee(self, claim: Claim, summary: CalibrationSummary, alpha: Fraction) -> Guarantee:
        if not summary.equal_masses:
            raise IncompatibleComponents(
                "pair-incompatible",
                f"combiner e-value does not go with calibrator {summary.calibrator}",
                expected="atoms that all weigh the same",
                found="masses or weights that differ",
                hint="combiner average, or calibrator monte-carlo",
                source="combiner e-value",
            )
        least = Fraction(1, summary.n + 1)
        return summary.guarantee(
            claim,
            alpha,
            1 - alpha,
            reason="a conformal e-value has mean 1 by exchangeability, an average of e-values too, "
            "and it reaches 1 / alpha with probability at most alpha (Markov's inequality)",
            reference="Gauthier, Bach & Jordan, arXiv 2503.13050",
            needed=math.floor(1 / alpha),
            # At 1 / (n + 1) itself no score is low enough.
            least_alpha=math.nextafter(float(least), 1.0),
            vacuous=alpha <= least,
            notes=(
                "sets are very large: only labels go whose 1/score is about 1 / alpha times the "
                "mean one of the calibration examples",
                AVERAGE_SUFFICES,
            ),
        )
