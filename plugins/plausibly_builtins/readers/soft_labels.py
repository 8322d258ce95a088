"""Soft labels: a weight for each label, by example and annotator."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import attrs

from plausibly.plugin import AnnotationTable, counted, listed, quoted
from plausibly.plugin.readers import (
    JsonNumber,
    NamedArray,
    Response,
    TextTable,
    first_rows,
    json_shown,
)
from plausibly_builtins.readers import base
from plausibly_builtins.readers.label_columns import (
    COUNT,
    LabelColumns,
    check_columns,
    check_names,
    example_hint,
    first_object,
    is_flat,
    is_lines,
    key_text,
    labels_in_order,
    labels_of,
    named_objects,
)

_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,5})?")
_FIELDS = ("label_dist", "soft_label", "probs")
_EXAMPLES = ("example", "task")
_ANNOTATORS = ("annotator", "worker")


def _first_of(usual: Sequence[str], header: Iterable[str]) -> str | None:
    return next((name for name in usual if name in header), None)


@attrs.frozen(kw_only=True)
class SoftLabels(LabelColumns):
    """Read responses that spread weight over the labels: probabilities, confidences, points.

    Tables have one row per response: a column that names the example, perhaps one of annotators,
    and one column per label. Arrays have one row per example. In JSON Lines an object holds a
    weight by label, or a list in the order of the declared labels. Weights need not sum to 1: they
    are kept as they are, and the aggregator takes their shares.

    A table without a column of annotators looks as predictions do, and so does an array; they are
    read by the name of this reader only.

    Attributes
    ----------
    example : str or None
        Column or key that names the examples; None takes ``example`` or ``task``, and in JSON
        Lines ``uid``, ``id``, ``text_id`` or ``pairID`` besides.
    annotator : str or None
        Column or key that names the annotators; None takes ``annotator`` or ``worker``, if there.
    ignore : tuple of str
        Columns that are neither names nor a label.
    array : str
        Array of an npz file.
    field : str or None
        Key of the weights in JSON Lines; None takes ``label_dist``, ``soft_label`` or ``probs``.
    """

    annotator: str | None = None
    array: str = "soft_labels"
    field: str | None = None

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether there are annotators and weights that are not all whole numbers."""
        if is_lines(path) and not is_flat(head):
            entry = first_object(head)
            # Probs are a model's, unless the user says otherwise.
            keys = _FIELDS[:2] if self.field is None else (self.field,)
            return "label_counter" not in entry and any(_is_spread(entry.get(k)) for k in keys)
        rows = first_rows(path, head)
        if len(rows) < 2 or len({len(row) for row in rows}) > 1 or "label" in rows[0]:
            return False
        taken = {*self._name_columns(rows[0]), *self.ignore}
        if not taken <= {*rows[0]}:
            return False
        columns = [column for name, *column in zip(*rows, strict=True) if name not in taken]
        cells = [cell for column in columns for cell in column]
        return all(map(_NUMBER.fullmatch, cells)) and not all(map(COUNT.fullmatch, cells))

    def array_content(self, found: NamedArray, labels: base.Labels) -> AnnotationTable:
        columns = labels_of("soft-labels", found, labels)
        values = found.values.astype(float).tolist()
        names = found.examples or [str(row) for row in range(len(values))]
        places = [f"row {counted(row + 1)}" for row in range(len(names))]
        check_names(names, "example", places)
        cells = (map(repr, row) for row in values)
        return self._gathered(found.whose, names, None, places, cells, columns, labels)

    def table_content(self, table: TextTable, labels: base.Labels) -> AnnotationTable:
        self.check_rows(table)
        examples, annotators = self._name_columns(table.header)
        if examples is None:
            do = example_hint("soft-labels", table)
            raise base.columns_missing(table, "names of examples", "a column example", do)
        wanted = [name for name in (examples, annotators) if name is not None]
        columns = [name for name in table.header if name not in (*wanted, *self.ignore)]
        typed = base.as_argument("soft-labels", ignore=["COLUMN"])
        table.need([*wanted, *columns], do=f"{typed}, with columns that are there")
        if not columns:
            expected = "names of examples, then one column per label"
            raise base.columns_missing(table, "weights", expected, "add one per label")
        names = table.column(examples)
        base.check_named(table, names)
        people = None if annotators is None else table.column(annotators)
        places = [table.place(row).removeprefix(f"{table.whose} ") for row in range(len(table))]
        cells = zip(*map(table.column, columns), strict=True)
        return self._gathered(table.whose, names, people, places, cells, columns, labels)

    def _name_columns(self, header: Sequence[str]) -> tuple[str | None, str | None]:
        """Return the columns of examples and annotators; None where there is none."""
        example = _first_of(_EXAMPLES, header) if self.example is None else self.example
        return example, _first_of(_ANNOTATORS, header) if self.annotator is None else self.annotator

    def lines_content(self, path: Path, labels: base.Labels) -> AnnotationTable:
        entries = named_objects(path, "soft-labels", self.example)
        keys = {key for _, _, entry in entries for key in entry}
        who = _first_of(_ANNOTATORS, keys) if self.annotator is None else self.annotator
        responses = [
            Response(
                example=name,
                annotator=(None if who is None else key_text(line, entry, who)) or None,
                answer=_weights(f"line {counted(line)}", self._cells(line, entry, labels)),
                place=f"line {counted(line)}",
            )
            for line, name, entry in entries
        ]
        return self.gathered(
            "soft-label", responses, labels, whose=path.name, anonymous=who is None
        )

    def _cells(self, line: int, entry: base.Entry, labels: base.Labels) -> dict[str, str]:
        """Return weights as written: by key, or in the order of the declared labels."""
        wanted = _FIELDS if self.field is None else (self.field,)
        key = _first_of(wanted, entry)
        found = None if key is None else entry[key]
        if isinstance(found, list):
            names = labels_in_order(len(found), labels, "weight", f" line {counted(line)}")
            found = dict(zip(names, found, strict=True))
        if not isinstance(found, dict):
            expected = f"{listed(map(quoted, wanted))}: a weight by label, or a list of them"
            got = listed(map(base.short, entry)) if key is None else json_shown(found)
            what = f" line {counted(line)} holds no weights"
            do, seen = base.as_argument("soft-labels", field="KEY"), list(entry)
            raise base.refused("key-missing", what, expected, got, do, line=line, seen=seen)
        return {label: json_shown(weight) for label, weight in found.items()}

    def _gathered(
        self,
        source: str,
        names: Sequence[str],
        annotators: Sequence[str] | None,
        places: Sequence[str],
        cells: Iterable[Iterable[str]],
        columns: Sequence[str],
        labels: base.Labels,
    ) -> AnnotationTable:
        """Return the table of cells (row, column), each a weight as text."""
        responses = [
            Response(
                example=name,
                annotator=who or None,
                answer=_weights(place, dict(zip(columns, row, strict=True))),
                place=place,
            )
            for name, who, place, row in zip(
                names, annotators or [""] * len(names), places, cells, strict=True
            )
        ]
        check_names(columns, "label")
        if labels is not None:
            check_columns("soft-labels", columns, labels)
        return self.gathered(
            "soft-label",
            responses,
            labels,
            whose=source,
            offered=columns,
            anonymous=annotators is None,
        )


def _weights(place: str, cells: Mapping[str, str]) -> dict[str, float]:
    """Return the weights of a row; one of 0 only names its label."""
    found: dict[str, float] = {}
    for label, cell in cells.items():
        weight = float(cell) if _NUMBER.fullmatch(cell) else math.nan
        if not 0 <= weight < math.inf:
            what = f" {place}: the weight of {base.short(label)} is none"
            got = quoted(cell if len(cell) <= 40 else f"{cell[:39]}…")
            expected = "a finite number, 0 or more, with a point for decimals"
            raise base.refused("weights-invalid", what, expected, got, label=label)
        found[label] = weight
    total = sum(found.values())
    if not 0 < total < math.inf:
        what, expected = f" {place} gives no label any weight", "a weight above 0, a finite sum"
        raise base.refused("weights-zero", what, expected, f"a sum of {total:g}")
    return found


def _is_spread(value: object) -> bool:
    weights = list(value.values()) if isinstance(value, dict) else value
    return (
        isinstance(weights, list)
        and bool(weights)
        and all(isinstance(weight, JsonNumber) for weight in weights)
    )
