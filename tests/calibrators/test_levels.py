"""Every calibrator with every combiner that claims a level keeps it in every enumerated world."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, pairwise, product
from math import prod

import numpy as np
import pytest

from calibrators_labelled import inside
from exact_checks import Law, excess
from plausibly.calibration.pvalues import PValues
from plausibly.conformal.calibrate import held_out_scores

from .methods import (
    AUGMENTED,
    EXPECTED,
    MERGING,
    METHODS,
    PLAIN,
    ROUNDING,
    SMOOTHED,
    VIEWS,
    Method,
    by_group,
    by_patient,
)
from .worlds import (
    Case,
    GivenKeys,
    Product,
    World,
    cases,
    combiner,
    hash_of,
    middle,
    spaced_cases,
    worlds,
)

WITHIN = inside("mondrian", "group", inside("clustered", "patient"))

SHAPES = {
    None: ((4, 3, 12), (6, 2, 12)),
    1: ((4, 2, 4), (5, 2, 1)),
    2: ((4, 2, 2),),
    3: ((3, 2, 3),),
}
"""Examples, labels and worlds, by the number of draws."""


def check(method: Method, enumerated: Iterable[World]) -> None:
    """The guarantee holds at every attained alpha, of every group or label where it says so."""
    for world in enumerated:
        for rule, laws in method.laws(world, method.combiners).items():
            slack = Fraction(0) if rule in MERGING else ROUNDING
            for law in laws:
                assert excess(law, method.level(rule)) <= slack, (method.name, rule, world)


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
            for shifted, by_patients in [(False, False), (True, False), (False, True)]:
                every = cases(world, m, shifted=shifted, by_patient=by_patients)
                assert sum((case.chance for case in every), Fraction(0)) == 1
        assert sum((case.chance for case in spaced_cases(world, 2)), Fraction(0)) == 1


def add(law: Law, p: Fraction, chance: Fraction) -> None:
    law[p] = law.get(p, Fraction(0)) + chance


def law_within(world: World, group: str, *, by_share: bool) -> Law:
    """Return the law in one group of patients who may have examples in several.

    A new patient is any of those who have examples there; with `by_share` as often as a random
    example of theirs is there.
    """
    method = by_group(by_patient(EXPECTED))
    made = Product(WITHIN, world)
    there = [i for i in range(world.size) if world.group[i] == group]
    examples = {p: [i for i in there if world.patient[i] == p] for p in world.patient}
    odds = {
        patient: Fraction(len(own), world.patient.count(patient) if by_share else len(own))
        for patient, own in examples.items()
        if own
    }
    law: Law = {}
    for patient, odd in odds.items():
        rows = tuple(i for i in range(world.size) if world.patient[i] != patient)
        for new in examples[patient]:
            case = Case(odd / sum(odds.values()) / len(examples[patient]), rows, new)
            pools = made.pools(case)
            values = made.p_values(pools, made.queries(pools, new), combiner("average"))
            expected = [
                method.p(world, case, k, [score], None)
                for k, score in enumerate(world.scores[new][0])
            ]
            assert values == [float(p) for p in expected]
            for p, mass in zip(expected, world.masses[new], strict=True):
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


# ---- ties split by a uniform


Piece = tuple[Fraction, Fraction, Fraction]
"""p-values at U = 0 and U = 1, and the probability, or the loss, that goes with it."""


def pieces(method: Method, world: World) -> dict[object, list[Piece]]:
    """Return the pieces of a world by condition: the ends of the equations.

    The project's p-values agree with them.
    """
    made = Product(method.table, world)
    rule = combiner({"name": "average", "smoothed": True})
    odds, views = method.odds(world), method.views(world)
    result: dict[object, list[Piece]] = {}
    for case in method.cases(world, method.m):
        pools = made.pools(case)
        for view in views:
            ends = method.smoothed_ends(world, case, view)
            for u in (Fraction(0), Fraction(1, 4), 1 - Fraction(1, 2**20)):
                queries = made.queries(pools, case.new, seen=view.seen, uniform=float(u))
                expected = [float(min(Fraction(1), a + u * (b - a))) for a, b in ends]
                values = made.p_values(pools, queries, rule)
                assert np.allclose(values, expected, rtol=0, atol=1e-12), (world, case, u)
            # With one uniform for all labels the order of p-values is that of the scores.
            scores = [Fraction(score) for score in world.scores[case.new][view.seen]]
            for k, score, cost in method.events(world, case.new, scores):
                key = method.condition(world, case.new, k)
                low, high = ends[scores.index(score) if method.target == "mass" else k]
                chance = case.chance * cost / len(views) / odds[key]
                result.setdefault(key, []).append((low, high, chance))
    return result


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


@pytest.mark.parametrize("method", [item for item in PLAIN if item.m == 1 or "vote" in item.name])
def test_one_draw_is_exactly_uniform(method: Method) -> None:
    for world in worlds(70, 4, 2, 8):
        (parts,) = pieces(method, world).values()
        for low, high in pairwise([Fraction(0), *turns(parts), Fraction(1)]):
            for alpha in (low, (low + high) / 2):
                assert probability(parts, alpha) == alpha


# ---- augmentations with held-out examples


def labels_and_views(
    method: Method, world: World, aside: tuple[int, ...]
) -> Iterator[tuple[Fraction, list[tuple[int, int]]]]:
    """Return a probability, and the label and the augmentation of each held-out example."""
    views = range(world.augmentations if method.reads == "single" else 1)
    choices = [
        [(world.masses[i][k] / len(views), k, a) for k in range(world.labels) for a in views]
        for i in aside
    ]
    for chosen in product(*choices):
        chance = prod((part for part, _, _ in chosen), start=Fraction(1))
        if chance:
            yield chance, [(k, a) for _, k, a in chosen]


def law_of_ranks(method: Method, world: World, count: int) -> Law:
    """Return the law of the rank; the project's ranks are those of the equations.

    Held-out examples of separate augmentations are compared one augmentation at a time, as new
    ones are; where a new example is seen in one random augmentation, so is a held-out one.
    """
    made, rule, law = (
        Product(method.table, world),
        combiner("held-out-rank"),
        dict[Fraction, Fraction](),
    )
    views = method.views(world)[:1] if method.reads == "separate" else method.views(world)
    for new in range(world.size):
        others = [i for i in range(world.size) if i != new]
        sides = list(combinations(others, count))
        for aside in sides:
            rows = tuple(i for i in others if i not in aside)
            case = Case(Fraction(1, world.size * len(sides)), rows, new)
            pools = made.pools(case)
            for odds, chosen in labels_and_views(method, world, aside):
                uniforms: dict[tuple[str, int], list[float]] = {}
                rhos = []
                for i, (k, a) in zip(aside, chosen, strict=True):
                    uniforms["", hash_of(i)] = [middle(world.masses[i], k)]
                    uniforms["/augmentation", hash_of(i)] = [(a + 0.5) / world.augmentations]
                    s = [row[k] for row in world.scores[i]]
                    s = [s[a]] if method.reads == "single" else s
                    rhos.append(method.p(world, case, k, s, None))
                keys = GivenKeys(uniforms=uniforms)
                scores = held_out_scores(made.data(aside), pools.calibration, keys)
                for view in views:
                    queries = made.queries(pools, new, seen=view.seen)
                    values = made.p_values(pools, queries, rule, PValues.of(pools, scores))
                    means = method.expected(world, case, "average", view)
                    ranks = [Fraction(1 + sum(rho <= p for rho in rhos), count + 1) for p in means]
                    assert values == [float(p) for p in ranks], (world, case, aside)
                    for p, mass in zip(ranks, world.masses[new], strict=True):
                        add(law, p, case.chance * odds * mass / len(views))
    return law


@pytest.mark.parametrize("method", VIEWS, ids=str)
def test_the_rank_keeps_its_level(method: Method) -> None:
    """Every role, every held-out label, every augmentation."""
    for count, seed in ((1, 80), (2, 81)):
        for world in worlds(seed, 4, 2, 3, values=4, augmentations=2):
            law = law_of_ranks(method, world, count)
            assert sum(law.values()) == 1
            assert excess(law) <= 0, (method.name, world)
