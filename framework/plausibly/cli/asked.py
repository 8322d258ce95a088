"""What a user asked for, out of the texts that were typed: the first thing that a command does."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from plausibly.cli import values
from plausibly.cli.common import BadRows, Scale, Unanswered

Table: TypeAlias = "str | dict[str, object] | None"
"""A component by name or as a table; None: the default."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Naming:
    """How labels are called.

    Attributes
    ----------
    labels : Path or None
        Declares them.
    strip : bool
        Whether to take blanks off both ends.
    rename : mapping of str to str
        New names by old ones, in whichever file has them.
    """

    labels: Path | None
    strip: bool
    rename: Mapping[str, str]

    @property
    def changes(self) -> bool:
        """Whether any name may change."""
        return self.strip or bool(self.rename)


@dataclasses.dataclass(frozen=True, kw_only=True)
class AskedAnnotations:
    """Where annotations or plausibilities are, and how to read and aggregate them.

    Attributes
    ----------
    path, plausibilities : Path or None
        One of them.
    reader : str, dict or None
    options : mapping
        Parameters of the reader that have a flag of their own.
    unanswered : str or None
    aggregator : str, dict or None
    seed : int
    """

    path: Path | None
    plausibilities: Path | None
    reader: Table
    options: Mapping[str, object]
    unanswered: str | None
    aggregator: Table
    seed: int


@dataclasses.dataclass(frozen=True, kw_only=True)
class AskedPredictions:
    """Where predictions are, and how to read them.

    Attributes
    ----------
    path : Path
    examples : Path or None
        Table of the examples.
    options : mapping
        Arguments of `plausibly.read_predictions`.
    """

    path: Path
    examples: Path | None
    options: Mapping[str, object]


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


@dataclasses.dataclass(frozen=True, kw_only=True)
class Measure:
    """How to evaluate; as in `plausibly.evaluate`, and the coverage below which it fails."""

    by: str | None
    true: str | None
    cluster: str | None
    ties: str
    interval: str
    seed: int
    only_common: bool
    fail_under: float | None


def naming(labels: Path | None, *, strip: bool, rename: Sequence[str] | None) -> Naming:
    """Return how labels are called."""
    return Naming(labels=labels, strip=strip, rename=values.renames(rename))


def opinions(
    path: Path | None,
    *,
    plausibilities: Path | None = None,
    reader: str | None,
    columns: str | None,
    kind: str | None,
    missing: Sequence[str] | None,
    unanswered: Unanswered | None,
    aggregator: str | None,
    seed: int,
) -> AskedAnnotations:
    """Return where annotations are, and how to read and aggregate them."""
    options: dict[str, object] = {
        "columns": values.mapping(columns, "--columns", "task=item,worker=rater,label=answer"),
        "kind": kind,
        "missing": list(values.texts(missing)) or None,
    }
    return AskedAnnotations(
        path=path,
        plausibilities=plausibilities,
        reader=values.component(reader, "--reader"),
        options={name: value for name, value in options.items() if value is not None},
        unanswered=None if unanswered is None else unanswered.value,
        aggregator=values.component(aggregator, "--aggregator"),
        seed=seed,
    )


def model(
    path: Path,
    *,
    examples: Path | None,
    example: str | None,
    variable: str | None,
    scale: Scale | None,
    normalise: bool,
    bad_rows: BadRows | None,
) -> AskedPredictions:
    """Return where predictions are, and how to read them."""
    options: dict[str, object] = {
        "example": example,
        "variable": variable,
        "scale": None if scale is None else scale.value,
        "normalise": normalise or None,
        "bad_rows": None if bad_rows is None else bad_rows.value,
    }
    return AskedPredictions(
        path=path,
        examples=examples,
        options={name: value for name, value in options.items() if value is not None},
    )
