"""A study that is ready to run: its file and every file that it names, read and checked."""

from __future__ import annotations

import contextlib
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Literal, TypeAlias, TypeVar, cast

import attrs
import numpy as np
import xarray as xr

from plausibly import registry
from plausibly.config.document import Document, Note, key_text, parse, value_text
from plausibly.config.draft import Draft, StudyError, draft, located
from plausibly.config.resolved import origins, resolved, without_unset
from plausibly.config.study import (
    AnnotationFile,
    Calibration,
    Evaluation,
    Examples,
    Labels,
    Output,
    PlausibilityFile,
    Plugins,
    PredictionFile,
    Study,
    without_plugins,
)
from plausibly.conformal.aggregate import aggregate, default_aggregator
from plausibly.conformal.calibrate import calibrate
from plausibly.data import align, names
from plausibly.data.labels import called
from plausibly.data.names import check_names, name_texts, near, not_among, quoted, text_array
from plausibly.data.states import read_left_out, with_left_out
from plausibly.errors import (
    IncompatibleComponents,
    InputError,
    MissingExtra,
    PlausiblyWarning,
    listed,
)
from plausibly.evaluation.inputs import example_values, true_codes
from plausibly.io import (
    files,
    read_annotations,
    read_examples,
    read_labels,
    read_plausibilities,
    read_predictions,
    with_coordinates,
    with_known_labels,
)
from plausibly.io.annotations import names_change
from plausibly.io.delimited import decode
from plausibly.io.predictions import files_swapped
from plausibly.kernels.random import Keys, hash_names
from plausibly.protocols import AGGREGATOR, READER, Aggregator
from plausibly.registry.mistakes import Mistake, mistakes_in, written

Form = Literal["text", "switch", "list", "pairs"]

_KEYS: Mapping[str, tuple[str, str, Form]] = {
    "reader": ("annotations", "reader", "text"),
    "columns": ("annotations", "columns", "pairs"),
    "kind": ("annotations", "kind", "text"),
    "missing": ("annotations", "missing", "list"),
    "unanswered": ("annotations", "unanswered", "text"),
    "aggregator": ("aggregator", "name", "text"),
    "labels": ("labels", "path", "text"),
    "examples": ("examples", "path", "text"),
    "only-common": ("examples", "only_common", "switch"),
    "example": ("predictions", "example", "text"),
    "variable": ("predictions", "variable", "text"),
    "view": ("predictions", "view", "text"),
    "scale": ("predictions", "scale", "text"),
    "normalise": ("predictions", "normalise", "switch"),
    "bad-rows": ("predictions", "bad_rows", "text"),
    "by": ("evaluation", "by", "list"),
    "true": ("evaluation", "true", "text"),
    "ties": ("evaluation", "ties", "text"),
    "strip": ("", "strip", "switch"),
    "rename": ("", "rename", "pairs"),
}
"""Table, key and form of the value of each flag; no table: that of the file at fault."""

_VALUE = r"\"[^\"]*\"|'[^']*'|[^\s,;()\"'-][^\s;()]*"
_FLAG = re.compile(
    rf"(?P<command>plausibly [^;]*)|--(?P<flag>{'|'.join(_KEYS)})\b"
    rf"(?:[ ](?P<value>{_VALUE}))?(?:[ ]\(\w+=[^()]*\))?"
)


def as_keys(do: str, table: str) -> str:
    """Return what to do, with keys of a study file instead of flags."""
    parts: list[str] = []
    at, last = 0, ""
    for found in _FLAG.finditer(do):
        if found["command"]:
            continue
        home, key, form = _KEYS[found["flag"]]
        home = home or table
        value, end = found["value"] or "", found.end()
        if form == "switch":
            end = found.end("flag") if value else end
            value = ""
        rest = value.rstrip(",")
        if rest != value:
            end = found.end("value") - (len(value) - len(rest))
        between = do[at : found.start()]
        pair = f"{key} = {_written(rest, form)}" if rest or form == "switch" else key
        beside = between == " " and home == last
        parts += [", " if beside else between, pair if beside else f"[{home}] {pair}"]
        at, last = end, home
    return "".join([*parts, do[at:]])


