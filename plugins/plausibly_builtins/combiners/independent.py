"""Rules for independent p-values, and how many independent tests dependent ones are worth."""

from __future__ import annotations

import math
from abc import abstractmethod
from fractions import Fraction
from typing import ClassVar, Literal, TypeAlias

import attrs
import numpy as np

from plausibly.plugin import (
    CalibrationSummary,
    Claim,
    Floats,
    Guarantee,
    Ints,
    PValueCombiner,
    PValues,
)
from plausibly_builtins.combiners.merging import (
    above_zero,
    between,
    checked,
    in_order,
    ranks,
    unproved,
    zeros_allowed,
)

Effective: TypeAlias = Literal["none", "nyholt", "galwey"]

_POINTS = 1000
_DIGITS = 9  # rounding off what linear algebra adds, so that copies count as one test exactly


def effective_tests(p: PValues, effective: Effective) -> float:
    """Return the effective number of tests among the replicates of a calibration."""
    if effective == "none" or p.m == 1:
        return float(p.m)
    ordered = p.pools.pooled.ordered
    places = np.linspace(0, len(ordered) - 1, min(len(ordered), _POINTS)).astype(np.intp)
    at = ordered[places]
    if p.pools.calibration.augmentation == "separate":
        at = np.broadcast_to(at, (p.m, len(at)))
    values, _ = ranks(PValues.of(p.pools, at))
    return worth(correlation(values.astype(np.float64)), effective)


def correlation(values: Floats) -> Floats:
    """Return the correlations of rows; rows that do not vary count as alike."""
    centred = values - values.mean(axis=1, keepdims=True)
    size = np.sqrt((centred**2).sum(axis=1))
    scale = np.outer(size, size)
    product = centred @ centred.T
    shares: Floats = np.divide(product, scale, out=np.ones_like(product), where=scale > 0)
    return np.clip(shares, -1.0, 1.0)


def worth(correlations: Floats, effective: Effective) -> float:
    """Return the effective number of tests of a matrix of correlations."""
    m = len(correlations)
    if effective == "nyholt":
        number = m + 1 - float((correlations**2).sum()) / m
    else:
        # Roots would make much of the rounding of eigenvalues that are zero.
        eigenvalues = np.linalg.eigvalsh(correlations)
        eigenvalues = np.where(eigenvalues > m * 1e-12, eigenvalues, 0.0)
        number = float(np.sqrt(eigenvalues).sum() ** 2 / eigenvalues.sum())
    return min(max(round(number, _DIGITS), 1.0), float(m))


@attrs.frozen(kw_only=True)
class ForIndependent(PValueCombiner):
    """Base of rules for independent p-values; a subclass gives `_merged`."""

    held_out: ClassVar[float] = 0.0
    needs = "each"

    effective: Effective = "none"

    @abstractmethod
    def _merged(self, values: Floats | Ints, unit: int, tests: float) -> Floats:
        """Return merged p-values of p-values in 1/`unit`, (replicate, *query), for M tests."""

    def merge(self, p_values: Floats, *, tests: float | None = None) -> Floats:
        values = checked(p_values)
        return self._merged(values, 1, float(len(values)) if tests is None else tests)

    def combine(self, p: PValues, held_out: PValues | None) -> Floats:
        values, unit = ranks(p)
        with zeros_allowed():
            return self._merged(values, unit, effective_tests(p, self.effective))

    def guarantee(self, claim: Claim, summary: CalibrationSummary, alpha: Fraction) -> Guarantee:
        return unproved(
            claim,
            summary,
            alpha,
            "independent p-values; replicates share the test score",
            reference="measured in docs/combiners.md",
        )


@attrs.frozen(kw_only=True)
class Fisher(ForIndependent):
    """Compare ``-2 (log p_1 + ... + log p_m)`` with a chi-square variable of 2 m degrees.

    For independent p-values only, which replicates with one test score never are: copies of a
    uniform p-value fall at or below 0.1 in 24% of cases for m = 10. With an effective number of
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


@attrs.frozen(kw_only=True)
class Stouffer(ForIndependent):
    """Add on the scale of a normal variable: ``Phi((z_1 + ... + z_m) / sqrt(m))``, z = Phi^-1(p).

    For independent p-values only, which replicates with one test score never are: copies of a
    uniform p-value fall at or below 0.1 in 34% of cases for m = 10. With an effective number of
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
