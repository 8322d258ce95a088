"""A study that is ready to run: its file and every file that it names, read and checked."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, cast

import attrs
import numpy as np
import xarray as xr

from plausibly import registry
from plausibly.config.document import Document, Note, parse
from plausibly.config.hints import in_words_of_the_file
from plausibly.config.load import Draft, draft, load, study_mistakes
from plausibly.config.resolved import origins, resolved, without_unset
from plausibly.config.settings import Method, Settings, without_plugins
from plausibly.conformal.calibrate import calibrate
from plausibly.data import names
from plausibly.data.names import name_texts, near, quoted
from plausibly.data.plausibilities import unpack
from plausibly.data.states import with_left_out
from plausibly.errors import IncompatibleComponents, InputError, MissingExtra
from plausibly.evaluation.inputs import example_values, true_codes
from plausibly.io import files, read_labels
from plausibly.io.predictions import files_swapped
from plausibly.kernels.random import Keys, hash_names
from plausibly.protocols import READER
from plausibly.registry.mistakes import Mistake, mistakes_in, written
from plausibly.study.reading import (
    Answers,
    Model,
    check_renames,
    label_names,
    left_out_of,
    matched,
    read_answers,
    read_examples_of,
    read_model,
)

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


_COLUMNS = (
    *(("examples", "one_per"), ("examples", "cluster"), ("splits", "stratify")),
    *(("evaluation", "true_label"), ("report", "text"), ("report", "thumbnail")),
)
"""Keys that name a coordinate, beside those of `evaluation.by`."""


def coordinates(*arrays: xr.DataArray | xr.Dataset | None) -> list[str]:
    """Return the names of the coordinates that the examples have, each once."""
    there = [each for array in arrays if array is not None for each in array.coords.items()]
    found = [str(name) for name, values in there if values.dims == (names.EXAMPLE,)]
    return [n for n in dict.fromkeys(found) if n not in (names.EXAMPLE, names.DENOMINATOR)]


def check_coordinates(draft: Draft, read: Read) -> list[Mistake]:
    """Return the keys that name a coordinate which the examples do not have."""
    arrays = [read.model.predictions] if read.model else []
    if read.answers and isinstance(read.answers.plausibilities, xr.DataArray):
        arrays.append(read.answers.plausibilities)
    if read.model is None and read.examples is None:
        return []
    there = coordinates(*arrays, read.examples)
    evaluation, found = draft.settings.evaluation, []
    named = [(f"{table}.{key}", draft.text(table, key)) for table, key in _COLUMNS]
    columns = evaluation.columns or ()
    by = [(f"evaluation.by[{n}]", name) for n, name in enumerate(evaluation.by or ())]
    for path, name in [*named, *((path, name) for path, name in by if name in columns)]:
        if name is None:
            continue
        if name not in there:
            found.append(_absent(path, name, there))
            continue
        try:
            if path == "evaluation.true_label" and len(arrays) > 1:
                labels = name_texts(arrays[0][names.LABEL].values)
                true_codes(name, arrays, labels)
            elif name in coordinates(*arrays):
                example_values(name, arrays)
        except InputError as error:
            read.problems.append((path, error))
    return found


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


def plural(name: str) -> str:
    """Return what several values of a coordinate are called: ``patients``."""
    if not name.isalpha():
        return f"values of {quoted(name)}"
    if name.endswith("s"):
        return name
    return f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"


def groups_of(predictions: xr.DataArray | xr.Dataset, name: str) -> Groups:
    """Return how the examples belong together by a coordinate."""
    sizes = np.unique(example_values(name, [predictions]), return_counts=True)[1]
    several = int((sizes > 1).sum())
    return Groups(name=name, examples=int(sizes.sum()), groups=len(sizes), several=several)


def owners(predictions: xr.DataArray | xr.Dataset) -> list[Groups]:
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
    "augmentations-missing": '[predictions] augmentation = "COLUMN", of a table with them in rows',
    "augmentations-unread": 'calibrator = "augmentation", or a file with one row an example',
}


def check_pairs(methods: Iterable[Method]) -> list[Mistake]:
    """Return the methods whose components work alone but not together."""
    found: list[Mistake] = []
    # Examples on which three labels tie nowhere.
    rows = np.arange(_EXAMPLES)
    first = (rows + 1.0) / (2 * _EXAMPLES)
    values = np.stack([first, 0.75 * (1 - first), 0.25 * (1 - first)], axis=1)
    coords = {names.EXAMPLE: rows.astype(np.str_), names.LABEL: ["a", "b", "c"]}
    model = xr.DataArray(values, coords, tuple(coords), attrs={names.SCALE: "probability"})
    lam = model.copy(data=np.tile([0.5, 0.25, 0.25], (_EXAMPLES, 1)))
    for number, one in enumerate(methods):
        error = _tried(one, model, lam)
        if isinstance(error, IncompatibleComponents):
            # A key of the method, where the command line has a flag.
            error.do = error.do.replace("allow_no_guarantee=True", "allow_no_guarantee = true")
            found += [m.below(number).below("methods") for m in mistakes_in(error)]
    return found


def check_data(
    methods: Iterable[Method], predictions: xr.DataArray, plausibilities: xr.DataArray
) -> list[Mistake]:
    """Return the methods that ask for what these examples or labels do not have."""
    few = {names.EXAMPLE: slice(_EXAMPLES)}
    found: list[Mistake] = []
    for number, one in enumerate(methods):
        alone = Method(calibrator=one.calibrator, allow_no_guarantee=True)
        error = _tried(alone, predictions.isel(few), plausibilities.isel(few))
        if isinstance(error, InputError) and error.name in _OF_DATA:
            key = error.name
            if key == "coordinate-missing" and "did you mean" not in error.do:
                key = "labels" if "over label" in error.expected else "examples"
            error.do = _ADVICE.get(key, error.do)
            below = [mistake.below("calibrator") for mistake in mistakes_in(error)]
            found += [mistake.below(number).below("methods") for mistake in below]
    return found


def _tried(
    method: Method, predictions: xr.DataArray, plausibilities: xr.DataArray
) -> Exception | None:
    """Return what a calibration raises: these examples may be too few, the study itself tells."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            calibrate(predictions, plausibilities, **method.arguments())
    except Exception as error:  # noqa: BLE001  # whoever asked knows which of them counts
        return error
    return None


