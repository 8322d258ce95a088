"""Every setting: classes whose fields are the keys of a settings file, with type and meaning."""

# ruff: noqa: RUF009  # `setting` and `by_name` declare fields

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import is_dataclass, replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

import attrs
from attrs import validators
from attrs.converters import optional

from plausibly import registry
from plausibly.errors import ComponentError, InputError, MissingExtra
from plausibly.protocols import (
    AGGREGATOR,
    CALIBRATOR,
    COMBINER,
    READER,
    SCORE,
    Aggregator,
    Calibrator,
    ComponentLike,
    Kind,
    PValueCombiner,
    Reader,
    ScoreFunction,
)
from plausibly.registry.mistakes import (
    Mistake,
    Mistakes,
    Wrong,
    mistakes_in,
    unknown_key,
)
from plausibly.registry.parameters import Strict, below, expected, has_fields, parameters_of

Counts: TypeAlias = tuple[int, ...] | None
P = TypeVar("P")
T = TypeVar("T")

without_plugins = partial(registry.disabling, by="[plugins] disable")
"""Runs a block as if these plugins or distributions were not installed."""


def setting(default: T, meaning: str, *rules: Callable[..., object]) -> T:
    """Return the field of a key; a meaning may end with what None stands for."""
    return attrs.field(default=default, metadata={"help": meaning}, validator=rules or None)


# Any: each kind has its own Protocol; the converter makes another type of the default
def by_name(kind: Kind[Any], default: str | None, meaning: str) -> Any:
    """Return the field of a key for which a name, a table or an object stands for a component."""
    resolve = partial(registry.resolve, kind)
    return attrs.field(default=default, metadata={"help": meaning}, converter=optional(resolve))


def counts(_: object, field: attrs.Attribute[Counts], value: Counts) -> None:
    """Raise `ValueError` unless they are different numbers from 1 on, or were left out."""
    if value is not None and (not value or min(value) < 1 or len(set(value)) < len(value)):
        raise ValueError(f"expected different numbers from 1 on, found {list(value)}")


def component(kind: Kind[P], like: ComponentLike[P]) -> P:
    """Return the component that was written, or raise `Mistakes` with what is wrong about it."""
    try:
        return registry.resolve(kind, like)
    except MissingExtra as error:
        raise Mistakes([Mistake("", error.what, advice=error.hint)]) from error
    except ComponentError as error:
        raise Mistakes(mistakes_in(error)) from error


_RATE = "a number between 0 and 1"


def read_alphas(value: object) -> tuple[Decimal, ...]:
    """Return miscoverage rates as the decimals that were written."""
    if not isinstance(value, list | tuple) or not value:
        raise Wrong(f"a list, each {_RATE}", value, [_meant(value) or Decimal("0.1")])
    mistakes: list[Mistake] = []
    alphas: list[Decimal] = []
    for number, item in enumerate(value):
        with below(number, mistakes):
            meant = _meant(item)
            if isinstance(item, bool | str) or meant is None or meant != Decimal(str(item)):
                raise Wrong(_RATE, item, meant)
            if meant in alphas:
                raise Mistakes([Mistake("", f"{item} is there already", advice="leave it out")])
            alphas.append(meant)
    if mistakes:
        raise Mistakes(mistakes)
    return tuple(alphas)


def _meant(value: object) -> Decimal | None:
    """Return the rate that was written, or meant by a text or a percentage."""
    try:
        rate = Decimal(str(value))
        if 1 < rate < 100:  # from 50 on it is more likely the share that is covered
            rate = (rate if rate < 50 else 100 - rate) / 100
        return rate if 0 < rate < 1 else None
    except ArithmeticError:  # no number, or NaN
        return None


