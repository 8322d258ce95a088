"""A study that is ready to run: its file and every file that it names, read and checked."""

from __future__ import annotations

import contextlib
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TypeAlias, cast

import attrs
import numpy as np
import xarray as xr

from plausibly import registry
from plausibly.config.document import Document, Note, parse
from plausibly.config.hints import in_words_of_the_file
from plausibly.config.load import Draft, draft, load, study_mistakes
from plausibly.config.resolved import origins, resolved
from plausibly.config.settings import Examples, Method, Settings, without_plugins
from plausibly.conformal.calibrate import calibrate
from plausibly.data import names
from plausibly.data.names import near, quoted
from plausibly.data.plausibilities import to_dense
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
    on_examples = [str(name) for name, values in there if values.dims == (names.EXAMPLE,)]
    return [n for n in dict.fromkeys(on_examples) if n not in (names.EXAMPLE, names.DENOMINATOR)]


def check_coordinates(draft: Draft, read: Read) -> list[Mistake]:
    """Return the keys that name a coordinate which the examples do not have."""
    if read.model is None and read.examples is None:
        return []
    arrays = [read.model.predictions] if read.model else []
    if read.answers and isinstance(read.answers.plausibilities, xr.DataArray):
        arrays.append(read.answers.plausibilities)
    there = coordinates(*arrays, read.examples)
    evaluation = draft.settings.evaluation
    named = [(f"{table}.{key}", draft.text(table, key)) for table, key in _COLUMNS]
    columns = evaluation.columns or ()
    by = [(f"evaluation.by[{place}]", name) for place, name in enumerate(evaluation.by or ())]
    named += [(path, name) for path, name in by if name in columns]
    mistakes = []
    for path, name in named:
        if name is None:
            continue
        if name not in there:
            mistakes.append(_absent(path, name, there))
            continue
        try:
            if path == "evaluation.true_label" and len(arrays) > 1:
                true_codes(name, arrays, label_names(arrays[0]))
            elif name in coordinates(*arrays):
                example_values(name, arrays)
        except InputError as error:
            read.problems.append((path, error))
    return mistakes


def _absent(path: str, name: str, there: list[str]) -> Mistake:
    text = f"examples have no {quoted(name)}"
    if not there:
        advice = "name a table that has it: [examples] path"
        return Mistake(path, f"{text}, nor any other coordinate", advice=advice)
    columns = ", ".join(there)
    advice = "name one of those"
    if guess := near(name, there):
        key = "" if path.endswith("]") else f"{path.rpartition('.')[2]} = "
        advice = f"write {key}{written(guess)}"
    text = f"{text}; they have {columns}"
    # The text lists the coordinates, so that a list of mistakes needs no advice.
    return Mistake(
        path, text, advice=advice, unknown=True, expected=f"one of {columns}", found=name
    )


@attrs.frozen(kw_only=True)
class Groups:
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
    sizes = np.unique(example_values(name, [predictions]), return_counts=True)[1]
    several = int((sizes > 1).sum())
    return Groups(name=name, examples=int(sizes.sum()), groups=len(sizes), several=several)


def owners(predictions: xr.DataArray | xr.Dataset) -> list[Groups]:
    """Return the coordinates by whose name examples belong together, where some do."""
    belonging = []
    for name in coordinates(predictions):
        words = set(re.split(r"[^a-z]+", name.casefold()))
        if words & _OWNERS and predictions[name].dtype.kind != "f":
            groups = groups_of(predictions, name)
            belonging += [groups] * (1 < groups.groups < groups.examples)
    return sorted(belonging, key=lambda groups: -groups.groups)


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
    "augmentations-unread": 'calibrator = "augmentation", or a file with one row per example',
}


def check_methods(methods: Iterable[Method], data: Pair) -> list[Mistake]:
    """Return the methods whose components do not work together, or not with the data."""
    few = [array.isel({names.EXAMPLE: slice(_EXAMPLES)}) for array in data]
    mistakes: list[Mistake] = []
    for number, method in enumerate(methods):
        key = ""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                calibrate(*few, **method.arguments())
            continue
        except IncompatibleComponents as caught:
            error: InputError = caught
            # A key of the method, where Python has an argument.
            error.hint = error.hint.replace("allow_no_guarantee=True", "allow_no_guarantee = true")
        except InputError as caught:
            error, key = caught, caught.name
            if key not in _OF_DATA:
                continue
            if key == "coordinate-missing" and "did you mean" not in error.hint:
                key = "labels" if "over label" in error.expected else "examples"
            error.hint = _ADVICE.get(key, error.hint)
        except Exception:  # noqa: BLE001  # few examples may be too few: the study itself raises
            continue
        for mistake in mistakes_in(error):
            place = mistake.below("calibrator") if key else mistake
            mistakes.append(place.below(number).below("methods"))
    return mistakes


