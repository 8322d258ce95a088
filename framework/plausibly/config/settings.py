"""Every setting: classes whose fields are the keys of a settings file, with type and meaning."""

from __future__ import annotations

import inspect
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
    KIND_BY_NAME,
    READER,
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
    ParameterError,
    Wrong,
    mistakes_in,
    unknown_key,
)
from plausibly.registry.parameters import Strict, below, expected, has_fields, parameters_of

Counts: TypeAlias = tuple[int, ...] | None
Field: TypeAlias = "attrs.Attribute[Any]"  # Any: of whatever type


def counts(_: object, field: attrs.Attribute[Counts], value: Counts) -> None:
    """Raise `ValueError` unless they are different numbers from 1 on, or were left out."""
    if value is None:
        return
    if not value:
        raise ValueError("expected one number or more, found none")
    for number in value:
        if number < 1:
            raise ValueError(f"must be >= 1, found {number}")
        if value.count(number) > 1:
            raise ValueError(
                f"expected each number once, found {number} {value.count(number)} times"
            )


P = TypeVar("P")


without_plugins = partial(registry.disabling, by="[plugins] disable")
"""Runs a block as if these plugins or distributions were not installed."""


def component(kind: Kind[P], like: ComponentLike[P]) -> P:
    """Return the component that was written, or raise `Mistakes` with what is wrong about it."""
    try:
        return registry.resolve(kind, like)
    except ParameterError as error:
        name = like.get("name") if isinstance(like, Mapping) else like
        raise Mistakes(
            attrs.evolve(mistake, text=f"{name} has {mistake.text}")
            if mistake.unknown and "." not in mistake.path and mistake.text.startswith("no such")
            else mistake
            for mistake in error.mistakes
        ) from error
    except MissingExtra as error:
        raise Mistakes([Mistake("", error.what, advice=error.hint)]) from error
    except ComponentError as error:
        path = "name" if isinstance(like, Mapping) and error.name == "component-unknown" else ""
        raise Mistakes(
            attrs.evolve(mistake, path=path) for mistake in mistakes_in(error)
        ) from error


_RATE = "a number between 0 and 1"


def read_alphas(value: object) -> tuple[Decimal, ...]:
    if not isinstance(value, list | tuple):
        instead = _unquoted(value)
        raise Wrong(f"a list, each {_RATE}", value, None if instead is None else [instead])
    if not value:
        raise Mistakes([Mistake("", "expected one number or more, found none", value="[0.1]")])
    mistakes: list[Mistake] = []
    alphas: list[Decimal] = []
    for number, item in enumerate(value):
        with below(number, mistakes):
            if isinstance(item, bool) or not isinstance(item, int | float | Decimal):
                raise Wrong(_RATE, item, _unquoted(item))
            alpha = Decimal(str(item))
            if not (alpha.is_finite() and 0 < alpha < 1):
                advice = ""
                if alpha.is_finite() and 1 < alpha < 100:
                    # From 50 on it is more likely the share that is covered.
                    missed = alpha if alpha < 50 else 100 - alpha
                    advice = f"{(100 - missed).normalize():f}% is {(missed / 100).normalize():f}"
                text = f"expected {_RATE}, found {item}"
                mistake = Mistake("", text, advice=advice, expected=_RATE, found=str(item))
                raise Mistakes([mistake])
            if alpha in alphas:
                raise Mistakes([Mistake("", f"{alpha} is there already", advice="leave it out")])
            alphas.append(alpha)
    if mistakes:
        raise Mistakes(mistakes)
    return tuple(alphas)


def _unquoted(value: object) -> object:
    try:
        alpha = Decimal(str(value).strip())
        return alpha if 0 < alpha < 1 else None
    except ArithmeticError:
        return None


def read_annotations(strict: Strict, value: object) -> Annotations:
    """Return where annotations are, with their reader, whose parameters stand beside its name."""
    if not isinstance(value, Mapping):
        raise Wrong(expected(Annotations), value)
    parameters = {p.name: p for p in parameters_of(Annotations, typed=True)}
    del parameters["reader"], parameters["options"]
    own = [*parameters, "reader"]
    mistakes: list[Mistake] = []
    parts: dict[str, Any] = {}  # Any: each by its type
    for name, parameter in parameters.items():
        if name in value:
            with below(name, mistakes):
                parts[name] = strict.value(parameter, value[name])
        elif parameter.required:
            mistakes.append(parameter.absent())
    options = {key: item for key, item in value.items() if key not in own}
    if "reader" in value:
        parts["reader"] = _as_reader(value["reader"], options, own, mistakes)
    else:
        parts["options"] = options
        known = [*own]
        for entry in registry.default().entries(READER):
            with suppress(InputError):  # a broken plugin has no options
                known += [parameter.name for parameter in parameters_of(entry.load())]
        for key in [key for key in options if key not in known]:
            mistake = unknown_key(key, options[key], known, noun="key")
            meant = mistake if mistake.key else unknown_key(key, options[key], own, noun="key")
            mistakes.append(meant)
    if mistakes:
        raise Mistakes(mistakes)
    return Annotations(**parts)


