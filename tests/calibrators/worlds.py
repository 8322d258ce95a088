"""Worlds that are small enough to enumerate: who is new, what is drawn, and how often.

A world is a fixed bag of examples in random order, the extreme point of exchangeability. With
weights the new example is number i as often as its weight says: the extreme point of a covariate
shift. With patients the order of the patients is random, and the new example any of its patient's.
Everything is a fraction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, permutations, product
from math import prod
from random import Random
from typing import TypeAlias

Row: TypeAlias = tuple[Fraction, ...]


@dataclass(frozen=True)
class World:
    """`scores[i][a][k]` of example i, augmentation a and label k; `masses[i][k]` sum to 1."""

    scores: tuple[tuple[tuple[int, ...], ...], ...]
    masses: tuple[Row, ...]
    group: tuple[str, ...]
    weight: tuple[Fraction, ...]
    patient: tuple[str, ...]
    risk: Row

    @property
    def size(self) -> int:
        return len(self.scores)

    @property
    def labels(self) -> int:
        return len(self.masses[0])

    @property
    def augmentations(self) -> int:
        return len(self.scores[0])


@dataclass(frozen=True)
class Spaced:
    """Evenly spaced draws of one example: its offset, and the place of each draw."""

    chance: Fraction
    offset: Fraction
    places: tuple[int, ...]
    labels: tuple[int, ...]


@dataclass(frozen=True)
class Case:
    """One way the randomness can fall out: `drawn[j][i]` is the label of draw j of `rows[i]`."""

    chance: Fraction
    rows: tuple[int, ...]
    new: int
    drawn: tuple[tuple[int, ...], ...] | None = None
    spaced: tuple[Spaced, ...] = ()

    def label(self, j: int, i: int) -> int:
        """Return the label that draw j gave to example i."""
        assert self.drawn is not None
        return self.drawn[j][self.rows.index(i)]

    def among(self, rows: Sequence[int]) -> Case:
        """Return the same case for some of the rows."""
        drawn = self.drawn
        if drawn is not None:
            drawn = tuple(tuple(self.label(j, i) for i in rows) for j in range(len(drawn)))
        return Case(self.chance, tuple(rows), self.new, drawn)


RISKS = (
    (Fraction(1), Fraction(2), Fraction(3)),
    (Fraction(1, 2), Fraction(1, 10), Fraction(1)),
    (Fraction(0), Fraction(3, 4), Fraction(1, 4)),
    (Fraction(0), Fraction(5), Fraction(0)),
)


def worlds(
    seed: int, size: int, labels: int, count: int, *, values: int = 3, augmentations: int = 1
) -> Iterator[World]:
    """Return `count` worlds: scores from 1 on, many tied, and shares of two or three votes."""
    random = Random(seed)
    for _ in range(count):
        one_hot = random.random() < 1 / 5
        scores, masses = [], []
        for _ in range(size):
            views = [
                tuple(1 + random.randrange(values) for _ in range(labels))
                for _ in range(augmentations)
            ]
            scores.append(tuple(views))
            voters = 1 if one_hot else random.choice((2, 3))
            votes = [random.randrange(labels) for _ in range(voters)]
            masses.append(tuple(Fraction(votes.count(k), voters) for k in range(labels)))
        weights = [Fraction(random.choice((0, 1, 1, 2, 3, 10))) / 4 for _ in range(size)]
        if not any(weights):
            weights[0] = Fraction(1)
        yield World(
            scores=tuple(scores),
            masses=tuple(masses),
            group=tuple(random.choice("ab") for _ in range(size)),
            weight=tuple(weights),
            # The first patient has two examples or more, so that patients differ.
            patient=("p", *(random.choice("ppqr") for _ in range(size - 2)), "s"),
            risk=RISKS[random.randrange(len(RISKS))][:labels],
        )


def cases(
    world: World, m: int | None, *, shifted: bool = False, by_patient: bool = False
) -> Iterator[Case]:
    """Return every case with its probability, but for the label of the new example."""
    every = range(world.size)
    units = [[i] for i in every]
    if by_patient:
        units = [[i for i in every if world.patient[i] == p] for p in sorted(set(world.patient))]
    for unit in units:
        rows = tuple(i for i in every if i not in unit)
        chance = Fraction(1, len(units))
        if shifted:
            chance = sum((world.weight[i] for i in unit), Fraction(0)) / sum(world.weight)
        if chance and rows:
            for new in unit:
                for drawn, probability in drawings(world, rows, m):
                    yield Case(chance / len(unit) * probability, rows, new, drawn)


def drawings(
    world: World, rows: Sequence[int], m: int | None
) -> Iterator[tuple[tuple[tuple[int, ...], ...] | None, Fraction]]:
    """Return every way in which labels are drawn, with its probability."""
    if m is None:
        yield None, Fraction(1)
        return
    slots = [i for i in rows for _ in range(m)]
    for labels in product(*([k for k, x in enumerate(world.masses[i]) if x] for i in slots)):
        masses = (world.masses[i][k] for i, k in zip(slots, labels, strict=True))
        yield tuple(tuple(labels[j::m]) for j in range(m)), prod(masses, start=Fraction(1))


def spaced_draws(masses: Row, m: int) -> list[Spaced]:
    """Return evenly spaced draws, one for each stretch of offsets that gives the same labels.

    Draw j is the label at ``(u + place_j) / m``; it changes where that passes a cumulated mass.
    """
    cumulated = [sum(masses[: k + 1], Fraction(0)) for k in range(len(masses))]
    turns = {m * c - place for c in cumulated for place in range(m)}
    ends = sorted({Fraction(0), Fraction(1), *(u for u in turns if 0 < u < 1)})
    orders = list(permutations(range(m)))
    draws = []
    for (low, high), places in product(pairwise(ends), orders):
        u = (low + high) / 2
        labels = [next(k for k, c in enumerate(cumulated) if (u + p) / m < c) for p in places]
        draws.append(Spaced((high - low) / len(orders), u, places, tuple(labels)))
    return draws


def spaced_cases(world: World, m: int) -> Iterator[Case]:
    every = [spaced_draws(masses, m) for masses in world.masses]
    for new in range(world.size):
        rows = tuple(i for i in range(world.size) if i != new)
        for chosen in product(*(every[i] for i in rows)):
            chance = prod((draws.chance for draws in chosen), start=Fraction(1, world.size))
            drawn = tuple(tuple(draws.labels[j] for draws in chosen) for j in range(m))
            yield Case(chance, rows, new, drawn, chosen)