Pair: TypeAlias = "tuple[xr.DataArray, xr.DataArray]"

Problem: TypeAlias = tuple[str, InputError]
"""A key, and the error in its file or in the keys about that file."""


@attrs.define(kw_only=True, eq=False)
class Read:
    """Contents of the files of a study; None for missing or unreadable files."""

    labels: xr.Dataset | None = None
    examples: xr.Dataset | None = None
    answers: Answers | None = None
    model: Model | None = None
    problems: list[Problem] = attrs.field(factory=list)

    @contextlib.contextmanager
    def noting(self, place: str | Callable[[InputError], str]) -> Iterator[None]:
        """Note what goes wrong in a block as a problem of a key."""
        try:
            with in_words_of_the_file():
                yield
        except InputError as error:
            self.problems.append((place if isinstance(place, str) else place(error), error))


def read_files(draft: Draft) -> Read:
    read, settings = Read(), draft.settings
    annotated, predicted = settings.annotations.path, settings.predictions.path
    if (path := settings.labels.path) is not None:
        with read.noting("labels.path"):
            read.labels = read_labels(path)
    with read.noting("examples.path"):
        read.examples = read_examples_of(settings)
    # What could not be read is not read again.
    if read.labels is None:
        settings = attrs.evolve(settings, labels=attrs.evolve(settings.labels, path=None))
    if read.examples is None:
        settings = attrs.evolve(settings, examples=Examples())
    if predicted is not None:
        with read.noting(partial(_place_of_predictions, settings)):
            read.model = read_model(settings, labels=read.labels, examples=read.examples)
    if settings.answers[1] is not None:
        with read.noting(partial(_place_of_answers, settings)):
            read.answers = read_answers(settings, labels=read.labels)
    if read.model and read.answers:
        with read.noting("labels.rename"):
            check_renames(settings.labels, read.model, read.answers)
    if annotated and predicted and read.problems:
        keys = ("annotations.path = ", "predictions.path = ")
        if swapped := files_swapped(annotated, predicted, keys):
            read.problems[:] = [("annotations.path", swapped)]
    return read


def _place_of_predictions(settings: Settings, error: InputError) -> str:
    """Return the key of an error about predictions, or about the table of their examples."""
    if settings.examples.path is not None and error.source == str(settings.examples.path.name):
        return "examples.path"
    key = {"columns-missing": "example", "variable-missing": "variable"}.get(error.name, "path")
    if error.name == "option-unfit":
        options = ("augmentation", "variable", "example")
        fit = (name for name in options if f": {name} has no meaning" in error.what)
        key = next(fit, "path")
    missing = error.details.get("missing")
    if error.name == "columns-missing" and missing == [settings.predictions.augmentation]:
        key = "augmentation"
    return f"predictions.{key}"


def _place_of_answers(settings: Settings, error: InputError) -> str:
    part = settings.annotations
    columns = part.options.get("columns") or getattr(part.reader, "columns", None)
    key = "columns" if error.name.startswith("columns-") and columns else "path"
    return f"{settings.answers[0]}.{key}"


StudyLike: TypeAlias = "Draft | Mapping[str, object] | Path | str"
"""A study: its draft, its tables as plain data, or the path of its file."""


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
        with without_plugins(self.study.plugins.disable):
            return resolved(self.study, whole=whole)


def prepare(source: StudyLike) -> Prepared:
    """Read and check a study and every file that it names."""
    if isinstance(source, Draft):
        parts = source
    elif isinstance(source, Mapping):
        parts = draft(source, Document(name="the study", tables=source))
    else:
        parts = load(settings_file(Path(source), "study"))
    settings = parts.settings
    with without_plugins(settings.plugins.disable):
        read = read_files(parts)
        mistakes = [*parts.mistakes, *study_mistakes(parts), *check_coordinates(parts, read)]
        data: Pair | None = None
        if read.model is not None and read.answers is not None:
            model, answers = read.model, read.answers
            with read.noting(f"{settings.answers[0]}.path"):
                predictions, plausibilities, _ = matched(
                    settings, model.predictions, answers, model.source
                )
                data = (
                    predictions,
                    plausibilities
                    if isinstance(plausibilities, xr.DataArray)
                    else to_dense(plausibilities),
                )
        if data is not None:
            mistakes += check_methods(settings.methods, data)
        _refuse(parts, mistakes, read.problems)
        # Nothing is wrong, so both are there.
        return _completed(parts, cast("Answers", read.answers), *cast("Pair", data))


