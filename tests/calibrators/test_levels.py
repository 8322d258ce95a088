"""Every calibrator with every combiner that claims a level keeps it in every enumerated world.

Every example is new once, as often as its weight says; every label is said, every draw falls out;
of each group, of each label, of patients, of risks and of shares of plausibilities. Scores tie
heavily. Each p-value of the project is also the double nearest to what its equation says.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from calibrators_methods import Method, check
from calibrators_tables import AUGMENTED, METHODS
from calibrators_worlds import cases, spaced_cases, worlds

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
    check(method, worlds(41, 5, 2, 10, values=4, augmentations=2))
    check(method, worlds(42, 5, 2, 3, values=4, augmentations=3))


def test_the_enumeration_is_complete() -> None:
    """Chances of all cases add up to one."""
    for world in worlds(43, 4, 2, 4):
        for m in (None, 1, 2):
            for shifted, by_patient in [(False, False), (True, False), (False, True)]:
                every = cases(world, m, shifted=shifted, by_patient=by_patient)
                assert sum((case.chance for case in every), Fraction(0)) == 1
        assert sum((case.chance for case in spaced_cases(world, 2)), Fraction(0)) == 1
