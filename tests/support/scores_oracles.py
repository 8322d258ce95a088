"""The equations of the scores, label by label, in fractions; sets without holes, by loops."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
from hypothesis import strategies as st

from plausibly import registry
from plausibly.kernels.types import Bools, Floats
from plausibly.plugin import SCORE, ScoreFunction

Row = Sequence[Fraction]

TABLES: dict[str, dict[str, object]] = {
    "margin": {"name": "margin"},
    "rank": {"name": "rank"},
    "aps": {"name": "aps"},
    "aps, randomised": {"name": "aps", "randomised": True},
    "raps": {"name": "raps", "penalty": 0.25, "free_rank": 2},
    "raps, from the first": {"name": "raps", "penalty": 0.125, "free_rank": 0},
    "raps, randomised": {"name": "raps", "penalty": 0.0625, "free_rank": 1, "randomised": True},
    "saps": {"name": "saps", "weight": 0.25},
    "saps, randomised": {"name": "saps", "weight": 0.125, "randomised": True},
}
"""Every score of this file, with parameters that floats hold exactly."""


def made(case: str) -> ScoreFunction:
    return registry.resolve(SCORE, TABLES[case])


def _margin(row: Row, k: int) -> Fraction:
    return row[k] - max((row[i] for i in range(len(row)) if i != k), default=Fraction(0))


def _rank(row: Row, k: int) -> int:
    return sum(1 for value in row if value >= row[k])


def _above(row: Row, k: int) -> int:
    return sum(1 for value in row if value > row[k])


def _aps(row: Row, k: int, uniform: Fraction) -> Fraction:
    """Return the total less (the mass strictly above k, and U of the mass tied with k)."""
    above = sum((value for value in row if value > row[k]), Fraction(0))
    tied = sum((value for value in row if value == row[k]), Fraction(0))
    return sum(row, Fraction(0)) - above - uniform * tied


def _saps(row: Row, k: int, uniform: Fraction, weight: Fraction) -> Fraction:
    masses = [max(row), *[weight] * (len(row) - 1)]
    before = sum(masses[: _above(row, k)], Fraction(0))
    return -(before + uniform * sum(masses[_above(row, k) : _rank(row, k)], Fraction(0)))


def oracle(case: str, row: Row, uniform: Fraction) -> list[Fraction]:
    """Return the scores of one example; a score that is not randomised has U = 1."""
    table = TABLES[case]
    u = uniform if table.get("randomised") else Fraction(1)
    results = []
    for k in range(len(row)):
        if table["name"] == "margin":
            score = _margin(row, k)
        elif table["name"] == "rank":
            score = Fraction(-_rank(row, k))
        elif table["name"] == "saps":
            score = _saps(row, k, u, Fraction(str(table["weight"])))
        else:
            free = int(str(table.get("free_rank", 0)))
            past = max(0, _rank(row, k) - free)
            score = _aps(row, k, u) - Fraction(str(table.get("penalty", 0))) * past
        results.append(score)
    return results


def _shares(cuts: list[int], total: int) -> list[int]:
    edges = [0, *sorted(cuts), total]
    return [b - a for a, b in pairwise(edges)]


def rows_of_sixteenths(
    max_examples: int = 4, max_labels: int = 6
) -> st.SearchStrategy[tuple[Floats, Floats]]:
    """Return probabilities in sixteenths, with many ties and zeros, and uniforms in eighths."""

    def rows(labels: int) -> st.SearchStrategy[tuple[Floats, Floats]]:
        cuts = st.lists(st.integers(0, 16), min_size=labels - 1, max_size=labels - 1)
        example = st.tuples(cuts, st.integers(0, 8))
        return st.lists(example, min_size=1, max_size=max_examples).map(arrays)

    def arrays(examples: list[tuple[list[int], int]]) -> tuple[Floats, Floats]:
        values = np.array([_shares(cuts, 16) for cuts, _ in examples], dtype=np.float64)
        return values / 16, np.array([[u / 8] for _, u in examples])

    return st.integers(1, max_labels).flatmap(rows)


def uneven_rows(
    examples: int, labels: int, seed: int, dtype: type[np.float32] | type[np.float64] = np.float64
) -> tuple[Floats, Floats]:
    """Return probabilities without ties, some of them tiny, and uniforms."""
    random = np.random.default_rng(seed)
    rows: Floats = random.dirichlet(np.full(labels, 0.3), examples).astype(dtype)
    return rows, random.random((examples, 1))


# ---- ordered labels


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
