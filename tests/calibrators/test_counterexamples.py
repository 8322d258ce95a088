"""Rules that fail, each in a world where it does, by how much; and what the project does there.

The worlds are small, or made of ranks, so that every figure is a fraction. What is "ours" is the
project's own p-value in the same world.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import floor

import pytest

from calibrators_methods import Method, check
from calibrators_oracles import weighted
from calibrators_product import Product, combiner
from calibrators_tables import wrapped
from calibrators_worlds import Case, World, add, cases
from exact_bags import Law, excess

ONE = Fraction(1)
TENTH = Fraction(1, 10)


def world_of(
    scores: Sequence[Sequence[Sequence[int]]],
    masses: Sequence[Sequence[Fraction]] | None = None,
    *,
    weight: Sequence[int] = (),
    patient: Sequence[str] = (),
) -> World:
    """Return a world; without masses every example has one label."""
    n = len(scores)
    return World(
        scores=tuple(tuple(tuple(row) for row in every) for every in scores),
        masses=tuple(tuple(row) for row in masses or [[ONE]] * n),
        group=("a",) * n,
        weight=tuple(Fraction(w) for w in weight or [1] * n),
        patient=tuple(patient or [f"{i}" for i in range(n)]),
        risk=(ONE, ONE),
    )


def p_of(product: Product, case: Case, rule: str = "average", seen: int = 0) -> list[float]:
    pools = product.pools(case)
    return product.p_values(pools, product.queries(pools, case.new, seen=seen), combiner(rule))


# Augmentations: an average of p-values of unlike scores


def mirrored(size: int, alpha: Fraction) -> tuple[World, int]:
    """Return examples whose ranks in two augmentations add up to the same, as many as miss."""
    low = floor(2 * alpha * size - 1)
    rows = [[[r], [low + 1 - r]] for r in range(1, low + 1)]
    return world_of([*rows, *([[r], [r]] for r in range(low + 1, size + 1))]), low


def share_missed(world: World, scores: str, rule: str, alpha: Fraction, upto: int) -> Fraction:
    """Return how often the one label is missed; examples from `upto` on never are."""
    product = Product({"name": "augmentation", "scores": scores}, world)
    views = range(world.augmentations) if scores == "pooled" else [0]
    missed = 0
    for new in range(upto):
        case = Case(ONE, tuple(i for i in range(world.size) if i != new), new)
        missed += sum(p_of(product, case, rule, seen)[0] <= float(alpha) for seen in views)
    return Fraction(missed, world.size * len(views))


@pytest.mark.parametrize(
    ("size", "alpha", "figure"), [(10, "0.2", 0.3), (101, "0.1", 0.188), (1001, "0.1", 0.1988)]
)
def test_an_average_over_augmentations_misses_twice_alpha(
    size: int, alpha: str, figure: float
) -> None:
    world, low = mirrored(size, Fraction(alpha))
    missed = share_missed(world, "separate", "average", Fraction(alpha), low + 1)
    assert missed == Fraction(low, size)
    assert round(float(missed), 4 if size == 1001 else 3) == figure
    assert missed <= 2 * Fraction(alpha)


@pytest.mark.parametrize(
    ("scores", "rule"),
    [
        ("mean", "average"),
        ("pooled", "average"),
        ("separate", "maximum"),
        ("separate", "twice-average"),
        ("separate", "bonferroni"),
        ("separate", "median"),
    ],
)
def test_there_the_others_keep_it(scores: str, rule: str) -> None:
    world, _ = mirrored(101, TENTH)
    assert share_missed(world, scores, rule, TENTH, 101) <= TENTH


# Weights


def test_one_instead_of_the_new_weight() -> None:
    """Two examples of weight 499: half the time the lower is new, and gets 1/500."""
    world = world_of([[[1]], [[2]]], weight=[499, 499])
    wrong: Law = {}
    for case in cases(world, None, shifted=True):
        below = sum((world.weight[i] for i in case.rows if i < case.new), Fraction(0))
        total = sum((world.weight[i] for i in case.rows), Fraction(0))
        add(wrong, (below + 1) / (total + 1), case.chance)
    assert excess(wrong) == Fraction("0.498")
    check(Method("weights", wrapped("weighted", "weight"), weighted(), shifted=True), [world])


# Ties split by uniforms

"""Scores of two examples of even odds: both have the lowest score, then each one of its own."""


"""Masses below and at a score to the numerators at U = 0 and U = 1."""


# Patients, and examples with unlike numbers of draws


# Draws that are not independent between examples


# By label


# Held-out examples with several labels
