"""A study: what its file says, as classes whose fields are its keys."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import is_dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

import attrs
from attrs import validators

from plausibly import registry
from plausibly.config.results import Output, Report
from plausibly.config.rules import Counts, counts
from plausibly.protocols import (
    AGGREGATOR,
    CALIBRATOR,
    COMBINER,
    READER,
    SCORE,
    Aggregator,
    Calibrator,
    ComponentLike,
    PValueCombiner,
    Reader,
    ScoreFunction,
)
from plausibly.registry.parameters import has_fields, parameters_of

_Named: TypeAlias = Any  # a default is a name, which the converter makes a component of


def _aggregator(like: ComponentLike[Aggregator] | None) -> Aggregator | None:
    return None if like is None else registry.resolve(AGGREGATOR, like)


def _reader(like: ComponentLike[Reader] | None) -> Reader | None:
    return None if like is None else registry.resolve(READER, like)


def _calibrator(like: ComponentLike[Calibrator]) -> Calibrator:
    return registry.resolve(CALIBRATOR, like)


def _score(like: ComponentLike[ScoreFunction]) -> ScoreFunction:
    return registry.resolve(SCORE, like)


def _combiner(like: ComponentLike[PValueCombiner]) -> PValueCombiner:
    return registry.resolve(COMBINER, like)


def _decimals(alphas: Iterable[object]) -> tuple[Decimal, ...]:
    return tuple(Decimal(str(alpha)) for alpha in alphas)


@attrs.frozen(kw_only=True)
class AnnotationFile:
    """What the experts said, as they said it.

    Attributes
    ----------
    path : Path
        The file.
    reader : Reader or None
        Its syntax; None asks every reader whether it recognises the file.
    options : mapping
        Parameters for the reader that recognises it; a reader that is named has its own.
    unanswered : {"error", "drop"}
        What to do with examples that nobody answered; dropped ones are counted.
    strip : bool
        Take blanks off both ends of the label names.
    rename : mapping of str to str, or None
        New names of labels by their old ones.
    """

    path: Path
    reader: Reader | None = attrs.field(default=None, converter=_reader)
    options: Mapping[str, object] = attrs.field(factory=dict)
    unanswered: Literal["error", "drop"] = "error"
    strip: bool = False
    rename: Mapping[str, str] | None = None


@attrs.frozen(kw_only=True)
class PlausibilityFile:
    """What the experts said, aggregated already.

    Attributes
    ----------
    path : Path
        The file.
    strip : bool
        Take blanks off both ends of the label names.
    rename : mapping of str to str, or None
        New names of labels by their old ones.
    """

    path: Path
    strip: bool = False
    rename: Mapping[str, str] | None = None


@attrs.frozen(kw_only=True)
class PredictionFile:
    """What the model said; the other keys are those of `plausibly.read_predictions`.

    Attributes
    ----------
    path : Path
        The file.
    example : str
        Column of a table that names the examples.
    scale : {"probability", "logit", "independent", "any"}
        What the numbers are.
    normalise : bool
        Divide each row by its sum.
    bad_rows : {"error", "drop"}
        What to do with examples that have a number which is not finite; dropped ones are counted.
    strip : bool
        Take blanks off both ends of the label names.
    rename : mapping of str to str, or None
        New names of labels by their old ones.
    variable : str or None
        Variable of a netCDF file, where several have the dims.
    view : str or None
        Column of a table that names the view of each row, where an example has several.
    """

    path: Path
    example: str = "example"
    scale: Literal["probability", "logit", "independent", "any"] = "probability"
    normalise: bool = False
    bad_rows: Literal["error", "drop"] = "error"
    strip: bool = False
    rename: Mapping[str, str] | None = None
    variable: str | None = None
    view: str | None = None


@attrs.frozen(kw_only=True)
class Examples:
    """Which examples take part, and what is known about them.

    Attributes
    ----------
    path : Path or None
        Table with a column ``example``, then one column a coordinate, such as the patient.
    only_common : bool
        Leave out the examples that only predictions or annotations have; they are counted.
    one_per : str or None
        Coordinate of which each value keeps one example, drawn by name; the others are counted.
    """

    path: Path | None = None
    only_common: bool = False
    one_per: str | None = None


@attrs.frozen(kw_only=True)
class Labels:
    """The labels in order, and what is known about them.

    Attributes
    ----------
    path : Path
        Table with a column ``label`` (and ``alias``, ``parent``, ``order``, ``risk``), or a text
        file of one name a line.
    """

    path: Path


@attrs.frozen(kw_only=True)
class Plugins:
    """Which plugins take part.

    Attributes
    ----------
    disable : tuple of str
        Plugins or distributions to run without.
    """

    disable: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class Calibration:
    """One method to calibrate by; the other keys are those of `plausibly.calibrate`.

    Attributes
    ----------
    name : str
        What the results call it; empty: made from the components.
    calibrator : Calibrator
        Which scores a test score is compared with.
    score : ScoreFunction
        How well a label fits what the model said.
    combiner : PValueCombiner
        How the p-values of a label become one.
    allow_no_guarantee : bool
        Whether to go on where calibrator and combiner have no guarantee together.
    """

    name: str = ""
    calibrator: Calibrator = attrs.field(default=cast("_Named", "expected"), converter=_calibrator)
    score: ScoreFunction = attrs.field(default=cast("_Named", "probability"), converter=_score)
    combiner: PValueCombiner = attrs.field(default=cast("_Named", "average"), converter=_combiner)
    allow_no_guarantee: bool = False


@attrs.frozen(kw_only=True)
class Splits:
    """Random splits into calibration and test examples.

    Attributes
    ----------
    count : int
        How many.
    test : float
        Share of the examples to measure on.
    group : str or None
        Coordinate of the examples whose groups stay on one side, such as the patient.
    stratify : str or None
        Coordinate of the examples of which each value has the same share on both sides.
    draws : tuple of int, or None
        Numbers of draws to measure with, in the place of the calibrators' own.
    sizes : tuple of int, or None
        Numbers of calibration examples to measure with; None: all that a split has.
    """

    count: int = attrs.field(default=100, validator=validators.ge(1))
    test: float = attrs.field(
        default=0.5, validator=validators.and_(validators.gt(0.0), validators.lt(1.0))
    )
    group: str | None = None
    stratify: str | None = None
    draws: Counts = attrs.field(default=None, validator=counts)
    sizes: Counts = attrs.field(default=None, validator=counts)


@attrs.frozen(kw_only=True)
class Evaluation:
    """How the sets are judged.

    Attributes
    ----------
    ties : {"first", "random", "fractional", "any", "all"}
        What covers a vote that is tied.
    true : str or None
        Coordinate of the examples with a known label.
    by : tuple of str, or None
        Coordinates among whose groups the weakest is looked for; None: every one with few groups.
    """

    ties: Literal["first", "random", "fractional", "any", "all"] = "first"
    true: str | None = None
    by: tuple[str, ...] | None = None


@attrs.frozen(kw_only=True)
class Study:
    """A study of several calibrations on the same data, as its file says it.

    Attributes
    ----------
    seed : int
        Of everything that is drawn.
    alphas : tuple of Decimal
        Miscoverage rates, exactly as typed: 0.1 for 90 % sets.
    annotations, plausibilities : AnnotationFile or PlausibilityFile, or None
        What the experts said; one of them.
    predictions : PredictionFile
        What the model said.
    examples : Examples
        Which examples take part, and what is known about them.
    labels : Labels or None
        The labels in order.
    plugins : Plugins
        Which plugins take part.
    aggregator : Aggregator or None
        How responses become plausibilities; None: the default for the kind of annotation.
    calibrations : tuple of Calibration
        The methods that are compared; the first also makes the predictor.
    splits : Splits
        How often, and how, examples are split.
    evaluation : Evaluation
        How the sets are judged.
    report : Report
        What the report shows.
    output : Output
        Where the results go.
    """

    seed: int = 0
    alphas: tuple[Decimal, ...] = attrs.field(default=("0.1",), converter=_decimals)
    annotations: AnnotationFile | None = None
    plausibilities: PlausibilityFile | None = None
    predictions: PredictionFile
    examples: Examples = Examples()
    labels: Labels | None = None
    plugins: Plugins = Plugins()
    aggregator: Aggregator | None = attrs.field(default=None, converter=_aggregator)
    calibrations: tuple[Calibration, ...]
    splits: Splits = Splits()
    evaluation: Evaluation = Evaluation()
    report: Report = attrs.field(factory=Report)
    output: Output = attrs.field(factory=Output)


def with_paths(value: object, change: Callable[[Path], Path]) -> object:
    """Return a study, or a part of one, with each path changed, also those inside components.

    Parameters
    ----------
    value : object
        A class with fields, a component, a list, a table, or a value.
    change : callable
        Returns the path to put in the place of another.
    """
    if isinstance(value, Path):
        return change(value)
    if isinstance(value, tuple | list):
        items = [with_paths(item, change) for item in value]
        same = all(new is old for new, old in zip(items, value, strict=True))
        return value if same else type(value)(items)
    if isinstance(value, Mapping):
        table = {key: with_paths(item, change) for key, item in value.items()}
        return value if all(table[key] is value[key] for key in table) else table
    if not has_fields(type(value)):
        return value
    changes: dict[str, object] = {}
    for parameter in parameters_of(type(value)):
        old = getattr(value, parameter.field)
        new = with_paths(old, change)
        if new is not old:
            changes[parameter.field if is_dataclass(value) else parameter.name] = new
    evolve: Callable[..., object] = replace if is_dataclass(value) else attrs.evolve
    return evolve(value, **changes) if changes else value
