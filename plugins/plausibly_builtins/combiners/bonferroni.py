"""The number of replicates times the least of their p-values."""

from __future__ import annotations

from fractions import Fraction

import attrs

from plausibly.plugin import CalibrationSummary, Claim, Floats, Guarantee, Ints
from plausibly_builtins.combiners._merging import Merging, capped, promised


@attrs.frozen(kw_only=True)
class Bonferroni(Merging):
    """Take m times the least p-value: ``min(1, m min_j p_j)``.

    Valid for p-values of any dependence, and wasteful for those that are alike.

    References
    ----------
    Vovk & Wang, Combining p-values via averaging, Biometrika 2020 (its means of order -infinity).
    """

    def _merged(self, values: Floats | Ints, unit: int) -> Floats:
        return capped(len(values) * values.min(axis=0) / unit)

    def guarantee(self, claim: Claim, summary: CalibrationSummary, alpha: Fraction) -> Guarantee:
        """Return the promise of 1 - alpha."""
        return promised(
            claim,
            summary,
            alpha,
            factor=Fraction(summary.m),
            why="each of m p-values is at most alpha / m with probability at most alpha / m, "
            "whatever their dependence",
            reference="the union bound, Bonferroni 1936",
        )