def read_annotations(strict: Strict, value: object) -> Annotations:
    """Return where annotations are, with their reader, whose parameters stand beside its name."""
    if not isinstance(value, Mapping):
        raise Wrong(expected(Annotations), value)
    own = [p.name for p in parameters_of(Annotations) if p.name != "options"]
    table = {key: value[key] for key in own if key in value}
    options = {key: item for key, item in value.items() if key not in own}
    mistakes: list[Mistake] = []
    if "reader" not in table:
        known = [*own]
        for entry in registry.default().entries(READER):
            with suppress(InputError):  # a broken plugin has no options
                known += [parameter.name for parameter in parameters_of(entry.load())]
        unknown = [key for key in options if key not in known]
        mistakes = [unknown_key(key, options[key], known, noun="key") for key in unknown]
    elif options:
        reader = table["reader"]
        reader = reader if isinstance(reader, Mapping) else {"name": reader}
        for key in reader.keys() & options.keys():
            advice = f"leave {key} out of one of them"
            mistakes.append(Mistake(key, "is there twice", advice=advice))
        table["reader"] = {**reader, **options}

    def beside(mistake: Mistake) -> Mistake:
        """Return a mistake of an option as one of the key beside the reader's name."""
        inside = mistake.path.removeprefix("reader.")
        key = re.split(r"[.\[]", inside)[0]
        if inside == mistake.path or key not in options:
            return mistake
        meant = unknown_key(key, options[key], own, noun="key")
        if mistake.unknown and meant.key:
            return meant
        return attrs.evolve(mistake, path=inside, key=mistake.key.removeprefix("reader."))

    try:
        made = strict.build(Annotations, table)
    except Mistakes as error:
        mistakes += map(beside, error.mistakes)
    if mistakes:
        raise Mistakes(mistakes)
    return made if "reader" in table else attrs.evolve(made, options=options)


def _decimals(alphas: Iterable[object]) -> tuple[Decimal, ...]:
    return tuple(Decimal(str(alpha)) for alpha in alphas)


@attrs.frozen(kw_only=True)
class Annotations:
    """Answers of the annotators on the calibration set, and how answers are read.

    Parameters of a reader, such as `columns` and `missing`, stand beside its name; `options` are
    those of a reader that is recognised.
    """

    path: Path | None = setting(None, "Answers of the annotators.")
    reader: Reader | None = by_name(READER, None, "File format. None: recognised from the file.")
    options: Mapping[str, object] = attrs.field(factory=dict)
    unanswered: Literal["error", "drop"] = setting("error", "Examples without an answer.")
    aggregator: Aggregator | None = by_name(
        AGGREGATOR, None, "How answers become plausibilities. None: by kind."
    )


@attrs.frozen(kw_only=True)
class ReaderOptions:
    """Parameters that most readers of annotations have; the others are known to each reader."""

    columns: Mapping[str, str] = setting({}, "Column names: annotator=rater,label=answer.")
    missing: tuple[str, ...] = setting((), 'A label that means "no answer". Repeatable.')
    kind: str = setting("", "Kind of answer: single-label or label-set.")


@attrs.frozen(kw_only=True)
class Plausibilities:
    """Answers that are aggregated already."""

    path: Path | None = setting(None, "Aggregated answers, instead of --annotations.")


@attrs.frozen(kw_only=True)
class Predictions:
    """Predictions of the model on the calibration set, and how predictions are read."""

    path: Path | None = setting(None, "Model probabilities for the same examples.")
    example: str | None = setting(
        None,
        "Column of a table that names the examples. None: as the predictor remembers, or example.",
    )
    scale: Literal["probability", "logit", "independent", "any"] | None = setting(
        None,
        "Rows sum to 1, are logits, labels on their own, or any numbers. None: as the predictor "
        "remembers, or probability.",
    )
    normalise: bool = setting(False, "Divide each row by its sum.")
    bad_rows: Literal["error", "drop"] = setting("error", "Rows with a number that is not finite.")
    variable: str | None = setting(
        None,
        "Variable of a netCDF file, where several have the dims. None: as the predictor remembers.",
    )
    augmentation: str | None = setting(
        None,
        "Column of a table that names the augmentation of each row, where an example has several. "
        "None: as the predictor remembers.",
    )


@attrs.frozen(kw_only=True)
class Examples:
    """Examples that take part, and their columns."""

    path: Path | None = setting(None, "Columns about the examples: patient, site.")
    example: str = setting("example", "Column of the table that names the examples.")
    cluster: str | None = setting(None, "Column of examples that belong together, such as patient.")
    only_common: bool = setting(False, "Leave out and count the examples that only one file has.")
    one_per: str | None = setting(None, "Column: keep one example of each value, drawn by name.")