T = TypeVar("T")

Problem: TypeAlias = tuple[str, InputError]
"""A key, and what is wrong with its file or with what it says of it."""


@attrs.define(kw_only=True, eq=False)
class Read:
    """What the files of a study hold; None for those that are not there or could not be read."""

    labels: xr.Dataset | None = None
    examples: xr.Dataset | None = None
    answers: Answers | None = None
    model: Model | None = None
    problems: list[Problem] = attrs.field(factory=list)

    def attempt(
        self, table: str, place: str | Callable[[InputError], str], body: Callable[[], T]
    ) -> T | None:
        """Return what `body` gives, or note what goes wrong as a problem of a key."""
        try:
            with in_words_of_the_file():
                return body()
        except InputError as error:
            key = place if isinstance(place, str) else place(error)
            self.problems.append((key if "." in key else f"{table}.{key}", error))
            return None


def read_files(draft: Draft) -> Read:
    """Return what the files of a study hold."""
    read = Read()
    settings = draft.settings
    what, answered = settings.answers
    if (path := settings.labels.path) is not None:
        read.labels = read.attempt("labels", "path", lambda: read_labels(path))
    read.examples = read.attempt("examples", "path", lambda: read_examples_of(settings))
    if settings.predictions.path is not None:
        read.model = read.attempt(
            "predictions",
            partial(_place_of_predictions, settings),
            lambda: read_model(settings, labels=read.labels, examples=read.examples),
        )
    if answered is not None:
        read.answers = read.attempt(
            what,
            partial(_place_of_answers, settings),
            lambda: read_answers(settings, labels=read.labels),
        )
    if read.model and read.answers:
        unknown = (read.model.unknown, read.answers.unknown)
        labels = label_names(read.model.predictions)
        read.attempt(
            "labels", "rename", lambda: check_renames(settings.labels, *unknown, labels=labels)
        )
    annotated, predicted = settings.annotations.path, settings.predictions.path
    if annotated and predicted and read.problems:
        keys = ("annotations.path = ", "predictions.path = ")
        swapped = files_swapped(annotated, predicted, keys)
        if swapped is not None:
            read.problems[:] = [("annotations.path", swapped)]
    for table in ("labels", "examples", "predictions", "annotations", "plausibilities"):
        written = draft.text(table, "path")
        # Its table may be wrong in another way as well.
        if table not in draft.parts and written is not None:
            file = draft.folder / written
            if not file.is_dir():
                read.attempt(table, "path", partial(files.existing, file, table))
    return read


