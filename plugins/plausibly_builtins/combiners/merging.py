"""Rules that merge the p-values of several replicates, whatever they are p-values of.

Rules for any dependence, for exchangeable replicates, and for independent ones.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from decimal import Context, Decimal
from fractions import Fraction
from functools import reduce
from typing import ClassVar, Literal, TypeAlias

import attrs
import numpy as np

from plausibly.plugin import (
    CalibrationSummary,
    Claim,
    Floats,
    Guarantee,
    IncompatibleComponents,
    InputError,
    Ints,
    PValueCombiner,
    PValues,
)
from plausibly_builtins.combiners.average import AVERAGE_SUFFICES, VOVK_WANG, merged_guarantee

_FIFTY_DIGITS = Context(prec=50)
EULER = Fraction(_FIFTY_DIGITS.exp(Decimal(1)))
_WHOLE = 2**50
_POSITIVE = attrs.validators.gt(0.0)
_WIDE = 2**62


def in_order(rows: Floats | Sequence[Floats]) -> Floats:
    """Return the sum over replicates, added in their order."""
    return reduce(np.add, rows)


def capped(p_values: Floats) -> Floats:
    return np.minimum(p_values, 1.0)


def checked(p_values: Floats) -> Floats:
    """Return p-values (replicate, *query) as float64, or say what is wrong with them."""
    values = np.asarray(p_values, dtype=np.float64)
    if not values.ndim or not len(values) or not ((values > 0) & (values <= 1)).all():
        raise InputError(
            "p-values-range",
            "p-values cannot be merged",
            expected="numbers above 0 and at most 1, of shape (replicate, ...)",
            hint="pass one row of p-values per replicate",
            source="p-values",
        )
    return values


def ranks(p: PValues) -> tuple[Floats | Ints, int]:
    """Return numerators and denominator of the replicates' p-values."""
    each = p.each()
    total = p.pools.each[0].total
    if p.weight is not None or total >= _WHOLE or 2 * p.m * total >= _WIDE:
        return each, 1
    return np.rint(each * total).astype(np.int64), total


def above_zero(merged: Floats, values: Floats | Ints) -> Floats:
    """Return merged p-values, where these underflowed the least normal double."""
    kept: Floats = np.maximum(merged, np.finfo(np.float64).tiny * (values.min(axis=0) > 0))
    return kept


def between(merged: Floats, values: Floats | Ints, unit: int) -> Floats:
    """Return means kept between the least and the largest p-value against rounding."""
    return np.clip(merged, values.min(axis=0) / unit, values.max(axis=0) / unit)


class OfEach(PValueCombiner):
    """Base of rules that read the p-value of each replicate, and set no example aside."""

    __slots__ = ()

    held_out: ClassVar[float] = 0.0
    needs = "each"


class Unproved(OfEach):
    """Base of rules that guarantee nothing of several p-values; one is valid."""

    __slots__ = ()

    lacks: ClassVar[str]
    reference: ClassVar[str]

    def guarantee(self, claim: Claim, summary: CalibrationSummary, alpha: Fraction) -> Guarantee:
        if summary.m == 1:
            return summary.guarantee_of_rank(
                claim,
                alpha,
                reason="there is one replicate, whose p-value is given back as it is",
                reference="Vovk, Gammerman & Shafer, Algorithmic learning in a random world, 2005",
            )
        return summary.no_guarantee(claim, alpha, self.lacks, reference=self.reference)


