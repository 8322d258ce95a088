"""Fisher's combination of the replicates' p-values, made for independent ones."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

import attrs
import numpy as np

from plausibly.plugin import Evidence, Floats, Guarantee, Ints, PValues
from plausibly_builtins.combiners._effective import Effective, effective_tests
from plausibly_builtins.combiners._merging import (
    above_zero,
    between,
    checked,
    in_order,
    ranks,
    unproved,
    zeros_allowed,
)

NEEDED = "independent p-values; replicates share the test score"
SHOWN = "measured in docs/combiners.md"


@attrs.frozen(kw_only=True)
class Fisher:
    """Compare ``-2 (log p_1 + ... + log p_m)`` with a chi-square variable of 2 m degrees.

    For independent p-values only, which replicates with one test score never are: copies of a
    uniform p-value fall at or below 0.1 in 24 % of cases for m = 10. With an effective number of
    tests M instead of m, the statistic is scaled by M / m and the degrees are 2 M; copies of a
    p-value then give it back. That corrects the size of the error and guarantees nothing.

    Attributes
    ----------
    effective : {"none", "nyholt", "galwey"}
        How M is got out of the correlations of the replicates' calibration ranks; "none": M = m. It
        belongs to the calibration, so that p-values of one calibration rise together.

    References
    ----------
    Fisher, Statistical methods for research workers, 1932; Nyholt, American Journal of Human
    Genetics 2004; Galwey, Genetic Epidemiology 2009.
    """

    held_out: ClassVar[float] = 0.0

    effective: Effective = "none"

    def merge(self, p_values: Floats, *, tests: float | None = None) -> Floats:
        """Return the merged p-values of any p-values."""
        values = checked(p_values)
        return _merged(values, 1, float(len(values)) if tests is None else tests)

    def combine(self, p: PValues, held_out: PValues | None) -> Floats:
        """Return the merged p-value of each query."""
        values, unit = ranks(p)
        with zeros_allowed():
            return _merged(values, unit, effective_tests(p, self.effective))

    def guarantee(self, evidence: Evidence, alpha: Fraction) -> Guarantee:
        """Return that there is none with several replicates, where the user allowed that."""
        return unproved(evidence, alpha, NEEDED, reference=SHOWN)


def _merged(values: Floats | Ints, unit: int, tests: float) -> Floats:
    from scipy.special import gammaincc

    logs = in_order(np.log(values / unit)) / len(values)
    merged: Floats = gammaincc(tests, -tests * logs)
    return between(merged, values, unit) if tests == 1 else above_zero(merged, values)
