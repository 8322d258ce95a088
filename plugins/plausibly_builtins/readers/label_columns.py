"""A number for each label: counted votes, and soft labels; tables, arrays and JSON Lines."""

from __future__ import annotations

import math
import re
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Final, Literal, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from plausibly.plugin import AnnotationTable, build_table, counted, listed, quoted, several
from plausibly.plugin.readers import (
    JsonNumber,
    Response,
    TextTable,
    file_opening,
    first_rows,
    from_npy,
    from_npz,
    json_head,
    json_shown,
    states,
)
from plausibly_builtins.readers import base

COUNT: Final = re.compile(r"(0|[1-9][0-9]{0,14})(\.0+)?")
"""A number of votes: programs write whole numbers as 2.0 too."""

EXAMPLE_KEYS: Final = ("example", "uid", "id", "text_id", "pairID")
"""Keys that name an example, the first that is there."""


@attrs.frozen
class Row:
    """Numbers by label, as the file has them.

    An example or annotator without a name is the empty text; None where a file has no annotators.
    """

    place: str
    example: str
    cells: Mapping[str, str]
    annotator: str | None = None


@attrs.frozen
class Numbers:
    """Rows of a file, whose `columns` are the labels of all; None where each names its own."""

    source: str
    unit: str
    rows: Sequence[Row]
    columns: Sequence[str] | None
    numbered: bool = False  # whether rows have no names


Lines: TypeAlias = Sequence[tuple[int, str, base.Entry]]
"""Line, name of the example and object of each line of a file."""


@attrs.frozen(kw_only=True)
class LabelColumns(base.TableExport, ABC):
    """Base of formats with a number for each label, in a table, an array or JSON Lines."""

    reader: ClassVar[str]
    example: str | None = None
    ignore: tuple[str, ...] = ()
    array: str = ""

    @abstractmethod
    def name_columns(self, table: TextTable) -> tuple[str | None, str | None]:
        """Return the columns of the names of examples and annotators."""

    @abstractmethod
    def line_rows(self, lines: Lines, labels: base.Labels) -> list[Row]:
        """Return the rows in lines of JSON."""

    @abstractmethod
    def table_of(self, numbers: Numbers, labels: base.Labels) -> AnnotationTable:
        """Return the table of rows."""

    def content(self, path: Path, labels: base.Labels) -> AnnotationTable:
        ending, source = path.suffix.lower(), path.name
        if ending in (".npy", ".npz"):
            if ending == ".npy":
                named = from_npy(path, "annotations")
            else:
                named = from_npz(path, "annotations", (self.array,))
            values = named.values
            columns = named.labels or labels_in_order(values.shape[1], labels, "column")
            names = named.examples or [str(row) for row in range(len(values))]
            texts = (dict(zip(columns, map(str, row), strict=True)) for row in values.tolist())
            numbered = enumerate(zip(names, texts, strict=True), start=1)
            rows = [Row(f"row {counted(at)}", name, cells) for at, (name, cells) in numbered]
            check_names(names, "example", [row.place for row in rows])
            numbers = Numbers(source, "row", rows, columns, named.examples is None)
            return self.table_of(numbers, labels)
        if is_lines(path) and not is_flat(file_opening(path, "annotations")):
            rows = self.line_rows(named_objects(path, self.reader, self.example), labels)
            return self.table_of(Numbers(source, "line", rows, None), labels)
        return super().content(path, labels)

    def table_content(self, table: TextTable, labels: base.Labels) -> AnnotationTable:
        table.need(self.ignore, hint="name columns of the file in ignore")
        if not len(table):
            expected, found = "one row per example", "a header and no rows"
            raise base.refused("file-empty", " is empty", expected, found)
        example, annotator = self.name_columns(table)
        if example is None:
            hint = base.as_argument(self.reader, example="COLUMN") + ", the column that has them"
            raise base.columns_missing(table, "names of examples", "a column example", hint)
        names = [name for name in (example, annotator) if name is not None]
        columns = [name for name in table.header if name not in (*names, *self.ignore)]
        typed = base.as_argument(self.reader, ignore=["COLUMN"])
        table.need([*names, *columns], hint=f"{typed}, with columns that are there")
        if not columns:
            expected = "names of examples, then one column per label"
            raise base.columns_missing(table, "numbers", expected, "add one column per label")
        people = [None] * len(table) if annotator is None else table.column(annotator)
        texts = map(table.column, columns)
        cells = (dict(zip(columns, row, strict=True)) for row in zip(*texts, strict=True))
        every = enumerate(zip(table.column(example), cells, people, strict=True))
        rows = [Row(table.place(at).removeprefix(f"{table.source} "), *row) for at, row in every]
        return self.table_of(Numbers(table.source, "row", rows, columns), labels)

    def check(self, numbers: Numbers, labels: base.Labels, aside: Sequence[str] = ()) -> None:
        """Raise an error unless each row names an example, and each column a label, once."""
        unnamed = [row.place for row in numbers.rows if not row.example]
        if unnamed:
            what, expected = f" names no example in {listed(unnamed)}", "the name of each example"
            drop = ' (unnamed="drop" leaves it out)' * (self.reader == "counts")
            hint = f"name it, or remove it{drop}"
            raise base.refused("example-unnamed", what, expected, "none", hint)
        columns = numbers.columns or ()
        check_names(columns, "label")
        outside = [x for x in columns if labels is not None and x not in (*labels, *aside)]
        if outside:
            what = f" has numbers for {listed(map(quoted, outside))}"
            expected, found = "columns among the declared labels", f"{len(outside)} besides"
            hint = base.as_argument(self.reader, ignore=outside)
            raise base.refused("label-unknown", what, expected, found, hint, labels=outside)