@attrs.frozen(kw_only=True)
class Labels:
    """The labels in order, what is known about them, and their names in all files."""

    path: Path | None = setting(None, "Labels in order, with aliases, parents or risks.")
    strip: bool = setting(False, "Remove spaces at both ends of the label names.")
    rename: Mapping[str, str] | None = setting(None, "New names of labels by their old ones.")


@attrs.frozen(kw_only=True)
class Plugins:
    """Plugins to leave out."""

    disable: tuple[str, ...] = setting((), "Plugins or distributions to run without.")


@attrs.frozen(kw_only=True)
class Method:
    """A method to calibrate by; the keys are parameters of `plausibly.calibrate`."""

    name: str = setting("", "Name in the results; empty: made from the components.")
    calibrator: Calibrator = by_name(CALIBRATOR, "expected", "Calibration method.")
    score: ScoreFunction = by_name(SCORE, "probability", "Conformity score of a label.")
    combiner: PValueCombiner = by_name(COMBINER, "average", "How p-values of draws are combined.")
    allow_no_guarantee: bool = setting(False, "Allow combinations without a guarantee.")

    def arguments(self) -> dict[str, Any]:  # Any: each parameter has its own type
        return {
            name: getattr(self, name) for name in attrs.fields_dict(type(self)) if name != "name"
        }


@attrs.frozen(kw_only=True)
class Splits:
    """Random splits into calibration and test examples; clusters stay on one side."""

    count: int = setting(100, "Number of splits.", validators.ge(1))
    test: float = setting(
        0.5, "Share of the examples to measure on.", validators.gt(0.0), validators.lt(1.0)
    )
    stratify: str | None = setting(None, "Column with the same shares on both sides.")
    draws: Counts = setting(None, "Numbers of draws, instead of the calibrators' own.", counts)
    sizes: Counts = setting(None, "Numbers of calibration examples. None: all.", counts)


@attrs.frozen(kw_only=True)
class New:
    """Files of new examples, for predict, evaluate and a report on a predictor."""

    predictions: Path | None = setting(None, "Model probabilities for new examples.")
    annotations: Path | None = setting(None, "Answers of annotators on new examples.")
    plausibilities: Path | None = setting(None, "Aggregated new answers, instead of --annotations.")
    examples: Path | None = setting(None, "Columns about the new examples: patient, site.")


NO_COLUMNS = ("label", "set-size", "ambiguity")  # measures by which every set can be grouped


@attrs.frozen(kw_only=True)
class Evaluation:
    """Measures of prediction sets."""

    by: tuple[str, ...] | None = setting(
        None, "Measure by a column, label, set-size or ambiguity; site:device for both."
    )
    true_label: str | None = setting(None, "Column of --examples with a known label.")
    ties: Literal["first", "random", "fractional", "any", "all"] = setting(
        "first", "How a tied majority vote is covered."
    )
    interval: Literal["auto", "wilson", "t", "betting"] = setting("auto", "Interval method.")
    at_least: int = setting(20, "Leave out smaller combinations of groups.", validators.ge(1))
    risk: str | None = setting(None, "Column of --labels with risks: what each level misses.")
    fail_under: float | None = setting(
        None,
        "Exit with 3 if coverage is lower, at any alpha.",
        validators.optional([validators.ge(0.0), validators.le(1.0)]),
    )

    @property
    def columns(self) -> tuple[str, ...] | None:
        if self.by is None:
            return None
        return tuple(dict.fromkeys(n for n in self.by if n not in NO_COLUMNS and ":" not in n))


@attrs.frozen(kw_only=True)
class Report:
    """Texts and pictures of the report."""

    title: str | None = setting(None, "Heading. None: made from the names of the files.")
    words: Mapping[str, str] | None = setting(
        None, 'Words for an example and an annotator: {example = "nodule"}.'
    )
    text: str | None = setting(None, "Column of --examples with a text to show.")
    thumbnail: str | None = setting(None, "Column of --examples with paths of small pictures.")
    anonymous: bool = setting(False, "Replace names of examples and annotators; omit file names.")


