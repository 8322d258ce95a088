"""Rankings as plain lists, and what is known of them from definitions: loops, no kernels."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from plausibly.data.annotations import AnnotationTable, build_table

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