def _written(value: str, form: Form) -> str:
    if form == "switch":
        return "true"
    if value[:1] in "\"'" and value[-1:] == value[:1]:
        value = value[1:-1]
    if value.startswith("{"):
        return value
    if form == "list":
        return value_text(value.split(","))
    if form == "pairs":
        pairs = (pair.partition("=") for pair in value.split(","))
        return f"{{ {', '.join(f'{key_text(a)} = {value_text(b)}' for a, _, b in pairs)} }}"
    return value_text(value)


@contextlib.contextmanager
def in_words_of_the_file(table: str) -> Iterator[None]:
    """Say what goes wrong in this block, and what is warned of, with keys instead of flags."""
    heard: list[warnings.WarningMessage] = []
    try:
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always", PlausiblyWarning)
            yield
    except InputError as error:
        error.do = as_keys(error.do, table)
        raise
    finally:
        for one in heard:
            if isinstance(one.message, PlausiblyWarning):
                one.message.do = as_keys(one.message.do, table)
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)


MOST_GROUPS = 30
"""Coordinates with more values than this are not looked through for the weakest group."""

_OWNERS = frozenset(
    {
        *("actor", "animal", "article", "author", "case", "client", "cluster", "document", "donor"),
        *("family", "group", "id", "individual", "participant", "patient", "person"),
        *("recording", "respondent", "scan", "scene", "series", "session", "slide", "speaker"),
        *("study", "subject", "user", "video"),
    }
)
"""Words in the name of a coordinate whose examples belong together."""


def coordinates(*arrays: xr.DataArray | xr.Dataset | None) -> list[str]:
    """Return the names of the coordinates that the examples have, each once."""
    there = [each for array in arrays if array is not None for each in array.coords.items()]
    found = [str(name) for name, values in there if values.dims == (names.EXAMPLE,)]
    return [n for n in dict.fromkeys(found) if n not in (names.EXAMPLE, names.DENOMINATOR)]


def check_coordinates(draft: Draft, read: Read) -> list[Mistake]:
    """Return the keys that name a coordinate which the examples do not have."""
    arrays = [array for array in (read.predictions, read.plausibilities) if array is not None]
    if read.predictions is None and read.examples is None:
        return []
    there = coordinates(*arrays, read.examples)
    found = []
    for path, name in _named(draft):
        if name not in there:
            found.append(_absent(path, name, there))
            continue
        try:
            if path == "evaluation.true" and len(arrays) > 1:
                labels = name_texts(arrays[0][names.LABEL].values)
                true_codes(name, arrays, labels)
            elif name in coordinates(*arrays):
                example_values(name, arrays)
        except InputError as error:
            read.problems.append(Problem(path, error))
    return found


def _named(draft: Draft) -> list[tuple[str, str]]:
    """Return each key that names a coordinate, with the name."""
    evaluation = draft.part("evaluation", Evaluation) or Evaluation()
    by = [(f"evaluation.by[{place}]", name) for place, name in enumerate(evaluation.by or ())]
    keys = (
        ("examples", "one_per"),
        ("splits", "group"),
        ("splits", "stratify"),
        ("evaluation", "true"),
        ("report", "text"),
        ("report", "thumbnail"),
    )
    texts = [(f"{table}.{key}", draft.text(table, key)) for table, key in keys]
    return [*((path, name) for path, name in texts if name is not None), *by]


def _absent(path: str, name: str, there: list[str]) -> Mistake:
    if not there:
        text = f"examples have no {quoted(name)}, nor any other coordinate"
        return Mistake(path, text, advice="name a table that has it: [examples] path")
    those = ", ".join(there)
    text = f"examples have no {quoted(name)}; they have {those}"
    guess = near(name, there)
    key = "" if path.endswith("]") else f"{path.rpartition('.')[2]} = "
    advice = f"write {key}{written(guess)}" if guess else "name one of those"
    # The text says what there is: in the list, that is enough.
    return Mistake(path, text, advice=advice, unknown=True, expected=f"one of {those}", got=name)