def unreadable(row: Row, label: str, expected: str, hint: str = base.AGAIN) -> Exception:
    """Return the error about a cell that holds another number than its format has."""
    cell = row.cells[label]
    what = f" {row.place}: the number of {base.short(label)} cannot be used"
    found = (cell if len(cell) <= 40 else f"{cell[:39]}…") or "an empty cell"
    return base.refused("number-unreadable", what, expected, found, hint, label=label)


# ---- counted votes

_ROUNDED = 0.005  # shares may be written with two decimals
_NO_COUNT = re.compile(r"-[0-9.,]+|[0-9]*[.,][0-9]+")
"""A number that is no count: below 0, or with a comma or a fraction."""


@attrs.frozen(kw_only=True)
class Counts(LabelColumns):
    """Read votes that were counted: one row per example, one column per label.

    Voters are unknown; each count becomes one response that counts so many times. An example
    without any vote stays. In JSON Lines an object holds the counts of an example by label, and
    a label that is not there has none.

    Attributes
    ----------
    example : str or None
        Column or key that names the examples; None takes ``example``, else the first column that is
        not of counts, or the key ``uid``, ``id``, ``text_id`` or ``pairID``.
    ignore : tuple of str
        Columns that are neither the names nor a label.
    unnamed : {"error", "drop"}
        What to do with rows without a name; dropped ones are counted.
    array : str
        Array of an npz file. Names are taken from its arrays ``labels``, ``label_names`` or
        ``class_names``, and ``examples`` or ``names``.
    field : str
        Key of the counts in JSON Lines.
    """

    reader = "counts"
    unnamed: Literal["error", "drop"] = "error"
    array: str = "counts"
    field: str = "label_counter"

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether the file says that it holds counts, by an array or a key of that name."""
        if head.startswith(b"PK"):
            try:
                with zipfile.ZipFile(path) as archive:
                    return f"{self.array}.npy" in archive.namelist()
            except (OSError, zipfile.BadZipFile):
                return False
        entry = first_object(head) if is_lines(path) else {}
        counts = entry.get(self.field)
        return (
            isinstance(counts, dict)
            and any(isinstance(entry.get(key), str) for key in EXAMPLE_KEYS)
            and all(isinstance(n, JsonNumber) and COUNT.fullmatch(n) for n in counts.values())
        )

    def name_columns(self, table: TextTable) -> tuple[str | None, None]:
        columns = [name for name in table.header if name not in self.ignore]
        table.need(columns, hint="name that column in ignore")
        wanted = self.example or ("example" if "example" in columns else None)
        words = [name for name in columns if _is_text(table.column(name))]
        name = next(iter(words), None) if wanted in (None, *self.ignore) else wanted
        if others := [column for column in words if name not in (None, column)]:
            found = listed(map(quoted, others))
            expected = "one column that names the examples, then counts"
            what = " holds columns without counts"
            raise base.needed(self.reader, what, expected, found, ignore=others)
        return name, None

    def line_rows(self, lines: Lines, labels: base.Labels) -> list[Row]:
        rows: list[Row] = []
        for line, name, entry in lines:
            counter = entry.get(self.field)
            if not isinstance(counter, dict):
                what = f" line {counted(line)} holds no counts as {quoted(self.field)}"
                expected = 'an object of label and votes, such as {"cat": 3, "dog": 1}'
                raise base.key_missing(entry, self.reader, "field", what, expected)
            cells = {label: json_shown(number) for label, number in counter.items()}
            rows.append(Row(f"line {counted(line)}", name, cells))
            if name:
                self._check_beside(line, entry, self._counts(rows[-1]))
        return rows

    def _check_beside(self, line: int, entry: base.Entry, counts: Mapping[str, int]) -> None:
        """Refuse lists beside the counts that are not the same numbers, in any order."""
        total = sum(counts.values())
        shares = [count / max(total, 1) for count in counts.values()]
        beside = (("label_count", counts.values(), 0.0), ("label_dist", shares, _ROUNDED))
        for key, wanted, margin in beside:
            numbers = entry.get(key)
            if isinstance(numbers, list) and key != self.field:
                # What is no number agrees with nothing.
                values = [n.value if isinstance(n, JsonNumber) else math.inf for n in numbers]
                there, expected = (sorted(filter(None, of)) for of in (values, wanted))
                pairs = zip(there, expected, strict=False)
                if len(there) != len(expected) or any(abs(a - b) > margin for a, b in pairs):
                    same = f"{key} as {self.field}: {several(total, 'vote')}"
                    raise base.unlike(line, same, numbers)

    def _counts(self, row: Row) -> dict[str, int]:
        counts: dict[str, int] = {}
        for label, cell in row.cells.items():
            if not COUNT.fullmatch(cell):
                expected = "a whole number, 0 or more, without signs or commas"
                hint = 'fix it; reader="soft-labels", if these are shares'
                raise unreadable(row, label, expected, hint)
            counts[label] = int(cell.partition(".")[0])
        return counts

    def table_of(self, numbers: Numbers, labels: base.Labels) -> AnnotationTable:
        kept = [row for row in numbers.rows if row.example or self.unnamed == "error"]
        votes = [self._counts(row) for row in kept]
        columns = numbers.columns or sorted(set().union(*votes))
        aside = self.none_of_these
        if states.policy(states.NONE_OF_THESE, "single-label", self.states) == states.COUNT:
            aside = ()
        self.check(attrs.evolve(numbers, rows=kept, columns=columns), labels, aside)
        names = [row.example for row in kept]
        check_names(names, "example", [row.place for row in kept])
        counts = np.array([[row.get(name, 0) for name in columns] for row in votes], np.int64)
        counts = counts.reshape(len(votes), len(columns))
        if labels is None:  # what was declared is a label, whatever it sums to
            self._warn_of_sums(numbers, columns, counts)
        dropped = len(numbers.rows) - len(kept)
        left_out = {base.reason(dropped, numbers.unit, "a name"): dropped}
        # A line names only labels with votes.
        offered = [name for name in columns if name not in aside] if numbers.columns else None
        if columns and not (self.states or self.none_of_these):
            # Plain votes, as `gathered` would have them but for rows without names: in their order.
            order = range(len(names)) if numbers.numbered else np.argsort(names, kind="stable")
            known = list(columns if labels is None else labels)
            ordered = counts[list(order)]
            example, column = np.nonzero(ordered)
            return build_table(
                "single-label",
                examples=[names[row] for row in order],
                annotators=(),
                labels=known,
                response_example=example,
                response_annotator=np.full(example.size, -1),
                mention_response=np.arange(example.size),
                mention_label=np.array([known.index(name) for name in columns])[column],
                response_weight=ordered[example, column].astype(np.float64),
                labels_declared=labels is not None or offered is not None,
                left_out=left_out if dropped else {},
            )
        responses = (
            Response(
                example=names[row],
                annotator=None,
                answer=columns[column],
                weight=float(counts[row, column]),
                place=f"{kept[row].place}, column {columns[column]}",
            )
            for row, column in np.argwhere(counts).tolist()
        )
        return self.gathered(
            "single-label",
            responses,
            labels,
            source=numbers.source,
            examples=names,
            offered=offered,
            anonymous=True,
            left_out=left_out,
        )

    def _warn_of_sums(
        self, numbers: Numbers, names: Sequence[str], counts: NDArray[np.int64]
    ) -> None:
        """Warn where a column is the sum of two others or more: no label, but a total."""
        sums = (2 * counts == counts.sum(axis=1, keepdims=True)).all(axis=0) & counts.any(axis=0)
        if len(names) > 2 and sums.sum() == 1:
            name = names[int(sums.argmax())]
            what, found = f": column {quoted(name)} is the sum of the others", listed(names)
            hint = "write the file without it"
            if numbers.unit == "row":
                hint = base.as_argument(self.reader, ignore=[name])
            hint += ", if it is a total"
            base.warn_of(numbers.source, "column-of-sums", what, "labels only", found, hint)


def _is_text(cells: Sequence[str]) -> bool:
    """Return whether more than half of the cells are neither counts nor other numbers."""
    words = [cell for cell in cells if not COUNT.fullmatch(cell) and not _NO_COUNT.fullmatch(cell)]
    return 2 * len(words) > len(cells)


# ---- soft labels


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
    weight by label, or a list in the order of the declared labels. Weights need not sum to 1.

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

    reader = "soft-labels"
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
        taken = {*self._names(rows[0]), *self.ignore}
        if not taken <= {*rows[0]}:
            return False
        columns = [column for name, *column in zip(*rows, strict=True) if name not in taken]
        cells = [cell for column in columns for cell in column]
        return all(map(_NUMBER.fullmatch, cells)) and not all(map(COUNT.fullmatch, cells))

    def _names(self, header: Iterable[str]) -> tuple[str | None, str | None]:
        example = _first_of(_EXAMPLES, header) if self.example is None else self.example
        return example, _first_of(_ANNOTATORS, header) if self.annotator is None else self.annotator

    def name_columns(self, table: TextTable) -> tuple[str | None, str | None]:
        return self._names(table.header)

    def line_rows(self, lines: Lines, labels: base.Labels) -> list[Row]:
        who = self._names({key for _, _, entry in lines for key in entry})[1]
        wanted = _FIELDS if self.field is None else (self.field,)
        rows: list[Row] = []
        for line, name, entry in lines:
            place = f"line {counted(line)}"
            weights = entry.get(_first_of(wanted, entry) or "")
            if isinstance(weights, list):
                names = labels_in_order(len(weights), labels, "weight", f" {place}")
                weights = dict(zip(names, weights, strict=True))
            if not isinstance(weights, dict):
                expected = f"{listed(map(quoted, wanted))}: a weight by label, or a list of them"
                what = f" {place} holds no weights"
                raise base.key_missing(entry, self.reader, "field", what, expected)
            cells = {label: json_shown(weight) for label, weight in weights.items()}
            rows.append(Row(place, name, cells, key_text(line, entry, who) if who else None))
        return rows

    def table_of(self, numbers: Numbers, labels: base.Labels) -> AnnotationTable:
        self.check(numbers, labels)
        responses = [
            Response(
                example=row.example,
                annotator=row.annotator or None,
                answer=_weights(row),
                place=row.place,
            )
            for row in numbers.rows
        ]
        return self.gathered(
            "soft-label",
            responses,
            labels,
            source=numbers.source,
            offered=numbers.columns,
            anonymous=all(row.annotator is None for row in numbers.rows),
        )


def _weights(row: Row) -> dict[str, float]:
    """Return the weights of a row; one of 0 only names its label."""
    weights: dict[str, float] = {}
    for label, cell in row.cells.items():
        weight = float(cell) if _NUMBER.fullmatch(cell) else math.nan
        if not 0 <= weight < math.inf:
            raise unreadable(row, label, "a finite number, 0 or more, with a point for decimals")
        weights[label] = weight
    total = sum(weights.values())
    if not 0 < total < math.inf:
        what, expected = f" {row.place} gives no label any weight", "a weight above 0, a finite sum"
        raise base.refused("weights-zero", what, expected, f"a sum of {total:g}")
    return weights


def _is_spread(value: object) -> bool:
    weights = list(value.values()) if isinstance(value, dict) else base.items_of(value)
    return bool(weights) and all(isinstance(weight, JsonNumber) for weight in weights)


# ---- names, and where they stand


def first_object(head: bytes) -> base.Entry:
    """Return the object on the first line of a JSON Lines file; an empty one where it is none."""
    values = json_head(head)
    return base.entry_of(values[0]) if values else {}


def is_flat(head: bytes) -> bool:
    """Return whether the first object is a row of a table: nothing in it holds other values."""
    entry = first_object(head)
    return bool(entry) and not any(isinstance(value, (dict, list)) for value in entry.values())


def is_lines(path: Path) -> bool:
    """Return whether a file is JSON Lines by its ending, compressed or not."""
    return path.name.lower().removesuffix(".gz").endswith((".jsonl", ".ndjson"))


def named_objects(path: Path, reader: str, key: str | None) -> list[tuple[int, str, base.Entry]]:
    """Return line, name and object of every line; the name is empty where there is none.

    The name is under the key, or the first usual one that the first object has.
    """
    lines = base.lines_of(path)
    first, wanted = lines[0][1], EXAMPLE_KEYS if key is None else (key,)
    # ChaosNLI has an object called example, too.
    fit = [name for name in wanted if isinstance(first.get(name), str) or (key and name in first)]
    if not fit:
        expected = f"the key {listed(map(quoted, wanted), most=len(wanted))} in every object"
        raise base.key_missing(first, reader, "example", " names no example", expected)
    return [(line, key_text(line, entry, fit[0]), entry) for line, entry in lines]


def key_text(line: int, entry: base.Entry, key: str) -> str:
    """Return the name under a key of an object; empty where there is none."""
    value = entry.get(key)
    if value is not None and not isinstance(value, str):
        raise base.unlike(line, f"text or a number as {quoted(key)}", value)
    return str(value or "")


def labels_in_order(width: int, labels: base.Labels, noun: str, place: str = "") -> list[str]:
    if labels is not None and len(labels) == width:
        return list(labels)
    what, expected = f"{place} has {several(width, noun)}", f"names in the order of the {noun}s"
    if labels is not None:
        what += f" and {counted(len(labels))} labels"
        raise base.refused("names-count", what, expected, listed(labels), "name each once")
    hint = 'labels="labels.txt" (one name per line)'
    raise base.refused("labels-unnamed", f"{what} and no label names", expected, "", hint)


def check_names(
    names: Sequence[str], noun: Literal["example", "label"], places: Sequence[str] = ()
) -> None:
    """Raise an error unless every name is there once, and can be one."""
    first: dict[str, str] = {}
    for at, name in enumerate(names):
        place = places[at] if places else f"place {counted(at + 1)}"
        if not name or "\0" in name:
            what, expected = f" has no usable name of a {noun}", "text of one character or more"
            raise base.refused(f"{noun}-unnamed", what, expected, f"none at {place}")
        if name in first:
            what, found = f" names {base.short(name)} twice", f"{first[name]} and {place}"
            hint = "keep one, or rename it"
            raise base.refused(f"{noun}-twice", what, f"each {noun} once", found, hint)
        first[name] = place