class Merging(OfEach):
    """A rule that makes one p-value of several, and guarantees 1 - alpha."""

    __slots__ = ()

    reason: ClassVar[str]
    reference: ClassVar[str] = VOVK_WANG
    exchangeable: ClassVar[bool] = False

    @abstractmethod
    def _merged(self, values: Floats | Ints, unit: int) -> Floats:
        """Return the merged p-values ``(*query)`` of ``values / unit``, (replicate, *query)."""

    def _factor(self, m: int) -> Fraction:
        """Return what the rule multiplies by: no p-value is less than this over n + 1."""
        return Fraction(2)

    def merge(self, p_values: Floats) -> Floats:
        return self._merged(checked(p_values), 1)

    def combine(self, p: PValues, held_out: PValues | None) -> Floats:
        # New examples of weight 0 have p-values of 0, for which limits hold.
        with np.errstate(divide="ignore", invalid="ignore"):
            return self._merged(*ranks(p))

    def guarantee(self, claim: Claim, summary: CalibrationSummary, alpha: Fraction) -> Guarantee:
        return merged_guarantee(
            claim,
            summary,
            alpha,
            factor=self._factor(summary.m),
            reason=self.reason,
            reference=self.reference,
            exchangeable=self.exchangeable,
        )


@attrs.frozen(kw_only=True)
class Bonferroni(Merging):
    """Take m times the least p-value: ``min(1, m min_j p_j)``.

    Valid for p-values of any dependence.

    References
    ----------
    Vovk & Wang, Combining p-values via averaging, Biometrika 2020 (its means of order -infinity).
    """

    reason: ClassVar[str] = (
        "each of m p-values is at most alpha / m with probability at most alpha / m, "
        "whatever their dependence"
    )
    reference: ClassVar[str] = "the union bound, Bonferroni 1936"

    def _merged(self, values: Floats | Ints, unit: int) -> Floats:
        return capped(len(values) * values.min(axis=0) / unit)

    def _factor(self, m: int) -> Fraction:
        return Fraction(m)


