"""Small studies, components that misbehave in them, and scripts that run them elsewhere."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import textwrap
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ClassVar, Literal

import attrs
import numpy as np
import pytest
import xarray as xr

import eval_oracles as oracle
from plausibly import compare
from plausibly.errors import InputError, PlausiblyWarning, warn
from plausibly.evaluation.design import Design, Outcome
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


def world(examples: int = 60) -> tuple[xr.DataArray, xr.DataArray]:
    """Predictions, with patients of two examples and sites of many, and plausibilities."""
    predictions, lam = oracle.world(examples)
    sites = ["north" if i // 2 % 3 else "south" for i in range(examples)]
    return predictions.assign_coords(site=("example", sites)), lam


def heard(call: Callable[[], xr.Dataset]) -> tuple[xr.Dataset, list[str]]:
    """Return a study, and what it warned of, with the details."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        study = call()
    return study, [f"{one.message}\n{getattr(one.message, 'details', None)}" for one in caught]


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The splits that are computed in this process, as they are."""
    numbers: list[int] = []
    run = Design.run

    def counts(self: Design, number: int) -> Outcome:
        numbers.append(number)
        return run(self, number)

    monkeypatch.setattr(Design, "run", counts)
    return numbers


@attrs.frozen(kw_only=True)
class Grumbling(ScoreFunction):
    """A score that warns: of ours in every split, of others in some."""

    randomised: ClassVar[bool] = False
    reads: ClassVar[Literal["probability"]] = "probability"

    def score(self, probabilities: Floats, uniform: Floats | None) -> Floats:
        """Return the probabilities."""
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
        """Raise, or return what the inner one gives."""
        if keys.uniform(data.hashes[:1])[0, 0] < self.share:
            if self.how == "exit":
                os._exit(7)
            if self.how == "unsent":
                raise _Unsent("no-way", "not to be sent", details={"way": lambda: None})
            if self.how == "broken":
                raise _Broken(lambda: None)
            raise InputError("no-luck", f"seed {keys.seed} brings no luck", details={"a": 1})
        return self.inner.calibrate(data, keys)


class _Unsent(InputError):
    """A message that cannot be sent to another process."""


class _Broken(Exception):
    """An error that cannot be sent to another process, and is no message."""

    def __str__(self) -> str:
        return "not to be sent"


_started: list[bool] = []


@attrs.frozen(kw_only=True)
class Slow:
    """A calibrator that takes its time, but for the first time in a process."""

    seconds: float = 0.1
    draws: int = 2

    def calibrate(self, data: CalibrationData, keys: Keys) -> CalibrationScores:
        """Return what Monte Carlo gives, later."""
        time.sleep(self.seconds if _started else 0.0)
        _started.append(True)
        inner = resolve(CALIBRATOR, {"name": "monte-carlo", "draws": self.draws})
        return inner.calibrate(data, keys)


SCRIPT = """\
import os, signal, sys
import plausibly
from eval_studies import Failing, Slow, world

def main():
    # What a shell runs in the background ignores interrupts, and so would this.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    predictions, lam = world()
{body}

if __name__ == "__main__":
    main()
"""


@contextlib.contextmanager
def script(folder: Path, body: str, *, guarded: bool = True) -> Iterator[subprocess.Popen[str]]:
    """Start a script that has `predictions` and `lam`, in a session of its own."""
    text = SCRIPT.replace("{body}", textwrap.indent(textwrap.dedent(body), "    "))
    if not guarded:
        text = text.replace('if __name__ == "__main__":\n    main()', "main()")
    file = folder / "script.py"
    file.write_text(text, encoding="utf-8")
    path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    with subprocess.Popen(
        [sys.executable, "-W", "ignore", str(file)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as running:
        try:
            yield running
        finally:
            running.kill()


def quiet(*arguments: object, **options: object) -> xr.Dataset:
    """Return a study, whatever it warns of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlausiblyWarning)
        return compare(*arguments, **options).data  # type: ignore[arg-type]  # whatever a test asks for
