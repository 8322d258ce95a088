"""The files that settings name: read, their labels named alike, and matched by name."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import attrs
import numpy as np
import xarray as xr

from plausibly import registry
from plausibly.config.settings import Labels, Settings
from plausibly.conformal.aggregate import aggregated, default_aggregator
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.data import align, names
from plausibly.data.annotations import Rows, contents, not_counted
from plausibly.data.labels import called
from plausibly.data.names import (
    check_names,
    name_texts,
    near,
    not_among,
    quoted,
    several,
    text_array,
)
from plausibly.data.plausibilities import label_dim
from plausibly.data.states import amount, read_left_out, read_merged
from plausibly.errors import ComponentError, InputError, counted, listed, warn
from plausibly.io import (
    read_annotations,
    read_examples,
    read_labels,
    read_plausibilities,
    read_predictions,
    with_coordinates,
)
from plausibly.io.annotations import names_change
from plausibly.io.predictions import files_swapped
from plausibly.protocols import AGGREGATOR, Aggregator, Kind

P = TypeVar("P")


@attrs.frozen(kw_only=True, eq=False)
class Input:
    """A file, and the names of labels to be changed that it does not have."""

    path: Path
    unknown: frozenset[str]

    @property
    def source(self) -> str:
        return self.path.name


@attrs.frozen(kw_only=True, eq=False)
class Answers(Input):
    """Plausibilities, and the annotations that they were made of."""

    plausibilities: xr.DataArray | xr.Dataset
    aggregator: Aggregator | None = None
    by_default: bool = False
    table: xr.Dataset | None = None

    @property
    def what(self) -> str:
        return "plausibilities" if self.table is None else "annotations"

    @property
    def labels(self) -> list[str]:
        return label_names(self.plausibilities)

    @property
    def component(self) -> dict[str, object] | None:
        return None if self.aggregator is None else table_of(AGGREGATOR, self.aggregator)

    @property
    def chosen(self) -> list[tuple[str, dict[str, object], bool]]:
        """Kind and table of the aggregator, and whether it is the default, where there is one."""
        table = self.component
        return [] if table is None else [("aggregator", table, self.by_default)]

    @property
    def text(self) -> str:
        if self.table is not None:
            return summary_of(self.table, self.source)
        sizes = self.plausibilities.sizes
        shape = f"{several(sizes[names.EXAMPLE], 'example')}, {several(len(self.labels), 'label')}"
        draws = sizes.get(names.DRAW)
        of_each = "" if draws is None else f", {several(draws, 'draw')} of each"
        return f"{self.source}: plausibilities of {shape}{of_each}"

    @property
    def facts(self) -> dict[str, object]:
        if self.table is not None:
            return annotation_facts(self.table, self.path)
        sizes = self.plausibilities.sizes
        draws = {"draws": sizes[names.DRAW]} if names.DRAW in sizes else {}
        return {
            "file": self.path,
            "examples": sizes[names.EXAMPLE],
            "labels": self.labels,
            **draws,
        }


@attrs.frozen(kw_only=True, eq=False)
class Model(Input):
    predictions: xr.DataArray

    @property
    def labels(self) -> list[str]:
        return label_names(self.predictions)

    @property
    def text(self) -> str:
        return f"{self.source}: {shape_text(self.predictions)}"

    @property
    def facts(self) -> dict[str, object]:
        return model_facts(self.predictions, self.path)


def read_answers(settings: Settings, *, declared: list[str] | None = None) -> Answers:
    """Return plausibilities: aggregated from annotations, or read; `declared` are labels."""
    what, path = settings.answers
    if path is None:
        raise ValueError("no file of answers")  # callers check
    naming = settings.labels
    changes = bool(naming.strip or naming.rename)
    if what == "plausibilities":
        model = settings.predictions.path
        if model is not None and model.resolve() == path.resolve():
            raise InputError(
                "predictions-as-plausibilities",
                "plausibilities were read as predictions",
                expected="plausibilities from plausibly aggregate, or annotations",
                found=f"{path.name} as both",
                hint="read the annotations: -a votes.csv",
                source=path.name,
            )
        plausibilities = read_plausibilities(path, sparse=None)
        renamed, unknown = _new_names(plausibilities, naming)
        if changes:
            check_names(renamed, names.LABEL, source=path.name)
            on = label_dim(plausibilities)
            plausibilities = plausibilities.assign_coords({on: (on, text_array(renamed))})
        labels = None if naming.path is None else read_labels(naming.path)
        # Other labels are refused where they are matched.
        if labels is not None and set(renamed).issubset(label_names(labels)):
            plausibilities = with_coordinates(plausibilities, labels)
        return Answers(plausibilities=plausibilities, path=path, unknown=unknown)
    part = settings.annotations
    with names_change(changes):
        table = read_table(settings, declared=None if changes else declared)
    renamed, unknown = _new_names(table, naming)
    if changes:
        table = called(table, renamed, source=path.name)
    component = registry.resolve(
        AGGREGATOR, part.aggregator or default_aggregator(str(table.attrs[names.KIND]))
    )
    made = aggregated(table, component, seed=settings.seed, unanswered=part.unanswered)
    return Answers(
        plausibilities=made.array,
        path=path,
        unknown=unknown,
        aggregator=component,
        by_default=part.aggregator is None,
        table=table,
    )


def read_table(settings: Settings, *, declared: list[str] | None = None) -> xr.Dataset:
    """Return the annotation table as it was read; `declared` are labels without a table."""
    part = settings.annotations
    call: Callable[..., xr.Dataset] = read_annotations  # options are the reader's, by name
    return call(part.path, part.reader, settings.labels.path or declared, **part.options)


def read_examples_of(settings: Settings) -> xr.Dataset | None:
    part = settings.examples
    return None if part.path is None else read_examples(part.path, example=part.example)


def read_model(
    settings: Settings, *, predictor: ConformalPredictor | None = None, chunks: int | None = None
) -> Model:
    """Return predictions; what the settings leave open is read as the predictor remembers it."""
    part, naming = settings.predictions, settings.labels
    path = part.path
    if path is None:
        raise ValueError("no file of predictions")  # callers check
    typed: dict[str, Any] = {**attrs.asdict(part), "chunks": chunks}  # Any: each by its type
    del typed["path"]
    typed = {name: value for name, value in typed.items() if value not in (None, False)}
    reading = {} if predictor is None else dict(predictor.metadata.reading)
    scale = {} if predictor is None else {"scale": predictor.metadata.scale}
    for name, value in reading.items():
        if typed.get(name, value) != value:
            _warn_of_reading(path, name, value, quoted(typed[name]))
    options = {**scale, **reading, **typed}
    call: Callable[..., xr.DataArray] = read_predictions  # options are checked by name
    call = partial(call, path, labels=naming.path, strip=naming.strip)
    examples = read_examples_of(settings)
    table, rename = examples, dict(naming.rename or {})
    while True:
        try:
            predictions = call(examples=table, rename=rename, **options)
            break
        except InputError as error:
            unfit = str(error.details.get("option"))
            if unfit in options.keys() & reading.keys() - typed.keys():
                # Another format than that of the calibration.
                found = "a file of another format, which is read without"
                _warn_of_reading(path, unfit, options.pop(unfit), found)
                continue
            if error.name == "columns-missing" and predictor and predictor.metadata.reading:
                known = listed(map(quoted, predictor.metadata.reading.values()))
                error.expected = f"{known}, as the predictor remembers"
                error.hint = 'example="COLUMN" or augmentation="COLUMN", if these have other names'
            unknown = error.details.get("labels")
            elsewhere = rename.keys() & set(unknown) if isinstance(unknown, list) else ()
            if error.name == "examples-named" and table is not None:
                table = None  # the file names its examples itself: the table adds coordinates
            elif error.name == "label-unknown" and elsewhere:
                # Names that only the other file has: check_renames refuses what neither has.
                rename = {old: new for old, new in rename.items() if old not in elsewhere}
            else:
                raise
    if table is None and examples is not None:
        predictions = with_coordinates(predictions, examples)
    if (
        names.AUGMENTATION in predictions.dims
        and predictor
        and not predictor.metadata.augmentations
    ):
        augmentations = name_texts(predictions[names.AUGMENTATION].values)
        raise InputError(
            "augmentations-several",
            f"{path.name} has several augmentations of each example, and the predictor reads one",
            expected="one row per example",
            found=f"{several(len(augmentations), 'augmentation')} ({listed(augmentations)})",
            hint="keep the rows of one augmentation, chosen without looking at any result, "
            "and leave predictions.augmentation out",
            source=path.name,
        )
    unknown_names = frozenset(naming.rename or ()) - frozenset(rename)
    return Model(predictions=predictions, path=path, unknown=unknown_names)


def _warn_of_reading(path: Path, name: str, remembered: object, found: str) -> None:
    warn(
        "reading-differs",
        f"{path.name}: predictions.{name} is not as in calibration",
        expected=f"{quoted(remembered)}, as the predictor remembers",
        found=found,
        hint="check that these are predictions of the same model, in the same form",
        source=f"predictions.{name}",
    )


_READING = ("example", "variable", "augmentation")
"""Keys of `predictions` that a predictor remembers, beside the scale."""


def remembering(
    predictor: ConformalPredictor, settings: Settings, aggregator: object
) -> ConformalPredictor:
    """Return a predictor that knows its aggregator, and how the file of predictions was read."""
    part, metadata = settings.predictions, predictor.metadata
    reading = {name: value for name in _READING if (value := getattr(part, name)) is not None}
    if not metadata.augmentations:  # it reads new examples in one
        reading.pop("augmentation", None)
    name = metadata.aggregator if aggregator is None else str(aggregator)
    metadata = attrs.evolve(metadata, reading=reading, aggregator=name)
    return attrs.evolve(predictor, metadata=metadata)


def check_renames(naming: Labels, *files: Answers | Model) -> None:
    """Raise ``label-unknown`` where a name to be changed is in none of the files."""
    rename = naming.rename or {}
    nowhere = sorted(frozenset(rename).intersection(*(file.unknown for file in files)))
    if nowhere:
        labels = files[0].labels
        guess = near(nowhere[0], labels)
        raise InputError(
            "label-unknown",
            f"no file has a label {quoted(nowhere[0])} to rename",
            expected="a label of one of the files",
            found=", ".join(map(quoted, nowhere)),
            hint=f"rename={json.dumps({guess: rename[nowhere[0]]})}" if guess else "leave it out",
            source="labels.rename",
            details={"unknown": nowhere, "labels": labels},
        )


@contextmanager
def telling_of_swaps(settings: Settings, keys: tuple[str, str] = ("-a ", "-p ")) -> Iterator[None]:
    """Raise ``files-swapped`` where reading fails because each file holds what the other should."""
    try:
        yield
    except InputError:
        answers, predictions = settings.annotations.path, settings.predictions.path
        swapped = files_swapped(answers, predictions, keys) if answers and predictions else None
        if swapped is None:
            raise
        raise swapped from None


def matched(
    settings: Settings, model: xr.DataArray, answers: Answers, source: str
) -> tuple[xr.DataArray, xr.DataArray | xr.Dataset, dict[str, int]]:
    """Return predictions or sets, and plausibilities, of the same labels and examples."""
    plausibilities, answers_source = answers.plausibilities, answers.source
    labels = label_names(model)
    advice = 'labels="FILE", every label on a line of its own, if no annotator chose the others'
    declared = settings.labels.path is not None
    hint = advice if set(label_names(plausibilities)) < set(labels) and not declared else ""
    try:
        plausibilities = align.match_labels(
            plausibilities, labels, source=answers_source, other=source, hint=hint
        )
    except InputError as error:
        surplus = error.details.get("only_here")
        surplus_text = listed(map(quoted, surplus)) if isinstance(surplus, list) else ""
        if answers.table is not None and surplus_text and error.found == surplus_text:
            _place_labels(error, answers.table, answers.path, labels)
        raise
    model, plausibilities = align.match_examples(
        model,
        plausibilities,
        only_common=settings.examples.only_common,
        source=source,
        other=answers_source,
    )
    return model, plausibilities, left_out_of(model, plausibilities)


def _place_labels(error: InputError, table: xr.Dataset, path: Path, labels: list[str]) -> None:
    """Add to an error where annotations have labels that the predictions do not have."""
    rows, surplus = Rows.of(table), not_among(label_names(table), labels)
    codes = [place for place, label in enumerate(label_names(table)) if label in surplus]
    count, total = int(np.isin(rows.label, codes).sum()), float(rows.votes.sum())
    where = ""
    if path.suffix.lower() in (".csv", ".tsv", ".txt"):
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        first = next((at for at, line in enumerate(lines, 1) if surplus[0] in line), None)
        where = "" if first is None else f", first in line {counted(first)}"
    error.expected = listed(labels)
    error.found += f" ({counted(count)} of {amount(total)} answers{where})"
    if guess := near(surplus[0], labels):
        error.hint = f"rename={json.dumps({surplus[0]: guess}, ensure_ascii=False)}"
    else:
        error.hint = f"missing={quoted(surplus[0])}, if it means that there is no answer"


def left_out_of(*arrays: xr.DataArray | xr.Dataset) -> dict[str, int]:
    counts: dict[str, int] = {}
    for array in arrays:
        for reason, count in read_left_out(array.attrs).items():
            counts[reason] = counts.get(reason, 0) + count
    return counts


def table_of(kind: Kind[P], component: P) -> dict[str, object]:
    try:
        return registry.default().describe(kind, component)
    except ComponentError:  # its class is not registered
        return {"name": type(component).__name__}


def _new_names(
    array: xr.DataArray | xr.Dataset, naming: Labels
) -> tuple[list[str], frozenset[str]]:
    """Return the new name of each label, and the old names that are none of its labels."""
    labels = [name.strip() if naming.strip else name for name in label_names(array)]
    rename = naming.rename or {}
    return [rename.get(label, label) for label in labels], frozenset(rename).difference(labels)


def label_names(array: xr.DataArray | xr.Dataset) -> list[str]:
    return name_texts(array[label_dim(array)].values)


def summary_of(table: xr.Dataset, source: str, *, brief: bool = False) -> str:
    kind = str(table.attrs[names.KIND])
    kind = "" if kind == "single-label" else f", {kind}"
    read_as = f"{table.attrs.get('reader', 'reader')}{kind}"
    return f"{source} ({read_as}): {'; '.join(contents(table, brief=brief))}"


def shape_text(predictions: xr.DataArray, *, matched: int | None = None) -> str:
    """Return how many examples, labels and augmentations there are, or examples matched by name."""
    count = predictions.sizes[names.EXAMPLE]
    parts = [several(count, "example")]
    if matched is None:
        parts.append(several(predictions.sizes[names.LABEL], "label"))
    if names.AUGMENTATION in predictions.dims:
        augmentations = name_texts(predictions[names.AUGMENTATION].values)
        parts.append(f"{several(len(augmentations), 'augmentation')} ({listed(augmentations)})")
    if matched is not None:
        parts.append(f"{'all' if matched == count else counted(matched)} matched by name")
    return ", ".join(parts)


def model_facts(predictions: xr.DataArray, path: Path | None) -> dict[str, object]:
    augmentations = {}
    if names.AUGMENTATION in predictions.dims:
        augmentations["augmentations"] = name_texts(predictions[names.AUGMENTATION].values)
    return {
        "file": path,
        "examples": predictions.sizes[names.EXAMPLE],
        "labels": label_names(predictions),
        **augmentations,
        "dtype": str(predictions.dtype),
        "scale": str(predictions.attrs[names.SCALE]),
    }


def annotation_facts(table: xr.Dataset, path: Path) -> dict[str, object]:
    rows = Rows.of(table)
    responses = float(rows.votes.sum())
    return {
        "file": path,
        "reader": table.attrs.get("reader"),
        "kind": table.attrs[names.KIND],
        "examples": rows.n,
        "annotators": table.sizes[names.ANNOTATOR],
        "responses": int(responses) if responses.is_integer() else responses,
        "labels": label_names(table),
        "not_counted": not_counted(table),
        "merged": read_merged(table.attrs),
    }


def read_both(
    settings: Settings,
    *,
    predictor: ConformalPredictor | None = None,
    chunks: int | None = None,
    keys: tuple[str, str] = ("-a ", "-p "),
) -> tuple[Model, Answers, xr.DataArray, xr.DataArray | xr.Dataset, dict[str, int]]:
    """Return predictions and answers as they were read, both matched, and what is left out."""
    with telling_of_swaps(settings, keys):
        model = read_model(settings, predictor=predictor, chunks=chunks)
        answers = read_answers(settings)
    check_renames(settings.labels, model, answers)
    return model, answers, *matched(settings, model.predictions, answers, model.source)
