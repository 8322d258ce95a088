"""A multiple of the harmonic mean of the replicates' p-values."""

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
    logarithm,
    promised,
)


def factor(count: int) -> Fraction:
    """Return what the harmonic mean of so many p-values is multiplied by."""
    if count <= 2:
        return Fraction(count)
    return euler() * logarithm(count)


@attrs.frozen(kw_only=True)
class Harmonic(Merging):
    """Take a multiple of the harmonic mean: ``min(1, a_m m / (1/p_1 + ... + 1/p_m))``.

    a_1 = 1, a_2 = 2, and a_m = e log m from m = 3 on: no constant serves every m. Valid for
    p-values of any dependence; docs/combiners.md has the proof in four lines.

    References
    ----------
    Vovk & Wang, Combining p-values via averaging, Biometrika 2020.
    """

    def _merged(self, values: Floats | Ints, unit: int) -> Floats:
        m = len(values)
        if m == 1:
            return capped(values[0] / unit)
        if m == 2:
            # Products of numerators pass 64 bits; as floats they are exact while they are small,
            # and the ratio is rounded once.
            first, second = values.astype(np.float64)
            both = np.where(first + second > 0, first + second, 1.0)
            return capped(4 * first * second / (both * unit))
        return capped(float(factor(m)) * m / in_order(unit / values))

    def guarantee(self, claim: Claim, summary: CalibrationSummary, alpha: Fraction) -> Guarantee:
        """Return the promise of 1 - alpha."""
        return promised(
            claim,
            summary,
            alpha,
            factor=factor(summary.m),
            why="the average of 1/p, cut off where one replicate decides alone, is bounded in mean",
            reference=f"{VOVK_WANG}; proof in docs/combiners.md",
        )
