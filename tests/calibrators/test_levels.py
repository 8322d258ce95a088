"""Every calibrator with every combiner that claims a level keeps it in every enumerated world.

Every example is new once, as often as its weight says; every label is said, every draw falls out;
of each group, of each label, of patients, of risks and of shares of plausibilities. Scores tie
heavily. Each p-value of the project is also the double nearest to what its equation says.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from calibrators_labelled import inside
from exact_bags import Law, excess

from .methods import Method, check
from .oracles import grouped, in_group
from .product import Product, combiner
from .tables import AUGMENTED, METHODS
from .worlds import Case, World, add, cases, spaced_cases, worlds

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
    """Chances of all cases add up to one."""
    for world in worlds(43, 4, 2, 4):
        for m in (None, 1, 2):
            for shifted, by_patient in [(False, False), (True, False), (False, True)]:
                every = cases(world, m, shifted=shifted, by_patient=by_patient)
                assert sum((case.chance for case in every), Fraction(0)) == 1
        assert sum((case.chance for case in spaced_cases(world, 2)), Fraction(0)) == 1


def patients_in(world: World, cluster: str) -> list[tuple[str, list[int]]]:
    """Return the patients who have examples of a group, with these."""
    found = []
    for one in sorted(set(world.patient)):
        theirs = [
            i for i in range(world.size) if (world.patient[i], world.group[i]) == (one, cluster)
        ]
        if theirs:
            found.append((one, theirs))
    return found


def law_within(world: World, cluster: str, *, by_share: bool) -> Law:
    """Return the law in one group of patients who may have examples in several.

    A new patient is any of those who have examples there; with `by_share` as often as a random
    example of theirs is there.
    """
    product = Product(WITHIN, world)
    oracle = in_group(grouped())
    inside = patients_in(world, cluster)
    odds = [
        Fraction(len(theirs), world.patient.count(one) if by_share else len(theirs))
        for one, theirs in inside
    ]
    law: Law = {}
    for (one, theirs), odd in zip(inside, odds, strict=True):
        rows = tuple(i for i in range(world.size) if world.patient[i] != one)
        for new in theirs:
            case = Case(odd / sum(odds) / len(theirs), rows, new)
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