@attrs.frozen(kw_only=True)
class Groups:
    """How the examples belong together by one coordinate."""

    name: str
    examples: int
    groups: int
    several: int

    @property
    def plural(self) -> str:
        """What several groups are called."""
        return plural(self.name)


def plural(name: str) -> str:
    """Return what several values of a coordinate are called: ``patients``."""
    if not name.isalpha():
        return f"values of {quoted(name)}"
    if name.endswith("s"):
        return name
    return f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"


def groups_of(predictions: xr.DataArray, name: str) -> Groups:
    """Return how the examples belong together by a coordinate."""
    sizes = np.unique(example_values(name, [predictions]), return_counts=True)[1]
    several = int((sizes > 1).sum())
    return Groups(name=name, examples=int(sizes.sum()), groups=len(sizes), several=several)


def owners(predictions: xr.DataArray) -> list[Groups]:
    """Return the coordinates by whose name examples belong together, where some do."""
    found = []
    for name in coordinates(predictions):
        words = set(re.split(r"[^a-z]+", name.casefold()))
        if words & _OWNERS and predictions[name].dtype.kind != "f":
            one = groups_of(predictions, name)
            found += [one] * (1 < one.groups < one.examples)
    return sorted(found, key=lambda one: -one.groups)


_EXAMPLES = 20

_OF_DATA = frozenset(
    {
        *("augmentations-missing", "augmentations-unread"),
        *("coordinate-missing", "risks-range", "weights-range"),
    }
)
"""Names of what is wrong with a calibration because of what is known of examples or labels."""

_ADVICE = {
    "examples": "[examples] path, a table with such a column",
    "labels": "[labels] path, a table with such a column",
    "augmentations-missing": '[predictions] view = "COLUMN", where a table has a row for each view',
    "augmentations-unread": 'calibrator = "augmentation", or a file with one row an example',
}


def check_pairs(calibrations: Iterable[Calibration]) -> list[Mistake]:
    """Return the calibrations whose components work alone but not together."""
    found: list[Mistake] = []
    data = _made()
    for number, one in enumerate(calibrations):
        error = _tried(one, *data)
        if isinstance(error, IncompatibleComponents):
            # A key of the calibration, where the command line has a flag.
            error.do = error.do.replace(
                "allow_no_guarantee=True (--allow-no-guarantee)", "allow_no_guarantee = true"
            )
            found += [m.below(number).below("calibrations") for m in mistakes_in(error)]
    return found


def check_data(
    calibrations: Iterable[Calibration], predictions: xr.DataArray, plausibilities: xr.DataArray
) -> list[Mistake]:
    """Return the calibrations that ask for what these examples or labels do not have."""
    few = {names.EXAMPLE: slice(_EXAMPLES)}
    found: list[Mistake] = []
    for number, one in enumerate(calibrations):
        alone = Calibration(calibrator=one.calibrator, allow_no_guarantee=True)
        error = _tried(alone, predictions.isel(few), plausibilities.isel(few))
        if isinstance(error, InputError) and error.name in _OF_DATA:
            error.do = _advice(error)
            below = [mistake.below("calibrator") for mistake in mistakes_in(error)]
            found += [mistake.below(number).below("calibrations") for mistake in below]
    return found


