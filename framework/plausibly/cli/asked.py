"""What a user asked for, out of the texts that were typed: the first thing that a command does."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from plausibly.cli import common, values
from plausibly.errors import InputError

Table: TypeAlias = "str | dict[str, object] | None"
"""A component by name or as a table; None: the default."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Naming:
    """How labels are called."""

    labels: Path | None
    strip: bool
    rename: Mapping[str, str]

    @property
    def changes(self) -> bool:
        """Whether any name may change."""
        return self.strip or bool(self.rename)


@dataclasses.dataclass(frozen=True, kw_only=True)
class AskedOpinions:
    """Where the file is that says what the experts said, and how to read and aggregate it."""

    path: Path
    aggregated: bool
    reader: Table
    options: Mapping[str, object]
    unanswered: str | None
    aggregator: Table
    seed: int

    @property
    def flag(self) -> str:
        """The option that named the file."""
        return "--plausibilities" if self.aggregated else "-a"

    @property
    def what(self) -> str:
        """What the file holds, as the document calls it."""
        return "plausibilities" if self.aggregated else "annotations"


@dataclasses.dataclass(frozen=True, kw_only=True)
class AskedPredictions:
    """Where predictions are, and how to read them."""

    path: Path
    examples: Path | None
    options: Mapping[str, object]

    @property
    def chunks(self) -> int | None:
        """How many examples are read at once; None where all are."""
        chunks = self.options.get("chunks")
        return chunks if isinstance(chunks, int) else None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Method:
    """How to calibrate; as in `plausibly.calibrate`, and the alphas to state guarantees for."""

    calibrator: Table
    score: Table
    combiner: Table
    draws: int | None
    group: str | None
    alphas: tuple[str, ...]
    seed: int
    only_common: bool
    allow_no_guarantee: bool


@dataclasses.dataclass(frozen=True, kw_only=True)
class Measure:
    """How to evaluate; as in `plausibly.evaluate`, and the coverage below which it fails.

    Further measures are of the subgroups by several `by`, of `strata` and by `risk`, and, where the
    predictions are known (`model`), of these; where the `predictor` is, of its p-values too.
    """

    by: tuple[str, ...]
    at_least: int
    strata: tuple[str, ...]
    risk: str | None
    model: AskedPredictions | None
    predictor: Path | None
    true: str | None
    cluster: str | None
    ties: str
    interval: str
    seed: int
    only_common: bool
    fail_under: float | None


def naming(labels: Path | None, renaming: common.Renaming) -> Naming:
    """Return how labels are called."""
    return Naming(labels=labels, strip=renaming.strip, rename=values.renames(renaming.rename))


def opinions(
    annotations: Path | None,
    reading: common.Format,
    *,
    plausibilities: Path | None = None,
    aggregator: str | None = None,
    seed: int = 0,
) -> AskedOpinions:
    """Return where the file is that says what the experts said, and how to read it."""
    columns = values.mapping(reading.columns, "--columns", "task=item,worker=rater,label=answer")
    options: dict[str, object] = {
        "columns": columns,
        "kind": reading.kind,
        "missing": list(values.texts(reading.missing)) or None,
    }
    given = {name: value for name, value in options.items() if value is not None}
    unanswered = reading.unanswered if isinstance(reading, common.Answers) else None
    others = {"reader": reading.reader, "aggregator": aggregator, "unanswered": unanswered}
    path = plausibilities if annotations is None else annotations
    if path is None or (annotations is not None and plausibilities is not None):
        raise InputError(
            "opinions-missing",
            f"{'no file says' if path is None else 'two files say'} what the experts said",
            expected="annotations (-a) or plausibilities (--plausibilities)",
            got="neither" if path is None else "both",
            do="-a votes.csv" if path is None else "leave one out",
        )
    unfit = [*given, *(name for name, value in others.items() if value is not None)]
    if annotations is None and unfit:
        raise InputError(
            "option-unfit",
            f"--{unfit[0]} has no meaning with --plausibilities",
            expected="an option of annotations with -a",
            got=f"--{unfit[0]}",
            do=f"leave --{unfit[0]} out, or read annotations: -a FILE",
            whose=f"--{unfit[0]}",
        )
    return AskedOpinions(
        path=path,
        aggregated=annotations is None,
        reader=values.component(reading.reader, "--reader"),
        options=given,
        unanswered=None if unanswered is None else unanswered.value,
        aggregator=values.component(aggregator, "--aggregator"),
        seed=seed,
    )


def model_of_sets(path: Path | None, numbers: common.Numbers) -> AskedPredictions | None:
    """Return where the predictions of sets are, or None where none are named."""
    if path is not None:
        return model(path, numbers)
    unfit = [flag for flag, value in common.flags(numbers).items() if value]
    if unfit:
        flag = unfit[0]
        raise InputError(
            "option-unfit",
            f"{flag} has no meaning without predictions",
            expected="an option of predictions with -p",
            got=flag,
            do=f"leave {flag} out, or name the predictions: -p FILE",
            whose=flag,
        )
    return None


def model(
    path: Path,
    numbers: common.Numbers,
    *,
    examples: Path | None = None,
    chunks: int | None = None,
) -> AskedPredictions:
    """Return where predictions are, and how to read them."""
    options = {**dataclasses.asdict(numbers), "chunks": chunks}
    return AskedPredictions(
        path=path,
        examples=examples,
        options={
            name: value.value if isinstance(value, enum.Enum) else value
            for name, value in options.items()
            if value is not None and value is not False
        },
    )