@attrs.frozen(kw_only=True)
class Output:
    """Files of results."""

    folder: Path = setting(Path("plausibly-out"), "Folder of the results of a study.")
    predictor: Path = setting(Path("predictor.nc"), "The predictor.")
    sets: Path = setting(Path("sets.csv"), "The prediction sets.")
    report: Path = setting(Path("report.html"), "The report.")
    plausibilities: Path | None = setting(None, "The plausibilities.")
    form: Literal["wide", "long", "sparse"] | None = setting(
        None, "Form of plausibilities: a number for each label, or only what is not 0."
    )
    keep_names: bool = setting(True, "Keep hashes of the examples' names in the predictor.")


@attrs.frozen(kw_only=True)
class Compute:
    """Computation of arrays larger than memory."""

    chunks: int | None = setting(None, "Examples to read at a time: Zarr, netCDF, npy, Parquet.")
    scheduler: str | None = setting(None, "Dask scheduler: its address, or local. None: threads.")


@attrs.frozen(kw_only=True)
class Plan:
    """Numbers of examples, answers and draws to compare: parameters of `plausibly.plan`."""

    within: float | None = setting(None, "Largest distance of coverage from 1 - alpha.")
    confidence: float = setting(0.9, "Share of calibrations that should be as close.")
    n: tuple[int, ...] = setting((), "Numbers of calibration examples to compare.")
    draws: tuple[int | str, ...] = setting((), "Numbers of draws to compare, or expected.")
    answers: tuple[int, ...] = setting((), "Numbers of answers per example to compare.")
    one_sided: bool = setting(False, "Count only coverage below 1 - alpha.")
    delta: float = setting(1e-4, "Chance to fail of the combiners pac and ecdf.")
    resamples: int = setting(200, "Resamples of the bootstrap; 0 for none.")


@attrs.frozen(kw_only=True)
class Agreement:
    """Measures of agreement: parameters of `plausibly.agreement`."""

    annotators: bool = setting(False, "Compare each annotator with the others.")
    order: tuple[str, ...] = setting((), "The labels from one end to the other: low,medium,high.")
    by: str | None = setting(None, "Column of --examples: measure each group.")
    risk: str | None = setting(None, "Column of --labels: how certain its level is (with draws).")
    confidence: float = setting(0.95, "Confidence of the intervals.")
    depth: int | None = setting(None, "Places of rankings to compare. None: all.")
    draws: int | None = setting(
        None,
        "Resamples of the answers: certainty of the top label.",
        validators.optional(validators.ge(2)),
    )
    resamples: int = setting(1000, "Resamples behind the intervals; 0 for none.")


@attrs.frozen(kw_only=True)
class Settings:
    """Every setting; a study is a file of settings with `methods`.

    The first of `methods` makes the predictor, and is the method where `method` is missing.
    """

    seed: int = setting(0, "Random seed.")
    alphas: tuple[Decimal, ...] = attrs.field(
        default=("0.1",),
        converter=_decimals,
        metadata={"help": "Miscoverage rates: 0.1 for 90% sets."},
    )
    annotations: Annotations = Annotations()
    plausibilities: Plausibilities = Plausibilities()
    predictions: Predictions = Predictions()
    examples: Examples = Examples()
    labels: Labels = Labels()
    plugins: Plugins = Plugins()
    method: Method | None = None
    methods: tuple[Method, ...] = ()
    splits: Splits = Splits()
    new: New = New()
    evaluation: Evaluation = Evaluation()
    report: Report = Report()
    output: Output = Output()
    compute: Compute = Compute()
    plan: Plan = Plan()
    agreement: Agreement = Agreement()

    @property
    def answers(self) -> tuple[str, Path | None]:
        """Table and path of the answers: annotations, or plausibilities."""
        if self.annotations.path is None and self.plausibilities.path is not None:
            return "plausibilities", self.plausibilities.path
        return "annotations", self.annotations.path

    @property
    def chosen_method(self) -> Method:
        return self.method or (self.methods[0] if self.methods else Method())

    def on_new_examples(self) -> Settings:
        """Return the settings with the files of new examples as those to read."""
        new = self.new
        return attrs.evolve(
            self,
            annotations=attrs.evolve(self.annotations, path=new.annotations),
            plausibilities=Plausibilities(path=new.plausibilities),
            predictions=attrs.evolve(self.predictions, path=new.predictions),
            examples=attrs.evolve(self.examples, path=new.examples),
        )


def with_paths(value: object, change: Callable[[Path], object]) -> object:
    """Return settings, or a part of them, with each path changed, also those inside components."""
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