def _place_of_predictions(settings: Settings, error: InputError) -> str:
    """Return the key of an error about predictions, or about the table of their examples."""
    if settings.examples.path is not None and error.whose == str(settings.examples.path.name):
        return "examples.path"
    if error.name == "option-unfit":
        options = {"view": "augmentation", "variable": "variable", "example": "example"}
        fit = (key for name, key in options.items() if f": {name} has no meaning" in error.what)
        return next(fit, "path")
    missing = error.details.get("missing")
    if error.name == "columns-missing" and missing == [settings.predictions.augmentation]:
        return "augmentation"
    keys = {"columns-missing": "example", "variable-missing": "variable"}
    return keys.get(error.name, "path")


def _place_of_answers(settings: Settings, error: InputError) -> str:
    """Return the key of an error about answers."""
    part = settings.annotations
    columns = part.options.get("columns") or getattr(part.reader, "columns", None)
    return "columns" if error.name.startswith("columns-") and columns else "path"


StudyLike: TypeAlias = "Draft | Settings | Mapping[str, object] | Path | str"
"""A study: its settings, its tables as plain data, or the path of its file."""


@attrs.frozen(kw_only=True, eq=False)
class Prepared:
    """A study that can run, and all that it runs on."""

    name: str
    file: Path | None
    study: Settings
    predictions: xr.DataArray
    plausibilities: xr.DataArray
    annotations: xr.Dataset | None
    left_out: Mapping[str, int]
    origin: Note

    def tables(self, *, whole: bool = False) -> dict[str, object]:
        """Return the study as plain data, complete; see `plausibly.config.resolved`."""
        with without_plugins(self.study.plugins.disable):
            return resolved(self.study, whole=whole)


def prepare(source: StudyLike, *, folder: Path | str | None = None) -> Prepared:
    """Read and check a study and every file that it names."""
    tables: Any = source  # Any: plain data of any shape
    if isinstance(source, Settings):
        tables = without_unset(resolved(source))
        for method in tables["methods"]:
            if not method["name"]:
                del method["name"]
    if isinstance(source, Draft):
        parts = source
    elif isinstance(source, str | Path):
        parts = load(settings_file(Path(source), "study"))
    else:
        parts = draft(tables, Document(name="the study", tables=tables))
    if folder is not None:
        output = attrs.evolve(parts.settings.output, folder=Path(folder))
        typed = {**parts.typed, "output.folder": ("-o", folder)}
        parts = attrs.evolve(parts.having(output=output), typed=typed)
    settings = parts.settings
    with without_plugins(settings.plugins.disable):
        read = read_files(parts)
        mistakes = [*parts.mistakes, *study_mistakes(parts), *check_coordinates(parts, read)]
        mistakes += check_pairs(settings.methods)
        data = None
        if read.model is not None and read.answers is not None:
            match = partial(_matched, settings, read.model, read.answers)
            data = read.attempt(settings.answers[0], "path", match)
        if data is not None:
            mistakes += check_data(settings.methods, *data)
        _refuse(parts, mistakes, read.problems)
        # Nothing is wrong, so both are there.
        model, lam = cast("tuple[xr.DataArray, xr.DataArray]", data)
        return _completed(parts, read, model, lam)


def settings_file(path: Path, content: str = "settings") -> Document:
    """Return what a settings file says."""
    return parse(files.read_text(path, content), path.name, path)


