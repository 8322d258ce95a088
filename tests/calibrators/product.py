"""The project's calibrators below the public calls, with the randomness given.

Calibration data, the built-in calibrator, pools, p-values of queries, the built-in combiner: all of
it the project's; only uniforms come from the enumeration.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import lcm

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

from .worlds import Case, Row, World

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
