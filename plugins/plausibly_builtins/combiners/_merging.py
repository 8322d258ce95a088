"""What the merging rules share: p-values as exact ratios, and the form of their promise."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache, reduce
from typing import ClassVar

import attrs
import numpy as np

from plausibly.plugin import (
    CalibrationSummary,
    Claim,
    Floats,
    Guarantee,
    InputError,
    Ints,
    Needs,
    PValues,
    counted,
)

VOVK_WANG = "Vovk & Wang, Combining p-values via averaging, Biometrika 2020"
GASPARIN = "Gasparin, Wang & Ramdas, Combining exchangeable p-values, arXiv 2404.03484"
EXCHANGEABLE_REPLICATES = "replicates are exchangeable, as labels drawn alike are"
AVERAGE_SUFFICES = (
    "where replicates share the test score, as drawn labels do, combiner average already has "
    "1 - alpha; in every comparison of docs/combiners.md its sets are smaller"
)

_DIGITS = 50
_WHOLE = 2**50
_WIDE = 2**62


class Merging:
    """A rule that makes one p-value of several, whatever they are p-values of."""

    __slots__ = ()

    held_out: ClassVar[float] = 0.0
    needs: ClassVar[Needs] = "each"

    @abstractmethod
    def _merged(self, values: Floats | Ints, unit: int) -> Floats:
        """Return the merged p-values ``(*query)`` of ``values / unit``, (replicate, *query)."""

    def merge(self, p_values: Floats) -> Floats:
        """Return the merged p-values of any p-values."""
        return self._merged(checked(p_values), 1)

    def combine(self, p: PValues, held_out: PValues | None) -> Floats:
        """Return the merged p-value of each query."""
        with zeros_allowed():
            return self._merged(*ranks(p))


def checked(p_values: Floats) -> Floats:
    """Return p-values (replicate, *query) as float64, or say what is wrong with them."""
    values = np.asarray(p_values, dtype=np.float64)
    wrong = 0 if values.ndim == 0 else int((~((values > 0) & (values <= 1))).sum())
    if values.ndim == 0 or not values.shape[0] or wrong:
        raise InputError(
            "p-values-range",
            "p-values cannot be merged",
            expected="numbers above 0 and at most 1, of shape (replicate, ...)",
            got=f"{counted(wrong)} others" if wrong else f"the shape {values.shape}",
            do="pass one row of p-values a replicate",
            whose="p-values",
        )
    return values


def ranks(p: PValues) -> tuple[Floats | Ints, int]:
    """Return numerators and denominator of the replicates' p-values."""
    each = p.each()
    total = p.pools.each[0].total
    if p.weight is not None or total >= _WHOLE or 2 * p.m * total >= _WIDE:
        return each, 1
    return np.rint(each * total).astype(np.int64), total


def in_order(rows: Floats | Sequence[Floats]) -> Floats:
    """Return the sum over replicates, added in their order whatever the shape of the queries."""
    total: Floats = reduce(np.add, rows)
    return total


def zeros_allowed() -> np.errstate:
    """Return a context for p-values of 0, which new examples of weight 0 have: limits hold."""
    return np.errstate(divide="ignore", invalid="ignore")


def above_zero(merged: Floats, values: Floats | Ints) -> Floats:
    """Return merged p-values, where these underflowed the least normal double."""
    kept: Floats = np.maximum(merged, np.finfo(np.float64).tiny * (values.min(axis=0) > 0))
    return kept


def capped(p_values: Floats) -> Floats:
    """Return p-values of at most 1."""
    kept: Floats = np.minimum(p_values, 1.0)
    return kept


def between(merged: Floats, values: Floats | Ints, unit: int) -> Floats:
    """Return means kept between the least and the largest p-value against rounding."""
    kept: Floats = np.clip(merged, values.min(axis=0) / unit, values.max(axis=0) / unit)
    return kept


@cache
def euler() -> Fraction:
    """Return e to fifty digits."""
    with localcontext() as context:
        context.prec = _DIGITS
        return Fraction(Decimal(1).exp())


@cache
def logarithm(number: int) -> Fraction:
    """Return the natural logarithm of a whole number to fifty digits."""
    with localcontext() as context:
        context.prec = _DIGITS
        return Fraction(Decimal(number).ln())


def promised(
    claim: Claim,
    summary: CalibrationSummary,
    alpha: Fraction,
    *,
    factor: Fraction,
    why: str,
    reference: str,
    exchangeable: bool = False,
    notes: tuple[str, ...] = (),
) -> Guarantee:
    """Return the guarantee of 1 - alpha."""
    least = factor / (summary.n + 1)
    # Separate test scores are merged in a random order, in which any p-values are exchangeable.
    ordered = summary.m > 1 and not summary.shared_score
    if exchangeable and summary.m > 1 and summary.shared_score:
        conditions = (*claim.conditions, EXCHANGEABLE_REPLICATES)
        claim = attrs.evolve(claim, conditions=conditions)
    return summary.guarantee(
        claim,
        alpha,
        1 - alpha,
        why=why,
        reference=reference,
        needed=math.ceil(factor / alpha) - 1,
        # p-values are capped at 1, above every alpha.
        least_alpha=float(least) if least < 1 else None,
        vacuous=alpha < least,
        random=("the order of the augmentations",) if exchangeable and ordered else (),
        notes=(*notes, AVERAGE_SUFFICES) if summary.shared_score else notes,
    )


def unproved(
    claim: Claim, summary: CalibrationSummary, alpha: Fraction, reason: str, *, reference: str
) -> Guarantee:
    """Return that nothing is guaranteed of several p-values; one is valid."""
    if summary.m == 1:
        return summary.guarantee_of_rank(
            claim,
            alpha,
            why="there is one replicate, whose p-value is given back as it is",
            reference="Vovk, Gammerman & Shafer, Algorithmic learning in a random world, 2005",
        )
    return summary.no_guarantee(claim, alpha, reason, reference=reference)
