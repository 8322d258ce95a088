"""Plain records, strategies that make them, and the aggregators' equations in fractions.

The oracles loop over records as a person would with pen and paper; nothing of the product is used.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import xarray as xr
from hypothesis import strategies as st
from numpy.typing import NDArray

from plausibly.data.annotations import AnnotationTable, build_table

Records = list[tuple[object, object, object]]
Exact = dict[str, dict[str, Fraction]]

LABELS = ["melanoma", "b c", "Ä", "0", "naevus"]  # not in sorted order, one a number
ANNOTATORS = ["r1", "r2", "r10", "q"]
EXAMPLES = ["c2", "c10", "c1", "7", "é"]


def records(
    answers: st.SearchStrategy[object], *, least: int = 1, unknown: bool = True
) -> st.SearchStrategy[Records]:
    """Records in any order: one response a known annotator and example, unknown ones repeat."""
    pairs = st.tuples(st.sampled_from(EXAMPLES), st.sampled_from(ANNOTATORS))
    known = st.dictionaries(pairs, answers, min_size=least, max_size=12)
    others = st.lists(st.tuples(st.sampled_from(EXAMPLES), st.none(), answers), max_size=4)
    return st.builds(
        lambda item, more: [(*pair, answer) for pair, answer in item.items()] + list(more),
        known,
        others if unknown else st.just([]),
    ).flatmap(st.permutations)


single_labels: st.SearchStrategy[object] = st.sampled_from(LABELS)
label_sets: st.SearchStrategy[object] = st.lists(
    st.sampled_from(LABELS), min_size=1, max_size=4, unique=True
)
soft_labels: st.SearchStrategy[object] = st.dictionaries(
    st.sampled_from(LABELS), st.floats(1e-6, 1e6), min_size=1, max_size=4
)


@st.composite
def rankings(draw: st.DrawFn, labels: Sequence[str] = LABELS) -> list[list[str]]:
    blocks: list[list[str]] = []
    for label in draw(st.permutations(labels))[: draw(st.integers(1, len(labels)))]:
        tied: bool = draw(st.booleans())
        if blocks and tied:
            blocks[-1].append(label)
        else:
            blocks.append([label])
    return blocks


Share = Callable[[Any], Mapping[str, Fraction]]  # Any: an answer of whichever kind


def equation(share: Share) -> Callable[[Records], Exact]:
    """Return what sums the shares that each answer gives to its labels, and divides by the sum."""

    def exact(inputs: Records) -> Exact:
        sums: Exact = {}
        for example, _, answer in inputs:
            row = sums.setdefault(str(example), {})
            for label, weight in share(answer).items():
                row[label] = row.get(label, Fraction(0)) + weight
        return {
            example: {label: weight / sum(row.values()) for label, weight in row.items()}
            for example, row in sums.items()
        }

    return exact


label_frequency = equation(lambda label: {str(label): Fraction(1)})
"""Votes for k / votes."""

equal_split = equation(lambda labels: {label: Fraction(1, len(labels)) for label in labels})
"""Mean over responses of 1/L."""

inverse_rank = equation(
    lambda ranking: {
        label: Fraction(1, rank * len(block))
        for rank, block in enumerate(ranking, start=1)
        for label in block
    }
)
"""Sum over rankings and blocks of 1 / (rank x block size), normalised."""

weighted_mean = equation(
    lambda weights: {
        label: Fraction(weight) / sum(map(Fraction, weights.values()))
        for label, weight in weights.items()
    }
)
"""Mean over responses of weight / sum of weights."""


def assert_exact(result: xr.DataArray, exact: Exact, *, ulps: int = 0) -> None:
    """Compare every entry with its fraction: equal to the float next to it, or `ulps` away."""
    assert set(result["example"].values) == set(exact)
    labels = result["label"].values.tolist()
    for example, values in zip(result["example"].values, result.values, strict=True):
        wanted = np.array([float(exact[example].get(label, 0)) for label in labels])
        assert (np.abs(values - wanted) <= ulps * np.spacing(wanted)).all(), (example, values)


def assert_denominators(result: xr.DataArray, exact: Exact) -> None:
    """Every exact plausibility is a whole number of units of its example's denominator."""
    assert result["denominator"].dtype == np.int64
    totals = dict(zip(result["example"].values, result["denominator"].values.tolist(), strict=True))
    for example, row in exact.items():
        total = totals[example]
        assert total > 0
        assert all((value * total).denominator == 1 for value in row.values())


# ---- rankings as plain lists


Ranking = Sequence[Sequence[str]]
Column = NDArray[np.float64]


def table(
    rankings: Mapping[str, Sequence[tuple[float, Ranking]]],
    labels: Sequence[str],
    *,
    unlisted: str = "excluded",
) -> AnnotationTable:
    """Return a table of rankings by example, each with how often it counts."""
    examples = list(rankings)
    answers = [(i, w, r) for i, e in enumerate(examples) for w, r in rankings[e]]
    mentions = [
        (at, labels.index(label), rank)
        for at, (_, _, ranking) in enumerate(answers)
        for rank, block in enumerate(ranking, start=1)
        for label in block
    ]
    return build_table(
        "partial-ranking",
        examples=examples,
        annotators=[],
        labels=labels,
        response_example=np.array([i for i, *_ in answers], np.int64),
        response_annotator=np.full(len(answers), -1),
        response_weight=np.array([w for _, w, _ in answers], np.float64),
        mention_response=np.array([m[0] for m in mentions], np.int64),
        mention_label=np.array([m[1] for m in mentions], np.int64),
        mention_block=np.array([m[2] for m in mentions], np.int64),
        unlisted=unlisted,
    )


def every_order(log_utility: Sequence[float], below: float) -> float:
    """Return the log-chance of a block above labels of utility `below`: every order, added up."""
    utility = [math.exp(phi) for phi in log_utility]
    chances = []
    for order in itertools.permutations(utility):
        chance = 1.0
        for at, item in enumerate(order):
            chance *= item / math.fsum([*order[at:], below])
        chances.append(chance)
    return math.log(math.fsum(chances))


def by_subsets(log_utility: Sequence[float], below: float) -> float:
    """Return the same by what is left of the block: 2^b positive terms."""
    utility = [math.exp(phi) for phi in log_utility]
    size = len(utility)
    chance = [1.0] + [0.0] * (2**size - 1)
    for left in range(1, 2**size):
        inside = [k for k in range(size) if left >> k & 1]
        total = math.fsum([*(utility[k] for k in inside), below])
        chance[left] = math.fsum(utility[k] / total * chance[left - (1 << k)] for k in inside)
    return math.log(chance[-1])


def log_likelihood(
    answers: Sequence[tuple[float, Ranking]], log_utility: Mapping[str, float], *, excluded: bool
) -> float:
    """Return the log-likelihood of rankings of the labels that have a utility."""
    total = 0.0
    for weight, ranking in answers:
        named = {label for block in ranking for label in block}
        below = set(log_utility) if excluded else named
        for block in ranking:
            below = below - set(block)
            if below:
                rest = math.fsum(math.exp(log_utility[label]) for label in sorted(below))
                total += weight * every_order([log_utility[label] for label in block], rest)
    return total


def ranked(utility: Column, uniform: Column) -> list[int]:
    """Return labels in the order in which they arrive at exponential times."""
    order: list[int] = np.argsort(-np.log1p(-uniform) / utility).tolist()
    return order
