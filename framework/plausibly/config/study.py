"""Settings of a study as classes whose fields are the keys of its file."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import is_dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar, cast

import attrs
from attrs import validators

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
    ParameterError,
    Wrong,
    mistakes_in,
    unknown_key,
)
from plausibly.registry.parameters import Strict, below, expected, has_fields, parameters_of

Counts: TypeAlias = tuple[int, ...] | None


def counts(_: object, field: attrs.Attribute[Counts], value: Counts) -> None:
    """Raise `ValueError` unless they are different numbers from 1 on, or were left out."""
    if value is None:
        return
    if not value:
        raise ValueError("expected one number or more, got none")
    for number in value:
        if number < 1:
            raise ValueError(f"must be >= 1, got {number}")
        if value.count(number) > 1:
            raise ValueError(f"expected each number once, got {number} {value.count(number)} times")


P = TypeVar("P")


@contextlib.contextmanager
def without_plugins(names: tuple[str, ...]) -> Iterator[None]:
    """Run a block as if these plugins or distributions were not installed."""
    if not names:
        yield
        return
    with registry.disabling(names, by="[plugins] disable"):
        yield


def component(kind: Kind[P], like: ComponentLike[P]) -> P:
    """Return the component that was written, or raise `Mistakes` with what is wrong about it."""
    try:
        return registry.resolve(kind, like)
    except (ComponentError, MissingExtra) as error:
        raise Mistakes(_said_of(like, error)) from error


def _said_of(like: object, error: InputError) -> list[Mistake]:
    table = isinstance(like, Mapping)
    if isinstance(error, ParameterError):
        name = like.get("name") if isinstance(like, Mapping) else like
        return [_whose(mistake, str(name)) for mistake in error.mistakes]
    if isinstance(error, MissingExtra):
        return [Mistake("", error.what, advice=error.do)]
    path = "name" if table and error.name == "component-unknown" else ""
    do = f"all: {error.do}" if error.do.startswith("plausibly plugins list") else error.do
    return [attrs.evolve(one, path=path, advice=do) for one in mistakes_in(error)]


def _whose(mistake: Mistake, name: str) -> Mistake:
    """Return a mistake about a parameter with the name of the component that lacks it."""
    if mistake.unknown and "." not in mistake.path and mistake.text.startswith("no such"):
        return attrs.evolve(mistake, text=f"{name} has {mistake.text}")
    return mistake


_RATE = "a number between 0 and 1"
_OF_READER = ("reader", "options")


def read_alphas(value: object) -> tuple[Decimal, ...]:
    """Return miscoverage rates exactly as typed."""
    if not isinstance(value, list | tuple):
        instead = _unquoted(value)
        raise Wrong(f"a list, each {_RATE}", value, None if instead is None else [instead])
    if not value:
        raise Mistakes([Mistake("", "expected one number or more, got none", value="[0.1]")])
    found: list[Mistake] = []
    alphas: list[Decimal] = []
    for number, item in enumerate(value):
        with below(number, found):
            alpha = _alpha(item)
            if alpha in alphas:
                raise Mistakes([Mistake("", f"{alpha} is there already", advice="leave it out")])
            alphas.append(alpha)
    if found:
        raise Mistakes(found)
    return tuple(alphas)


def _alpha(value: object) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise Wrong(_RATE, value, _unquoted(value))
    alpha = Decimal(str(value))
    if alpha.is_finite() and 0 < alpha < 1:
        return alpha
    advice = ""
    if alpha.is_finite() and 1 < alpha < 100:
        # From 50 on it is more likely the share that is covered than the share that is missed.
        missed = alpha if alpha < 50 else 100 - alpha
        advice = f"{(100 - missed).normalize():f} % is {(missed / 100).normalize():f}"
    text = f"expected {_RATE}, got {value}"
    raise Mistakes([Mistake("", text, advice=advice, expected=_RATE, got=str(value))])


def _unquoted(value: object) -> object:
    try:
        alpha = Decimal(str(value).strip())
    except ArithmeticError:
        return None
    return alpha if alpha.is_finite() and 0 < alpha < 1 else None


def read_annotations(strict: Strict, value: object) -> AnnotationFile:
    """Return where annotations are, with their reader, whose parameters stand beside its name."""
    if not isinstance(value, Mapping):
        raise Wrong(expected(AnnotationFile), value)
    own = {p.name: p for p in parameters_of(AnnotationFile, typed=True)}
    for name in _OF_READER:
        del own[name]
    found: list[Mistake] = []
    made: dict[str, object] = {}
    for name, parameter in own.items():
        if name in value:
            with below(name, found):
                made[name] = strict.value(parameter, value[name])
        elif parameter.required:
            found.append(Mistake(name, f"is required: {expected(parameter.type)}"))
    options = {key: item for key, item in value.items() if key not in (*own, "reader")}
    reader = None
    if "reader" in value:
        reader = _as_reader(value["reader"], options, list(own), found)
        options = {}
    else:
        known = [*own, "reader", *dict.fromkeys(_options_of_readers())]
        for key in [key for key in options if key not in known]:
            mistake = unknown_key(key, options[key], known, noun="key")
            if not mistake.key:
                mistake = unknown_key(key, options[key], [*own, "reader"], noun="key")
            found.append(mistake)
    if found:
        raise Mistakes(found)
    checked = cast("dict[str, Any]", made)  # Any: each by its type
    return AnnotationFile(**checked, reader=reader, options=options)


def _as_reader(
    like: Any,  # Any: whatever was written; the registry checks it
    options: Mapping[str, object],
    own: list[str],
    found: list[Mistake],
) -> Reader | None:
    table = like if isinstance(like, Mapping) else {"name": like}
    for key in table.keys() & options.keys():
        found.append(Mistake(key, "is given twice", advice=f"leave {key} out of one of them"))
        return None
    try:
        made: Reader = component(READER, {**table, **options} if options else like)
    except Mistakes as error:
        for mistake in error.mistakes:
            key = mistake.path.partition(".")[0].partition("[")[0]
            if key in options:
                meant = unknown_key(key, options[key], [*own, "reader"], noun="key")
                found.append(meant if mistake.unknown and meant.key else mistake)
            elif isinstance(like, Mapping) or key not in ("", "name"):
                found.append(mistake.below("reader"))
            else:
                found.append(Mistake("", mistake.text, advice=mistake.advice).below("reader"))
        return None
    return made


def _options_of_readers() -> Iterator[str]:
    """Yield the parameters of every reader that can be loaded."""
    for entry in registry.default().entries(READER):
        try:
            names = [parameter.name for parameter in parameters_of(entry.load())]
        except InputError:  # a broken plugin has no options
            continue
        yield from names


@attrs.frozen(kw_only=True)
class Report:
    """What the report of the study shows besides its figures.

    Attributes
    ----------
    title : str or None
        Heading; None: made from the names of the files.
    words : mapping of str to str, or None
        What to call an example and an annotator: ``{example = "nodule"}``.
    text : str or None
        Coordinate of the examples with a text to show.
    thumbnail : str or None
        Coordinate of the examples with the path of a small picture, from their table on.
    annotator_names : bool
        Whether annotators appear under their own names instead of r01, r02, ...
    """

    title: str | None = None
    words: Mapping[str, str] | None = None
    text: str | None = None
    thumbnail: str | None = None
    annotator_names: bool = False


@attrs.frozen(kw_only=True)
class Output:
    """Where the results go.

    Attributes
    ----------
    folder : Path
        It is made where it is not there.
    """

    folder: Path = Path("plausibly-out")


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

    def asked(self) -> dict[str, Any]:  # Any: each parameter has its own type
        """Return what `plausibly.calibrate` is called with."""
        return {
            name: getattr(self, name) for name in attrs.fields_dict(type(self)) if name != "name"
        }


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
    """Return a study, or a part of one, with each path changed, also those inside components."""
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