def _as_reader(
    like: Any,  # Any: whatever was written; the registry checks it
    options: Mapping[str, object],
    own: list[str],
    mistakes: list[Mistake],
) -> Reader | None:
    table = like if isinstance(like, Mapping) else {"name": like}
    for key in table.keys() & options.keys():
        mistakes.append(Mistake(key, "is given twice", advice=f"leave {key} out of one of them"))
        return None
    try:
        reader: Reader = component(READER, {**table, **options} if options else like)
    except Mistakes as error:
        for mistake in error.mistakes:
            key = re.split(r"[.\[]", mistake.path)[0]
            if key in options:
                meant = unknown_key(key, options[key], own, noun="key")
                mistakes.append(meant if mistake.unknown and meant.key else mistake)
            elif isinstance(like, Mapping) or key not in ("", "name"):
                mistakes.append(mistake.below("reader"))
            else:
                mistakes.append(Mistake("reader", mistake.text, advice=mistake.advice))
        return None
    return reader


def _keys(cls: type, fields: list[Field]) -> list[Field]:
    """Give fields their meaning, from lines ``name: meaning`` of the docstring, and components.

    A name, a table or an object stands for the component in a field called like its kind.
    """
    doc = inspect.cleandoc(cls.__doc__ or "")
    meanings = dict(re.findall(r"^(\w+): (.+(?:\n +.+)*)", doc, re.MULTILINE))
    made = []
    for field in fields:
        text = " ".join(meanings.get(field.name, "").split())
        field = field.evolve(metadata={"help": text} if text else {})
        if field.name in KIND_BY_NAME:
            resolve = partial(registry.resolve, KIND_BY_NAME[field.name])
            field = field.evolve(converter=optional(resolve))
        made.append(field)
    return made


# Names, of which the converters make components.
_CALIBRATOR: Any = "expected"  # Any: a name, as above
_SCORE: Any = "probability"  # Any: as above
_COMBINER: Any = "average"  # Any: as above


def _decimals(alphas: Iterable[object]) -> tuple[Decimal, ...]:
    return tuple(Decimal(str(alpha)) for alpha in alphas)


@attrs.frozen(kw_only=True, field_transformer=_keys)
class Annotations:
    """Answers of the annotators on the calibration set, and how answers are read.

    Parameters of a reader, such as `columns` and `missing`, stand beside its name.

    path: Answers of the annotators.
    reader: File format. None: recognised from the file.
    options: Parameters of a reader that is recognised; a reader that is named has its own.
    unanswered: Examples without an answer: raise an error, or drop and count them.
    aggregator: How answers become plausibilities. None: by kind.
    """

    path: Path | None = None
    reader: Reader | None = None
    options: Mapping[str, object] = attrs.field(factory=dict)
    unanswered: Literal["error", "drop"] = "error"
    aggregator: Aggregator | None = None


@attrs.frozen(kw_only=True, field_transformer=_keys)
class ReaderOptions:
    """Parameters that most readers of annotations have; the others are known to each reader.

    columns: Column names: annotator=rater,label=answer.
    missing: A label that means "no answer". Repeatable.
    kind: Kind of answer: single-label or label-set.
    """

    columns: Mapping[str, str] = attrs.field(factory=dict)
    missing: tuple[str, ...] = ()
    kind: str = ""


@attrs.frozen(kw_only=True, field_transformer=_keys)
class Plausibilities:
    """Answers that are aggregated already.

    path: Aggregated answers, instead of --annotations.
    """

    path: Path | None = None


@attrs.frozen(kw_only=True, field_transformer=_keys)
class Predictions:
    """Predictions of the model on the calibration set, and how predictions are read.

    path: Model probabilities for the same examples.
    example: Column of a table that names the examples. None: as the predictor remembers, or
        example.
    scale: Rows sum to 1, are logits, labels on their own, or any numbers. None: as the
        predictor remembers, or probability.
    normalise: Divide each row by its sum.
    bad_rows: Examples with a number that is not finite: raise an error, or drop and count them.
    variable: Variable of a netCDF file, where several have the dims. None: as the predictor
        remembers.
    augmentation: Column of a table that names the augmentation of each row, where an example
        has several. None: as the predictor remembers.
    """

    path: Path | None = None
    example: str | None = None
    scale: Literal["probability", "logit", "independent", "any"] | None = None
    normalise: bool = False
    bad_rows: Literal["error", "drop"] = "error"
    variable: str | None = None
    augmentation: str | None = None