def _tried(
    calibration: Calibration, predictions: xr.DataArray, plausibilities: xr.DataArray
) -> Exception | None:
    """Return what a calibration raises: these examples may be too few, the study itself tells."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            calibrate(predictions, plausibilities, **calibration.asked())
    except Exception as error:  # noqa: BLE001  # whoever asked knows which of them counts
        return error
    return None


def _advice(error: InputError) -> str:
    """Return what to change in a study file."""
    if error.name == "coordinate-missing" and "did you mean" not in error.do:
        return _ADVICE["labels" if "over label" in error.expected else "examples"]
    return _ADVICE.get(error.name, error.do)


def _made() -> tuple[xr.DataArray, xr.DataArray]:
    """Return predictions and plausibilities of examples on which three labels tie nowhere."""
    rows = np.arange(_EXAMPLES)
    first = (rows + 1.0) / (2 * _EXAMPLES)
    values = np.stack([first, 0.75 * (1 - first), 0.25 * (1 - first)], axis=1)
    coords = {names.EXAMPLE: rows.astype(np.str_), names.LABEL: ["a", "b", "c"]}
    predictions = xr.DataArray(
        values, dims=(names.EXAMPLE, names.LABEL), coords=coords, attrs={names.SCALE: "probability"}
    )
    half = np.full(values.shape, 0.25)
    half[:, 0] = 0.5
    return predictions, predictions.copy(data=half)


T = TypeVar("T")

Place: TypeAlias = str | Callable[[InputError], str]
"""A key, or what finds it from an error."""


@attrs.frozen
class Problem:
    """What is wrong with a file, or with what a key says of it."""

    path: str
    error: InputError


@attrs.define(kw_only=True, eq=False)
class Read:
    """What the files of a study hold; None for those that are not there or could not be read."""

    labels: xr.Dataset | None = None
    examples: xr.Dataset | None = None
    annotations: xr.Dataset | None = None
    aggregator: Aggregator | None = None
    plausibilities: xr.DataArray | None = None
    predictions: xr.DataArray | None = None
    problems: list[Problem] = attrs.field(factory=list)

    def attempt(self, table: str, place: Place, body: Callable[[], T]) -> T | None:
        """Return what `body` gives, or note what goes wrong as a problem of a key."""
        try:
            with in_words_of_the_file(table):
                return body()
        except InputError as error:
            key = place if isinstance(place, str) else place(error)
            self.problems.append(Problem(f"{table}.{key}", error))
            return None


def read_files(draft: Draft) -> Read:
    """Return what the files of a study hold."""
    read = Read()
    if labels := draft.part("labels", Labels):
        path = labels.path
        read.labels = read.attempt("labels", "path", lambda: read_labels(path))
    examples = draft.part("examples", Examples)
    if examples and examples.path:
        place = examples.path
        read.examples = read.attempt("examples", "path", lambda: read_examples(place))
    if predictions := draft.part("predictions", PredictionFile):
        _read_predictions(read, predictions)
    if annotations := draft.part("annotations", AnnotationFile):
        _read_annotations(read, annotations, draft)
    elif plausibilities := draft.part("plausibilities", PlausibilityFile):
        given = plausibilities

        def body() -> xr.DataArray:
            lam = _renamed(read_plausibilities(given.path), given, read.labels)
            return lam if read.labels is None else with_known_labels(lam, read.labels)

        read.plausibilities = read.attempt("plausibilities", _renaming, body)
    if predictions and annotations and read.problems:
        keys = ("annotations.path = ", "predictions.path = ")
        swapped = files_swapped(annotations.path, predictions.path, keys)
        if swapped is not None:
            read.problems[:] = [Problem("annotations.path", swapped)]
    for table in ("labels", "examples", "predictions", "annotations", "plausibilities"):
        written = draft.text(table, "path")
        # Its table may be wrong in another way as well.
        if table not in draft.parts and written is not None:
            file = draft.folder / written
            if not file.is_dir():
                read.attempt(table, "path", partial(files.existing, file, table))
    return read


def _renaming(error: InputError) -> str:
    """Return the key of an error about names that are to change, or about the file."""
    return "rename" if error.what.endswith("to rename") else "path"


def _read_predictions(read: Read, part: PredictionFile) -> None:
    options = {field.name: getattr(part, field.name) for field in attrs.fields(type(part))}
    call: Callable[..., xr.DataArray] = read_predictions  # options are its own, by name
    named = False

    def place(error: InputError) -> str:
        if error.name == "option-unfit":
            fit = (name for name in options if f": {name} has no meaning" in error.what)
            return next(fit, "path")
        if error.name == "columns-missing" and error.details.get("missing") == [part.view]:
            return "view"
        keys = {"columns-missing": "example", "variable-missing": "variable"}
        return keys.get(error.name) or _renaming(error)

    def body() -> xr.DataArray:
        nonlocal named
        try:
            # The table names the examples of a file that does not; else it adds coordinates.
            return call(**options, labels=read.labels, examples=read.examples)
        except InputError as error:
            if error.name != "examples-named":
                raise
        named = True
        return call(**options, labels=read.labels)

    read.predictions = read.attempt("predictions", place, body)
    bare, table = read.predictions, read.examples
    if named and bare is not None and table is not None:
        read.predictions = read.attempt("examples", "path", lambda: with_coordinates(bare, table))


def _read_annotations(read: Read, part: AnnotationFile, draft: Draft) -> None:
    def place(error: InputError) -> str:
        columns = part.options.get("columns") or getattr(part.reader, "columns", None)
        return "columns" if error.name.startswith("columns-") and columns else _renaming(error)

    call: Callable[..., xr.Dataset] = read_annotations  # options are the reader's, by name
    # Names that are about to change are not those that were declared.
    declared = None if part.strip or part.rename else read.labels
    with names_change(part.strip or bool(part.rename)):
        table = read.attempt(
            "annotations", place, lambda: call(part.path, part.reader, declared, **part.options)
        )
    if table is None or ("aggregator" in draft.tables and "aggregator" not in draft.parts):
        return

    def plausibilities() -> xr.DataArray:
        chosen = draft.parts.get("aggregator") or default_aggregator(str(table.attrs[names.KIND]))
        read.aggregator = registry.resolve(AGGREGATOR, cast("Aggregator | str", chosen))
        seed = cast("int", draft.parts.get("seed", 0))
        renamed = table
        if part.strip or part.rename:
            renamed = called(table, _new_names(table, part), whose=part.path.name)
        lam = aggregate(renamed, read.aggregator, seed=seed, unanswered=part.unanswered)
        return _with_unsaid(lam, part, read.labels)

    read.annotations = table
    read.plausibilities = read.attempt("annotations", place, plausibilities)


def _renamed(
    lam: xr.DataArray, part: AnnotationFile | PlausibilityFile, declared: xr.Dataset | None
) -> xr.DataArray:
    """Return plausibilities under the labels' new names, with those that nobody said."""
    if not part.strip and not part.rename:
        return lam
    labels = _new_names(lam, part)
    check_names(labels, names.LABEL, whose=part.path.name)
    lam = lam.assign_coords({names.LABEL: (names.LABEL, text_array(labels))})
    return _with_unsaid(lam, part, declared)


