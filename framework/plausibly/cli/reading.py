"""What commands read, and what they say of it: predictions, and what the experts said."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, TypeVar

import attrs
import xarray as xr

from plausibly import registry
from plausibly.cli.asked import AskedOpinions, AskedPredictions, Naming
from plausibly.cli.output import Output
from plausibly.conformal.aggregate import aggregated, default_aggregator
from plausibly.data import names
from plausibly.data.annotations import Rows, describe, not_counted
from plausibly.data.labels import called
from plausibly.data.names import check_names, name_texts, several, text_array
from plausibly.data.plausibilities import label_dim
from plausibly.data.states import read_merged
from plausibly.errors import InputError, counted, listed
from plausibly.io import (
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
from plausibly.protocols import AGGREGATOR, Kind
from plausibly.registry.components import described

P = TypeVar("P")


@attrs.frozen(kw_only=True, eq=False)
class Opinions:
    """Plausibilities with what there is to say of them."""

    plausibilities: xr.DataArray | xr.Dataset
    aggregator: Mapping[str, object] | None
    by_default: bool
    whose: str
    text: str
    facts: Mapping[str, object]
    unknown: frozenset[str]
    table: xr.Dataset | None = None


@attrs.frozen(kw_only=True, eq=False)
class Model:
    """Predictions; the fields are those of `Opinions`."""

    predictions: xr.DataArray
    whose: str
    facts: Mapping[str, object]
    unknown: frozenset[str]


def read_opinions(
    asked: AskedOpinions,
    naming: Naming,
    output: Output,
    *,
    declared: list[str] | None = None,
) -> Opinions:
    """Return plausibilities: aggregated from annotations, or as they were given."""
    if asked.aggregated:
        return _given(asked.path, naming, output)
    whose = asked.path.name
    labels = declared if naming.labels is None and not naming.changes else naming.labels
    with output.working(f"reading {whose}"), names_change(naming.changes):
        table: xr.Dataset = read_annotations(asked.path, asked.reader, labels, **asked.options)
    unknown = _unknown(table, naming)
    if naming.changes:
        table = called(table, _called(table, naming), whose=whose)
    with output.working(f"aggregating {whose}"):
        kind = str(table.attrs[names.KIND])
        component = registry.resolve(AGGREGATOR, asked.aggregator or default_aggregator(kind))
        unanswered: Literal["error", "drop"] = "drop" if asked.unanswered == "drop" else "error"
        lam = aggregated(table, component, seed=asked.seed, unanswered=unanswered).to_xarray()
    return Opinions(
        plausibilities=lam,
        aggregator=table_of(AGGREGATOR, component),
        by_default=asked.aggregator is None,
        whose=whose,
        text=summary_of(table, whose),
        facts=annotation_facts(table, asked.path),
        unknown=unknown,
        table=table,
    )


def summary_of(table: xr.Dataset, whose: str) -> str:
    """Return what a file of annotations holds, in one line."""
    first, *rest = describe(table).split("\n")
    about = "; ".join([first.partition("  ")[2].strip(), *(line.strip() for line in rest)])
    return f"{whose} ({table.attrs.get('reader', 'reader')}): {about}"


@contextmanager
def told_of_swaps(opinions: AskedOpinions, model: AskedPredictions | None) -> Iterator[None]:
    """Raise ``files-swapped`` where reading fails, and what each file holds says why."""
    try:
        yield
    except InputError:
        if model is None:
            raise
        swapped = None if opinions.aggregated else files_swapped(opinions.path, model.path)
        if swapped is None:
            raise
        raise swapped from None


def _given(path: Path, naming: Naming, output: Output) -> Opinions:
    with output.working(f"reading {path.name}"):
        lam = read_plausibilities(path, packed=None)
    lam, unknown = _named(lam, naming, path.name)
    if naming.labels is not None:
        lam = with_known_labels(lam, read_labels(naming.labels))
    examples, labels = lam.sizes[names.EXAMPLE], lam.sizes[label_dim(lam)]
    draws = lam.sizes.get(names.DRAW)
    return Opinions(
        plausibilities=lam,
        aggregator=None,
        by_default=False,
        whose=path.name,
        text=f"{path.name}: plausibilities of {several(examples, 'example')}, "
        f"{several(labels, 'label')}"
        + ("" if draws is None else f", {several(draws, 'draw')} of each"),
        facts={
            "file": path,
            "examples": examples,
            "labels": label_names(lam),
            **({} if draws is None else {"draws": draws}),
        },
        unknown=unknown,
    )


def read_model(
    asked: AskedPredictions, naming: Naming, output: Output, *, scale: str | None = None
) -> Model:
    """Return predictions, with the coordinates of the examples where they were given."""
    options = dict(asked.options)
    if scale is not None:
        options.setdefault("scale", scale)
    whose = asked.path.name
    rename = dict(naming.rename)
    with output.working(f"reading {whose}"):
        table = None if asked.examples is None else read_examples(asked.examples)

        def read(examples: xr.Dataset | None) -> xr.DataArray:
            call: Callable[..., xr.DataArray] = read_predictions  # options are checked by name
            return call(
                asked.path,
                labels=naming.labels,
                examples=examples,
                strip=naming.strip,
                rename=rename,
                **options,
            )

        def read_renamed(examples: xr.Dataset | None) -> xr.DataArray:
            try:
                return read(examples)
            except InputError as error:
                unknown = error.details.get("unknown")
                if error.name != "label-unknown" or not isinstance(unknown, list):
                    raise
                # Names that only the other file has: what neither has is said by the caller.
                for old in unknown:
                    rename.pop(str(old), None)
                return read(examples)

        try:
            predictions = read_renamed(table)
        except InputError as error:
            if table is None or error.name != "examples-named":
                raise
            # The file names its examples itself: the table only adds coordinates.
            predictions = with_coordinates(read_renamed(None), table)
    return Model(
        predictions=predictions,
        whose=whose,
        facts={
            "file": asked.path,
            "examples": predictions.sizes[names.EXAMPLE],
            "labels": label_names(predictions),
            **augmentation_facts(predictions),
            "dtype": str(predictions.dtype),
            "scale": str(predictions.attrs[names.SCALE]),
        },
        unknown=frozenset(naming.rename) - frozenset(rename),
    )


def table_of(kind: Kind[P], component: P) -> dict[str, object]:
    """Return name and parameters of a component."""
    table = described(kind, component)
    return {"name": type(component).__name__} if table is None else dict(table)


def _named(
    array: xr.DataArray | xr.Dataset, naming: Naming, whose: str
) -> tuple[xr.DataArray | xr.Dataset, frozenset[str]]:
    """Return the array with its labels renamed, and the old names that it does not have."""
    unknown = _unknown(array, naming)
    if not naming.changes:
        return array, unknown
    labels = _called(array, naming)
    check_names(labels, names.LABEL, whose=whose)
    on = label_dim(array)
    return array.assign_coords({on: (on, text_array(labels))}), unknown


def _unknown(array: xr.DataArray | xr.Dataset, naming: Naming) -> frozenset[str]:
    """Return the old names that are none of its labels."""
    labels = label_names(array)
    return frozenset(naming.rename) - {n.strip() if naming.strip else n for n in labels}


def _called(array: xr.DataArray | xr.Dataset, naming: Naming) -> list[str]:
    """Return what the labels are to be called."""
    labels = label_names(array)
    stripped = (label.strip() if naming.strip else label for label in labels)
    return [naming.rename.get(label, label) for label in stripped]


def label_names(array: xr.DataArray | xr.Dataset) -> list[str]:
    """Return the names of the labels of an array or a table, in order."""
    return name_texts(array[label_dim(array)].values)


def shape_text(predictions: xr.DataArray) -> str:
    """Return how many examples, labels and views there are, and the type of the numbers."""
    shape = (
        f"{counted(predictions.sizes[names.EXAMPLE])} x {counted(predictions.sizes[names.LABEL])}"
    )
    views = ""
    if names.AUGMENTATION in predictions.dims:
        called = name_texts(predictions[names.AUGMENTATION].values)
        views = f" in {several(len(called), 'view')} ({listed(called)})"
    return f"{shape} {predictions.dtype}{views}"


def augmentation_facts(predictions: xr.DataArray) -> dict[str, object]:
    """Return the names of the augmentations as data, where there are any."""
    if names.AUGMENTATION not in predictions.dims:
        return {}
    return {"augmentations": name_texts(predictions[names.AUGMENTATION].values)}


def annotation_facts(table: xr.Dataset, path: Path) -> dict[str, object]:
    """Return what an annotation table holds, as data."""
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
