"""Ties split by a uniform: the level is kept, integrated over the uniform exactly.

A smoothed p-value is linear in the new example's uniform, so that the probability of ``p <= alpha``
is piecewise linear in alpha: it is largest, less alpha, where a piece ends.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest

from calibrators_methods import Method
from calibrators_smoothed import check_smoothed, pieces, probability, turns
from calibrators_tables import PLAIN, SMOOTHED
from calibrators_worlds import worlds

SHAPES = {None: ((4, 3, 8), (5, 2, 8)), 1: ((4, 2, 4),), 2: ((4, 2, 2),), 3: ((3, 2, 2),)}


@pytest.mark.parametrize("method", SMOOTHED, ids=str)
def test_a_level_is_kept(method: Method) -> None:
    augmentations = 1 if method.reads == "plain" else 2
    for size, labels, count in SHAPES[method.m]:
        check_smoothed(method, worlds(size + 60, size, labels, count, augmentations=augmentations))


@pytest.mark.parametrize("method", [one for one in PLAIN if one.m == 1 or "vote" in one.name])
def test_one_draw_is_exactly_uniform(method: Method) -> None:
    for world in worlds(70, 4, 2, 8):
        (parts,) = pieces(method, world).values()
        ends = [Fraction(0), *turns(parts), Fraction(1)]
        for low, high in pairwise(ends):
            for alpha in (low, (low + high) / 2):
                assert probability(parts, alpha) == alpha


def test_bags_tie() -> None:
    """Most of these worlds have ties between examples, or nothing above would be shown."""
    tied = 0
    for world in worlds(64, 4, 3, 8):
        scores = [score for i in range(world.size) for score in world.scores[i][0]]
        tied += len(set(scores)) < len(scores)
    assert tied == 8