def _new_names(
    labelled: xr.DataArray | xr.Dataset, part: AnnotationFile | PlausibilityFile
) -> list[str]:
    """Return what each label is to be called."""
    whose, rename = part.path.name, part.rename or {}
    labels = name_texts(labelled[names.LABEL].values)
    labels = [label.strip() for label in labels] if part.strip else labels
    unknown = [old for old in rename if old not in labels]
    if unknown:
        guess = near(unknown[0], labels)
        raise InputError(
            "label-unknown",
            f"{whose} has no label {quoted(unknown[0])} to rename",
            expected="a label of the file",
            got=listed(labels),
            do=f"did you mean {quoted(guess)}?" if guess else "name one of those",
            whose=whose,
            details={"unknown": unknown, "labels": labels},
        )
    return [rename.get(label, label) for label in labels]


def _with_unsaid(
    lam: xr.DataArray, part: AnnotationFile | PlausibilityFile, declared: xr.Dataset | None
) -> xr.DataArray:
    """Return plausibilities also of declared labels that nobody said, where names changed."""
    if declared is None or not (part.strip or part.rename):
        return lam
    labels = name_texts(lam[names.LABEL].values)
    unsaid = not_among(name_texts(declared[names.LABEL].values), labels)
    wider = lam.reindex({names.LABEL: [*labels, *unsaid]}, fill_value=0)
    return wider.astype(lam.dtype)


StudyLike: TypeAlias = "Study | Mapping[str, object] | Path | str"
"""A study, its tables as plain data, or the path of its file."""

_UNNAMED = "the study"


@attrs.frozen(kw_only=True, eq=False)
class Prepared:
    """A study that can run, and all that it runs on."""

    name: str
    file: Path | None
    study: Study
    predictions: xr.DataArray
    plausibilities: xr.DataArray
    annotations: xr.Dataset | None
    left_out: Mapping[str, int]
    origin: Note

    def tables(self) -> dict[str, object]:
        """Return the study as plain data, complete; see `plausibly.config.resolved`."""
        with without_plugins(self.study.plugins.disable):
            return resolved(self.study)


