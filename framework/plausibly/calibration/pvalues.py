"""Pools of calibration scores, and the p-values of test scores among them.

A pool holds scores in ascending order with their cumulative integer masses. Test scores are every
label of new examples, or one label of each held-out example.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cached_property

import attrs
import numpy as np
from numpy.typing import NDArray

from plausibly.calibration.alphas import exact as _number
from plausibly.calibration.scores import CalibrationScores
from plausibly.errors import IncompatibleComponents
from plausibly.guarantee import BY_LABEL
from plausibly.kernels import masses as kernel
from plausibly.kernels.masses import common_masses, share
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.ranks import Ranks
from plausibly.kernels.types import Bools, Floats, FloatType, Hashes, Ints, Masses, unwritable

# Masses of plausibilities that are no counts are in units of 2^-b with b from here on.
_ROUNDED_BITS = 20


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
        return self.cumulative[self.ranks.of(scores, "left")]

    def at_most(self, scores: Floats) -> Masses:
        """Return the mass of the atoms at most each score."""
        return self.cumulative[self.ranks.of(scores, "right")]

    def numerators(self, scores: Floats) -> Masses:
        """Return the mass of the atoms at most each score, and the test example's own.

        This over `total` is the p-value: ``p(s) = (mass of atoms <= s + own) / total``.
        """
        numerators: Masses = self.at_most(scores) + self.test_mass
        if self.test_mass == self.total - self.base:
            return numerators
        # Only a risk, whose atoms may weigh more than their example, can pass the total.
        return np.minimum(numerators, self.total)

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
        # Equal scores in any order: their cumulative masses are read behind the last of them.
        order = np.argsort(scores.ravel())
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


@attrs.frozen(eq=False)
class PValues:
    """p-values of a set of queries, computed when a rule asks for them.

    Attributes
    ----------
    pools : Pools
        What the scores are compared with.
    numerators, totals : int, or ndarray of int, (*query)
        Of the mean p-value, exactly; one total of all queries, or of each where they are weighted.
    scores : ndarray, (*query) or (replicate, *query), or None
        Scores of the queries, one in each replicate where these have test scores of their own;
        None where only the mean is known.
    weight, uniform : ndarray, broadcast to (*query), or None
        Weights of the queries, and a uniform per test example for p-values that split ties.
    order : ndarray of int, (replicate, *query), or None
        Order of the replicates of each query, random where they are not alike.
    """

    pools: Pools
    numerators: Masses = attrs.field(converter=unwritable)
    totals: int | Masses
    scores: Floats | None = attrs.field(
        default=None, converter=attrs.converters.optional(unwritable)
    )
    weight: Floats | None = None
    uniform: Floats | None = None
    order: Ints | None = None

    @classmethod
    def of(
        cls,
        pools: Pools,
        scores: Floats,
        *,
        weight: Floats | None = None,
        uniform: Floats | None = None,
        order: Ints | None = None,
    ) -> PValues:
        """Return the p-values of scores, which keep their shape.

        Parameters
        ----------
        pools : Pools
            Of one group.
        scores : ndarray, (*query), or (replicate, *query) where test scores are separate
        weight, uniform : ndarray, broadcast to (*query), optional
        order : ndarray of int, (replicate, *query), optional
        """
        totals: int | Masses
        if pools.calibration.augmentation == "separate":
            numerators, totals = _added(pools, scores, weight)
        elif weight is not None:
            numerators, totals = pools.pooled.ratios(scores, weight)
        else:
            numerators, totals = pools.pooled.numerators(scores), pools.pooled.total
        return cls(pools, numerators, totals, scores, weight, uniform, order)

    @property
    def m(self) -> int:
        """Number of replicates."""
        return len(self.pools.calibration.scores)

    @property
    def size(self) -> int:
        """Number of queries."""
        return int(np.size(self.numerators))

    def mean(self) -> NDArray[np.float64]:
        """Return the mean of the replicates' p-values, (*query).

        An integer ratio, ``(c + m) / (m (n + 1))``, rounded once.
        """
        return share(self.numerators, self.totals)

    def smoothed_mean(self) -> NDArray[np.float64]:
        """Return the mean with ties split by one uniform U per test example, (*query).

        ``(c_< + U c_= + m - 1 + U) / (m (n + 1))`` for m counted draws, ``(mass_< + U mass_= + 1) /
        (n + 1)`` for masses: the new example's own atoms are at the tie, or below it.

        Raises
        ------
        IncompatibleComponents
            ``pair-incompatible`` where replicates have test scores of their own, or the combiner
            does not declare that it needs these.
        """
        calibration = self.pools.calibration
        if calibration.augmentation == "separate" or self.weight is not None:
            raise IncompatibleComponents(
                "pair-incompatible",
                "average(smoothed=True) splits ties among equal masses with one shared test score",
                expected="calibrator expected, monte-carlo, majority-vote, or mondrian around one "
                "of them",
                hint="average(smoothed=False)",
                source="combiner average",
            )
        if self.uniform is None or self.scores is None:
            raise _undeclared("smoothed", "p-values that split ties")
        pool = self.pools.pooled
        uniform = np.broadcast_to(self.uniform, self.scores.shape).astype(np.float64)
        below = pool.below(self.scores)
        tied = (pool.at_most(self.scores) - below).astype(np.float64)
        # Of m counted draws of the new example one is the tie itself; masses may be below it.
        own = self.m - 1 + uniform if calibration.counting else np.full(tied.shape, pool.test_mass)
        values: NDArray[np.float64] = below.astype(np.float64) + uniform * tied + own
        # A risk can pass the total.
        return np.minimum(values / float(pool.total), 1.0)

    def each(self) -> NDArray[np.float64]:
        """Return the p-value of each replicate, (replicate, *query).

        In the order of the draws; in a random order that is keyed by the example where replicates
        have test scores of their own, so that rules for exchangeable p-values hold.

        Raises
        ------
        IncompatibleComponents
            Where only the mean exists, or the combiner does not declare that it needs these.
        """
        scores, weight = self.scores, self.weight
        if scores is None or not self.pools.calibration.separate:
            raise _undeclared("each", "one p-value per replicate")
        if self.pools.calibration.augmentation != "separate":
            scores = np.broadcast_to(scores, (self.m, *scores.shape))
        values = np.stack(
            [
                share(pool.numerators(test_scores), pool.total)
                if weight is None
                else share(*pool.ratios(test_scores, weight))
                for pool, test_scores in zip(self.pools.each, scores, strict=True)
            ]
        )
        if self.order is None:
            return values
        return np.take_along_axis(values, np.broadcast_to(self.order, values.shape), axis=0)

    def at_most(self, other: PValues) -> Ints:
        """Return how many of these mean p-values are at most each of the other's, (*query).

        Both belong to one calibration; numerators are compared, so ties are exact.
        """
        return np.searchsorted(self._ordered, other.numerators, side="right")

    @cached_property
    def _ordered(self) -> Masses:
        return np.sort(self.numerators, axis=None)


def _undeclared(needs: str, what: str) -> IncompatibleComponents:
    """Return the error that a combiner asks for what is not there."""
    return IncompatibleComponents(
        "pair-incompatible",
        f"this combiner needs {what}, and only their mean exists",
        expected=f'needs = "{needs}", and a calibrator that has them',
        hint="combiner average, or calibrator monte-carlo",
        source="combiner",
    )


def _added(pools: Pools, scores: Floats, weight: Floats | None) -> tuple[Masses, int | Masses]:
    """Return numerators and totals over replicates that have test scores of their own."""
    parts = zip(pools.each, scores, strict=True)
    if weight is None:
        numerators = [pool.numerators(test_scores) for pool, test_scores in parts]
        return np.stack(numerators).sum(axis=0), sum(pool.total for pool in pools.each)
    times = len(pools.each)
    ratios = [pool.ratios(test_scores, weight, times=times) for pool, test_scores in parts]
    above, totals = (np.stack(each).sum(axis=0) for each in zip(*ratios, strict=True))
    return above, totals


Combine = Callable[[PValues], Floats]

_BLOCK = 1 << 20


@attrs.frozen(kw_only=True, eq=False)
class TestScores:
    """Every label of every new example."""

    scores: Floats
    group: Ints | None = None
    weight: Floats | None = None
    uniform: Floats | None
    order: Ints | None = None

    def __len__(self) -> int:
        return int(self.scores.shape[-2])

    def take(self, rows: slice | NDArray[np.intp]) -> TestScores:
        """Return the queries of some examples."""
        return TestScores(
            scores=self.scores[:, rows] if self.scores.ndim == 3 else self.scores[rows],
            group=None if self.group is None else self.group[rows],
            weight=None if self.weight is None else self.weight[rows],
            uniform=None if self.uniform is None else self.uniform[rows],
            order=None if self.order is None else self.order[:, rows],
        )

    def p_values(self, pools: Pools, label: int | None = None) -> PValues:
        """Return the p-values against one group; of one label where a label is named."""
        labels = slice(None) if label is None else slice(label, label + 1)
        return PValues.of(
            pools,
            self.scores[..., labels],
            weight=None if self.weight is None else self.weight[:, None],
            uniform=self.uniform,
            order=None if self.order is None else self.order[..., None],
        )


def combined(pools: Pools, test_scores: TestScores, combine: Combine) -> NDArray[np.float64]:
    """Return the combined p-value of every label of every example, (example, label).

    Examples of groups that calibration lacks have nothing to be compared with: 1.
    """
    labels = test_scores.scores.shape[-1]
    p = np.ones(test_scores.scores.shape[-2:], dtype=np.float64)
    rows = max(1, _BLOCK // (max(1, labels) * len(pools.calibration.scores)))
    for start in range(0, len(p), rows):
        block, out = test_scores.take(slice(start, start + rows)), p[start : start + rows]
        if pools.calibration.claim.by == BY_LABEL:
            for k, group in enumerate(pools.groups):
                out[:, k : k + 1] = combine(block.p_values(group, k))
        elif block.group is None:
            out[...] = combine(block.p_values(pools))
        else:
            for code in np.unique(block.group[block.group >= 0]).tolist():
                members = np.flatnonzero(block.group == code)
                out[members] = combine(block.take(members).p_values(pools.groups[code]))
    return p


def exact(value: float) -> Fraction:
    """Return a parameter as the decimal that was typed."""
    number = _number(value)
    if number is None:
        raise ValueError(f"expected a number, found {value!r}")
    return number


def keyed_share(
    share: Fraction, hashes: Hashes, keys: Keys, groups: NDArray[np.generic] | None = None
) -> Bools:
    """Return which examples are taken: all of ``floor(share G)`` of G groups.

    Those with the smallest keys, whatever their sizes: a group that is taken only where it fits
    is likely to be a small one, and new examples then are unlike those that were taken.
    """
    units, member = hashes, np.arange(len(hashes))
    if groups is not None:
        # Combiners import this module, and a service, which has no groups, needs no xarray.
        from plausibly.calibration.data import group_names

        distinct, member = np.unique(group_names(groups), return_inverse=True)
        units = hash_names(distinct)
    order = np.lexsort((units, keys.uniform(units)[:, 0]))
    taken = np.zeros(len(units), dtype=np.bool_)
    taken[order[: int(share * len(units))]] = True
    return taken[member]


def one_of_each(hashes: Hashes, keys: Keys, groups: NDArray[np.str_]) -> Bools:
    """Return which example of each group has its smallest key: a random one, (example,)."""
    order = np.lexsort((hashes, keys.uniform(hashes)[:, 0]))
    chosen = np.zeros(len(hashes), dtype=np.bool_)
    chosen[order[np.unique(groups[order], return_index=True)[1]]] = True
    return chosen
