"""How many independent tests dependent p-values are worth."""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from typing import ClassVar, Literal, TypeAlias
from weakref import WeakKeyDictionary

import attrs
import numpy as np

from plausibly.plugin import CalibrationSummary, Claim, Floats, Guarantee, Ints, Needs, PValues
from plausibly_builtins.combiners._merging import checked, ranks, unproved, zeros_allowed

Effective: TypeAlias = Literal["none", "nyholt", "galwey"]

_POINTS = 1000
_DIGITS = 9  # rounding off what linear algebra adds, so that copies count as one test exactly

_KNOWN: WeakKeyDictionary[object, dict[Effective, float]] = WeakKeyDictionary()


def effective_tests(p: PValues, effective: Effective) -> float:
    """Return the effective number of tests among the replicates of a calibration."""
    if effective == "none" or p.m == 1:
        return float(p.m)
    known = _KNOWN.setdefault(p.pools, {})
    if effective not in known:
        ordered = p.pools.pooled.ordered
        places = np.linspace(0, len(ordered) - 1, min(len(ordered), _POINTS)).astype(np.intp)
        at = ordered[places]
        if p.pools.calibration.augmentation == "separate":
            at = np.broadcast_to(at, (p.m, len(at)))
        values, _ = ranks(PValues.of(p.pools, at))
        known[effective] = worth(correlation(values.astype(np.float64)), effective)
    return known[effective]


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
    if effective == "none":
        return float(m)
    if effective == "nyholt":
        number = m + 1 - float((correlations**2).sum()) / m
    else:
        # Roots would make much of the rounding of eigenvalues that are zero.
        eigenvalues = np.linalg.eigvalsh(correlations)
        eigenvalues = np.where(eigenvalues > m * 1e-12, eigenvalues, 0.0)
        number = float(np.sqrt(eigenvalues).sum() ** 2 / eigenvalues.sum())
    return min(max(round(number, _DIGITS), 1.0), float(m))


@attrs.frozen(kw_only=True)
class ForIndependent:
    """Base of rules for independent p-values; a subclass gives `_merged`."""

    held_out: ClassVar[float] = 0.0
    needs: ClassVar[Needs] = "each"

    effective: Effective = "none"

    @abstractmethod
    def _merged(self, values: Floats | Ints, unit: int, tests: float) -> Floats:
        """Return merged p-values of p-values in 1/`unit`, (replicate, *query), for M tests."""

    def merge(self, p_values: Floats, *, tests: float | None = None) -> Floats:
        """Return the merged p-values of any p-values."""
        values = checked(p_values)
        return self._merged(values, 1, float(len(values)) if tests is None else tests)

    def combine(self, p: PValues, held_out: PValues | None) -> Floats:
        """Return the merged p-value of each query."""
        values, unit = ranks(p)
        with zeros_allowed():
            return self._merged(values, unit, effective_tests(p, self.effective))

    def guarantee(self, claim: Claim, summary: CalibrationSummary, alpha: Fraction) -> Guarantee:
        """Return that there is none with several replicates, where the user allowed that."""
        return unproved(
            claim,
            summary,
            alpha,
            "independent p-values; replicates share the test score",
            reference="measured in docs/combiners.md",
        )