def prepare(source: StudyLike, *, folder: Path | str | None = None) -> Prepared:
    """Read and check a study and every file that it names."""
    file = Path(source) if isinstance(source, str | Path) else None
    document, parts = _drafted(source, file)
    if folder is not None:
        parts = parts.having(output=Output(folder=Path(folder)))
    with without_plugins((parts.part("plugins", Plugins) or Plugins()).disable):
        read = read_files(parts)
        mistakes = [*parts.mistakes, *check_coordinates(parts, read)]
        calibrations = cast("Sequence[Calibration]", parts.parts.get("calibrations", ()))
        mistakes += check_pairs(calibrations)
        matched = _matched(parts, read)
        if matched is not None:
            mistakes += check_data(calibrations, *matched)
        _refuse(document, file, mistakes, read.problems)
        # Nothing is wrong, so both are there.
        model, lam = cast("tuple[xr.DataArray, xr.DataArray]", matched)
        return _completed(document, file, parts, read, model, lam, to=folder)


def _drafted(source: StudyLike, file: Path | None) -> tuple[Document, Draft]:
    """Return what was written, and what it means before any other file is read."""
    if file is not None:
        document = parse(decode(files.contents(file, "study"), file.name), file.name)
        return document, draft(document.tables).rooted(file.parent)
    tables = _tables(source) if isinstance(source, Study) else cast("Mapping[str, object]", source)
    return Document(name=_UNNAMED, tables=tables), draft(tables)


def _tables(study: Study) -> dict[str, object]:
    tables: dict[str, object] = without_unset(resolved(study))
    for calibration in cast("list[dict[str, object]]", tables["calibrations"]):
        if not calibration["name"]:
            del calibration["name"]
    return tables


def _matched(parts: Draft, read: Read) -> tuple[xr.DataArray, xr.DataArray] | None:
    """Return predictions and plausibilities of the same labels and examples."""
    model, lam = read.predictions, read.plausibilities
    if model is None or lam is None:
        return None
    table = "annotations" if "annotations" in parts.parts else "plausibilities"
    said = parts.part("annotations", AnnotationFile) or parts.part(table, PlausibilityFile)
    predicted = parts.part("predictions", PredictionFile)
    whose = said.path.name if said else table
    other = predicted.path.name if predicted else "predictions"
    examples = parts.part("examples", Examples) or Examples()
    labels = name_texts(model[names.LABEL].values)
    hint = ""
    if set(name_texts(lam[names.LABEL].values)) < set(labels) and read.labels is None:
        hint = "name a file with every label on a line of its own, if nobody happened to say the "
        hint += "others: [labels] path"

    def match() -> tuple[xr.DataArray, xr.DataArray]:
        named = align.match_labels(lam, labels, whose=whose, other=other, do=hint)
        return align.match_examples(
            model, named, only_common=examples.only_common, whose=other, other=whose
        )

    return read.attempt(table, "path", match)


def _refuse(
    document: Document, file: Path | None, mistakes: list[Mistake], problems: list[Problem]
) -> None:
    """Raise what is wrong: one error of a file as it is, everything else as one list."""
    problems = [_of_this_file(problem, document, file) for problem in problems]
    if not mistakes and len(problems) == 1:
        raise problems[0].error
    for problem in problems:
        error = problem.error
        found = [Mistake("", error.what, advice=error.do)]
        if not isinstance(error, MissingExtra):
            found = mistakes_in(error)
        mistakes += [attrs.evolve(one, path=problem.path) for one in found]
    if mistakes:
        raise StudyError.about(document.name, located(mistakes, document.lines))


def _of_this_file(problem: Problem, document: Document, file: Path | None) -> Problem:
    """Return the problem of a file that is not there as seen from the study file."""
    error = problem.error
    path = Path(str(error.details.get("path", "")))
    if error.name != "file-missing" or file is None or path.parent != file.parent:
        return problem
    near = error.details.get("near")
    missing = InputError(
        error.name,
        f'{problem.path.partition(".")[0]} "{path.name}" is not beside {document.name}',
        expected=error.expected,
        got=error.got,
        do=f"did you mean {near}?" if near else error.do,
        whose=error.whose,
        details=error.details,
    )
    return Problem(problem.path, missing)


