"""Soft labels: a weight for each label, by example and annotator."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import attrs

from plausibly.plugin import (
    AnnotationTable,
    InputError,
    JsonNumber,
    NamedArray,
    Response,
    ResponseOptions,
    TextTable,
    counted,
    file_opening,
    first_rows,
    from_npy,
    from_npz,
    json_shown,
    listed,
    quoted,
    read_table,
    several,
)
from plausibly_builtins.readers._exports import check_names, short
from plausibly_builtins.readers.counts import (
    COUNT,
    check_columns,
    columns_of,
    example_hint,
    first_object,
    is_flat,
    is_lines,
    name_key,
    named,
    objects,
    unnamed_refused,
)

NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,5})?")
FIELDS = ("label_dist", "soft_label", "probs")

_EXAMPLES = ("example", "task")
_ANNOTATORS = ("annotator", "worker")


@attrs.frozen(kw_only=True)
class Row:
    """The weights of one response.

    Attributes
    ----------
    example : str
        Name of the example.
    annotator : str or None
        Who said so.
    weights : dict of str to float
        Weight by label.
    place : str
        Where in the file.
    """

    example: str
    annotator: str | None
    weights: dict[str, float]
    place: str


@attrs.frozen(kw_only=True)
class Spread:
    """What a file holds: its rows, its labels in the order of the file, and who is known."""

    rows: list[Row]
    labels: list[str] | None
    anonymous: bool


def column_of(header: Sequence[str], given: str | None, usual: Sequence[str]) -> str | None:
    """Return the given column, or the first of the usual ones that is there."""
    return given if given is not None else next((name for name in usual if name in header), None)


def name_columns(
    header: Sequence[str], example: str | None, annotator: str | None
) -> tuple[str | None, str | None]:
    """Return the columns of examples and annotators; None where there is none."""
    return column_of(header, example, _EXAMPLES), column_of(header, annotator, _ANNOTATORS)


def from_text(
    table: TextTable, *, example: str | None, annotator: str | None, ignore: Sequence[str]
) -> Spread:
    """Return the distributions in a table of text; options are those of the reader."""
    table.need(ignore, do="name columns of the file in ignore")
    examples, annotators = name_columns(table.header, example, annotator)
    if examples is None:
        raise InputError(
            "columns-missing",
            f"{table.whose} has no column that names the examples",
            expected="a column example, or the name of another",
            got=listed(map(short, table.header)),
            do=example_hint("soft-labels", table),
            whose=table.whose,
        )
    wanted = [name for name in (examples, annotators) if name is not None]
    labels = [name for name in table.header if name not in (*wanted, *ignore)]
    table.need(
        [*wanted, *labels],
        do='--reader \'{name = "soft-labels", ignore = ["COLUMN"]}\', with columns that are there',
    )
    if not labels or not len(table):
        raise InputError(
            "columns-missing" if not labels else "file-empty",
            f"{table.whose} has no column of weights" if not labels else f"{table.whose} is empty",
            expected="names of examples, then one column a label",
            got=listed(table.header) if not labels else "a header and no rows",
            do="add one column a label" if not labels else "write it again",
            whose=table.whose,
        )
    names = table.column(examples)
    unnamed = [row for row, name in enumerate(names) if not name]
    if unnamed:
        raise InputError(
            "example-unnamed",
            f"{table.whose} names no example in {table.places(unnamed)}",
            expected="the name of an example",
            got="an empty cell",
            do="name it, or remove that row",
            whose=table.whose,
            details={"lines": [table.lines[row] for row in unnamed]},
        )
    people = [""] * len(table) if annotators is None else table.column(annotators)
    columns = [table.column(label) for label in labels]
    rows = [
        Row(
            example=names[row],
            annotator=people[row] or None,
            weights=_weights(
                table.whose,
                table.place(row).removeprefix(f"{table.whose} "),
                ((label, cells[row]) for label, cells in zip(labels, columns, strict=True)),
            ),
            place=table.place(row).removeprefix(f"{table.whose} "),
        )
        for row in range(len(table))
    ]
    return Spread(rows=rows, labels=labels, anonymous=annotators is None)


def from_array(found: NamedArray, labels: Sequence[str]) -> Spread:
    """Return the distributions in the rows of an array, whose columns are of these labels."""
    check_names(found.whose, found.examples or [], "example")
    names = found.examples or [str(row) for row in range(len(found.values))]
    rows: list[Row] = []
    for row, numbers in enumerate(found.values.astype(float).tolist()):
        place = f"row {counted(row + 1)}"
        weights = _weights(found.whose, place, zip(labels, map(repr, numbers), strict=True))
        rows.append(Row(example=names[row], annotator=None, weights=weights, place=place))
    return Spread(rows=rows, labels=list(labels), anonymous=True)


def from_lines(
    path: Path,
    labels: Sequence[str] | None,
    *,
    example: str | None,
    annotator: str | None,
    field: str | None,
) -> Spread:
    """Return the distributions in JSON Lines; options are those of the reader."""
    entries = objects(path)
    key = name_key(path, entries[0][1], example, "soft-labels")
    names = [named(path, line, entry, key) for line, entry in entries]
    without = [line for (line, _), name in zip(entries, names, strict=True) if not name]
    if without:
        raise unnamed_refused(path, without, "name it, or remove that line")
    keys = {name for _, entry in entries for name in entry}
    who = column_of(sorted(keys), annotator, _ANNOTATORS)
    rows: list[Row] = []
    for (line, entry), name in zip(entries, names, strict=True):
        place = f"line {counted(line)}"
        weights = _weights(path.name, place, _pairs(path, line, entry, labels, field))
        by = None if who is None else named(path, line, entry, who) or None
        rows.append(Row(example=name, annotator=by, weights=weights, place=place))
    return Spread(rows=rows, labels=None, anonymous=who is None)


def _pairs(
    path: Path,
    line: int,
    entry: Mapping[str, object],
    labels: Sequence[str] | None,
    field: str | None,
) -> Iterator[tuple[str, str]]:
    """Yield label and weight as written: by key, or in the order of the declared labels."""
    wanted = FIELDS if field is None else (field,)
    key = next((name for name in wanted if name in entry), None)
    found = None if key is None else entry[key]
    where = f"{path.name} line {counted(line)}"
    if isinstance(found, dict):
        for label, weight in found.items():
            yield label, str(weight) if isinstance(weight, JsonNumber) else json_shown(weight)
        return
    if not isinstance(found, list):
        raise InputError(
            "key-missing",
            f"{where} holds no weights",
            expected=f"{listed(map(quoted, wanted))}: a weight by label, or a list of them",
            got=listed(map(short, entry)) if key is None else json_shown(found),
            do='--reader \'{name = "soft-labels", field = "KEY"}\'',
            whose=path.name,
            details={"line": line, "seen": list(entry)},
        )
    if labels is None or len(labels) != len(found):
        raise InputError(
            "labels-unnamed" if labels is None else "names-count",
            f"{where} has {several(len(found), 'weight')} and "
            + ("no label names" if labels is None else f"{counted(len(labels))} labels"),
            expected="names in the order of the weights; an order is never guessed",
            got="none" if labels is None else listed(labels),
            do="--labels labels.txt (one name a line)",
            whose=path.name,
            details={"line": line},
        )
    for label, weight in zip(labels, found, strict=True):
        yield label, str(weight) if isinstance(weight, JsonNumber) else json_shown(weight)


def _weights(whose: str, place: str, cells: Iterator[tuple[str, str]]) -> dict[str, float]:
    """Return the weights of a row; one of 0 only names its label."""
    found: dict[str, float] = {}
    for label, cell in cells:
        weight = float(cell) if NUMBER.fullmatch(cell) else math.nan
        if not 0 <= weight < math.inf:
            raise InputError(
                "weights-invalid",
                f"{whose} {place}: the weight of {short(label)} is none",
                expected="a finite number, 0 or more",
                got=quoted(cell if len(cell) <= 40 else f"{cell[:39]}…"),
                do="write decimals with a point" if "," in cell else "mend or remove that row",
                whose=whose,
                details={"label": label},
            )
        found[label] = weight
    if not 0 < sum(found.values()) < math.inf:
        raise InputError(
            "weights-zero",
            f"{whose} {place} gives no label any weight",
            expected="a weight above 0, and a finite sum",
            got=f"a sum of {sum(found.values()):g}",
            do="mend or remove that row",
            whose=whose,
        )
    return found


_TOLD = ("label_dist", "soft_label")  # probs are a model's, unless somebody says otherwise


@attrs.frozen(kw_only=True)
class SoftLabels(ResponseOptions):
    """Read responses that spread weight over the labels: probabilities, confidences, points.

    Tables have one row a response: a column that names the example, perhaps one of annotators, and
    one column a label. Arrays have one row an example. In JSON Lines an object holds a weight by
    label, or a list in the order of the declared labels. Weights need not sum to 1: they are kept
    as they are, and the aggregator takes their shares.

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

    example: str | None = None
    annotator: str | None = None
    ignore: tuple[str, ...] = ()
    array: str = "soft_labels"
    field: str | None = None

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether there are annotators and weights that are not all whole numbers."""
        if is_lines(path) and not is_flat(head):
            entry = first_object(head)
            if "label_counter" in entry:
                return False
            keys = _TOLD if self.field is None else (self.field,)
            return any(_is_spread(entry.get(key)) for key in keys)
        rows = first_rows(path, head)
        if len(rows) < 2 or len({len(row) for row in rows}) > 1 or "label" in rows[0]:
            return False
        names = name_columns(rows[0], self.example, self.annotator)
        if None in names or not {*names, *self.ignore} <= set(rows[0]):
            return False
        cells = [
            cell
            for name, *column in zip(*rows, strict=True)
            if name not in (*names, *self.ignore)
            for cell in column
        ]
        return all(map(NUMBER.fullmatch, cells)) and not all(map(COUNT.fullmatch, cells))

    def read(self, path: Path, labels: Sequence[str] | None) -> AnnotationTable:
        """Return the annotation table in the file."""
        ending = path.suffix.lower()
        if ending in {".npy", ".npz"}:
            found = (
                from_npy(path, "annotations")
                if ending == ".npy"
                else from_npz(path, "annotations", (self.array,))
            )
            return self._table(from_array(found, columns_of(found, labels)), labels, path.name)
        if is_lines(path) and not is_flat(file_opening(path, "annotations")):
            spread = from_lines(
                path,
                labels,
                example=self.example,
                annotator=self.annotator,
                field=self.field,
            )
            return self._table(spread, labels, path.name)
        return self.from_table(read_table(path, role="annotations"), labels)

    def from_table(self, table: TextTable, labels: Sequence[str] | None) -> AnnotationTable:
        """Return the annotation table of columns of text; see `read`."""
        spread = from_text(
            table.seen(), example=self.example, annotator=self.annotator, ignore=self.ignore
        )
        return self._table(spread, labels, table.whose)

    def _table(self, spread: Spread, labels: Sequence[str] | None, whose: str) -> AnnotationTable:
        check_names(whose, spread.labels or [], "label")
        if labels is not None and spread.labels is not None:
            check_columns(
                whose, spread.labels, labels, reader="soft-labels", does="gives weight to"
            )
        responses = (
            Response(
                example=row.example, annotator=row.annotator, answer=row.weights, place=row.place
            )
            for row in spread.rows
        )
        return self.gathered(
            "soft-label",
            responses,
            labels,
            whose=whose,
            offered=spread.labels,
            anonymous=spread.anonymous,
        )


def _is_spread(value: object) -> bool:
    """Return whether a value is a list of numbers, or numbers by label."""
    weights = list(value.values()) if isinstance(value, dict) else value
    return (
        isinstance(weights, list)
        and bool(weights)
        and all(isinstance(weight, JsonNumber) for weight in weights)
    )