def settings_file(path: Path, content: str = "settings") -> Document:
    return parse(files.read_text(path, content), path.name, path)


def _refuse(parts: Draft, mistakes: list[Mistake], problems: list[Problem]) -> None:
    """Raise what is wrong: one error of a file as it is, everything else as one list."""
    if not mistakes and len(problems) == 1:
        raise problems[0][1]
    for key, error in problems:
        causes = [Mistake("", error.what, advice=error.hint)]
        if not isinstance(error, MissingExtra):
            causes = mistakes_in(error)
        mistakes += [attrs.evolve(mistake, path=key) for mistake in causes]
    if mistakes:
        raise parts.error(mistakes)


def _completed(
    parts: Draft, answers: Answers, model: xr.DataArray, plausibilities: xr.DataArray
) -> Prepared:
    """Return the study with every default, and its data in the order of their names."""
    made = {path: source for path, (source, _) in parts.typed.items()}
    study, table = parts.settings, answers.table
    for place, method in enumerate(cast("Sequence[object]", parts.tables["methods"])):
        if isinstance(method, Mapping) and "name" not in method:
            made[f"methods[{place}].name"] = "made from the components"
    annotations = study.annotations
    if table is not None and annotations.reader is None:
        like = {"name": str(table.attrs["reader"]), **annotations.options}
        reader = registry.resolve(READER, like)
        annotations = attrs.evolve(annotations, reader=reader, options={})
        made["annotations.reader"] = "recognised"
    if table is not None and annotations.aggregator is None:
        annotations = attrs.evolve(annotations, aggregator=answers.aggregator)
        made["annotations.aggregator.name"] = f"default for {table.attrs[names.KIND]}"
    predictions = attrs.evolve(
        study.predictions,
        scale=model.attrs[names.SCALE],
        example=study.predictions.example or names.EXAMPLE,
    )
    study = attrs.evolve(study, annotations=annotations, predictions=predictions)
    more = {
        name: (names.EXAMPLE, plausibilities[name].values)
        for name in coordinates(plausibilities)
        if name not in model.coords
    }
    model, plausibilities = _one_per(
        _sorted(model.assign_coords(more)), _sorted(plausibilities), study
    )
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
        plausibilities=plausibilities,
        annotations=table,
        left_out=left_out_of(model, plausibilities),
        origin=origins(parts.document, made),
    )


def _sorted(array: xr.DataArray) -> xr.DataArray:
    """Return examples in the order of their names: no result depends on that of a file."""
    order = np.argsort(array[names.EXAMPLE].values.astype(np.str_), kind="stable")
    return array.isel({names.EXAMPLE: order})


def _one_per(
    model: xr.DataArray, plausibilities: xr.DataArray, study: Settings
) -> tuple[xr.DataArray, xr.DataArray]:
    """Return one example of each group, drawn by the examples' keys, where that was asked for."""
    name = study.examples.one_per
    if name is None:
        return model, plausibilities
    groups = example_values(name, (model, plausibilities))
    hashes = hash_names(model[names.EXAMPLE].values)
    order = np.argsort(Keys(study.seed, "study/one-per").uniform(hashes)[:, 0], kind="stable")
    kept = np.sort(order[np.unique(groups[order], return_index=True)[1]])
    count = {f"beside another of the same {name}": len(groups) - len(kept)}
    model = with_left_out(model.isel({names.EXAMPLE: kept}), count)
    return model, plausibilities.isel({names.EXAMPLE: kept})


def few_groups(examples: xr.DataArray | xr.Dataset) -> list[str]:
    """Return the coordinates among whose groups a weak one can be looked for."""
    clusters = {owner.name for owner in owners(examples)}
    return [
        name
        for name in coordinates(examples)
        if name not in clusters
        and examples[name].dtype.kind != "f"
        and 1 < groups_of(examples, name).groups <= MOST_GROUPS
    ]
