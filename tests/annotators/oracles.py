"""Measures of agreement as their definitions say it: pair by pair, with fractions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from fractions import Fraction
from itertools import permutations, product, starmap
from typing import Any, TypeAlias, TypeVar

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly import build_annotations
from plausibly.plugin import build_table

Number = Any  # fractions, or floats where the likeness of two answers is one
Answer = TypeVar("Answer")
Distance: TypeAlias = Callable[[Answer, Answer], Number]

PSYCHIATRIC = """
0 0 0 6 0|0 3 0 0 3|0 1 4 0 1|0 0 0 0 6|0 3 0 3 0|2 0 4 0 0|0 0 4 0 2|2 0 3 1 0|2 0 0 4 0|0 0 0 0 6
1 0 0 5 0|1 1 0 4 0|0 3 3 0 0|1 0 0 5 0|0 2 0 3 1|0 0 5 0 1|3 0 0 1 2|5 1 0 0 0|0 2 0 4 0|1 0 2 0 3
0 0 0 0 6|0 1 0 5 0|0 2 0 1 3|2 0 0 4 0|1 0 0 4 1|0 5 0 1 0|4 0 0 0 2|0 2 0 4 0|1 0 5 0 0|0 0 0 0 6
"""
"""Fleiss 1971: 30 patients, 6 psychiatrists, 5 diagnoses."""

FOUR_CODERS = """
1 2 3 3 2 1 4 1 2 . . .
1 2 3 3 2 2 4 1 2 5 . 3
. 3 3 3 2 3 4 2 2 5 1 .
1 2 3 3 2 4 4 1 2 5 1 .
"""
"""Krippendorff: 4 coders, 12 units, values 1 to 5, some missing."""


def table(
    records: Iterable[tuple[object, object, object]],
    labels: Sequence[str] | None = None,
    kind: str = "single-label",
) -> xr.Dataset:
    return build_annotations(kind, records, labels)


def counted_table(text: str) -> xr.Dataset:
    """Return the table of rows of counts of the labels 1, 2, ...: unknown annotators."""
    rows = text.replace("\n", "|").split("|")
    return of_counts(np.array([[int(n) for n in row.split()] for row in rows if row]))


def of_counts(counts: NDArray[Any]) -> xr.Dataset:  # Any: numbers of any type
    example, label = np.nonzero(counts)
    return build_table(
        "single-label",
        examples=[f"e{row}" for row in range(len(counts))],
        annotators=[],
        labels=[str(k + 1) for k in range(counts.shape[1])],
        response_example=example,
        response_annotator=np.full(len(example), -1),
        mention_response=np.arange(len(example)),
        mention_label=label,
        response_weight=counts[example, label].astype(float),
    )


def coders(text: str) -> list[tuple[object, object, object]]:
    """Return the records of a matrix of one row per annotator, with dots for what is missing."""
    return [
        (f"u{column:02d}", f"c{row}", value)
        for row, line in enumerate(text.strip().splitlines())
        for column, value in enumerate(line.split())
        if value != "."
    ]


def by_example(records: Iterable[tuple[object, object, object]]) -> dict[object, list[Hashable]]:
    result: dict[object, list[Hashable]] = defaultdict(list)
    for example, _, answer in records:
        result[example].append(frozenset(answer) if isinstance(answer, list) else str(answer))
    return result


def nominal(first: Hashable, second: Hashable) -> Fraction:
    return Fraction(int(first != second))


def jaccard(first: Hashable, second: Hashable) -> Fraction:
    assert isinstance(first, frozenset)
    assert isinstance(second, frozenset)
    return 1 - Fraction(len(first & second), len(first | second))


def masi(first: Hashable, second: Hashable) -> Fraction:
    assert isinstance(first, frozenset)
    assert isinstance(second, frozenset)
    factor = Fraction(1, 3)
    if first == second:
        factor = Fraction(1)
    elif first < second or second < first:
        factor = Fraction(2, 3)
    return 1 - (1 - jaccard(first, second)) * factor


def ordinal(answers: Iterable[list[Hashable]], order: Sequence[str]) -> Distance[Hashable]:
    """Return the ordinal distance for these answers, of units with two or more."""
    pool = [answer for unit in answers if len(unit) > 1 for answer in unit]
    n = {label: pool.count(label) for label in order}

    def distance(first: Hashable, second: Hashable) -> Fraction:
        a, b = sorted((order.index(str(first)), order.index(str(second))))
        between = sum(n[label] for label in order[a : b + 1])
        return (between - Fraction(n[order[a]] + n[order[b]], 2)) ** 2

    return distance


def alpha(answers: Iterable[list[Answer]], distance: Distance[Answer]) -> Number | None:
    """Return Krippendorff's alpha, None where nothing could disagree."""
    units = [unit for unit in answers if len(unit) > 1]
    pool = [answer for unit in units for answer in unit]
    seen = sum(
        sum(starmap(distance, permutations(unit, 2))) / Fraction(len(unit) - 1) for unit in units
    )
    chance = sum(starmap(distance, permutations(pool, 2)))
    return 1 - (len(pool) - 1) * seen / chance if chance > 1e-9 else None


def pair_mean(answers: Iterable[list[Answer]], distance: Distance[Answer]) -> Number | None:
    means = []
    for unit in answers:
        if len(unit) > 1:
            pairs = [1 - item for item in starmap(distance, permutations(unit, 2))]
            means.append(sum(pairs) / Fraction(len(pairs)))
    return sum(means) / Fraction(len(means)) if means else None


def fleiss(answers: Iterable[list[Hashable]]) -> Fraction | None:
    units = [unit for unit in answers if len(unit) > 1]
    seen = pair_mean(units, nominal)
    pool = [answer for unit in units for answer in unit]
    chance = sum((Fraction(pool.count(item), len(pool)) ** 2 for item in set(pool)), Fraction(0))
    return None if seen is None or chance == 1 else (seen - chance) / (1 - chance)


def overlap(
    first: Sequence[Sequence[str]],
    second: Sequence[Sequence[str]],
    labels: Sequence[str],
    depth: int,
) -> float:
    """Return the average overlap, the mean over all ways to break ties; unlisted labels last."""

    def completions(blocks: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
        rest = [label for label in labels if not any(label in block for block in blocks)]
        orders = [list(permutations(block)) for block in (*blocks, rest)]
        return [tuple(label for part in parts for label in part) for parts in product(*orders)]

    result = [
        sum(len(set(a[:k]) & set(b[:k])) / k for k in range(1, depth + 1)) / depth
        for a in completions(first)
        for b in completions(second)
    ]
    return float(np.mean(result))
