"""Pools: the atoms of a calibration in ascending order, with their cumulative integer masses."""

from __future__ import annotations

from functools import cached_property

import attrs
import numpy as np
from numpy.typing import NDArray

from plausibly.calibration.scores import CalibrationScores
from plausibly.kernels import masses as kernel
from plausibly.kernels.masses import common_masses
from plausibly.kernels.ranks import Ranks, ordered_bits
from plausibly.kernels.types import Floats, FloatType, Masses, unwritable

# Masses of plausibilities that are no counts are in units of 2^-b with b from here on.
_ROUNDED_BITS = 20
_FEW = 1 << 12  # scores that are put in order as they are


@attrs.frozen(eq=False)
class Pool:
    """One bag of atoms."""

    ordered: Floats = attrs.field(converter=unwritable)
    cumulative: Masses = attrs.field(converter=unwritable)
    test_mass: int
    total: int
    base: int
    bits: int | None = None

    @cached_property
    def ranks(self) -> Ranks:
        """Places of scores among the ordered ones."""
        return Ranks(self.ordered)

    def below(self, scores: Floats) -> Masses:
        """Return the mass of the atoms below each score."""
        masses: Masses = self.cumulative[self.ranks.of(scores, "left")]
        return masses

    def at_most(self, scores: Floats) -> Masses:
        """Return the mass of the atoms at most each score."""
        masses: Masses = self.cumulative[self.ranks.of(scores, "right")]
        return masses

    def numerators(self, scores: Floats) -> Masses:
        """Return the mass of the atoms at most each score, and the test example's own.

        This over `total` is the p-value: ``p(s) = (mass of atoms <= s + own) / total``.
        """
        numerators: Masses = self.at_most(scores) + self.test_mass
        if self.test_mass == self.total - self.base:
            return numerators
        # Only a risk, whose atoms may weigh more than their example, can pass the total.
        capped: Masses = np.minimum(numerators, self.total)
        return capped

    def ratios(self, scores: Floats, weight: Floats, *, times: int = 1) -> tuple[Masses, Masses]:
        """Return numerators and totals for test examples of some weights.

        ``p(s) = (mass of atoms <= s + w own) / (mass of examples + w)``, rounded up throughout;
        1 for a weight beyond all others.
        """
        bits = 0 if self.bits is None else self.bits
        unit = self.total - self.base
        most = 2 ** (kernel.LIMIT_BITS - 1) // (max(unit, self.test_mass) * times)
        counted = np.broadcast_to(kernel.weight_units(weight, bits, up=True), scores.shape)
        beyond = counted > most
        counted = np.where(beyond, most, counted)
        totals: Masses = self.base + counted * unit
        numerators = np.minimum(self.at_most(scores) + counted * self.test_mass, totals)
        sure = beyond | (totals == 0)
        totals = np.where(totals == 0, 1, totals)
        return np.where(sure, totals, numerators), totals


def _counting(scores: Floats, test_mass: int) -> Pool:
    ordered = np.sort(scores, axis=None)
    cumulative = np.arange(ordered.size + 1, dtype=np.int64)
    return Pool(ordered, cumulative, test_mass, ordered.size + test_mass, ordered.size)


def stable_order(scores: Floats) -> NDArray[np.intp]:
    """Return the places of scores in ascending order; of equal ones the first comes first."""
    if scores.dtype != np.float32 or not _FEW < scores.size < 2**32:
        return np.argsort(scores, kind="stable")
    # Numbers that hold a score and its place are sorted in a third of the time.
    packed = ordered_bits(scores).astype(np.uint64)
    packed <<= np.uint64(32)
    packed |= np.arange(scores.size, dtype=np.uint64)
    packed.sort()
    packed &= np.uint64(2**32 - 1)
    return packed.view(np.intp)


@attrs.frozen(eq=False)
class Pools:
    """The pool of the averaged p-value and, where they exist, one per replicate.

    Where a calibration is kept apart by groups or labels, `groups` has the pools of each.
    """

    calibration: CalibrationScores

    @cached_property
    def dtype(self) -> FloatType:
        """Float type of the scores, in which test scores are compared."""
        return self.calibration.scores.dtype

    @cached_property
    def groups(self) -> tuple[Pools, ...]:
        """The pools of each group; these alone where nothing is kept apart."""
        count = len(self.calibration.groups)
        if not self.calibration.claim.by:
            return (self,)
        return tuple(Pools(self.calibration.of_group(code)) for code in range(count))

    @cached_property
    def pooled(self) -> Pool:
        """Pool whose ratio is the mean of the replicates' p-values.

        With m replicates of n atoms each, ``mean_j (c_j + 1) / (n + 1) = (c + m) / (m (n + 1))``:
        one pooled count. With masses, the test example weighs as much as one example.
        """
        return self._pool(self.calibration.scores)

    @cached_property
    def each(self) -> tuple[Pool, ...]:
        """One pool per replicate, each compared with own mass one."""
        scores = self.calibration.scores
        if len(scores) == 1:
            return (self.pooled,)
        return tuple(self._pool(row[None, :]) for row in scores)

    def _pool(self, scores: Floats) -> Pool:
        """Return the pool of some replicates, whose atoms all have the masses of their column."""
        calibration = self.calibration
        if calibration.counting and calibration.test_mass == 1:
            return _counting(scores, test_mass=scores.shape[0])
        units, row, denominator = calibration.masses()
        copies = len(scores)
        # A risk may weigh more than its example, by the largest risk.
        heaviest = max(1, -(-calibration.test_mass.numerator // calibration.test_mass.denominator))
        # With room for the sum over replicates, also where these are read apart.
        together = len(calibration.scores) * heaviest
        masses, unit_mass = common_masses(units, row, denominator, times=together)
        rounded = int(denominator.max(initial=1)) >= 2**_ROUNDED_BITS
        order = stable_order(scores.ravel())
        bits = None
        if calibration.weight is None:
            cumulative = np.zeros(scores.size + 1, dtype=masses.dtype)
            np.cumsum(np.tile(masses, copies)[order], out=cumulative[1:])
            base = copies * unit_mass * len(denominator)
        else:
            sums = kernel.WeightedSums.of(
                calibration.weight, unit_mass, together, whole=calibration.test_mass == 1
            )
            place = np.tile(np.arange(scores.shape[1]), copies)[order]
            cumulative = sums.cumulative(masses[place], row[place])
            base, unit_mass, bits = copies * sums.base, sums.one, sums.bits
            rounded = rounded or not sums.exact
        if calibration.of_atoms:
            # Atoms may have been rounded up, by less than one unit each; a total must not be.
            base = int(cumulative[-1]) - (scores.size if rounded else 0)
        exact_mass = copies * unit_mass * calibration.test_mass
        test_mass = -(-exact_mass.numerator // exact_mass.denominator)
        if calibration.test_mass == 1:
            # Masses that were rounded up may pass the examples' own by a hair.
            cumulative = np.minimum(cumulative, base)
        unit = copies * unit_mass
        return Pool(scores.ravel()[order], cumulative, test_mass, base + unit, base, bits)