def _completed(
    document: Document,
    file: Path | None,
    parts: Draft,
    read: Read,
    model: xr.DataArray,
    lam: xr.DataArray,
    *,
    to: Path | str | None,
) -> Prepared:
    """Return the study with what was left to us, and its data in the order of their names."""
    made = {} if to is None else {"output.folder": "-o"}
    study = parts.study()
    for place, table in enumerate(cast("Sequence[object]", document.tables["calibrations"])):
        if isinstance(table, Mapping) and "name" not in table:
            made[f"calibrations[{place}].name"] = "made from the components"
    if read.annotations is not None and study.annotations is not None:
        kind = str(read.annotations.attrs[names.KIND])
        if study.annotations.reader is None:
            like = {"name": str(read.annotations.attrs["reader"]), **study.annotations.options}
            reader = registry.resolve(READER, like)
            annotations = attrs.evolve(study.annotations, reader=reader, options={})
            study = attrs.evolve(study, annotations=annotations)
            made["annotations.reader"] = "recognised"
        if study.aggregator is None:
            study = attrs.evolve(study, aggregator=read.aggregator)
            made["aggregator.name"] = f"default for {kind}"
    model, lam = _one_per(_sorted(_with_coordinates(model, lam)), _sorted(lam), study)
    if study.evaluation.by is None:
        by = tuple(_few_groups(model, study))
        study = attrs.evolve(study, evaluation=attrs.evolve(study.evaluation, by=by))
        made["evaluation.by"] = f"every coordinate of 2 to {MOST_GROUPS} groups"
    left_out: dict[str, int] = {}
    for array in (model, lam):
        for reason, count in read_left_out(array.attrs).items():
            left_out[reason] = left_out.get(reason, 0) + count
    return Prepared(
        name=document.name,
        file=file,
        study=study,
        predictions=model,
        plausibilities=lam,
        annotations=read.annotations,
        left_out=left_out,
        origin=origins(document, made),
    )


def _with_coordinates(model: xr.DataArray, lam: xr.DataArray) -> xr.DataArray:
    """Return predictions with all that is known about the examples."""
    more = {
        name: (names.EXAMPLE, lam[name].values)
        for name in coordinates(lam)
        if name not in model.coords
    }
    return model.assign_coords(more)


def _sorted(array: xr.DataArray) -> xr.DataArray:
    """Return examples in the order of their names: no result depends on that of a file."""
    order = np.argsort(array[names.EXAMPLE].values.astype(np.str_), kind="stable")
    return array.isel({names.EXAMPLE: order})


def _one_per(
    model: xr.DataArray, lam: xr.DataArray, study: Study
) -> tuple[xr.DataArray, xr.DataArray]:
    """Return one example of each group, drawn by the examples' keys, where that was asked for."""
    name = study.examples.one_per
    if name is None:
        return model, lam
    groups = example_values(name, (model, lam))
    hashes = hash_names(model[names.EXAMPLE].values)
    order = np.argsort(Keys(study.seed, "study/one-per").uniform(hashes)[:, 0], kind="stable")
    kept = np.sort(order[np.unique(groups[order], return_index=True)[1]])
    count = {f"beside another of the same {name}": len(groups) - len(kept)}
    model = with_left_out(model.isel({names.EXAMPLE: kept}), count)
    return model, lam.isel({names.EXAMPLE: kept})


def _few_groups(model: xr.DataArray, study: Study) -> list[str]:
    """Return the coordinates among whose groups a weak one can be looked for."""
    shown = (study.report.text, study.report.thumbnail)
    known = {
        study.splits.group,
        study.evaluation.true,
        *shown,
        *(one.name for one in owners(model)),
    }
    return [
        name
        for name in coordinates(model)
        if name not in known
        and model[name].dtype.kind != "f"
        and 1 < groups_of(model, name).groups <= MOST_GROUPS
    ]