def _matched(
    settings: Settings, model: Model, answers: Answers
) -> tuple[xr.DataArray, xr.DataArray]:
    predictions, lam, _ = matched(settings, model.predictions, answers, model.source)
    return predictions, lam if isinstance(lam, xr.DataArray) else unpack(lam)


def _refuse(parts: Draft, mistakes: list[Mistake], problems: list[Problem]) -> None:
    """Raise what is wrong: one error of a file as it is, everything else as one list."""
    document = parts.document
    for key, error in problems:
        path = Path(str(error.details.get("path", "")))
        beside = document.path is not None and path.parent == document.path.parent
        if error.name == "file-missing" and beside:
            error.what = f'{key.partition(".")[0]} "{path.name}" is not beside {document.name}'
            if near := error.details.get("near"):
                error.do = f"did you mean {near}?"
    if not mistakes and len(problems) == 1:
        raise problems[0][1]
    for key, error in problems:
        found = [Mistake("", error.what, advice=error.do)]
        if not isinstance(error, MissingExtra):
            found = mistakes_in(error)
        mistakes += [attrs.evolve(one, path=key) for one in found]
    if mistakes:
        raise parts.error(mistakes)


def _completed(parts: Draft, read: Read, model: xr.DataArray, lam: xr.DataArray) -> Prepared:
    """Return the study with every default, and its data in the order of their names."""
    made = {path: source for path, (source, _) in parts.typed.items()}
    study = parts.settings
    for place, table in enumerate(cast("Sequence[object]", parts.tables["methods"])):
        if isinstance(table, Mapping) and "name" not in table:
            made[f"methods[{place}].name"] = "made from the components"
    answers = cast("Answers", read.answers)
    table = answers.table
    if table is not None:
        changes: dict[str, object] = {}
        if study.annotations.reader is None:
            like = {"name": str(table.attrs["reader"]), **study.annotations.options}
            changes |= {"reader": registry.resolve(READER, like), "options": {}}
            made["annotations.reader"] = "recognised"
        if study.annotations.aggregator is None:
            changes["aggregator"] = answers.aggregator
            made["annotations.aggregator.name"] = f"default for {table.attrs[names.KIND]}"
        values = cast("dict[str, Any]", changes)  # Any: each has its own type
        annotations = attrs.evolve(study.annotations, **values)
        study = attrs.evolve(study, annotations=annotations)
    part = study.predictions
    column = part.example or names.EXAMPLE
    predictions = attrs.evolve(part, scale=model.attrs[names.SCALE], example=column)
    study = attrs.evolve(study, predictions=predictions)
    more = {
        name: (names.EXAMPLE, lam[name].values)
        for name in coordinates(lam)
        if name not in model.coords
    }
    model, lam = _one_per(_sorted(model.assign_coords(more)), _sorted(lam), study)
    if study.evaluation.by is None:
        shown = (study.report.text, study.report.thumbnail)
        known = {study.examples.cluster, study.evaluation.true_label, *shown}
        by = tuple(name for name in few_groups(model) if name not in known)
        study = attrs.evolve(study, evaluation=attrs.evolve(study.evaluation, by=by))
        made["evaluation.by"] = f"every coordinate of 2 to {MOST_GROUPS} groups"
    return Prepared(
        name=parts.document.name,
        file=parts.document.path,
        study=study,
        predictions=model,
        plausibilities=lam,
        annotations=table,
        left_out=left_out_of(model, lam),
        origin=origins(parts.document, made),
    )


def _sorted(array: xr.DataArray) -> xr.DataArray:
    """Return examples in the order of their names: no result depends on that of a file."""
    order = np.argsort(array[names.EXAMPLE].values.astype(np.str_), kind="stable")
    return array.isel({names.EXAMPLE: order})


def _one_per(
    model: xr.DataArray, lam: xr.DataArray, study: Settings
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


def few_groups(examples: xr.DataArray | xr.Dataset) -> list[str]:
    """Return the coordinates among whose groups a weak one can be looked for."""
    clusters = {one.name for one in owners(examples)}
    return [
        name
        for name in coordinates(examples)
        if name not in clusters
        and examples[name].dtype.kind != "f"
        and 1 < groups_of(examples, name).groups <= MOST_GROUPS
    ]
