"""Checks that any implementation of a rule can be put to: the project's passes, mutants fail.

An implementation decides which test scores stay in the set (`Decide`), or gives the p-values of a
test example in one outcome of a bag (`PValuesOf`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import pairwise
from math import comb, inf
from random import Random
from typing import TypeAlias

from exact_bags import Bag, PValuesOf, excess, law_of, random_bag
from exact_oracles import Calibration, Drawn, Rule, expected

Decide = Callable[[Calibration, Fraction, Sequence[float]], Sequence[bool]]

Answer: TypeAlias = tuple[Calibration, Fraction, list[float], list[bool]]
"""Calibration, alpha, test scores, and whether each stays in the set."""

AVERAGE = Rule("average")

# n, m, alpha: where alpha m (n + 1) is whole, and floats often miss it.
BOUNDARIES = (
    (9, 1, "0.1"),
    (8, 1, "0.1"),
    (9, 3, "0.1"),
    (9, 3, "0.7"),
    (19, 5, "0.05"),
    (49, 10, "0.1"),
    (99, 1, "0.29"),
    (99, 2, "0.57"),
    (10, 3, "0.95"),
)

SHAPES = ((2, 3, 3), (3, 2, 3), (3, 3, 2), (4, 2, 2), (5, 2, 1), (6, 2, 1))
"""Examples, labels and draws of bags that are enumerated in an instant."""

SPLIT_SHAPES = ((4, 1, 2), (4, 2, 1), (5, 2, 1), (5, 3, 1))
"""Examples, held-out examples and draws of bags with random roles (two labels)."""


def queries(calibration: Calibration) -> list[float]:
    """Return scores at, between and beyond the atoms."""
    atoms = calibration.atoms
    between = [(a + b) / 2 for a, b in pairwise(atoms)]
    return [-inf, *atoms, *between, inf]


def boundary_calibrations() -> Iterator[tuple[Drawn, Fraction]]:
    """Return calibrations without and with heavy ties at the boundaries."""
    random = Random(11)
    for n, m, text in BOUNDARIES:
        for values in (10**6, 3):
            rows = tuple(tuple(float(random.randrange(values)) for _ in range(n)) for _ in range(m))
            yield Drawn(rows), Fraction(text)


@cache
def boundary_answers() -> list[Answer]:
    """Return calibration, alpha, test scores and right decisions at the boundaries."""
    return [
        (calibration, alpha, scores, [AVERAGE.keeps(calibration, [], s, alpha) for s in scores])
        for calibration, alpha in boundary_calibrations()
        for scores in [queries(calibration)]
    ]


@cache
def vote_answers() -> list[Answer]:
    """Return the same for expected calibration on votes, where alpha N is whole."""
    random, alpha = Random(12), Fraction(1, 10)
    answers: list[Answer] = []
    for _ in range(200):
        n = random.choice([9, 19, 29])
        votes = random.choice([3, 5, 6, 7, 10])
        bag = random_bag(random, n, labels=3, values=10**6, annotators=[votes])
        calibration = expected(bag.scores, bag.masses)
        # The decision turns where about a tenth of the mass is reached.
        scores = [-inf, *calibration.atoms[: n // 2], inf]
        want = [AVERAGE.keeps(calibration, [], s, alpha) for s in scores]
        answers.append((calibration, alpha, scores, want))
    return answers


def check_average(decide: Decide) -> None:
    """The averaged p-value decides as fractions do, at every boundary."""
    for calibration, alpha, scores, want in boundary_answers():
        assert [bool(kept) for kept in decide(calibration, alpha, scores)] == want, alpha


def check_expected(decide: Decide) -> None:
    """Plausibilities that are counts decide as fractions do."""
    for calibration, alpha, scores, want in vote_answers():
        assert [bool(kept) for kept in decide(calibration, alpha, scores)] == want


def bags(shape: tuple[int, int, int], count: int) -> Iterator[Bag]:
    """Return `count` bags of a shape: examples, labels, seed."""
    size, labels, seed = shape
    random = Random(seed)
    for _ in range(count):
        yield random_bag(random, size, labels, values=4)


def check_drawn(p_values: PValuesOf, level: Fraction = Fraction(1), count: int = 25) -> None:
    """P(p <= alpha) <= level * alpha at every attained alpha, every draw enumerated."""
    for size, labels, m in SHAPES:
        for bag in bags((size, labels, 21), count):
            assert excess(law_of(bag, p_values, m), level) <= 0, (bag, m)


def check_masses(p_values: PValuesOf, level: Fraction = Fraction(1), count: int = 60) -> None:
    """The same for expected masses, where nothing is drawn."""
    for size in (2, 3, 4, 5, 6):
        for bag in bags((size, 3, 22), count):
            assert excess(law_of(bag, p_values, None), level) <= 0, bag


def check_split(p_values: PValuesOf, count: int = 3, *, masses: bool = False) -> None:
    """The same over random roles: every held-out part, its labels and every draw."""
    for size, held, m in SPLIT_SHAPES:
        for bag in bags((size, 2, 23), count):
            law = law_of(bag, p_values, None if masses else m, held)
            assert excess(law) <= 0, (bag, held)


Keeps = Callable[[Sequence[float], Sequence[float], Sequence[Fraction]], Sequence[Sequence[bool]]]
"""Held-out scores, test scores, alphas: for each alpha which test scores stay in the set."""

PROMISED = (Fraction(1, 5), Fraction(2, 5), Fraction(3, 5), Fraction(7, 8))


def held_outs(
    scores: Sequence[float], chances: Sequence[Fraction], h: int
) -> Iterator[tuple[Fraction, list[float]]]:
    """Return each multiset of h independent scores with its probability."""
    if len(scores) == 1:
        yield chances[0] ** h, [scores[0]] * h
        return
    for count in range(h + 1):
        chance = comb(h, count) * chances[0] ** count
        for rest, values in held_outs(scores[1:], chances[1:], h - count):
            yield chance * rest, [scores[0]] * count + values


def check_guarantee(keeps: Keeps, delta: Fraction) -> None:
    scores = [float(value) for value in range(10)]
    chances = [Fraction(1, 10)] * 10
    covered_all = True
    for h in (3, 5):
        broken = dict.fromkeys(PROMISED, Fraction(0))
        for chance, held in held_outs(scores, chances, h):
            for alpha, kept in zip(PROMISED, keeps(held, scores, PROMISED), strict=True):
                covered = Fraction(sum(kept), 10)
                covered_all &= covered == 1
                if covered < 1 - alpha:
                    broken[alpha] += chance
        assert max(broken.values()) <= delta, (h, broken)
    assert not covered_all, "a rule that keeps every label guarantees nothing"
