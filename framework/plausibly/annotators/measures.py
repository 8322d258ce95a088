"""Measures of agreement: for labels, sets, and rankings."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property

import attrs
import numpy as np
from numpy.typing import NDArray

from plausibly.annotators.answers import (
    RANKINGS,
    SETS,
    Answers,
    Matrix,
    Resampling,
    Sums,
    column,
    matrix,
    scaled,
    summed,
)
from plausibly.data.names import text_array
from plausibly.errors import InputError, counted, listed
from plausibly.evaluation.intervals import Doubles
from plausibly.evaluation.splits import out_of_range
from plausibly.kernels.types import Bools, Floats, Ints


def _jaccard(both: Doubles, first: Doubles, second: Doubles) -> Doubles:
    """Return ``|A & B| / |A | B|`` of sizes of the intersection and of both sets."""
    return both / (first + second - both)


def _masi(both: Doubles, first: Doubles, second: Doubles) -> Doubles:
    """Return Jaccard times 1 for equal sets, 2/3 where one holds the other, 1/3 else."""
    held = both == np.minimum(first, second)
    factor = np.where(held & (first == second), 1.0, np.where(held, 2 / 3, 1 / 3))
    return _jaccard(both, first, second) * factor


def _sums(rows: Matrix) -> Doubles:
    return np.asarray(rows.sum(axis=1), dtype=np.float64).ravel()


def average_overlap(
    one: Sequence[object],
    other: Sequence[object],
    labels: int,
    *,
    depth: int | None = None,
    normalise: bool = True,
) -> float:
    """Return the (partial) average overlap of two rankings.

    Let A_k(y) be the chance that label y is among the first k places where ties are broken at
    random; labels that are not listed share the places after the listed ones. The overlap at k is
    ``sum_y A_k(y) B_k(y)``, the unnormalised average overlap
    ``UAO(A, B) = 1/L sum_{k=1..L} overlap_k / k``, and the partial average overlap
    ``UAO(A, B) / sqrt(UAO(A, A) UAO(B, B))``. Of strict rankings UAO is the average overlap.

    Parameters
    ----------
    one, other : sequence
        Blocks, the best first, each a label or a list of labels that are tied.
    labels : int
        How many labels there are.
    depth : int, optional
        L, at most the number of labels; by default that of the longer ranking.
    normalise : bool
        Whether to return the partial average overlap, or UAO.

    Returns
    -------
    float
        In [0, 1]; 0 where a ranking is empty.

    Raises
    ------
    InputError
        ``ranking-repeats``, ``option-range``.

    References
    ----------
    Stutz et al., Evaluating AI systems under uncertain ground truth: a case study in dermatology,
    arXiv 2307.02191; Webber, Moffat & Zobel, A similarity measure for indefinite rankings, TOIS
    2010.
    """
    rankings = [_blocks(ranking) for ranking in (one, other)]
    named = list(dict.fromkeys(label for blocks in rankings for block in blocks for label in block))
    if len(named) > labels:
        expected = f"{len(named)} or more, which the rankings name"
        raise out_of_range("labels", labels, expected=expected, hint=f"labels={len(named)}")
    longest = max(sum(map(len, blocks)) for blocks in rankings)
    wanted = check_depth(longest if depth is None else depth, labels)
    if not all(rankings):
        return 0.0
    # A_k of each label that is named, and of the others together: (depth, named + 1).
    k, shares = np.arange(1.0, wanted + 1)[:, None], []
    for blocks in rankings:
        size, before = sum(map(len, blocks)), 0
        share = np.repeat(np.maximum(k - size, 0) / max(labels - size, 1), len(named) + 1, axis=1)
        for block in blocks:
            columns = list(map(named.index, block))
            share[:, columns] = np.clip((k - before) / len(block), 0.0, 1.0)
            before += len(block)
        share[:, -1] *= np.sqrt(labels - len(named))  # labels that neither lists are alike
        shares.append(share)
    a, b = shares

    def overlap(first: Doubles, second: Doubles) -> float:
        return float(sum(first[k] @ second[k] / (k + 1) for k in range(wanted)) / wanted)

    value = overlap(a, b)
    if not normalise or not value:
        return value
    return float(min(value / np.sqrt(overlap(a, a) * overlap(b, b)), 1.0))


def check_depth(depth: int, labels: int) -> int:
    if depth < 1:
        raise out_of_range("depth", depth, expected="1 or more", hint="depth=3")
    return max(1, min(depth, labels))


def places(answers: Answers, depth: int) -> tuple[Matrix, Doubles]:
    """Return phi (value, feature) and the signs by which s is the unnormalised average overlap."""
    total = len(answers.labels)
    value, block = answers.mention_value, answers.mention_block
    size = np.bincount(value, minlength=answers.values)
    _, start, rank, number = np.unique(
        value * (int(block.max(initial=0)) + 1) + block,
        return_index=True,
        return_inverse=True,
        return_counts=True,
    )
    # Mentions stand in the order of values, then blocks: so many labels are before each rank.
    first, ties = start[rank] - np.searchsorted(value, value), number[rank]
    rest = (total - size).astype(np.float64)
    scale = 1.0 / np.sqrt(np.arange(1, depth + 1) * depth)
    parts: list[tuple[Doubles, Ints, Ints]] = []
    every = np.arange(answers.values)
    for k in range(1, depth + 1):
        tail = np.divide(np.maximum(k - size, 0), rest, out=np.zeros(len(size)), where=rest > 0)
        tail = tail if answers.excluded else np.zeros(len(size))
        share = np.clip((k - first) / ties, 0.0, 1.0) - tail[value]
        start = (k - 1) * (total + 2)
        weight = scale[k - 1]
        parts.append((share * weight, value, start + answers.mention_label))
        if answers.excluded:
            column = np.full(len(every), start + total)
            both = np.full(len(every), k / np.sqrt(total) * weight)
            against = np.sqrt(total) * (tail - k / total) * weight
            parts += [(both, every, column), (against, every, column + 1)]
    data, rows, columns = (np.concatenate(part) for part in zip(*parts, strict=True))
    width = depth * (total + 2)
    sign = np.ones(width)
    sign[total + 1 :: total + 2] = -1.0
    return matrix(data, rows, columns, (answers.values, width)), sign


def _blocks(ranking: Sequence[object]) -> list[list[str]]:
    blocks = [
        [str(label) for label in block]
        if isinstance(block, (list, tuple, set, frozenset))
        else [str(block)]
        for block in ranking
    ]
    named = [label for block in blocks for label in block]
    if len(set(named)) < len(named):
        raise InputError(
            "ranking-repeats",
            "a ranking names a label twice",
            expected="each label once",
            found=listed(named),
            hint="fix or drop it",
            source="the rankings",
        )
    return [block for block in blocks if block]


MOST_VALUES = 3_000  # different sets whose distances are kept in one matrix


@attrs.frozen(kw_only=True, eq=False)
class Likeness:
    """A likeness s of answers, summed over those of each example."""

    name: str
    alpha: str
    answers: Answers
    cells: Doubles
    features: dict[str, Matrix]
    # The sum of n_u n_v s(u, v) over values u and v, each of n_u answers: (replicate,).
    chance: Callable[[Sums], Doubles] | None

    @cached_property
    def pairs(self) -> Doubles:
        """Sum of s over ordered pairs of answers to each example: (example,)."""
        terms = self.answers.cells.n * self.cells
        return np.bincount(self.answers.cells.example, terms, self.answers.n).astype(np.float64)


def likenesses(answers: Answers, depth: int) -> list[Likeness]:
    """Return the likenesses of a kind of answer, the one that annotators are compared by last."""
    equal = Likeness(
        name="percent",
        alpha="krippendorff-nominal",
        answers=answers,
        cells=(answers.cells.n - 1).astype(np.float64),
        features={"counts": answers.counts()},
        chance=lambda sums: np.asarray((sums["counts"] ** 2).sum(axis=0)),
    )
    result = [equal]
    if answers.kind == SETS:
        result += [by_distance(answers, "masi", _masi), by_distance(answers, "jaccard", _jaccard)]
    if answers.kind == RANKINGS:
        kept, sign = places(answers, depth)
        # A ranking is wholly like itself.
        own = _sums(kept.multiply(scaled(kept, columns=sign)))
        partial = scaled(kept, rows=1.0 / np.sqrt(own))
        # The chance that labels drawn from the first ranks of two rankings are the same.
        first = answers.mention_block == 1
        value, label = answers.mention_value[first], answers.mention_label[first]
        shares = 1.0 / np.bincount(value, minlength=answers.values)[value]
        shape = (answers.values, len(answers.labels))
        drawn = matrix(shares, value, label, shape)
        result += [
            by_features(answers, "first-choice", "", drawn, np.ones(shape[1])),
            by_features(answers, "average-overlap", "", kept, sign),
            by_features(answers, "partial-average-overlap", "krippendorff-overlap", partial, sign),
        ]
    return result


def by_distance(
    answers: Answers, name: str, likeness: Callable[[Doubles, Doubles, Doubles], Doubles]
) -> Likeness:
    """Return a likeness that is known for each pair of values."""
    shape = (answers.values, len(answers.labels))
    mentions = answers.mention_value
    named = matrix(np.ones(len(mentions)), mentions, answers.mention_label, shape)
    size = np.bincount(mentions, minlength=answers.values).astype(np.float64)
    cell, other = answers.cell_pairs()
    first, second = answers.cells.value[cell], answers.cells.value[other]
    both = _sums(named[first].multiply(named[second]))
    s = likeness(both, size[first], size[second])
    sums = np.bincount(cell, answers.cells.n[other] * s, len(answers.cells.value))
    present = np.unique(answers.cells.value)
    chance: Callable[[Sums], Doubles] | None = None
    if len(present) <= MOST_VALUES:
        kept, own = named[present], size[present]
        square = likeness((kept @ kept.T).toarray(), own[:, None], own)

        def chance(sums: Sums) -> Doubles:
            counts = sums["counts"][present]
            return np.asarray((counts * (square @ counts)).sum(axis=0))

    return Likeness(
        name=name,
        alpha=f"krippendorff-{name}",
        answers=answers,
        cells=np.asarray(sums - 1.0, dtype=np.float64),
        features={"counts": answers.counts()},
        chance=chance,
    )


def by_features(
    answers: Answers, name: str, alpha: str, features: Matrix, sign: Doubles
) -> Likeness:
    """Return s(u, v) = sum_f sign_f phi_f(u) phi_f(v)."""
    there = np.unique(features.indices)  # others are of labels that no answer names
    features, sign = features[:, there], sign[there]
    signed = scaled(features, columns=sign)
    example, value = answers.cells.example, answers.cells.value
    counts = matrix(answers.cells.n, example, value, (answers.n, answers.values))
    together: Matrix = counts @ features
    cells = _sums(signed[value].multiply(together[example]))
    cells -= _sums(features.multiply(signed))[value]
    return Likeness(
        name=name,
        alpha=alpha,
        answers=answers,
        cells=np.maximum(cells, 0.0),
        features={name: scaled(together, rows=answers.paired.astype(np.float64))},
        chance=lambda sums: np.asarray((sums[name] ** 2 * sign[:, None]).sum(axis=0)),
    )


NO_PAIRS = "no example has answers of two annotators"
_NOTHING = 1e-12  # of all pairs: less disagreement by chance than this is rounding


@attrs.frozen(kw_only=True, eq=False)
class Measure:
    """A number of the table, from sums of features, and the reason where there is none."""

    name: str
    reason: str
    features: dict[str, Matrix]
    of: Callable[[Sums], Doubles]


def ratio(above: Floats | Ints, below: Floats | Ints) -> Doubles:
    """Return `above` / `below`, NaN for nothing."""
    quotients = np.full(np.broadcast_shapes(above.shape, below.shape), np.nan)
    np.divide(above, below, out=quotients, where=below > 0)
    return quotients


def _beyond_chance(apart: Doubles, by_chance: Doubles, most: Doubles) -> Doubles:
    """Return 1 less what is apart by what would be by chance; NaN where nothing would be."""
    return 1 - ratio(apart, np.where(by_chance > _NOTHING * most, by_chance, 0.0))


def mean(name: str, values: Doubles, among: Bools, reason: str) -> Measure:
    """Return the mean of values over some examples."""
    return Measure(
        name=name,
        reason=reason,
        features={f"{name}-sum": column(np.where(among, values, 0.0)), f"{name}-n": column(among)},
        of=lambda sums: ratio(sums[f"{name}-sum"][0], sums[f"{name}-n"][0]),
    )


def pair_mean(likeness: Likeness) -> Measure:
    return mean(likeness.name, pair_shares(likeness), likeness.answers.paired, NO_PAIRS)


def pair_shares(likeness: Likeness) -> Doubles:
    """Return the mean likeness of two different answers to each example, 0 for none."""
    m = likeness.answers.answers.astype(np.float64)
    shares = np.zeros(likeness.answers.n)
    np.divide(likeness.pairs, m * (m - 1), out=shares, where=m > 1)
    return np.minimum(shares, 1.0)


def fleiss_kappa(likeness: Likeness) -> Measure:
    """Return ``(P - P_e) / (1 - P_e)``: P the mean of pairs, P_e the sum of squared shares."""
    answers, base = likeness.answers, pair_mean(likeness)

    def of(sums: Sums) -> Doubles:
        seen = ratio(sums["percent-sum"][0], sums["percent-n"][0])
        by_value = sums["counts"]
        n = by_value.sum(axis=0)
        return _beyond_chance((1 - seen) * n * n, n * n - (by_value**2).sum(axis=0), n * n)

    features = {**base.features, "counts": answers.counts()}
    return Measure(name="fleiss-kappa", reason=no_chance(answers), features=features, of=of)


def no_chance(answers: Answers) -> str:
    """Return why agreement beyond chance may have no value."""
    same = "all answers are the same: there is no disagreement that chance could explain"
    return same if answers.paired.any() else NO_PAIRS


def krippendorff(likeness: Likeness) -> Measure:
    """Return ``1 - D_o / D_e`` with the distance 1 - s, from counts of values."""
    answers = likeness.answers
    m, paired = answers.answers, answers.paired
    apart = np.where(paired, m * (m - 1) - likeness.pairs, 0.0)
    features = {
        f"{likeness.alpha}-apart": column(apart / np.maximum(m - 1, 1)),
        "total": column(np.where(paired, m, 0)),
        **likeness.features,
    }
    chance, reason = likeness.chance, no_chance(answers)
    if paired.any() and chance is None:
        reason = f"more than {counted(MOST_VALUES)} different answers"

    def of(sums: Sums) -> Doubles:
        n = sums["total"][0]
        seen = (n - 1) * sums[f"{likeness.alpha}-apart"][0]
        by_chance = np.zeros(n.shape) if chance is None else n * n - chance(sums)
        return _beyond_chance(seen, by_chance, n * n)

    return Measure(name=likeness.alpha, reason=reason, features=features, of=of)


def ordered_measures(answers: Answers, position: Ints) -> list[Measure]:
    """Return measures of ordered labels: neighbouring, and ordinal alpha."""
    cell, other = answers.cell_pairs()
    m, paired = answers.answers, answers.paired
    owner = answers.cells.example[cell]
    first, second = position[answers.cells.value[cell]], position[answers.cells.value[other]]
    pairs = answers.cells.n[cell] * (answers.cells.n[other] - (cell == other))
    near = np.rint(np.bincount(owner, pairs * (abs(first - second) <= 1), answers.n))
    shares = np.zeros(answers.n)
    np.divide(near, m * (m - 1), out=shares, where=paired)
    # Ordinal alpha, of the pairs with different labels.
    places = int(position.max(initial=0)) + 1
    kept = (first < second) & paired[owner]
    owner, pairs = owner[kept], pairs[kept]
    met, of_pair = np.unique(first[kept] * places + second[kept], return_inverse=True)
    low, high = met // places, met % places
    coincidences = matrix(pairs / (m[owner] - 1), owner, of_pair, (answers.n, len(met)))
    ones, every = np.ones(len(position)), np.arange(len(position))
    to_place = matrix(ones, every, position, (len(position), places))
    features = {"ordinal-pairs": coincidences, "ordinal-counts": answers.counts() @ to_place}

    def of(sums: Sums) -> Doubles:
        by_place = sums["ordinal-counts"]
        n = by_place.sum(axis=0)
        rank = np.cumsum(by_place, axis=0) - by_place / 2  # mean rank of a label's answers
        apart = 2 * (sums["ordinal-pairs"] * (rank[high] - rank[low]) ** 2).sum(axis=0)
        centre = ratio((by_place * rank).sum(axis=0), n)
        left = 2 * n * (by_place * (rank - centre) ** 2).sum(axis=0)
        return _beyond_chance((n - 1) * apart, left, n**4)

    name, reason = "krippendorff-ordinal", no_chance(answers)
    alpha = Measure(name=name, reason=reason, features=features, of=of)
    return [mean("neighbouring", shares, paired, NO_PAIRS), alpha]


def measured(measures: Sequence[Measure], resampling: Resampling) -> dict[str, NDArray[np.generic]]:
    """Return value, low, high (BCa over resamples of examples or clusters) and reason of each."""
    once = np.ones((len(resampling.of), 1))
    value = np.array([float(measure.of(summed(measure.features, once))[0]) for measure in measures])
    known = [
        measure for measure, number in zip(measures, value, strict=True) if not math.isnan(number)
    ]
    features = {name: of for measure in known for name, of in measure.features.items()}
    low, high = ends = np.full((2, len(measures)), np.nan)
    if known:
        ends[:, ~np.isnan(value)] = resampling.intervals(
            features, lambda sums: np.stack([measure.of(sums) for measure in known])
        )
    reasons = [measure.reason for measure in measures]
    return {
        "value": value,
        "low": low,
        "high": high,
        "reason": text_array(np.where(np.isnan(value), reasons, "").tolist()),
    }