def half(count: int) -> int:
    return -(-count // 2)


@attrs.frozen(kw_only=True)
class Median(Merging):
    """Take the median and double it: ``min(1, p_(k) m / k)``, k = ceil(m / 2).

    p_(k) is the k-th smallest. Valid for p-values of any dependence.

    References
    ----------
    Rüger, Das maximale Signifikanzniveau des Tests "Lehne H0 ab, wenn k unter n gegebenen Tests zur
    Ablehnung führen", Metrika 1978.
    """

    reason: ClassVar[str] = (
        "k of m p-values are at most alpha k / m with probability at most alpha (Markov's "
        "inequality for their number)"
    )
    reference: ClassVar[str] = "Rüger, Metrika 25, 1978"

    def _merged(self, values: Floats | Ints, unit: int) -> Floats:
        m, k = len(values), half(len(values))
        return capped(m * np.sort(values, axis=0)[k - 1] / (k * unit))

    def _factor(self, m: int) -> Fraction:
        return Fraction(m, half(m))


@attrs.frozen(kw_only=True)
class Geometric(Merging):
    """Take e times the geometric mean: ``min(1, e (p_1 ... p_m)^(1/m))``.

    Valid for p-values of any dependence.

    References
    ----------
    Vovk & Wang, Combining p-values via averaging, Biometrika 2020 (after Mattner).
    """

    reason: ClassVar[str] = (
        "log(alpha / p) above zero has a mean of at most alpha, and so has its average over "
        "replicates, which must reach 1"
    )

    def _merged(self, values: Floats | Ints, unit: int) -> Floats:
        logs = np.log(values / unit)
        return capped(np.exp(1.0 + in_order(logs) / len(values)))

    def _factor(self, m: int) -> Fraction:
        return EULER


def harmonic_factor(count: int) -> Fraction:
    """Return what the harmonic mean of so many p-values is multiplied by."""
    if count <= 2:
        return Fraction(count)
    return EULER * Fraction(_FIFTY_DIGITS.ln(Decimal(count)))


@attrs.frozen(kw_only=True)
class Harmonic(Merging):
    """Take a multiple of the harmonic mean: ``min(1, a_m m / (1/p_1 + ... + 1/p_m))``.

    a_1 = 1, a_2 = 2, and a_m = e log m from m = 3 on. Valid for p-values of any dependence.

    References
    ----------
    Vovk & Wang, Combining p-values via averaging, Biometrika 2020.
    """

    reason: ClassVar[str] = (
        "the average of 1/p, cut off where one replicate decides alone, is bounded in mean"
    )
    reference: ClassVar[str] = f"{VOVK_WANG}; proof in docs/combiners.md"

    def _merged(self, values: Floats | Ints, unit: int) -> Floats:
        m = len(values)
        if m == 1:
            return capped(values[0] / unit)
        if m == 2:
            # Products of numerators pass 64 bits; as floats they are exact while they are small,
            # and the ratio is rounded once.
            first, second = values.astype(np.float64)
            both = np.where(first + second > 0, first + second, 1.0)
            return capped(4 * first * second / (both * unit))
        return capped(float(harmonic_factor(m)) * m / in_order(unit / values))

    def _factor(self, m: int) -> Fraction:
        return harmonic_factor(m)


@attrs.frozen(kw_only=True)
class Cauchy(Unproved, Merging):
    """Average on the scale of a Cauchy variable: ``arccot(mean_j cot(pi p_j)) / pi``.

    Known to hold only as alpha goes to 0. At alpha = 0.1, exchangeable p-values exist with which it
    misses with probability 0.2 (measured in docs/combiners.md).

    References
    ----------
    Liu & Xie, Cauchy combination test, Journal of the American Statistical Association 2020.
    """

    lacks: ClassVar[str] = "a bound at this alpha; cauchy's holds only as alpha goes to 0"
    reference: ClassVar[str] = "Liu & Xie 2020; counter-example in docs/combiners.md"

    def _merged(self, values: Floats | Ints, unit: int) -> Floats:
        cotangents = 1.0 / np.tan(np.pi * (values / unit))
        merged = np.arctan2(1.0, in_order(cotangents) / len(values)) / np.pi
        return between(merged, values, unit)


class Exchangeable(Merging):
    """A rule for exchangeable replicates: the least over prefixes of them, in draw order."""

    __slots__ = ()

    reason: ClassVar[str] = (
        "prefix means of exchangeable e-values reach 1 / alpha with probability at most alpha "
        "(exchangeable Markov inequality)"
    )
    reference: ClassVar[str] = (
        "Gasparin, Wang & Ramdas, Combining exchangeable p-values, arXiv 2404.03484"
    )
    exchangeable: ClassVar[bool] = True


@attrs.frozen(kw_only=True)
class ExchangeableAverage(Exchangeable):
    """Take the least over prefixes of the replicates of an improved double average.

    ``min_l min_r 2 (p_(1) + ... + p_(r)) / (2 r - l)`` over l = 1..m and l/2 < r <= l, with p_(i)
    the i-th smallest of the first l p-values, in draw order; at most 1. At level alpha it rejects
    where the mean of ``max(0, 2 - 2 p_i / alpha)`` over some prefix reaches 1.

    References
    ----------
    Gasparin, Wang & Ramdas, Combining exchangeable p-values, arXiv 2404.03484, section 6.
    """

    def _merged(self, values: Floats | Ints, unit: int) -> Floats:
        least = np.ones(values.shape[1:], dtype=np.float64)
        for length in range(1, len(values) + 1):
            sums = np.cumsum(np.sort(values[:length], axis=0), axis=0)
            for kept in range(length // 2 + 1, length + 1):
                np.minimum(least, 2 * sums[kept - 1] / ((2 * kept - length) * unit), out=least)
        return least


@attrs.frozen(kw_only=True)
class ExchangeableMedian(Exchangeable):
    """Take the least over prefixes of twice the median: ``min_l 2 p_(ceil(l / 2))``, at most 1.

    p_(i) is the i-th smallest of the first l p-values, in draw order. At level alpha it rejects
    where half of some prefix is at most alpha / 2.

    References
    ----------
    Gasparin, Wang & Ramdas, Combining exchangeable p-values, arXiv 2404.03484, section 4.
    """

    reason: ClassVar[str] = (
        "in some prefix of exchangeable p-values half are at most alpha / 2 with probability at "
        "most alpha (exchangeable Markov inequality)"
    )

    def _merged(self, values: Floats | Ints, unit: int) -> Floats:
        least = values[0]
        for length in range(2, len(values) + 1):
            ordered = np.sort(values[:length], axis=0)
            least = np.minimum(least, ordered[half(length) - 1])
        return capped(2 * least / unit)


@attrs.frozen(kw_only=True)
class ExchangeableGeometric(Exchangeable):
    """Take the least over prefixes of an improved multiple of the geometric mean.

    ``min_l min_r exp((l + log p_(1) + ... + log p_(r)) / r)`` over l = 1..m and r = 1..l, with
    p_(i) the i-th smallest of the first l p-values, in draw order; at most 1. At level alpha it
    rejects where the mean of ``max(0, log(alpha / p_i))`` over some prefix reaches 1.

    References
    ----------
    Gasparin, Wang & Ramdas, Combining exchangeable p-values, arXiv 2404.03484, section 8.
    """

    def _merged(self, values: Floats | Ints, unit: int) -> Floats:
        logs = np.log(values / unit)
        least = np.zeros(values.shape[1:])
        for length in range(1, len(values) + 1):
            sums = np.cumsum(np.sort(logs[:length], axis=0), axis=0)
            for kept in range(1, length + 1):
                np.minimum(least, (length + sums[kept - 1]) / kept, out=least)
        return capped(np.exp(least))

    def _factor(self, m: int) -> Fraction:
        return EULER


@attrs.frozen(kw_only=True)
class TwiceAverage(PValueCombiner):
    """Average the p-values and double: ``min(1, 2 mean_j p_j)``.

    Valid for p-values of any dependence; 1 - alpha / 2 where replicates share one test score.

    References
    ----------
    Vovk & Wang, Combining p-values via averaging, Biometrika 2020.
    """

    held_out: ClassVar[float] = 0.0
    needs = "mean"

    def combine(self, p: PValues, held_out: PValues | None) -> Floats:
        return np.minimum(2 * p.mean(), 1.0)

    def guarantee(self, claim: Claim, summary: CalibrationSummary, alpha: Fraction) -> Guarantee:
        if not summary.shared_score and summary.m > 1:
            return merged_guarantee(
                claim,
                summary,
                alpha,
                factor=Fraction(2),
                reason="twice the average of p-values of any dependence is at most alpha with "
                "probability at most alpha",
                reference=VOVK_WANG,
            )
        return summary.guarantee_of_rank(
            claim,
            alpha,
            reason="twice the mean is at most alpha where the mean is at most alpha / 2",
            reference="Vovk & Wang 2020; conformal risk control, arXiv 2208.02814",
            factor=2,
            notes=("the plain average already has 1 - alpha, with smaller sets",),
        )


@attrs.frozen(kw_only=True)
class Maximum(OfEach):
    """Take the largest p-value: ``rho = max_j p_j``; its sets contain those of the average."""

    def combine(self, p: PValues, held_out: PValues | None) -> Floats:
        largest: Floats = p.each().max(axis=0)
        return largest

    def guarantee(self, claim: Claim, summary: CalibrationSummary, alpha: Fraction) -> Guarantee:
        return summary.guarantee_of_rank(
            claim,
            alpha,
            reason="the first replicate alone keeps 1 - alpha, and the union contains its set",
            reference="Vovk, Gammerman & Shafer, Algorithmic learning in a random world, 2005",
        )


@attrs.frozen(kw_only=True)
class EValue(OfEach):
    """Average conformal e-values instead of p-values: a label stays while the mean is < 1 / alpha.

    ``E_j = (n + 1) a(s) / (a(S_1^j) + ... + a(S_n^j) + a(s))``, ``a(s) = max(s, floor)^-power``;
    the p-value is ``min(1, 1 / mean_j E_j)``. Made for scores above zero, such as probabilities.

    Attributes
    ----------
    power : float
        1 for 1/p; smaller for a flatter transform, and larger sets.
    floor : float
        Least score that counts as such, so that no single one outweighs all others.

    References
    ----------
    Gauthier, Bach & Jordan, E-values expand the scope of conformal prediction, arXiv 2503.13050.
    """

    power: float = attrs.field(
        default=1.0, validator=attrs.validators.and_(_POSITIVE, attrs.validators.le(1.0))
    )
    floor: float = attrs.field(
        default=1e-6, validator=attrs.validators.and_(_POSITIVE, attrs.validators.lt(1.0))
    )

    def _inverse(self, scores: Floats) -> Floats:
        wide = np.asarray(scores, dtype=np.float64)
        return np.clip(wide, self.floor, np.finfo(np.float64).max) ** self.power

    def combine(self, p: PValues, held_out: PValues | None) -> Floats:
        pools = p.pools.each
        if max(pool.ordered[-1] for pool in pools) < 0:
            raise IncompatibleComponents(
                "scores-not-positive",
                "combiner e-value needs scores above zero",
                hint="score probability, or combiner average",
                source="combiner e-value",
            )
        inverse = self._inverse(np.asarray(p.scores))
        with np.errstate(over="ignore", divide="ignore"):
            e_values = [
                pool.total / (1.0 + math.fsum(1.0 / self._inverse(pool.ordered)) * inverse)
                for pool in pools
            ]
            return capped(len(pools) / in_order(e_values))

    def guarantee(self, claim: Claim, summary: CalibrationSummary, alpha: Fraction) -> Guarantee:
        if not summary.equal_masses:
            raise IncompatibleComponents(
                "pair-incompatible",
                f"combiner e-value does not go with calibrator {summary.calibrator}",
                expected="scores that all weigh the same",
                hint="combiner average, or calibrator monte-carlo",
                source="combiner e-value",
            )
        least = Fraction(1, summary.n + 1)
        return summary.guarantee(
            claim,
            alpha,
            1 - alpha,
            reason="a conformal e-value has mean 1 by exchangeability, an average of e-values too, "
            "and it reaches 1 / alpha with probability at most alpha (Markov's inequality)",
            reference="Gauthier, Bach & Jordan, arXiv 2503.13050",
            needed=math.floor(1 / alpha),
            # At 1 / (n + 1) itself no score is low enough.
            least_alpha=math.nextafter(float(least), 1.0),
            vacuous=alpha <= least,
            notes=(
                "sets are very large: only labels go whose 1/score is about 1 / alpha times the "
                "mean one of the calibration examples",
                AVERAGE_SUFFICES,
            ),
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
class ForIndependent(Unproved):
    """Base of rules for independent p-values.

    Replicates with one test score are never independent. With an effective number of tests M,
    copies of a p-value give it back; that corrects the size of the error and guarantees nothing.

    Attributes
    ----------
    effective : {"none", "nyholt", "galwey"}
        How M is got out of the correlations of the replicates' calibration ranks; "none": M = m. It
        belongs to the calibration, so that p-values of one calibration rise together.
    """

    lacks: ClassVar[str] = "independent p-values; replicates share the test score"
    reference: ClassVar[str] = "measured in docs/combiners.md"

    effective: Effective = "none"

    @abstractmethod
    def _merged(self, values: Floats | Ints, unit: int, tests: float) -> Floats:
        """Return merged p-values of p-values in 1/`unit`, (replicate, *query), for M tests."""

    def merge(self, p_values: Floats, *, tests: float | None = None) -> Floats:
        values = checked(p_values)
        return self._merged(values, 1, float(len(values)) if tests is None else tests)

    def combine(self, p: PValues, held_out: PValues | None) -> Floats:
        values, unit = ranks(p)
        with np.errstate(divide="ignore", invalid="ignore"):
            return self._merged(values, unit, effective_tests(p, self.effective))


@attrs.frozen(kw_only=True)
class Fisher(ForIndependent):
    """Compare ``-2 (log p_1 + ... + log p_m)`` with a chi-square variable of 2 m degrees.

    Copies of a uniform p-value fall at or below 0.1 in 24% of cases for m = 10. With an effective
    number of tests M the statistic is scaled by M / m and the degrees are 2 M.

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

    Copies of a uniform p-value fall at or below 0.1 in 34% of cases for m = 10. With an effective
    number of tests M the mean of the z is multiplied by sqrt(M) instead of sqrt(m).

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
