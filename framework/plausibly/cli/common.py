"""Options that several commands share: one name, one meaning, one help text.

A flag is the key of a study file; what belongs to one component can also be written into an inline
table, such as ``--combiner '{name = "ecdf", delta = 0.01}'``.
"""

from __future__ import annotations

import dataclasses
import enum
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from plausibly.cli import completion
from plausibly.cli.output import Output


class Unanswered(enum.StrEnum):
    """What to do with examples that nobody answered."""

    error = "error"
    drop = "drop"


class BadRows(enum.StrEnum):
    """What to do with predictions that are not finite."""

    error = "error"
    drop = "drop"


class Scale(enum.StrEnum):
    """What the numbers of predictions are."""

    probability = "probability"
    logit = "logit"
    independent = "independent"
    any = "any"


class Ties(enum.StrEnum):
    """What counts as covering a voted label where several are tied."""

    first = "first"
    random = "random"
    fractional = "fractional"
    any = "any"
    all = "all"


class Interval(enum.StrEnum):
    """How intervals are made."""

    auto = "auto"
    wilson = "wilson"
    t = "t"
    betting = "betting"


class Strata(enum.StrEnum):
    """By what to report coverage, beside the largest plausibility."""

    entropy = "entropy"
    size = "size"
    label = "label"


class Form(enum.StrEnum):
    """How plausibilities are written."""

    wide = "wide"
    long = "long"
    packed = "packed"


def column(flag: str, text: str, *, of: str = "examples") -> Any:  # Any: as Typer declares it
    """Return an option that names a column of a file."""
    return typer.Option(flag, autocompletion=completion.columns(of), metavar="COLUMN", help=text)


def component(flag: str, kind: str, text: str) -> Any:  # Any: as above
    """Return an option that names a component, or has a table of one."""
    names = completion.components(kind)
    return typer.Option(flag, autocompletion=names, metavar="NAME|TABLE", help=text)


# ---- data

RequiredAnnotations: TypeAlias = Annotated[
    Path,
    typer.Option("--annotations", "-a", metavar="FILE", help="What the experts said: every vote."),
]
Annotations: TypeAlias = Annotated[
    Path | None,
    typer.Option("--annotations", "-a", metavar="FILE", help="What the experts said: every vote."),
]
Plausibilities: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--plausibilities",
        metavar="FILE",
        help="Instead of -a: plausibilities from plausibly aggregate.",
    ),
]
Predictions: TypeAlias = Annotated[
    Path,
    typer.Option(
        "--predictions",
        "-p",
        metavar="FILE",
        help="What the model said: CSV, Parquet, npy, npz or netCDF.",
    ),
]
Examples: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--examples",
        "-e",
        metavar="FILE",
        help="Table of the examples: a column example, then coordinates such as patient.",
    ),
]
Labels: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--labels",
        metavar="FILE",
        help="The labels in order: one name a line, or a table with a column label (and alias, "
        "parent, order, risk).",
    ),
]
Rename: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--rename", metavar="OLD=NEW", help="Another name for a label, in either file. Repeatable."
    ),
]
Strip: TypeAlias = Annotated[
    bool, typer.Option("--strip", help="Take blanks off both ends of the label names.")
]
OnlyCommon: TypeAlias = Annotated[
    bool, typer.Option("--only-common", help="Leave out examples that only one file has.")
]

# ---- annotations

Reader: TypeAlias = Annotated[
    str | None,
    component(
        "--reader", "reader", "Format of the annotations [default: the one that is recognised]."
    ),
]
Columns: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--columns",
        metavar="MAP",
        help="Columns of a crowd table: task=item,worker=rater,label=answer.",
    ),
]
AnswerKind: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--kind",
        autocompletion=completion.kinds_of_annotation,
        metavar="KIND",
        help="Kind of answer: single-label or label-set.",
    ),
]
Missing: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--missing", metavar="TEXT", help='A label that means "no answer". Repeatable, or a,b.'
    ),
]
UnansweredPolicy: TypeAlias = Annotated[
    Unanswered | None,
    typer.Option(
        "--unanswered", help="Examples without a response [default: error]; drop is recorded."
    ),
]
Aggregator: TypeAlias = Annotated[
    str | None,
    component(
        "--aggregator", "aggregator", "How responses become plausibilities [default: by kind]."
    ),
]

# ---- predictions

ExampleColumn: TypeAlias = Annotated[
    str | None,
    column(
        "--example", "Column of -p that names the examples [default: example].", of="predictions"
    ),
]
View: TypeAlias = Annotated[
    str | None,
    column(
        "--view",
        "Column of -p that names the view of each row, where an example has several.",
        of="predictions",
    ),
]
Variable: TypeAlias = Annotated[
    str | None,
    typer.Option("--variable", metavar="NAME", help="Variable of a netCDF file of predictions."),
]
PredictionScale: TypeAlias = Annotated[
    Scale | None,
    typer.Option(
        "--scale",
        metavar="SCALE",
        help="What predictions are: probability (rows sum to 1), logit, independent (each label "
        "on its own) or any [default: probability, or the predictor's].",
    ),
]
Normalise: TypeAlias = Annotated[
    bool, typer.Option("--normalise", help="Divide each row of predictions by its sum.")
]
BadRowsPolicy: TypeAlias = Annotated[
    BadRows | None,
    typer.Option(
        "--bad-rows", help="Predictions that are not finite [default: error]; drop is recorded."
    ),
]

# ---- what is asked for, and how the answer comes

Alphas: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--alpha",
        metavar="ALPHA",
        help="Miscoverage rate, 0.1 for 90 % sets [default: 0.1]. Repeatable.",
    ),
]
Seed: TypeAlias = Annotated[int, typer.Option("--seed", help="Of everything that is drawn.")]
AsJson: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print one JSON document, for programs.")
]
Quiet: TypeAlias = Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")]
Strict: TypeAlias = Annotated[bool, typer.Option("--strict", help="A warning makes it exit 3.")]
Debug: TypeAlias = Annotated[bool, typer.Option("--debug", help="Print the traceback of an error.")]

DEFAULT_ALPHAS = ("0.1",)

# ---- groups of options: a command that has a parameter of such a type has all of them


@dataclasses.dataclass(frozen=True, kw_only=True)
class Format:
    """How a file of annotations is read."""

    reader: Reader = None
    columns: Columns = None
    kind: AnswerKind = None
    missing: Missing = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Answers(Format):
    """How a file of annotations is read, and what is done about examples without an answer."""

    unanswered: UnansweredPolicy = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Numbers:
    """How a file of predictions is read."""

    example: ExampleColumn = None
    variable: Variable = None
    scale: PredictionScale = None
    normalise: Normalise = False
    bad_rows: BadRowsPolicy = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Views(Numbers):
    """How a file of predictions is read that may have several rows of an example."""

    view: View = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Renaming:
    """How names of labels are changed."""

    strip: Strip = False
    rename: Rename = None


def flags(*groups: Format | Numbers | Renaming) -> dict[str, object]:
    """Return what was typed of groups of options, by flag."""
    return {
        f"--{name.replace('_', '-')}": value.value if isinstance(value, enum.Enum) else value
        for group in groups
        for name, value in dataclasses.asdict(group).items()
    }


@dataclasses.dataclass(frozen=True, kw_only=True)
class Printing:
    """How a command answers."""

    json: AsJson = False
    quiet: Quiet = False
    strict: Strict = False
    debug: Debug = False

    def output(self, command: str) -> Output:
        """Return the output of a command."""
        return Output(command, **dataclasses.asdict(self))
