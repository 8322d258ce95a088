"""Laws of p-values whose ties are split by a uniform, integrated over the uniform exactly."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np

from calibrators_methods import Method
from calibrators_product import Product, combiner
from calibrators_worlds import World, events
from plausibly.protocols import PValueCombiner

Piece = tuple[Fraction, Fraction, Fraction]
"""p-values at U = 0 and U = 1, and the probability, or the loss, that goes with it."""

CLOSE = 1e-12
UNIFORMS = (0.0, 0.25, 1 - 2.0**-20)


def fraction(p: float) -> Fraction:
    return Fraction(p).limit_denominator(10**6)


def pieces(
    method: Method, world: World, *, compared: bool = True, rule: PValueCombiner | None = None
) -> dict[object, list[Piece]]:
    """Return the pieces of a world, for each thing that is given.

    Ends are those of the equations, with which the project's p-values agree; where these are not
    `compared`, ends are the project's own.
    """
    product = Product(method.table, world)
    rule = rule or combiner({"name": "average", "smoothed": True})
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
            for uniform, got in found_at.items() if compared else ():
                u = Fraction(uniform)
                want = [float(min(Fraction(1), a + u * (b - a))) for a, b in ends]
                assert np.allclose(got, want, rtol=0, atol=CLOSE), (world, case, uniform)
            if not compared:
                first, second = ([fraction(p) for p in found_at[u]] for u in UNIFORMS[:2])
                ends = [
                    (low, low + 4 * (quarter - low))
                    for low, quarter in zip(first, second, strict=True)
                ]
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


def check_smoothed(
    method: Method,
    worlds: Iterable[World],
    *,
    compared: bool = True,
    rule: PValueCombiner | None = None,
) -> None:
    """The guarantee holds at every alpha, of every group or label where it says so."""
    for world in worlds:
        for parts in pieces(method, world, compared=compared, rule=rule).values():
            for alpha in turns(parts):
                assert probability(parts, alpha) <= alpha, (method.name, world)
