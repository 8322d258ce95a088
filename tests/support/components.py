"""Components that misbehave, in a module that other processes find too."""

from __future__ import annotations

import os
import time
import warnings
from pathlib import Path
from typing import ClassVar, Literal

import attrs
import numpy as np

from plausibly.errors import InputError, warn
from plausibly.kernels.types import Floats
from plausibly.plugin import (
    CALIBRATOR,
    CalibrationData,
    CalibrationScores,
    Calibrator,
    Keys,
    resolve,
)
from plausibly.protocols import ScoreFunction


@attrs.frozen(kw_only=True)
class Grumbling(ScoreFunction):
    """A score that warns: of ours in every split, of others in some."""

    randomised: ClassVar[bool] = False
    reads: ClassVar[Literal["probability"]] = "probability"

    def score(self, probabilities: Floats, uniform: Floats | None) -> Floats:
        warn("grumbling", "this score is old", details={"shape": np.array([1, 2]), "pair": (1, 2)})
        if probabilities.sum() * 1e6 % 2 < 1:
            warnings.warn("and tired", Tired, stacklevel=1)
        return probabilities


class Tired(FutureWarning):
    """A warning of a kind that only this module knows."""


@attrs.frozen(kw_only=True)
class Failing:
    """A calibrator that fails, in a way that depends on the seed, and so on the split."""

    inner: Calibrator = attrs.field(factory=lambda: resolve(CALIBRATOR, "monte-carlo"))
    share: float = 1.0
    how: str = "input"

    def calibrate(self, data: CalibrationData, keys: Keys) -> CalibrationScores:
        if keys.uniform(data.hashes[:1])[0, 0] < self.share:
            if self.how == "exit":
                os._exit(7)
            raise InputError("no-luck", f"seed {keys.seed} brings no luck", details={"a": 1})
        return self.inner.calibrate(data, keys)


_started: list[bool] = []


@attrs.frozen(kw_only=True)
class Slow:
    """A calibrator that takes its time, but for the first time in each of some processes.

    The first time ends in all of them together, so that none begins another split before.
    """

    seconds: float = 0.1
    draws: int = 2
    processes: int = 1

    def calibrate(self, data: CalibrationData, keys: Keys) -> CalibrationScores:
        if _started:
            time.sleep(self.seconds)
        elif self.processes > 1:
            Path(f"{os.getpid()}.started").touch()
            while len([*Path().glob("*.started")]) < self.processes:
                time.sleep(0.01)
        _started.append(True)
        inner = resolve(CALIBRATOR, {"name": "monte-carlo", "draws": self.draws})
        return inner.calibrate(data, keys)
