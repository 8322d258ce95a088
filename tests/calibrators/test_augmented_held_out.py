"""Augmentations with held-out examples: every role, every held-out label, every augmentation.

Held-out examples of separate augmentations are compared one augmentation at a time, as new ones
are; where a new example is seen in one random augmentation, so is a held-out one.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product
from math import prod

import pytest

from exact_bags import Law, excess
from plausibly.calibration.pvalues import PValues
from plausibly.conformal.calibrate import held_out_scores

from .methods import Method
from .product import GivenKeys, Product, combiner, hash_of, middle
from .tables import AUGMENTED
from .worlds import Case, World, add, worlds

METHODS = [one for one in AUGMENTED if one.name in ("mean", "single", "separate")]
SEEN = "/augmentation"


def roles(world: World, held: int) -> Iterator[tuple[Fraction, Case, tuple[int, ...]]]:
    """Return a probability, who calibrates and is new, and who is held out."""
    for new in range(world.size):
        others = [i for i in range(world.size) if i != new]
        sides = list(combinations(others, held))
        for aside in sides:
            chance = Fraction(1, world.size * len(sides))
            rows = tuple(i for i in others if i not in aside)
            yield chance, Case(chance, rows, new), aside


def labels_and_views(
    method: Method, world: World, aside: tuple[int, ...]
) -> Iterator[tuple[Fraction, list[tuple[int, int]]]]:
    """Return a probability, and the label and the augmentation of each held-out example."""
    views = range(world.augmentations if method.reads == "single" else 1)
    one = [
        [(world.masses[i][k] / len(views), k, a) for k in range(world.labels) for a in views]
        for i in aside
    ]
    for chosen in product(*one):
        chance = prod((part for part, _, _ in chosen), start=Fraction(1))
        if chance:
            yield chance, [(k, a) for _, k, a in chosen]


def law(method: Method, world: World, held: int) -> Law:
    """Return the law of the rank; the project's ranks are those of the equations."""
    maker = Product(method.table, world)
    rule = combiner("held-out-rank")
    views = method.views(world)[:1] if method.reads == "separate" else method.views(world)
    found: Law = {}
    for chance, case, aside in roles(world, held):
        pools = maker.pools(case)
        for odds, chosen in labels_and_views(method, world, aside):
            uniforms: dict[tuple[str, int], list[float]] = {}
            rhos = []
            for i, (k, a) in zip(aside, chosen, strict=True):
                uniforms["", hash_of(i)] = [middle(world.masses[i], k)]
                uniforms[SEEN, hash_of(i)] = [(a + 0.5) / world.augmentations]
                s = [row[k] for row in world.scores[i]]
                s = [s[a]] if method.reads == "single" else s
                rhos.append(method.oracle(world, case, k, s, None))
            scores = held_out_scores(
                maker.data(aside), pools.calibration, GivenKeys(uniforms=uniforms)
            )
            for view in views:
                queries = maker.queries(pools, case.new, seen=view.seen)
                got = maker.p_values(pools, queries, rule, PValues.of(pools, scores))
                means = method.want(world, case, "average", view)
                want = [Fraction(1 + sum(rho <= r for rho in rhos), held + 1) for r in means]
                assert got == [float(p) for p in want], (world, case, aside)
                for k, p in enumerate(want):
                    add(found, p, chance * odds * world.masses[case.new][k] / len(views))
    return found


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_the_rank_keeps_its_level(method: Method) -> None:
    for held, seed in ((1, 80), (2, 81)):
        for world in worlds(seed, 4, 2, 3, values=4, augmentations=2):
            found = law(method, world, held)
            assert sum(found.values()) == 1
            assert excess(found) <= 0, (method.name, world)
