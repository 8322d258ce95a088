"""Pairs of calibrator and combiner, what the oracle says of each in a world, and given draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import attrs
import numpy as np

import plausibly
from exact_oracles import Calibration, Rule, World, drawn, expected, label_at, vote
from plausibly.calibration.data import CalibrationData
from plausibly.calibration.scores import CalibrationScores
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.types import Ints

RULES = (
    Rule("average"),
    Rule("twice-average"),
    Rule("maximum"),
    Rule("held-out-rank"),
    Rule("ecdf"),
    Rule("ecdf", Fraction(3, 10), two_sided=False),
    Rule("pac", Fraction(1, 5)),
)
CALIBRATORS = ("expected", "monte-carlo", "majority-vote")


Oracle: TypeAlias = tuple[Calibration, list[Fraction]]
"""A calibration and the held-out mean p-values."""


@dataclass(frozen=True)
class Pair:
    """A calibrator's name and a combining rule."""

    calibrator: str
    rule: Rule

    def __str__(self) -> str:
        return f"{self.calibrator} x {self.rule.name}{'' if self.rule.two_sided else ' one-sided'}"

    @property
    def combiner(self) -> dict[str, object]:
        """Return the table that names the combiner with its parameters."""
        table: dict[str, object] = {"name": self.rule.name}
        if self.rule.name in ("ecdf", "pac"):
            table["delta"] = float(self.rule.delta)
        if self.rule.name == "pac":
            table["bound"] = "held-out"
        if self.rule.name == "ecdf":
            table["band"] = "two-sided" if self.rule.two_sided else "one-sided"
        return table


REFUSED = Pair("expected", Rule("maximum"))
PAIRS = [
    pair
    for pair in (Pair(calibrator, rule) for calibrator in CALIBRATORS for rule in RULES)
    if pair != REFUSED
]


def calibrate(pair: Pair, world: World) -> ConformalPredictor:
    """Return the project's predictor."""
    return plausibly.calibrate(
        world.predictions,
        world.plausibilities,
        calibrator=pair.calibrator,
        combiner=pair.combiner,
        draws=world.draws if pair.calibrator == "monte-carlo" else None,
        seed=world.seed,
    )


def uniforms(world: World, stream: str, count: int = 1) -> list[list[Fraction]]:
    """Return the uniforms of a stream for every example, (example, count)."""
    values = Keys(world.seed).child(stream).uniform(hash_names(world.names), count)
    return [[Fraction(u) for u in row] for row in values.tolist()]


def oracle(pair: Pair, world: World) -> Oracle:
    """Return the calibration and the held-out mean p-values by brute force."""
    n = len(world.names)
    splitting = uniforms(world, "held-out")
    aside = sorted(range(n), key=lambda i: splitting[i])[: n // 2] if pair.rule.splits else []
    first = [i for i in range(n) if i not in aside]
    scores = [world.scores[i] for i in first]
    masses = [world.masses[i] for i in first]
    if pair.calibrator == "expected":
        calibration: Calibration = expected(scores, masses)
    elif pair.calibrator == "majority-vote":
        calibration = drawn(scores, [[vote(row) for row in masses]])
    else:
        keyed = uniforms(world, "calibrator", world.draws)
        labels = [
            [label_at(world.masses[i], keyed[i][j]) for i in first] for j in range(world.draws)
        ]
        calibration = drawn(scores, labels)
    keyed = uniforms(world, "held-out-label")
    rhos = []
    for i in aside:
        if pair.calibrator == "majority-vote":
            label = vote(world.masses[i])
        else:
            label = label_at(world.masses[i], keyed[i][0])
        rhos.append(calibration.mean(world.scores[i][label]))
    return calibration, rhos


@attrs.frozen(kw_only=True)
class GivenDraws:
    """Monte Carlo calibration whose labels were drawn elsewhere.

    Attributes
    ----------
    labels : mapping of int to tuple of int
        For the hash of each example's name the codes of its m labels.
    """

    labels: Mapping[int, tuple[int, ...]]

    def calibrate(self, data: CalibrationData, keys: Keys) -> CalibrationScores:
        codes = np.array([self.labels[int(name)] for name in data.hashes], dtype=np.int32).T
        return CalibrationScores(scores=data.scores_at(codes))


def given_draws(names: Sequence[str], labels: Ints) -> GivenDraws:
    """Return the calibrator that gives label ``labels[j, i]`` to draw j of the i-th name."""
    hashes = hash_names(names).tolist()
    return GivenDraws(labels={item: tuple(labels[:, i]) for i, item in enumerate(hashes)})
