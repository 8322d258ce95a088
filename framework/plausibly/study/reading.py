"""The files of a study: each is read where its part of the study is right, and all errors kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias, TypeVar, cast

import attrs
import xarray as xr

from plausibly import registry
from plausibly.config.draft import Draft
from plausibly.config.study import (
    AnnotationFile,
    Examples,
    Labels,
    PlausibilityFile,
    PredictionFile,
)
from plausibly.conformal.aggregate import aggregate, default_aggregator
from plausibly.data import names
from plausibly.data.labels import called
from plausibly.data.names import check_names, name_texts, near, not_among, quoted, text_array
from plausibly.errors import InputError, listed
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
from plausibly.io.predictions import files_swapped
from plausibly.protocols import AGGREGATOR, Aggregator
from plausibly.study.keys import in_words_of_the_file

T = TypeVar("T")

Place: TypeAlias = str | Callable[[InputError], str]
"""A key, or what finds it from an error."""


@attrs.frozen
class Problem:
    """What is wrong with a file, or with what a key says of it.

    Attributes
    ----------
    path : str
        The key.
    error : InputError
    """

    path: str
    error: InputError


@attrs.define(kw_only=True, eq=False)
class Read:
    """What the files of a study hold; None for those that are not there or could not be read.

    Attributes
    ----------
    labels, examples : Dataset
        Tables of names and coordinates.
    annotations : Dataset
        The annotation table.
    aggregator : Aggregator
        The one that was named, or the default for the kind of annotation.
    plausibilities, predictions : DataArray, (example, label)
    problems : list of Problem
    """

    labels: xr.Dataset | None = None
    examples: xr.Dataset | None = None
    annotations: xr.Dataset | None = None
    aggregator: Aggregator | None = None
    plausibilities: xr.DataArray | None = None
    predictions: xr.DataArray | None = None
    problems: list[Problem] = attrs.field(factory=list)

    def attempt(self, table: str, place: Place, body: Callable[[], T]) -> T | None:
        """Return what `body` gives, or note what goes wrong as a problem of a key.

        Parameters
        ----------
        table : str
            Of the file that is read.
        place : str or callable
            The key, or what finds it from the error.
        body : callable
            Reads.
        """
        try:
            with in_words_of_the_file(table):
                return body()
        except InputError as error:
            key = place if isinstance(place, str) else place(error)
            self.problems.append(Problem(f"{table}.{key}", error))
            return None


def read_files(draft: Draft) -> Read:
    """Return what the files of a study hold.

    Parameters
    ----------
    draft : Draft
        Its paths can be opened as they are.
    """
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
        read.plausibilities = read.attempt(
            "plausibilities",
            _renaming,
            lambda: _known(_renamed(read_plausibilities(given.path), given, read.labels), read),
        )
    if predictions and annotations and read.problems:
        keys = ("annotations.path = ", "predictions.path = ")
        swapped = files_swapped(annotations.path, predictions.path, keys)
        if swapped is not None:
            read.problems[:] = [Problem("annotations.path", swapped)]
    for table in ("labels", "examples", "predictions", "annotations", "plausibilities"):
        written = draft.text(table, "path")
        if table not in draft.parts and written is not None:
            _look_for(read, table, draft.folder / written)
    return read


def _known(lam: xr.DataArray, read: Read) -> xr.DataArray:
    """Return plausibilities with what is known of their labels."""
    return lam if read.labels is None else with_known_labels(lam, read.labels)


def _look_for(read: Read, table: str, path: Path) -> None:
    """Note that a file is not there, whose table is wrong in another way as well."""
    if not path.is_dir():
        read.attempt(table, "path", lambda: files.existing(path, table))


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
    labels = [
        label.strip() if part.strip else label for label in name_texts(labelled[names.LABEL].values)
    ]
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
