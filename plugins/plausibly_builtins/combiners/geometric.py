"""e times the geometric mean of the replicates' p-values."""

from __future__ import annotations

from fractions import Fraction

import attrs
import numpy as np

from plausibly.plugin import CalibrationSummary, Claim, Floats, Guarantee, Ints
from plausibly_builtins.combiners._merging import (
    VOVK_WANG,
    Merging,
    capped,
    euler,
    in_order,
    promised,
)


@attrs.frozen(kw_only=True)
class Geometric(Merging):
    """Take e times the geometric mean: ``min(1, e (p_1 ... p_m)^(1/m))``.

    Valid for p-values of any dependence.

    References
    ----------
    Vovk & Wang, Combining p-values via averaging, Biometrika 2020 (after Mattner).
    """

    def _merged(self, values: Floats | Ints, unit: int) -> Floats:
        logs = np.log(values / unit)
        return capped(np.exp(1.0 + in_order(logs) / len(values)))

    def guarantee(self, claim: Claim, summary: CalibrationSummary, alpha: Fraction) -> Guarantee:
        """Return the promise of 1 - alpha."""
        return promised(
            claim,
            summary,
            alpha,
            factor=euler(),
            why="log(alpha / p) above zero has a mean of at most alpha, and so has its average "
            "over replicates, which must reach 1",
            reference=VOVK_WANG,
        )
