"""Fisher's combination of the replicates' p-values, made for independent ones."""

from __future__ import annotations

import attrs
import numpy as np

from plausibly.plugin import Floats, Ints
from plausibly_builtins.combiners._effective import ForIndependent
from plausibly_builtins.combiners._merging import above_zero, between, in_order


@attrs.frozen(kw_only=True)
class Fisher(ForIndependent):
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

    def _merged(self, values: Floats | Ints, unit: int, tests: float) -> Floats:
        from scipy.special import gammaincc

        logs = in_order(np.log(values / unit)) / len(values)
        merged: Floats = gammaincc(tests, -tests * logs)
        return between(merged, values, unit) if tests == 1 else above_zero(merged, values)