@attrs.frozen(kw_only=True, field_transformer=_keys)
class Examples:
    """Examples that take part, and their columns.

    path: Columns about the examples: patient, site.
    example: Column of the table that names the examples.
    cluster: Column of examples that belong together, such as patient.
    only_common: Leave out and count the examples that only one file has.
    one_per: Column of which each value keeps one example, drawn by name; the others are
        counted.
    """

    path: Path | None = None
    example: str = "example"
    cluster: str | None = None
    only_common: bool = False
    one_per: str | None = None


@attrs.frozen(kw_only=True, field_transformer=_keys)
class Labels:
    """The labels in order, what is known about them, and their names in all files.

    path: Labels in order, with aliases, parents or risks.
    strip: Remove spaces at both ends of the label names.
    rename: New names of labels by their old ones.
    """

    path: Path | None = None
    strip: bool = False
    rename: Mapping[str, str] | None = None


@attrs.frozen(kw_only=True, field_transformer=_keys)
class Plugins:
    """Plugins to leave out.

    disable: Plugins or distributions to run without.
    """

    disable: tuple[str, ...] = ()


@attrs.frozen(kw_only=True, field_transformer=_keys)
class Method:
    """A method to calibrate by; the keys are parameters of `plausibly.calibrate`.

    name: Name in the results; empty: made from the components.
    calibrator: Calibration method.
    score: Conformity score of a label.
    combiner: How p-values of draws are combined.
    allow_no_guarantee: Calibrate also where calibrator and combiner have no guarantee together.
    """

    name: str = ""
    calibrator: Calibrator = _CALIBRATOR
    score: ScoreFunction = _SCORE
    combiner: PValueCombiner = _COMBINER
    allow_no_guarantee: bool = False

    def arguments(self) -> dict[str, Any]:  # Any: each parameter has its own type
        return {
            name: getattr(self, name) for name in attrs.fields_dict(type(self)) if name != "name"
        }


@attrs.frozen(kw_only=True, field_transformer=_keys)
class Splits:
    """Random splits into calibration and test examples; clusters stay on one side.

    count: Number of splits.
    test: Share of the examples to measure on.
    stratify: Column of which each value has the same share on both sides.
    draws: Numbers of draws to measure with, instead of the calibrators' own.
    sizes: Numbers of calibration examples to measure with. None: all that a split has.
    """

    count: int = attrs.field(default=100, validator=validators.ge(1))
    test: float = attrs.field(
        default=0.5, validator=validators.and_(validators.gt(0.0), validators.lt(1.0))
    )
    stratify: str | None = None
    draws: Counts = attrs.field(default=None, validator=counts)
    sizes: Counts = attrs.field(default=None, validator=counts)


@attrs.frozen(kw_only=True, field_transformer=_keys)
class New:
    """Files of new examples, for predict, evaluate and a report on a predictor.

    predictions: Model probabilities for new examples.
    annotations: Answers of annotators on new examples.
    plausibilities: Aggregated answers on new examples, instead of --annotations.
    examples: Columns about the new examples: patient, site.
    """

    predictions: Path | None = None
    annotations: Path | None = None
    plausibilities: Path | None = None
    examples: Path | None = None


NO_COLUMNS = ("label", "set-size", "ambiguity")  # measures by which every set can be grouped


@attrs.frozen(kw_only=True, field_transformer=_keys)
class Evaluation:
    """Measures of prediction sets.

    by: Measure by a column, label, set-size or ambiguity; site:device for both.
    true_label: Column of --examples with a known label.
    ties: How a tied majority vote is covered.
    interval: Method of the intervals.
    at_least: Leave out smaller combinations of groups.
    risk: Column of --labels with their risk: measure what each level misses.
    fail_under: Exit with 3 if coverage is lower, at any alpha.
    """

    by: tuple[str, ...] | None = None
    true_label: str | None = None
    ties: Literal["first", "random", "fractional", "any", "all"] = "first"
    interval: Literal["auto", "wilson", "t"] = "auto"
    at_least: int = attrs.field(default=20, validator=validators.ge(1))
    risk: str | None = None
    fail_under: float | None = attrs.field(
        default=None, validator=validators.optional([validators.ge(0.0), validators.le(1.0)])
    )

    @property
    def columns(self) -> tuple[str, ...] | None:
        if self.by is None:
            return None
        return tuple(dict.fromkeys(n for n in self.by if n not in NO_COLUMNS and ":" not in n))


