"""Scores of ordered labels by brute force, in fractions, and sets looked at label by label."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import numpy as np

from plausibly.kernels.types import Bools, Floats


def hull(row: Sequence[Fraction]) -> list[Fraction]:
    """Return the hull: of each label the largest tau whose first and last label enclose it."""
    results = []
    for k in range(len(row)):
        taus = [min(a, b) for a, b in product(row[: k + 1], row[k:])]
        results.append(max(taus))
    return results


def greedy(row: Sequence[Fraction], u: Fraction) -> list[Fraction]:
    """Return what joins an interval with each label or later, ``1 - U`` of the label's own."""
    first = last = max(range(len(row)), key=lambda k: (row[k], -k))
    inside, left, scores = [first], list(range(len(row))), [Fraction(0)] * len(row)
    while True:
        label = inside[-1]
        left.remove(label)
        scores[label] = sum((row[k] for k in left), Fraction(0)) + (1 - u) * row[label]
        ends = [k for k in (first - 1, last + 1) if k in left]
        if not ends:
            return scores
        inside.append(max(ends, key=lambda k: (row[k], -k)))
        first, last = min(first, inside[-1]), max(last, inside[-1])


def has_hole(row: Sequence[bool]) -> bool:
    """Return whether labels between the first and the last of a set are not in it."""
    places = [place for place, inside in enumerate(row) if inside]
    return bool(places) and places != list(range(places[0], places[-1] + 1))


def filled(sets: Bools) -> Bools:
    """Return sets (example, label) with their holes filled, one by one."""
    result = sets.copy()
    for row in result:
        places = np.flatnonzero(row)
        if places.size:
            row[places[0] : places[-1] + 1] = True
    return result


def holes_at_any_threshold(scores: Floats) -> int:
    """Return how many sets {score >= tau} of these rows have a hole, over every tau."""
    return sum(has_hole((row >= tau).tolist()) for row in scores for tau in np.unique(row))


def uneven_modes(examples: int, labels: int, seed: int, dtype: type = np.float64) -> Floats:
    """Return rounded probabilities with several modes, zeros, ties, and tiny values."""
    random = np.random.default_rng(seed)
    rows = random.dirichlet(np.full(labels, 0.4), examples)
    kind = random.integers(4, size=examples)[:, None]
    rows = np.where(kind == 0, np.round(rows, 1), rows)
    rows = np.where((kind == 1) & (random.random(rows.shape) < 0.4), 0, rows)
    rows = np.where(kind == 2, rows * 10.0 ** -random.integers(0, 18, rows.shape), rows)
    return rows.astype(dtype)
