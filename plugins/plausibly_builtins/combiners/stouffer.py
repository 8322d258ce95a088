"""Stouffer's combination of the replicates' p-values, made for independent ones."""

from __future__ import annotations

import math

import attrs
import numpy as np

from plausibly.plugin import Floats, Ints
from plausibly_builtins.combiners._effective import ForIndependent
from plausibly_builtins.combiners._merging import above_zero, between, in_order


@attrs.frozen(kw_only=True)
class Stouffer(ForIndependent):
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

    def _merged(self, values: Floats | Ints, unit: int, tests: float) -> Floats:
        from scipy.special import ndtr, ndtri

        mean = in_order(ndtri(values / unit)) / len(values)
        # 1 beside 0, infinity beside minus infinity, counts as 1, as it does beside all others.
        merged: Floats = ndtr(math.sqrt(tests) * np.where(np.isnan(mean), np.inf, mean))
        return between(merged, values, unit) if tests == 1 else above_zero(merged, values)
