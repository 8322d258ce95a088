"""Every calibrator with every combiner that claims a level keeps it in every enumerated world."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from calibrators_labelled import inside
from exact_bags import Law, excess

from .methods import Method, check
from .oracles import grouped, in_group
from .product import Product, combiner
from .tables import AUGMENTED, METHODS, PLAIN, SMOOTHED
from .worlds import Case, World, add, cases, events, spaced_cases, worlds

WITHIN = inside("mondrian", "group", inside("clustered", "patient"))

SHAPES = {
    None: ((4, 3, 12), (6, 2, 12)),
    1: ((4, 2, 4), (5, 2, 1)),
    2: ((4, 2, 2),),
    3: ((3, 2, 3),),
}
"""Examples, labels and worlds, by the number of draws."""


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_a_level_is_kept(method: Method) -> None:
    for size, labels, count in SHAPES[method.m]:
        check(method, worlds(size, size, labels, count))


@pytest.mark.parametrize("method", AUGMENTED, ids=str)
def test_a_level_is_kept_with_augmentations(method: Method) -> None:
    """Two augmentations and three; separate ones in every order."""
    check(method, worlds(41, 5, 2, 6, values=4, augmentations=2))
    check(method, worlds(42, 5, 2, 2, values=4, augmentations=3))


def test_the_enumeration_is_complete() -> None:
    for world in worlds(43, 4, 2, 4):
        for m in (None, 1, 2):
            for shifted, by_patient in [(False, False), (True, False), (False, True)]:
                every = cases(world, m, shifted=shifted, by_patient=by_patient)
                assert sum((case.chance for case in every), Fraction(0)) == 1
        assert sum((case.chance for case in spaced_cases(world, 2)), Fraction(0)) == 1


def law_within(world: World, cluster: str, *, by_share: bool) -> Law:
    """Return the law in one group of patients who may have examples in several.

    A new patient is any of those who have examples there; with `by_share` as often as a random
    example of theirs is there.
    """
    product = Product(WITHIN, world)
    oracle = in_group(grouped())
    by_patient: dict[str, list[int]] = {}
    for i, (patient, group) in enumerate(zip(world.patient, world.group, strict=True)):
        if group == cluster:
            by_patient.setdefault(patient, []).append(i)
    odds = {
        one: Fraction(len(theirs), world.patient.count(one) if by_share else len(theirs))
        for one, theirs in by_patient.items()
    }
    law: Law = {}
    for one, theirs in by_patient.items():
        rows = tuple(i for i in range(world.size) if world.patient[i] != one)
        for new in theirs:
            case = Case(odds[one] / sum(odds.values()) / len(theirs), rows, new)
            pools = product.pools(case)
            got = product.p_values(pools, product.queries(pools, new), combiner("average"))
            want = [
                oracle(world, case, k, [world.scores[new][0][k]], None) for k in range(world.labels)
            ]
            assert got == [float(p) for p in want]
            for p, mass in zip(want, world.masses[new], strict=True):
                add(law, p, case.chance * mass)
    return law


def test_patients_within_groups() -> None:
    """A random example of a new patient, *among those of the group*: else it does not hold."""
    worst = Fraction(-1)
    for world in worlds(44, 6, 2, 25):
        for group in sorted(set(world.group)):
            assert excess(law_within(world, group, by_share=False)) <= 0
            worst = max(worst, excess(law_within(world, group, by_share=True)))
    assert worst > Fraction(1, 20)


Piece = tuple[Fraction, Fraction, Fraction]
"""p-values at U = 0 and U = 1, and the probability, or the loss, that goes with it."""


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
            for u in (Fraction(0), Fraction(1, 4), 1 - Fraction(1, 2**20)):
                queries = product.queries(pools, case.new, seen=view.seen, uniform=float(u))
                want = [float(min(Fraction(1), a + u * (b - a))) for a, b in ends]
                got = product.p_values(pools, queries, rule)
                assert np.allclose(got, want, rtol=0, atol=1e-12), (world, case, u)
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


FEWER = {None: ((4, 3, 8), (5, 2, 8)), 1: ((4, 2, 4),), 2: ((4, 2, 2),), 3: ((3, 2, 2),)}


@pytest.mark.parametrize("method", SMOOTHED, ids=str)
def test_a_level_is_kept_with_ties_split_by_a_uniform(method: Method) -> None:
    augmentations = 1 if method.reads == "plain" else 2
    for size, labels, count in FEWER[method.m]:
        for world in worlds(size + 60, size, labels, count, augmentations=augmentations):
            for parts in pieces(method, world).values():
                for alpha in turns(parts):
                    assert probability(parts, alpha) <= alpha, (method.name, world)


@pytest.mark.parametrize("method", [one for one in PLAIN if one.m == 1 or "vote" in one.name])
def test_one_draw_is_exactly_uniform(method: Method) -> None:
    for world in worlds(70, 4, 2, 8):
        (parts,) = pieces(method, world).values()
        ends = [Fraction(0), *turns(parts), Fraction(1)]
        for low, high in pairwise(ends):
            for alpha in (low, (low + high) / 2):
                assert probability(parts, alpha) == alpha
