"""Ties split by a uniform: the level is kept, integrated over the uniform exactly.

A smoothed p-value is linear in the new example's uniform, so that the probability of ``p <= alpha``
is piecewise linear in alpha: it is largest, less alpha, where a piece ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from .methods import Method
from .product import Product, combiner
from .tables import PLAIN, SMOOTHED
from .worlds import World, events, worlds

Piece = tuple[Fraction, Fraction, Fraction]
"""p-values at U = 0 and U = 1, and the probability, or the loss, that goes with it."""

CLOSE = 1e-12
UNIFORMS = (0.0, 0.25, 1 - 2.0**-20)


def pieces(method: Method, world: World) -> dict[object, list[Piece]]:
    """Return the pieces of a world, for each thing that is given.

    Ends are those of the equations, with which the project's p-values agree.
    """
    product = Product(method.table, world)
    rule = combiner({"name": "average", "smoothed": True})
    odds = method.odds(world)
    views = method.views(world)
    found: dict[object, list[Piece]] = {}
    for case in method.cases(world):
        pools = product.pools(case)
        for view in views:
            ends = method.smoothed_ends(world, case, view)
            found_at = {
                uniform: product.p_values(
                    pools, product.queries(pools, case.new, seen=view.seen, uniform=uniform), rule
                )
                for uniform in UNIFORMS
            }
            for uniform, got in found_at.items():
                u = Fraction(uniform)
                want = [float(min(Fraction(1), a + u * (b - a))) for a, b in ends]
                assert np.allclose(got, want, rtol=0, atol=CLOSE), (world, case, uniform)
            # With one uniform for all labels the order of p-values is that of the scores.
            scores = [Fraction(one) for one in world.scores[case.new][view.seen]]
            for k, score, cost in events(world, case.new, scores, method.target, method.leave_out):
                given = {"": "", "group": world.group[case.new], "label": k}[method.given]
                low, high = ends[scores.index(score) if method.target == "mass" else k]
                chance = case.chance * cost / len(views) / odds[given]
                found.setdefault(given, []).append((low, high, chance))
    return found


def probability(parts: Iterable[Piece], alpha: Fraction) -> Fraction:
    """Return P(p <= alpha), or the loss at alpha."""
    total = Fraction(0)
    for low, high, chance in parts:
        if low == high:
            total += chance * (low <= alpha)
        else:
            total += chance * min(Fraction(1), max(Fraction(0), (alpha - low) / (high - low)))
    return total


def turns(parts: Sequence[Piece]) -> list[Fraction]:
    return sorted({end for low, high, _ in parts for end in (low, high) if end < 1})


def check_smoothed(method: Method, worlds: Iterable[World]) -> None:
    """The guarantee holds at every alpha, of every group or label where it says so."""
    for world in worlds:
        for parts in pieces(method, world).values():
            for alpha in turns(parts):
                assert probability(parts, alpha) <= alpha, (method.name, world)


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
