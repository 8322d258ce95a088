"""Study files over the made world of the command line, and what is asked of them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import attrs
import pytest
import xarray as xr

import plausibly
from plausibly import registry
from plausibly.config.document import Document, parse
from plausibly.config.load import draft
from plausibly.config.settings import Settings
from plausibly.plugin import (
    CALIBRATOR,
    CalibrationData,
    CalibrationScores,
    Calibrator,
    Keys,
    resolve,
)
from plausibly.registry import Registry
from plausibly.study import Prepared, StudyResult, run_study
from plausibly.study.prepare import StudyLike, missing_keys
from refusals import quiet

SMALLEST = """\
[annotations]
path = "votes.csv"
[predictions]
path = "probabilities.csv"
[[methods]]
"""

WHOLE = """\
seed = 1
alphas = [0.1, 0.25]

[annotations]
path = "votes.csv"
reader = "long-table"

[predictions]
path = "probabilities.csv"

[examples]
path = "patients.csv"
cluster = "patient"
[[methods]]
name = "everyone"

[[methods]]
calibrator = "majority-vote"

[[methods]]
calibrator = { name = "monte-carlo", draws = 4 }
combiner = "maximum"

[splits]
count = 6


[output]
folder = "out"
"""


def tables(text: str) -> dict[str, object]:
    return tomllib.loads(text, parse_float=Decimal)


def study(text: str) -> Settings:
    result = draft(tables(text))
    assert not result.mistakes
    return result.settings


def document(text: str) -> Document:
    return parse(text, "study.toml")


def rows(text: str) -> list[str]:
    """Return the mistakes of a text before any file is read, a row each with its line."""
    read = document(text)
    item = draft(read.tables, read)
    error = item.error([*item.mistakes, *missing_keys(item)])
    mistakes: Any = error.details["mistakes"]  # Any: plain data
    return [f"{mistake['line'] or '-'} {mistake['text']}" for mistake in mistakes]


def studied(source: Prepared | StudyLike) -> StudyResult:
    """Return the result of a study, without its warnings."""
    with quiet():
        return run_study(source)


def inputs() -> tuple[xr.DataArray, xr.DataArray]:
    """Return the data of the study as a caller of Python reads them."""
    table = plausibly.read_examples("patients.csv")
    about = {name: ("example", table[name].values) for name in ("patient", "site")}
    predictions = plausibly.read_predictions("probabilities.csv").assign_coords(about)
    return predictions, plausibly.aggregate(plausibly.read_annotations("votes.csv"))


def written(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@attrs.frozen(kw_only=True)
class Wrapped:
    """A calibrator around others, with parameters of every form."""

    inner: Calibrator = attrs.field(factory=lambda: resolve(CALIBRATOR, "monte-carlo"))
    many: tuple[Calibrator, ...] = ()
    file: Path | None = None
    levels: Mapping[str, float] = attrs.field(factory=dict)
    text: str = "a"
    switch: bool = False

    def calibrate(self, data: CalibrationData, keys: Keys) -> CalibrationScores:
        return self.inner.calibrate(data, keys)


def with_more_components(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a registry of this test's own, with the calibrator above in it."""
    fresh = Registry()
    fresh.register(CALIBRATOR, "wrapped", Wrapped)
    monkeypatch.setattr(registry, "default", lambda: fresh)
