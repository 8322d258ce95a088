"""Exact sums in any order: masses as integers, and ratios decided exactly.

A plausibility is a mass of `units` in 1/`denominator` of its example. Examples with different
denominators meet in their least common multiple; where that passes 62 bits the masses are Python
integers in object arrays.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias, TypeVar

import attrs
import numpy as np
from numpy.typing import NDArray

from plausibly.kernels.types import Floats, Ints, Masses

Excess: TypeAlias = Callable[[int, Fraction], Fraction | int]
Number = TypeVar("Number", np.float64, np.int16, np.int64)

FLOAT_BITS = 40
LIMIT_BITS = 62
DOUBLE_BITS = 53
SETTLED_DIGITS = 9
# Of weighted masses: totals keep clear of the limit, so that weights of new examples fit above.
_WEIGHTED_BITS = 58
_COARSE_BITS = 20
_AT_ONCE = 1 << 16  # atoms
_TOLERANCE = 1e-3


def ordered_sum(cells: Ints, terms: Floats, size: int) -> NDArray[np.float64]:
    """Return the sum of the terms of each of `size` cells, the same for every order of the terms.

    Exact where all terms are whole numbers and their total is below 2^53.
    """
    if terms.strides == (0,) and terms.size and terms[0] == 1:  # `ones`: counted, not added
        return np.bincount(cells, minlength=size).astype(np.float64)
    if not whole(terms):
        order = np.lexsort((terms, cells))
        cells, terms = cells[order], terms[order]
    return np.bincount(cells, weights=terms, minlength=size).astype(np.float64, copy=False)


def ones(size: int, dtype: type[Number]) -> NDArray[Number]:
    """Return ones that take no memory, and cannot be changed."""
    return np.broadcast_to(np.ones((), dtype), size)


def whole(terms: Floats) -> bool:
    """Return whether all terms are whole numbers whose sums a float64 holds exactly."""
    if terms.size and terms.min() == 1 == terms.max():
        return True
    return bool((terms == np.rint(terms)).all() and float(np.abs(terms).sum()) < 2**DOUBLE_BITS)


def exact_units(plausibilities: Floats, denominator: Ints) -> NDArray[np.int64] | None:
    """Return plausibilities as counts over their totals, or None where they are not."""
    scaled = plausibilities.astype(np.float64) * denominator[:, None]
    units = np.rint(scaled)
    fits = np.abs(scaled - units).max(initial=0.0) <= _TOLERANCE
    whole = units.astype(np.int64)
    return whole if fits and np.array_equal(whole.sum(axis=1), denominator) else None


def float_bits(examples: int) -> int:
    """Return b, where plausibilities of so many examples are multiples of 2^-b."""
    return min(FLOAT_BITS, LIMIT_BITS - (examples + 1).bit_length())


def raised_units(plausibilities: Floats, bits: int) -> NDArray[np.int64]:
    """Return plausibilities in units of ``2^-bits``, rounded up."""
    return np.ceil(plausibilities.astype(np.float64) * 2.0**bits).astype(np.int64)


def common_masses(
    units: Masses, row: Ints, denominator: Masses, *, times: int
) -> tuple[Masses, int]:
    """Return the masses of atoms over one common denominator, and the mass of one example."""
    distinct, place = np.unique(denominator, return_inverse=True)
    unit = math.lcm(*(int(value) for value in distinct))
    exact = unit * (len(denominator) + 1) * times < 2**LIMIT_BITS
    dtype = np.dtype(np.int64) if exact else np.dtype(object)
    factor = np.array([unit // int(value) for value in distinct], dtype=dtype)
    return units.astype(dtype) * factor[place][row], unit


def storable_masses(
    units: Masses, row: Ints, denominator: Masses
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return masses and denominators that doubles hold exactly, as files do.

    Where one passes 2^53, the masses are rounded up to multiples of a power of two of at least
    2^-40, which can only enlarge prediction sets.
    """
    largest = max(int(units.max(initial=0)), int(denominator.max(initial=1)))
    if largest < 2**DOUBLE_BITS:
        return units.astype(np.int64), denominator.astype(np.int64)
    pairs = list(zip(units.tolist(), denominator[row].tolist(), strict=True))
    heaviest = max((-(-unit // whole) for unit, whole in pairs), default=1)
    total = 2 ** min(FLOAT_BITS, DOUBLE_BITS - heaviest.bit_length())
    raised = [-(-unit * total // whole) for unit, whole in pairs]
    return np.array(raised, dtype=np.int64), np.full(len(denominator), total, dtype=np.int64)


@attrs.frozen(eq=False)
class WeightedSums:
    """Sums of masses times weights: exact, and rounded once where they pass 64 bits."""

    up: NDArray[np.int64]
    down: NDArray[np.int64]
    given: int
    one: int
    fine: int
    bits: int

    @classmethod
    def of(cls, weight: Floats, one: int, times: int, *, whole: bool) -> WeightedSums:
        """Return the sums for weights (example,), with room for `times` as much as all weigh.

        `whole` says that a new example counts for the mass of one.
        """
        kept, fine = one, weight_bits(weight, one * times)
        bits = fine
        up, down = (weight_units(weight, fine, up=way) for way in (True, False))
        if one > 2**_COARSE_BITS or not np.array_equal(up, down):
            kept = 1 if whole else min(one, 2**_COARSE_BITS)
            bits, fine = weight_bits(weight, kept * times), LIMIT_BITS - 1 - _exponent(weight)
            up, down = (weight_units(weight, fine, up=way) for way in (True, False))
        return cls(up, down, one, kept, fine, bits)

    @property
    def exact(self) -> bool:
        """True if nothing is rounded."""
        return self.fine == self.bits

    @property
    def base(self) -> int:
        """Mass of all examples, rounded down."""
        whole: int = sum(self.down.tolist()) * self.one
        return whole >> (self.fine - self.bits)

    def cumulative(self, masses: Masses, row: Ints) -> NDArray[np.int64]:
        """Return the cumulative sums (atom + 1,) of atoms in their order, from zero, rounded up."""
        cumulated = np.zeros(len(masses) + 1, dtype=np.int64)
        if self.exact:
            np.cumsum(masses * self.up[row], out=cumulated[1:])
            return cumulated
        divisor, before = self.given << (self.fine - self.bits), 0
        # Python integers, of few atoms at a time.
        for start in range(0, len(masses), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            sums = np.cumsum(masses[part].astype(object) * self.up[row[part]]) + before
            before = sums[-1]
            cumulated[1:][part] = -(-sums * self.one // divisor)
        return cumulated


def _exponent(weight: Floats) -> int:
    return math.frexp(float(weight.max(initial=0.0)) or 1.0)[1]


def weight_bits(weight: Floats, one: int) -> int:
    """Return the number b with which weights are counted in units of 2^-b.

    As fine as integer masses of all examples allow, so that whole weights stay exact.
    """
    return _WEIGHTED_BITS - one.bit_length() - len(weight).bit_length() - _exponent(weight)


def weight_units(weight: Floats, bits: int, *, up: bool) -> Masses:
    """Return weights as whole numbers of 2^-bits, rounded up or down; 1 at least above 0 and up.

    Weights beyond every total that `weight_bits` allows for count as that much, at which every
    p-value is next to 1.
    """
    with np.errstate(over="ignore"):
        scaled = np.ldexp(weight.astype(np.float64), bits)
    rounded = np.maximum(np.ceil(scaled), weight > 0) if up else np.floor(scaled)
    return np.minimum(rounded, 2.0**LIMIT_BITS).astype(np.int64)


def share(numerators: Masses, total: int | Masses) -> NDArray[np.float64]:
    """Return ``numerators / total`` as the nearest doubles, on the right side of short decimals.

    A double cannot tell apart two ratios closer than 2^-53. Where a ratio is that close to a
    decimal of up to nine digits, such as alpha, the comparison is made in integers and the result
    moved to the side where it belongs, so that ``share > float(alpha)`` decides as the exact
    ratio does.
    """
    if not isinstance(total, int):  # each ratio has a total of its own
        ratios = numerators / total.astype(np.float64)
        near = _near_decimals(ratios)
        if near.any():
            above, below = numerators[near], total[near]
            ratios[near] = settle(
                ratios[near], lambda at, value: int(above[at]) - value * int(below[at])
            )
        return ratios
    if numerators.dtype == object:
        flat = [int(value) / total for value in numerators.ravel()]
        ratios = np.array(flat).reshape(numerators.shape)
    else:
        ratios = numerators / np.float64(total)
    if total * 10**SETTLED_DIGITS < 2**53:
        return ratios
    near = _near_decimals(ratios)
    if near.any():
        # Queries repeat the few numerators of a pool; each is decided once.
        distinct, place = np.unique(numerators[near], return_inverse=True)
        first = np.zeros(len(distinct), dtype=np.float64)
        first[place] = ratios[near]
        settled = settle(first, lambda at, value: int(distinct[at]) - value * total)
        ratios[near] = settled[place]
    return ratios


def _near_decimals(ratios: NDArray[np.float64], spacings: int = 8) -> NDArray[np.bool_]:
    distance = np.abs(ratios - np.round(ratios, SETTLED_DIGITS))
    return distance <= spacings * np.spacing(np.maximum(ratios, 1e-300))


def settle(
    ratios: NDArray[np.float64], excess: Excess, *, spacings: int = 8
) -> NDArray[np.float64]:
    """Move doubles that are next to a short decimal to the side where the exact value lies.

    Parameters
    ----------
    ratios : ndarray of float64
    excess : callable
        ``excess(position, decimal)`` has the sign of the exact value at the flat position minus
        the decimal.
    spacings : int
        How many units in the last place the ratios may be off.
    """
    near = _near_decimals(ratios, spacings)
    settled = ratios.copy()
    flat = settled.ravel()
    for position in np.flatnonzero(near.ravel()):
        units = round(float(flat[position]) * 10**SETTLED_DIGITS)
        decimal = Fraction(units, 10**SETTLED_DIGITS)
        nearest = float(decimal)
        sign = excess(int(position), decimal)
        if sign == 0:
            flat[position] = nearest
        elif sign > 0:
            flat[position] = max(float(flat[position]), float(np.nextafter(nearest, np.inf)))
        else:
            flat[position] = min(float(flat[position]), float(np.nextafter(nearest, -np.inf)))
    return flat.reshape(ratios.shape)
