"""A small calibrator that keeps every rule, and one that breaks each."""

from __future__ import annotations

from collections.abc import Callable

import attrs
import numpy as np

from kit_mutants import Mutant, after, before, common
from plausibly.calibration.examples import HashedNames
from plausibly.kernels.sparse import Dense
from plausibly.plugin import CalibrationData, CalibrationScores, Claim, Keys


@attrs.frozen(kw_only=True)
class Drawn:
    """Labels drawn from the plausibilities."""

    draws: int = 3

    def calibrate(self, data: CalibrationData, keys: Keys) -> CalibrationScores:
        return CalibrationScores(scores=data.scores_at(data.draw(self.draws, keys)))


def _before(change: Callable[[CalibrationData, Keys], tuple[CalibrationData, Keys]]) -> object:
    return before(Drawn, "calibrate", change)


def _after(change: Callable[[CalibrationScores, CalibrationData], CalibrationScores]) -> object:
    return after(Drawn, "calibrate", lambda result, data, _: change(result, data))


def _by_place(data: CalibrationData, keys: Keys) -> tuple[CalibrationData, Keys]:
    return attrs.evolve(data, examples=HashedNames(np.arange(len(data), dtype=np.uint64))), keys


def _smooths(data: CalibrationData, keys: Keys) -> tuple[CalibrationData, Keys]:
    smooth = 0.9 * data.plausibilities + 0.1 / data.plausibilities.shape[1]
    return attrs.evolve(data, plausibilities=Dense(smooth)), keys


def _at_least(number: int) -> Callable[[CalibrationData, Keys], tuple[CalibrationData, Keys]]:
    def change(data: CalibrationData, keys: Keys) -> tuple[CalibrationData, Keys]:
        if len(data) == number:
            raise ValueError(f"not enough: {number}")
        return data, keys

    return change


def _voted(data: CalibrationData) -> CalibrationScores:
    return CalibrationScores(scores=data.scores_at(data.majority_vote()[None, :]))


MUTANTS = {
    **common(Drawn, "calibrate", lambda result: attrs.evolve(result, claim=Claim(covers="fitted"))),
    "scores-valid": Mutant(
        _after(lambda result, _: attrs.evolve(result, claim=Claim(assumption=None, conditions=())))
    ),
    "scores-valid/float32": Mutant(
        _after(lambda result, _: attrs.evolve(result, scores=result.scores.astype(np.float64)))
    ),
    "row-order": Mutant(_before(_by_place), frozenset({"example-alone"})),
    "example-alone": Mutant(_before(lambda data, keys: (data, keys.child(str(len(data)))))),
    "seed-respected": Mutant(_before(lambda data, keys: (data, Keys(0, "mine")))),
    "without-denominator": Mutant(
        _after(lambda result, data: result if data.denominator is not None else _voted(data))
    ),
    "impossible-labels": Mutant(_before(_smooths)),
    "few": Mutant(
        _after(
            lambda result, data: attrs.evolve(
                result, scores=result.scores + (len(data.labels) == 1)
            )
        )
    ),
    "few/examples": Mutant(_before(_at_least(1))),
    "coverage": Mutant(_after(lambda result, data: _voted(data))),
}
