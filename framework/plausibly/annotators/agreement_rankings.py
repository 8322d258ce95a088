"""How alike two partial rankings are: average overlap, with ties."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from plausibly.annotators.agreement_answers import Answers
from plausibly.annotators.agreement_resampling import Matrix, matrix, scaled
from plausibly.errors import InputError, counted, listed
from plausibly.kernels.types import Ints

Features: TypeAlias = tuple[Matrix, NDArray[np.float64]]
"""phi (value, feature) and the sign of each feature."""


def average_overlap(
    one: Sequence[object],
    other: Sequence[object],
    labels: int | Collection[object],
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
    labels : int or collection
        All labels, or how many there are.
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
        ``ranking-repeats``, ``depth-range``, ``label-unknown``.

    References
    ----------
    Stutz et al., Evaluating AI systems under uncertain ground truth: a case study in dermatology,
    arXiv 2307.02191; Webber, Moffat & Zobel, A similarity measure for indefinite rankings, TOIS
    2010.
    """
    rankings = [_blocks(ranking) for ranking in (one, other)]
    total = labels if isinstance(labels, int) else len(set(map(str, labels)))
    said = dict.fromkeys(label for blocks in rankings for block in blocks for label in block)
    known = None if isinstance(labels, int) else set(map(str, labels))
    lost = [label for label in said if known is not None and label not in known]
    if lost or len(said) > total:
        raise InputError(
            "label-unknown",
            f"the rankings name {counted(len(said))} labels, of {counted(total)}",
            expected="labels that there are",
            got=listed(lost or said),
            do="labels=[...] with every label, or their number",
            whose="the rankings",
        )
    longest = max(sum(map(len, blocks)) for blocks in rankings)
    wanted = check_depth(longest if depth is None else depth, total)
    if not all(rankings):
        return 0.0
    a, b = (_shares(blocks, list(said), total, wanted) for blocks in rankings)

    def overlap(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
        return float(sum(first[k] @ second[k] / (k + 1) for k in range(wanted)) / wanted)

    rest = np.array([total - len(said)], dtype=np.float64)  # labels that neither lists are alike
    a, b = (np.hstack([x[:, :-1], x[:, -1:] * np.sqrt(rest)]) for x in (a, b))
    found = overlap(a, b)
    if not normalise or not found:
        return found
    return float(min(found / np.sqrt(overlap(a, a) * overlap(b, b)), 1.0))


def check_depth(depth: int, labels: int) -> int:
    """Return the depth, at most the number of labels, or raise ``depth-range``."""
    if depth < 1:
        raise InputError(
            "depth-range",
            f"depth {depth}: no place of a ranking is compared",
            expected="1 or more",
            got=str(depth),
            do="depth=3 (--depth 3) for the first three places",
            whose="depth",
        )
    return max(1, min(depth, labels))


def longest(answers: Answers) -> int:
    """Return how many labels the longest ranking lists."""
    return int(np.bincount(answers.mention_value).max(initial=1)) if answers.values else 1


def first_choices(answers: Answers) -> Features:
    """Return features by which s is the chance that labels of the two first ranks are the same."""
    first = answers.mention_block == 1
    value, label = answers.mention_value[first], answers.mention_label[first]
    ties = np.bincount(value, minlength=answers.values)
    shape = (answers.values, len(answers.labels))
    return matrix(1.0 / ties[value], value, label, shape), np.ones(shape[1])


def places(answers: Answers, depth: int) -> Features:
    """Return features by which s is the unnormalised average overlap.

    With A_k(y) = s_k(y) + t_k, where t_k is the share of a label that is not listed, and K labels,
    ``sum_y A_k(y) B_k(y) = sum_y s_k(y) s'_k(y) + k^2 / K - K (t_k - k/K) (t'_k - k/K)``: features
    of the listed labels, and two more for each place, of which one counts against. Where it is
    unknown what labels that are not listed would get, t_k = 0 and the two are left out.

    Parameters
    ----------
    answers : Answers
    depth : int
    """
    total = len(answers.labels)
    value, block = answers.mention_value, answers.mention_block
    size = np.bincount(value, minlength=answers.values)
    first, ties = _positions(value, block)
    rest = (total - size).astype(np.float64)
    scale = 1.0 / np.sqrt(np.arange(1, depth + 1) * depth)
    parts: list[tuple[NDArray[np.float64], Ints, Ints]] = []
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


def normalised(features: Matrix, sign: NDArray[np.float64]) -> Features:
    """Return features by which a ranking is wholly like itself."""
    own = np.asarray(features.multiply(scaled(features, columns=sign)).sum(axis=1))
    return scaled(features, rows=1.0 / np.sqrt(own)), sign


def _positions(value: Ints, block: Ints) -> tuple[Ints, Ints]:
    """Return how many labels of its ranking stand before the rank of a mention, and its ties."""
    most = int(block.max(initial=0)) + 1
    _, start, group, ties = np.unique(
        value * most + block, return_index=True, return_inverse=True, return_counts=True
    )
    # mentions stand in the order of values, then blocks
    where = np.searchsorted(value, value)
    return start[group] - where, ties[group]


def _blocks(ranking: Sequence[object]) -> list[list[str]]:
    blocks = [
        [str(label) for label in block]
        if isinstance(block, (list, tuple, set, frozenset))
        else [str(block)]
        for block in ranking
    ]
    said = [label for block in blocks for label in block]
    if len(set(said)) < len(said):
        twice = next(label for label in said if said.count(label) > 1)
        raise InputError(
            "ranking-repeats",
            f'a ranking names "{twice}" twice',
            expected="each label once",
            do="mend or drop it",
            whose="the rankings",
        )
    return [block for block in blocks if block]


def _shares(
    blocks: list[list[str]], said: list[str], total: int, depth: int
) -> NDArray[np.float64]:
    """Return A_k of each label that was said, and of one that was not: (depth, said + 1)."""
    found = np.zeros((depth, len(said) + 1))
    listed_here = sum(map(len, blocks))
    for k in range(1, depth + 1):
        tail = max(k - listed_here, 0) / (total - listed_here) if total > listed_here else 0.0
        found[k - 1] = tail
        before = 0
        for block in blocks:
            share = min(max(k - before, 0) / len(block), 1.0)
            for label in block:
                found[k - 1, said.index(label)] = share
            before += len(block)
    return found
