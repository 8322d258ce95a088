"""Measures of agreement, each a function of sums over examples: so resamples cost a product."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import attrs
import numpy as np
from numpy.typing import NDArray

from plausibly.annotators.agreement_answers import Answers, by_example, ranges
from plausibly.annotators.agreement_likeness import MOST_VALUES, Likeness
from plausibly.annotators.agreement_resampling import (
    Matrix,
    Resampling,
    Sums,
    column,
    matrix,
    summed,
)
from plausibly.errors import counted
from plausibly.kernels.types import Bools, Floats, Ints

NO_PAIRS = "no example has answers of two annotators"
_NOTHING = 1e-12  # of all pairs: less disagreement by chance than this is rounding

Values = NDArray[np.float64]


@attrs.frozen(kw_only=True, eq=False)
class Measure:
    """A number of the table, and how to have it of resamples.

    Attributes
    ----------
    name : str
    value : float
        NaN where there is none, and then why.
    reason : str
    features : dict of str to csr_array, (example, feature)
    of : callable or None
        Returns (replicate,) from sums of the features; None where there is no interval.
    """

    name: str
    value: float
    reason: str
    features: dict[str, Matrix]
    of: Callable[[Sums], Values] | None


def ratio(above: Floats | Ints, below: Floats | Ints) -> Values:
    """Return `above` / `below`, NaN for nothing."""
    found = np.full(np.broadcast_shapes(above.shape, below.shape), np.nan)
    np.divide(above, below, out=found, where=below > 0)
    return found


def exact_sum(numerators: Ints, denominators: Ints) -> Fraction:
    """Return the exact sum of fractions."""
    total = Fraction(0)
    for denominator in np.unique(denominators).tolist():
        mine = numerators[denominators == denominator].tolist()
        total += Fraction(sum(mine), denominator)
    return total


def mean(
    name: str, values: Values, among: Bools, reason: str, *, exact: float | None = None
) -> Measure:
    """Return the mean over some examples.

    Parameters
    ----------
    name : str
    values : ndarray of float64, (example,)
    among : ndarray of bool, (example,)
    reason : str
        Why there are none, where there are none.
    exact : float, optional
        The mean, where it is known exactly.
    """
    count = int(among.sum())
    value = math.fsum(values[among].tolist()) / count if count else math.nan
    return Measure(
        name=name,
        value=value if exact is None or not count else exact,
        reason="" if count else reason,
        features={f"{name}-sum": column(np.where(among, values, 0.0)), f"{name}-n": column(among)},
        of=lambda sums: ratio(sums[f"{name}-sum"][0], sums[f"{name}-n"][0]),
    )


def pair_mean(likeness: Likeness) -> Measure:
    """Return the mean over examples of the mean likeness of two different answers."""
    answers = likeness.answers
    m, paired = answers.answers, answers.paired
    exact = None
    if likeness.whole and paired.any():
        pairs = np.rint(likeness.pairs[paired]).astype(np.int64)
        exact = float(exact_sum(pairs, (m * (m - 1))[paired]) / int(paired.sum()))
    shares = pair_shares(likeness)
    return mean(likeness.name, shares, paired, NO_PAIRS, exact=exact)


def pair_shares(likeness: Likeness) -> Values:
    """Return the mean likeness of two different answers to each example, 0 for none."""
    m = likeness.answers.answers.astype(np.float64)
    found = np.zeros(likeness.answers.n)
    np.divide(likeness.pairs, m * (m - 1), out=found, where=m > 1)
    return np.minimum(found, 1.0)


def fleiss_kappa(likeness: Likeness) -> Measure:
    """Return ``(P - P_e) / (1 - P_e)``: P the mean of pairs, P_e the sum of squared shares.

    Numbers of answers may differ: P is the mean over examples of the share of pairs that agree, and
    shares are of all answers to examples with two or more.
    """
    answers = likeness.answers
    base = pair_mean(likeness)
    counts = answers.counts()
    total = np.asarray(counts.sum(axis=0)).astype(np.int64).tolist()
    n = sum(total)
    value, reason = math.nan, base.reason
    if n:
        chance = Fraction(sum(count * count for count in total), n * n)
        m, paired = answers.answers, answers.paired
        pairs = np.rint(likeness.pairs[paired]).astype(np.int64)
        seen = exact_sum(pairs, (m * (m - 1))[paired]) / int(paired.sum())
        reason = all_same(n) if chance == 1 else ""
        value = math.nan if reason else float((seen - chance) / (1 - chance))

    def of(sums: Sums) -> Values:
        seen = ratio(sums["percent-sum"][0], sums["percent-n"][0])
        by_value = sums["counts"]
        n = by_value.sum(axis=0)
        left = n * n - (by_value**2).sum(axis=0)
        return 1 - ratio((1 - seen) * n * n, np.where(left > _NOTHING * n * n, left, 0.0))

    features = {**base.features, "counts": counts}
    return Measure(name="fleiss-kappa", value=value, reason=reason, features=features, of=of)


def all_same(answers: int) -> str:
    """Return why agreement beyond chance has no value."""
    return (
        f"all {counted(answers)} answers are the same: there is no disagreement that chance "
        "could explain"
    )


def krippendorff(likeness: Likeness) -> Measure:
    """Return ``1 - D_o / D_e`` with the distance 1 - s, from counts of values.

    With m_i answers to example i, of all n that have company,
    ``D_o = 1/n sum_i (sum over pairs of the distance) / (m_i - 1)``, and D_e is the mean distance
    of two different ones of the n answers.

    References
    ----------
    Krippendorff, Content analysis, 2004, chapter 11.
    """
    answers = likeness.answers
    m, paired = answers.answers, answers.paired
    n = int(m[paired].sum())
    apart = np.where(paired, m * (m - 1) - likeness.pairs, 0.0)
    features = {
        f"{likeness.alpha}-apart": column(apart / np.maximum(m - 1, 1)),
        "total": column(np.where(paired, m, 0)),
        **likeness.features,
    }
    chance = likeness.chance
    if not n or chance is None:
        many = f"more than {counted(MOST_VALUES)} different answers: their distances are too many"
        reason = NO_PAIRS if not n else many
        return Measure(name=likeness.alpha, value=math.nan, reason=reason, features={}, of=None)

    def of(sums: Sums) -> Values:
        n = sums["total"][0]
        left = n * n - chance(sums)
        left = np.where(left > _NOTHING * n * n, left, 0.0)
        return 1 - ratio((n - 1) * sums[f"{likeness.alpha}-apart"][0], left)

    value = float(of(summed(features, np.ones((answers.n, 1))))[0])
    if likeness.name == "percent":
        counts = np.asarray(answers.counts().sum(axis=0)).astype(np.int64).tolist()
        different = n * n - sum(count * count for count in counts)
        observed = exact_sum(np.rint(apart[paired]).astype(np.int64), (m - 1)[paired])
        value = float(1 - (n - 1) * observed / different) if different else math.nan
    reason = all_same(n) if math.isnan(value) else ""
    return Measure(name=likeness.alpha, value=value, reason=reason, features=features, of=of)


def ordered_measures(answers: Answers, position: Ints) -> list[Measure]:
    """Return measures of labels that have an order: neighbouring, and alpha with ordinal distances.

    The distance of labels c and k is ``(sum_{g=c..k} n_g - (n_c + n_k) / 2)^2``, which is the
    squared difference of the mean ranks that their answers have among all.

    Parameters
    ----------
    answers : Answers
        Single labels.
    position : ndarray of int, (value,)
        Place of the label in the order.
    """
    size = np.bincount(answers.cell_example, minlength=answers.n)
    cell, other = ranges((np.cumsum(size) - size)[answers.cell_example], size[answers.cell_example])
    m, paired = answers.answers, answers.paired
    owner = answers.cell_example[cell]
    one, two = position[answers.cell_value[cell]], position[answers.cell_value[other]]
    pairs = answers.cell_count[cell] * (answers.cell_count[other] - (cell == other))
    near = np.rint(by_example(owner, pairs * (abs(one - two) <= 1), answers.n)).astype(np.int64)
    exact = None
    if paired.any():
        exact = float(exact_sum(near[paired], (m * (m - 1))[paired]) / int(paired.sum()))
    shares = np.zeros(answers.n)
    np.divide(near, m * (m - 1), out=shares, where=paired)
    return [
        mean("neighbouring", shares, paired, NO_PAIRS, exact=exact),
        _ordinal(answers, position, (owner, one, two, pairs)),
    ]


def _ordinal(answers: Answers, position: Ints, entries: tuple[Ints, Ints, Ints, Ints]) -> Measure:
    owner, one, two, pairs = entries
    m, places = answers.answers, int(position.max(initial=0)) + 1
    kept = (one < two) & answers.paired[owner]
    owner, pairs = owner[kept], pairs[kept]
    met, of_pair = np.unique(one[kept] * places + two[kept], return_inverse=True)
    low, high = met // places, met % places
    each = m[owner] - 1
    coincidences = matrix(pairs / each, owner, of_pair, (answers.n, len(met)))
    ones, every = np.ones(len(position)), np.arange(len(position))
    to_place = matrix(ones, every, position, (len(position), places))
    features = {"ordinal-pairs": coincidences, "ordinal-counts": answers.counts() @ to_place}

    def of(sums: Sums) -> Values:
        by_place = sums["ordinal-counts"]
        n = by_place.sum(axis=0)
        rank = np.cumsum(by_place, axis=0) - by_place / 2  # mean rank of a label's answers
        apart = 2 * (sums["ordinal-pairs"] * (rank[high] - rank[low]) ** 2).sum(axis=0)
        centre = ratio((by_place * rank).sum(axis=0), n)
        left = 2 * n * (by_place * (rank - centre) ** 2).sum(axis=0)
        return 1 - ratio((n - 1) * apart, np.where(left > _NOTHING * n**4, left, 0.0))

    counts = [int(one) for one in np.asarray(features["ordinal-counts"].sum(axis=0))]
    n = sum(counts)
    double = (
        2 * np.cumsum(np.array(counts, dtype=object)) - np.array(counts, dtype=object)
    ).tolist()
    square = sum(c * r * r for c, r in zip(counts, double, strict=True))
    plain = sum(c * r for c, r in zip(counts, double, strict=True))
    left = n * square - plain * plain
    value, reason = math.nan, NO_PAIRS
    if n:
        reason = "" if left else all_same(n)
        companies, which = np.unique(each, return_inverse=True)
        whole = np.zeros((len(met), len(companies)), dtype=np.int64)
        np.add.at(whole, (of_pair, which), pairs)
        apart = Fraction(0)
        for one_pair, pair in enumerate(whole):
            step = double[high[one_pair]] - double[low[one_pair]]
            apart += step**2 * exact_sum(pair, companies)
        value = float(1 - (n - 1) * apart / left) if left else math.nan
    return Measure(
        name="krippendorff-ordinal", value=value, reason=reason, features=features, of=of
    )


@attrs.frozen(kw_only=True, eq=False)
class Measured:
    """Values and intervals of measures, in order: (measure,)."""

    value: Values
    low: Values
    high: Values
    reason: list[str]


def measured(measures: Sequence[Measure], resampling: Resampling) -> Measured:
    """Return the measures with intervals (BCa) over resamples of examples or clusters."""
    features: dict[str, Matrix] = {}
    for one in measures:
        if one.of is not None and not math.isnan(one.value):
            features |= one.features
    replicates: list[list[Values]] = [[] for _ in measures]
    if features:
        for times in resampling.times():
            sums = summed(features, times)
            for place, one in enumerate(measures):
                if one.of is not None and not math.isnan(one.value):
                    replicates[place].append(one.of(sums))
    ends = [
        resampling.ends(np.concatenate(blocks)) if blocks else (math.nan, math.nan)
        for blocks in replicates
    ]
    return Measured(
        value=np.array([one.value for one in measures]),
        low=np.array([low for low, _ in ends]),
        high=np.array([high for _, high in ends]),
        reason=[one.reason for one in measures],
    )
