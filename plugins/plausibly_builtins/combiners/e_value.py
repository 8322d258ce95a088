"""The mean of the replicates' conformal e-values."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import ClassVar

import attrs
import numpy as np

from plausibly.plugin import (
    CalibrationSummary,
    Claim,
    Floats,
    Guarantee,
    IncompatibleComponents,
    Needs,
    PValues,
)
from plausibly_builtins.combiners.merging import AVERAGE_SUFFICES, capped, in_order

_POSITIVE = attrs.validators.gt(0.0)


@attrs.frozen(kw_only=True)
class EValue:
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
    needs: ClassVar[Needs] = "each"

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
                got="calibration scores that are all below it",
                do="score probability, or combiner average",
                whose="combiner e-value",
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
                got="masses or weights that differ",
                do="combiner average, or calibrator monte-carlo",
                whose="combiner e-value",
            )
        least = Fraction(1, summary.n + 1)
        return summary.guarantee(
            claim,
            alpha,
            1 - alpha,
            why="a conformal e-value has mean 1 by exchangeability, an average of e-values too, "
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