@attrs.frozen(kw_only=True, field_transformer=_keys)
class Report:
    """Texts and pictures of the report.

    title: Heading. None: made from the names of the files.
    words: Words for an example and an annotator: {example = "nodule"}.
    text: Column of --examples with a text to show.
    thumbnail: Column of --examples with the path of a small picture, relative to their table.
    anonymous: Replace names of examples and annotators; leave out those of files.
    """

    title: str | None = None
    words: Mapping[str, str] | None = None
    text: str | None = None
    thumbnail: str | None = None
    anonymous: bool = False


@attrs.frozen(kw_only=True, field_transformer=_keys)
class Output:
    """Files of results.

    folder: Folder of the results of a study.
    predictor: The predictor.
    sets: The prediction sets.
    report: The report.
    plausibilities: The plausibilities.
    form: Form of plausibilities: a number for each label, or only what is not 0.
    keep_names: Keep hashes of the examples' names in the predictor.
    """

    folder: Path = Path("plausibly-out")
    predictor: Path = Path("predictor.nc")
    sets: Path = Path("sets.csv")
    report: Path = Path("report.html")
    plausibilities: Path | None = None
    form: Literal["wide", "long", "sparse"] | None = None
    keep_names: bool = True


@attrs.frozen(kw_only=True, field_transformer=_keys)
class Compute:
    """Computation of arrays larger than memory.

    chunks: Examples to read at a time: Zarr, netCDF, npy, Parquet.
    scheduler: Dask scheduler of chunks: its address, local or threads. None: threads.
    """

    chunks: int | None = None
    scheduler: str | None = None


@attrs.frozen(kw_only=True, field_transformer=_keys)
class Plan:
    """Numbers of examples, answers and draws to compare: parameters of `plausibly.plan`.

    within: Largest distance of coverage from 1 - alpha.
    confidence: Share of calibrations that should be as close.
    n: Numbers of calibration examples to compare.
    draws: Numbers of draws to compare, or expected.
    answers: Numbers of answers per example to compare.
    one_sided: Count only coverage below 1 - alpha.
    delta: Chance to fail of the combiners pac and ecdf.
    resamples: Resamples of the bootstrap; 0 for none.
    """

    within: float | None = None
    confidence: float = 0.9
    n: tuple[int, ...] = ()
    draws: tuple[int | str, ...] = ()
    answers: tuple[int, ...] = ()
    one_sided: bool = False
    delta: float = 1e-4
    resamples: int = 200


@attrs.frozen(kw_only=True, field_transformer=_keys)
class Agreement:
    """Measures of agreement: parameters of `plausibly.agreement`.

    annotators: Compare each annotator with the others.
    order: The labels from one end to the other: low,medium,high.
    by: Column of --examples: measure each group.
    risk: Column of --labels: how certain its level is; needs agreement.draws.
    confidence: Confidence of the intervals.
    depth: Places of rankings to compare. None: those of the longest ranking.
    draws: Resample the answers, too: how certain the most plausible label is.
    resamples: Resamples behind the intervals; 0 for none.
    """

    annotators: bool = False
    order: tuple[str, ...] = ()
    by: str | None = None
    risk: str | None = None
    confidence: float = 0.95
    depth: int | None = None
    draws: int | None = None
    resamples: int = 1000


@attrs.frozen(kw_only=True, field_transformer=_keys)
class Settings:
    """Every setting; a study is a file of settings with `methods`.

    seed: Random seed.
    alphas: Miscoverage rates: 0.1 for 90% sets.
    annotations: Answers of the annotators, and how answers are read.
    plausibilities: Answers that are aggregated already.
    predictions: Predictions of the model, and how predictions are read.
    examples: Which examples take part, and what is known about them.
    labels: The labels in order, and their names.
    plugins: Which plugins take part.
    method: The method of `calibrate`. None: the first of `methods`.
    methods: Methods that a study compares; the first also makes the predictor.
    splits: Random splits of a study.
    new: Files of new examples.
    evaluation: How sets are measured.
    report: What the report shows.
    output: Where results are written.
    compute: How arrays larger than memory are computed.
    plan: What `plan` compares.
    agreement: How agreement is measured.
    """

    seed: int = 0
    alphas: tuple[Decimal, ...] = attrs.field(default=("0.1",), converter=_decimals)
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


def with_paths(value: object, change: Callable[[Path], Path]) -> object:
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
