"""The files that settings name: read, their labels named alike, and matched by name."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, cast

import attrs
import xarray as xr

from plausibly import registry
from plausibly.config.settings import Labels, Settings
from plausibly.conformal.aggregate import aggregated, default_aggregator
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.data import align, names
from plausibly.data.annotations import Rows, describe, not_counted
from plausibly.data.labels import called
from plausibly.data.names import check_names, name_texts, near, quoted, several, text_array
from plausibly.data.plausibilities import label_dim
from plausibly.data.states import read_left_out, read_merged
from plausibly.errors import InputError, counted, listed, warn
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
from plausibly.registry.components import described

P = TypeVar("P")

Table: TypeAlias = "Path | xr.Dataset | None"
"""A table of labels or examples: its path, or what was read."""

Working: TypeAlias = Callable[[str], AbstractContextManager[object]]
"""Shows what is being done while a block runs."""


@attrs.frozen(kw_only=True, eq=False)
class Answers:
    """Plausibilities, and the annotations that they were made of."""

    plausibilities: xr.DataArray | xr.Dataset
    aggregator: Aggregator | None
    by_default: bool
    path: Path
    unknown: frozenset[str]
    table: xr.Dataset | None = None

    @property
    def source(self) -> str:
        """Name of the file."""
        return self.path.name

    @property
    def what(self) -> str:
        """Content of the file."""
        return "plausibilities" if self.table is None else "annotations"

    @property
    def component(self) -> dict[str, object] | None:
        """Name and parameters of the aggregator."""
        return None if self.aggregator is None else table_of(AGGREGATOR, self.aggregator)

    @property
    def chosen(self) -> list[tuple[str, dict[str, object], bool]]:
        """Kind and table of the aggregator, and whether it is the default, where there is one."""
        table = self.component
        return [] if table is None else [("aggregator", table, self.by_default)]

    @property
    def text(self) -> str:
        """Content of the file in one line."""
        if self.table is not None:
            return summary_of(self.table, self.source)
        lam = self.plausibilities
        draws = lam.sizes.get(names.DRAW)
        return (
            f"{self.source}: plausibilities of {several(lam.sizes[names.EXAMPLE], 'example')}, "
            f"{several(lam.sizes[label_dim(lam)], 'label')}"
            + ("" if draws is None else f", {several(draws, 'draw')} of each")
        )

    @property
    def facts(self) -> dict[str, object]:
        """Content of the file as data."""
        if self.table is not None:
            return annotation_facts(self.table, self.path)
        draws = self.plausibilities.sizes.get(names.DRAW)
        return {
            "file": self.path,
            "examples": self.plausibilities.sizes[names.EXAMPLE],
            "labels": label_names(self.plausibilities),
            **({} if draws is None else {"draws": draws}),
        }


@attrs.frozen(kw_only=True, eq=False)
class Model:
    """Predictions; the fields are those of `Answers`."""

    predictions: xr.DataArray
    path: Path
    unknown: frozenset[str]

    @property
    def source(self) -> str:
        """Name of the file."""
        return self.path.name

    @property
    def facts(self) -> dict[str, object]:
        """Content of the file as data."""
        return model_facts(self.predictions, self.path)


def read_answers(
    settings: Settings,
    *,
    labels: Table = None,
    declared: list[str] | None = None,
    working: Working = nullcontext,
) -> Answers:
    """Return plausibilities: aggregated from annotations, or read; `declared` are labels."""
    what, path = settings.answers
    if path is None:
        raise ValueError("no file of answers")  # callers check
    naming = settings.labels
    changes = bool(naming.strip or naming.rename)
    if what == "plausibilities":
        with working(f"reading {path.name}"):
            lam = read_plausibilities(path, packed=None)
            renamed, unknown = _new_names(lam, naming)
            if changes:
                check_names(renamed, names.LABEL, whose=path.name)
                on = label_dim(lam)
                lam = lam.assign_coords({on: (on, text_array(renamed))})
            if labels is not None:
                known = labels if isinstance(labels, xr.Dataset) else read_labels(labels)
                # Other labels are refused where they are matched.
                if set(renamed).issubset(label_names(known)):
                    lam = with_coordinates(lam, known)
        return Answers(
            plausibilities=lam, aggregator=None, by_default=False, path=path, unknown=unknown
        )
    part = settings.annotations
    known_labels = declared if labels is None and not changes else labels
    with names_change(changes):
        table = read_table(settings, known_labels, working=working)
    renamed, unknown = _new_names(table, naming)
    if changes:
        table = called(table, renamed, whose=path.name)
    with working(f"aggregating {path.name}"):
        chosen = part.aggregator or default_aggregator(str(table.attrs[names.KIND]))
        component = registry.resolve(AGGREGATOR, chosen)
        made = aggregated(table, component, seed=settings.seed, unanswered=part.unanswered)
        lam = made.to_xarray()
    return Answers(
        plausibilities=lam,
        aggregator=component,
        by_default=part.aggregator is None,
        path=path,
        unknown=unknown,
        table=table,
    )


def read_table(
    settings: Settings,
    labels: Table | list[str] = None,
    *,
    working: Working = nullcontext,
) -> xr.Dataset:
    """Return the annotation table as it was read."""
    part = settings.annotations
    path = cast("Path", part.path)  # callers check
    call: Callable[..., xr.Dataset] = read_annotations  # options are the reader's, by name
    with working(f"reading {path.name}"):
        known = settings.labels.path if labels is None else labels
        return call(path, part.reader, known, **part.options)


def read_examples_of(settings: Settings) -> xr.Dataset | None:
    """Return the table of the examples; None where the settings name none."""
    part = settings.examples
    return None if part.path is None else read_examples(part.path, example=part.example)


def read_model(
    settings: Settings,
    *,
    labels: Table = None,
    examples: Table = None,
    predictor: ConformalPredictor | None = None,
    chunks: int | None = None,
    working: Working = nullcontext,
) -> Model:
    """Return predictions; what the settings leave open is read as the predictor remembers it."""
    if predictor is None:
        return _read_model(settings, labels, examples, chunks, working)
    part, metadata = settings.predictions, predictor.metadata
    chosen = {name: getattr(part, name) for name in _READING}
    for name, value in metadata.reading.items():
        if chosen[name] not in (None, value):
            _warn_reading(settings, name, value, quoted(chosen[name]))
    remembered = {name: v for name, v in metadata.reading.items() if chosen[name] is None}

    def read(**changes: Any) -> Model:  # Any: each key has its own type
        part = attrs.evolve(settings.predictions, **changes)
        kept = attrs.evolve(settings, predictions=part)
        return _read_model(kept, labels, examples, chunks, working)

    scale = part.scale or metadata.scale
    try:
        model = read(scale=scale, **remembered)
    except InputError as error:
        lacks = error.name in ("columns-missing", "variable-missing", "option-unfit")
        if not (remembered and lacks):
            raise
        model = read(scale=scale)
        remembered.pop("augmentation", None)  # without its augmentations a predictor refuses anyway
        for name, value in remembered.items():
            _warn_reading(settings, name, value, f"no {quoted(value)}")
    if names.AUGMENTATION in model.predictions.dims and not metadata.augmentations:
        views = name_texts(model.predictions[names.AUGMENTATION].values)
        raise InputError(
            "views-unread",
            f"{model.source} has several views of each example, and the predictor reads one",
            expected="one row an example",
            got=f"{several(len(views), 'view')} ({listed(views)})",
            do="keep the rows of one view, chosen without looking at any result, "
            "and leave predictions.augmentation out",
            whose=model.source,
            details={"views": views},
        )
    return model


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


def _warn_reading(settings: Settings, name: str, remembered: str, found: str) -> None:
    path = settings.predictions.path
    warn(
        "reading-differs",
        f"{path.name if path else 'predictions'}: predictions.{name} is not as in calibration",
        expected=f"{quoted(remembered)}, as the predictor remembers",
        got=found,
        do="check that these are predictions of the same model, in the same form",
        whose=f"predictions.{name}",
        details={"key": f"predictions.{name}", "remembered": remembered},
    )


def _read_model(
    settings: Settings, labels: Table, examples: Table, chunks: int | None, working: Working
) -> Model:
    part, naming = settings.predictions, settings.labels
    if part.path is None:
        raise ValueError("no file of predictions")  # callers check
    path = part.path
    rename = dict(naming.rename or {})
    options: dict[str, object] = {
        "example": part.example,
        "scale": part.scale,
        "normalise": part.normalise,
        "bad_rows": part.bad_rows,
        "variable": part.variable,
        "view": part.augmentation,
        "chunks": chunks,
    }
    options = {name: value for name, value in options.items() if value not in (None, False)}
    call: Callable[..., xr.DataArray] = read_predictions  # options are checked by name

    def read(table: xr.Dataset | None) -> xr.DataArray:
        try:
            return call(
                path, labels=labels, examples=table, strip=naming.strip, rename=rename, **options
            )
        except InputError as error:
            unknown = error.details.get("labels")
            known = rename.keys() & set(unknown) if isinstance(unknown, list) else ()
            if error.name != "label-unknown" or not known:
                raise
            # Names that only the other file has: what neither has is refused by check_renames.
            for old in known:
                del rename[old]
            return read(table)

    with working(f"reading {path.name}"):
        table = read_examples_of(settings) if isinstance(examples, Path) else examples
        try:
            predictions = read(table)
        except InputError as error:
            if table is None or error.name != "examples-named":
                raise
            # The file names its examples itself: the table only adds coordinates.
            predictions = with_coordinates(read(None), table)
    return Model(
        predictions=predictions,
        path=path,
        unknown=frozenset(naming.rename or ()) - frozenset(rename),
    )


def check_renames(naming: Labels, *unknown: frozenset[str], labels: list[str]) -> None:
    """Raise ``label-unknown`` where a name to be changed is in none of the files."""
    rename = naming.rename or {}
    nowhere = sorted(frozenset(rename).intersection(*unknown))
    if nowhere:
        guess = near(nowhere[0], labels)
        raise InputError(
            "label-unknown",
            f"no file has a label {quoted(nowhere[0])} to rename",
            expected="a label of one of the files",
            got=", ".join(map(quoted, nowhere)),
            do=f"rename={json.dumps({guess: rename[nowhere[0]]})}" if guess else "leave it out",
            whose="labels.rename",
            details={"unknown": nowhere, "labels": labels},
        )


@contextmanager
def telling_of_swaps(settings: Settings) -> Iterator[None]:
    """Raise ``files-swapped`` where reading fails because each file holds what the other should."""
    try:
        yield
    except InputError:
        answers, predictions = settings.annotations.path, settings.predictions.path
        swapped = files_swapped(answers, predictions) if answers and predictions else None
        if swapped is None:
            raise
        raise swapped from None


def matched(
    settings: Settings, model: xr.DataArray, answers: Answers, source: str
) -> tuple[xr.DataArray, xr.DataArray | xr.Dataset, dict[str, int]]:
    """Return predictions or sets, and plausibilities, of the same labels and examples."""
    lam, other = answers.plausibilities, answers.source
    labels = label_names(model)
    hint = 'labels="FILE", every label on a line of its own, if no annotator chose the others'
    declared = settings.labels.path is not None
    do = hint if set(label_names(lam)) < set(labels) and not declared else ""
    lam = align.match_labels(lam, labels, whose=other, other=source, do=do)
    model, lam = align.match_examples(
        model, lam, only_common=settings.examples.only_common, whose=source, other=other
    )
    return model, lam, left_out_of(model, lam)


def left_out_of(*arrays: xr.DataArray | xr.Dataset) -> dict[str, int]:
    """Return how many examples were left out, by reason."""
    found: dict[str, int] = {}
    for array in arrays:
        for reason, count in read_left_out(array.attrs).items():
            found[reason] = found.get(reason, 0) + count
    return found


def table_of(kind: Kind[P], component: P) -> dict[str, object]:
    """Return name and parameters of a component."""
    table = described(kind, component)
    return {"name": type(component).__name__} if table is None else dict(table)


def _new_names(
    array: xr.DataArray | xr.Dataset, naming: Labels
) -> tuple[list[str], frozenset[str]]:
    """Return the new name of each label, and the old names that are none of its labels."""
    labels = [name.strip() if naming.strip else name for name in label_names(array)]
    rename = naming.rename or {}
    return [rename.get(label, label) for label in labels], frozenset(rename).difference(labels)


def label_names(array: xr.DataArray | xr.Dataset) -> list[str]:
    """Return the names of the labels of an array or a table, in order."""
    return name_texts(array[label_dim(array)].values)


def summary_of(table: xr.Dataset, source: str) -> str:
    """Return the content of a file of annotations in one line."""
    first, *rest = describe(table).split("\n")
    about = "; ".join([first.partition("  ")[2].strip(), *(line.strip() for line in rest)])
    return f"{source} ({table.attrs.get('reader', 'reader')}): {about}"


def shape_text(predictions: xr.DataArray) -> str:
    """Return how many examples, labels and views there are, and the type of the numbers."""
    shape = (
        f"{counted(predictions.sizes[names.EXAMPLE])} x {counted(predictions.sizes[names.LABEL])}"
    )
    views = ""
    if names.AUGMENTATION in predictions.dims:
        found = name_texts(predictions[names.AUGMENTATION].values)
        views = f" in {several(len(found), 'view')} ({listed(found)})"
    return f"{shape} {predictions.dtype}{views}"


def model_facts(predictions: xr.DataArray, path: Path | None) -> dict[str, object]:
    """Return the content of a file of predictions as data."""
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
    """Return the content of an annotation table as data."""
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
    working: Working = nullcontext,
) -> tuple[Model, Answers, xr.DataArray, xr.DataArray | xr.Dataset, dict[str, int]]:
    """Return predictions and answers as they were read, both matched, and what is left out."""
    labels, examples = settings.labels.path, settings.examples.path
    with telling_of_swaps(settings):
        model = read_model(
            settings,
            labels=labels,
            examples=examples,
            predictor=predictor,
            chunks=chunks,
            working=working,
        )
        answers = read_answers(settings, labels=labels, working=working)
    names_there = label_names(model.predictions)
    check_renames(settings.labels, model.unknown, answers.unknown, labels=names_there)
    return model, answers, *matched(settings, model.predictions, answers, model.source)
