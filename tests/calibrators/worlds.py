"""Worlds that are small enough to enumerate, and calibrators below the public calls in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, permutations, product
from math import lcm, prod
from random import Random
from typing import TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from plausibly.calibration.data import ArrayScores, CalibrationData
from plausibly.calibration.examples import HashedNames
from plausibly.calibration.pvalues import Pools, PValues, TestScores, combined
from plausibly.conformal.inputs import mean_scores
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.sparse import Dense
from plausibly.kernels.types import Hashes
from plausibly.protocols import CALIBRATOR, COMBINER, PValueCombiner
from plausibly.registry import resolve

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


# ---- the project's calibrators, with the randomness given


LABELS = ("A", "B", "C")


@attrs.frozen
class GivenKeys(Keys):
    """Uniforms that are given, for a stream and the hash of a name."""

    uniforms: Mapping[tuple[str, int], Sequence[float]] = attrs.field(factory=dict)

    def child(self, name: str) -> GivenKeys:
        return GivenKeys(self.seed, f"{self.stream}/{name}", uniforms=self.uniforms)

    def uniform(self, hashes: Hashes, count: int = 1) -> NDArray[np.float64]:
        rows = [self.uniforms[self.stream, int(name)][:count] for name in hashes]
        return np.array(rows, dtype=np.float64).reshape(len(hashes), count)


def hash_of(i: int) -> int:
    return int(hash_names([i])[0])


def middle(masses: Row, k: int) -> float:
    """Return the uniform in the middle of a label's stretch."""
    return float(sum(masses[:k], Fraction(0)) + masses[k] / 2)


def keys_of(world: World, case: Case) -> GivenKeys:
    """Return the uniforms with which the labels of the case are drawn."""
    uniforms: dict[tuple[str, int], Sequence[float]] = {}
    if case.spaced:
        for i, draws in zip(case.rows, case.spaced, strict=True):
            uniforms["/offset", hash_of(i)] = [float(draws.offset)]
            # The place of draw j is the position of the j-th smallest uniform.
            order = [float(draws.places.index(place)) for place in sorted(draws.places)]
            uniforms["/order", hash_of(i)] = order
    elif case.drawn is not None:
        for i in case.rows:
            labels = [case.label(j, i) for j in range(len(case.drawn))]
            uniforms["", hash_of(i)] = [middle(world.masses[i], k) for k in labels]
    return GivenKeys(uniforms=uniforms)


def data_of(world: World, rows: Sequence[int]) -> CalibrationData:
    """Return some examples as calibrators see them."""
    every = np.array([world.scores[i] for i in rows], dtype=np.float64).transpose(1, 0, 2)
    augmented = every if world.augmentations > 1 else None
    masses = [world.masses[i] for i in rows]
    return CalibrationData(
        scores=ArrayScores(every[0] if augmented is None else mean_scores(every)),
        plausibilities=Dense(np.array(masses, dtype=np.float64)),
        denominator=np.array([lcm(*(mass.denominator for mass in row)) for row in masses]),
        examples=HashedNames(hash_names(rows)),
        labels=LABELS[: world.labels],
        coordinates={
            "group": np.array([world.group[i] for i in rows]),
            "patient": np.array([world.patient[i] for i in rows]),
            "weight": np.array([float(world.weight[i]) for i in rows]),
        },
        label_coordinates={"risk": np.array([float(risk) for risk in world.risk])},
        augmented=augmented,
    )


def combiner(like: str | dict[str, object]) -> PValueCombiner:
    return resolve(COMBINER, like)


class Product:
    """A built-in calibrator in one world."""

    def __init__(self, table: dict[str, object], world: World) -> None:
        self.calibrator = resolve(CALIBRATOR, table)
        self.world = world
        self._data: dict[tuple[int, ...], CalibrationData] = {}

    def data(self, rows: tuple[int, ...]) -> CalibrationData:
        if rows not in self._data:
            self._data[rows] = data_of(self.world, rows)
        return self._data[rows]

    def pools(self, case: Case) -> Pools:
        """Return what the new example of a case is compared with."""
        keys = keys_of(self.world, case)
        return Pools(self.calibrator.calibrate(self.data(case.rows), keys))

    def queries(
        self,
        pools: Pools,
        new: int,
        *,
        uniform: float = 0.5,
        seen: int = 0,
        order: Sequence[int] | None = None,
    ) -> TestScores:
        """Return the scores of the new example's labels."""
        world, calibration = self.world, pools.calibration
        every = np.array(world.scores[new], dtype=np.float64)[:, None, :]
        scores = every[seen]
        if calibration.augmentation == "separate":
            scores = every
        elif calibration.augmentation == "mean":
            scores = mean_scores(every)
        cell = None
        if calibration.claim.by == "group":
            known = list(calibration.groups)
            name = world.group[new]
            cell = np.array([known.index(name) if name in known else -1])
        return TestScores(
            scores=scores,
            group=cell,
            weight=np.array([float(world.weight[new])]) if calibration.claim.weights else None,
            uniform=np.array([[uniform]]),
            order=None if order is None else np.array(order, dtype=np.int64)[:, None],
        )

    def p_values(
        self, pools: Pools, queries: TestScores, rule: PValueCombiner, aside: PValues | None = None
    ) -> list[float]:
        def combine(p: PValues) -> NDArray[np.float64]:
            return np.asarray(rule.combine(p, aside), dtype=np.float64)

        result: list[float] = combined(pools, queries, combine)[0].tolist()
        return result
