"""Stouffer's combination of the replicates' p-values, made for independent ones."""

from __future__ import annotations

import math
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
from plausibly_builtins.combiners.fisher import NEEDED, SHOWN


@attrs.frozen(kw_only=True)
class Stouffer:
    """Add on the scale of a normal variable: ``Phi((z_1 + ... + z_m) / sqrt(m))``, z = Phi^-1(p).

    For independent p-values only, which replicates with one test score never are: copies of a
    uniform p-value fall at or below 0.1 in 34 % of cases for m = 10. With an effective number of
    tests M the mean of the z is multiplied by sqrt(M) instead of sqrt(m); copies of a p-value then
    give it back. That corrects the size of the error and guarantees nothing.

    Attributes
    ----------
    effective : {"none", "nyholt", "galwey"}
        How M is got out of the correlations of the replicates' calibration ranks; "none": M = m. It
        belongs to the calibration, so that p-values of one calibration rise together.

    References
    ----------
    Stouffer et al., The American soldier, 1949; Nyholt 2004; Galwey 2009, as for `fisher`.
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
    from scipy.special import ndtr, ndtri

    mean = in_order(ndtri(values / unit)) / len(values)
    # 1 beside 0, infinity beside minus infinity, counts as 1, as it does beside all others.
    merged: Floats = ndtr(math.sqrt(tests) * np.where(np.isnan(mean), np.inf, mean))
    return between(merged, values, unit) if tests == 1 else above_zero(merged, values)
