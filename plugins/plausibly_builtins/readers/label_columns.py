"""A number for each label: counted votes, and soft labels; tables, arrays and JSON Lines."""

from __future__ import annotations

import math
import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from pathlib import Path
from typing import Final, Literal

import attrs
import numpy as np
from numpy.typing import NDArray

from plausibly.plugin import AnnotationTable, build_table, counted, listed, near, quoted, several
from plausibly.plugin.readers import (
    JsonNumber,
    NamedArray,
    Response,
    TextTable,
    check_named,
    file_opening,
    first_rows,
    from_npy,
    from_npz,
    json_head,
    json_shown,
    names_examples,
    states,
)
from plausibly_builtins.readers import base

COUNT: Final = re.compile(r"(0|[1-9][0-9]{0,14})(\.0+)?")
"""A number of votes: programs write whole numbers as 2.0 too."""

EXAMPLE_KEYS: Final = ("example", "uid", "id", "text_id", "pairID")
"""Keys that name an example, the first that is there."""


@attrs.frozen(kw_only=True)
class LabelColumns(base.TableExport):
    """Base of formats with a number for each label, in a table, an array or JSON Lines."""

    example: str | None = None
    ignore: tuple[str, ...] = ()
    array: str = ""

    def array_content(self, found: NamedArray, labels: base.Labels) -> AnnotationTable:
        raise NotImplementedError(type(self).__name__)

    def lines_content(self, path: Path, labels: base.Labels) -> AnnotationTable:
        raise NotImplementedError(type(self).__name__)

    def check_rows(self, table: TextTable) -> None:
        """Raise an error unless the table has rows, and the columns that are ignored."""
        table.need(self.ignore, hint="name columns of the file in ignore")
        if not len(table):
            expected, got = "one row per example", "a header and no rows"
            raise base.refused("file-empty", " is empty", expected, got)

    def content(self, path: Path, labels: base.Labels) -> AnnotationTable:
        if path.suffix.lower() == ".npy":
            return self.array_content(from_npy(path, "annotations"), labels)
        if path.suffix.lower() == ".npz":
            return self.array_content(from_npz(path, "annotations", (self.array,)), labels)
        if is_lines(path) and not is_flat(file_opening(path, "annotations")):
            return self.lines_content(path, labels)
        return super().content(path, labels)


# ---- counted votes


_MOST = 2**53  # whole numbers that a float64 weight holds exactly
_ROUNDED = 0.005  # shares may be written with two decimals
_DROP = "name it, or " + base.as_argument("counts", unnamed="drop") + " (recorded)"
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

    unnamed: Literal["error", "drop"] = "error"
    array: str = "counts"
    field: str = "label_counter"

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether the file says that it holds counts, by an array or a key of that name."""
        if head.startswith(b"PK"):
            return _has_array(path, self.array)
        entry = first_object(head) if is_lines(path) else {}
        found = entry.get(self.field)
        return (
            isinstance(found, dict)
            and any(isinstance(entry.get(key), str) for key in EXAMPLE_KEYS)
            and all(isinstance(n, JsonNumber) and COUNT.fullmatch(n) for n in found.values())
        )

    def array_content(self, found: NamedArray, labels: base.Labels) -> AnnotationTable:
        values = found.values
        fit = np.isfinite(values) & (values >= 0) & (values == np.floor(values)) & (values < _MOST)
        if not fit.all():
            row, column = (int(index) for index in np.argwhere(~fit)[0])
            what = f" row {counted(row + 1)}, column {column + 1} is not a number of votes"
            got, expected = f"{values[row, column]}", "a whole number, 0 or more"
            raise base.refused("count-unreadable", what, expected, got)
        columns = labels_of("counts", found, labels)
        places = [f"row {counted(row + 1)}" for row in range(len(values))]
        votes = values.astype(np.int64)
        return self._table(found.source, "array", labels, found.examples, columns, votes, places)

    def lines_content(self, path: Path, labels: base.Labels) -> AnnotationTable:
        every = named_objects(path, "counts", self.example, _DROP, unnamed=self.unnamed == "drop")
        names = [name for _, name, _ in every if name]
        counts = {line: self._counts(line, entry) for line, name, entry in every if name}
        columns = sorted(set().union(*counts.values()))
        rows = [[of_line.get(label, 0) for label in columns] for of_line in counts.values()]
        votes = np.array(rows, np.int64).reshape(len(names), len(columns))
        places, dropped = [f"line {counted(line)}" for line in counts], len(every) - len(names)
        return self._table(path.name, "lines", labels, names, columns, votes, places, dropped)

    def _counts(self, line: int, entry: base.Entry) -> dict[str, int]:
        """Return the counts of an object; lists beside them have to be the same numbers."""
        counter, field = entry.get(self.field), self.field
        if not isinstance(counter, dict):
            what = f" line {counted(line)} holds no counts as {quoted(field)}"
            expected = 'an object of label and votes, such as {"cat": 3, "dog": 1}'
            got = json_shown(counter) if field in entry else listed(map(base.short, entry)) or "{}"
            hint, seen = base.as_argument("counts", field="KEY"), list(entry)
            raise base.refused("key-missing", what, expected, got, hint, line=line, seen=seen)
        for label, number in counter.items():
            if not (isinstance(number, JsonNumber) and COUNT.fullmatch(number) and label):
                what = f", {field}: no number of votes for {base.short(label)}"
                expected = "a whole number, 0 or more, for each label with a name"
                got = json_shown(number)
                raise base.line_refused(line, "count-unreadable", what, expected, got)
        counts = {label: _whole(number) for label, number in counter.items()}
        total, sizes = sum(counts.values()), sorted(filter(None, counts.values()))
        shares = [count / max(total, 1) for count in sizes]
        for key, wanted, margin in (("label_count", sizes, 0.0), ("label_dist", shares, _ROUNDED)):
            beside = entry.get(key)
            if field == key or not isinstance(beside, list):
                continue
            # What is no number agrees with nothing.
            every = [item.value if isinstance(item, JsonNumber) else math.inf for item in beside]
            there = sorted(filter(None, every))
            pairs = zip(there, wanted, strict=False)
            if len(there) != len(wanted) or any(abs(a - b) > margin for a, b in pairs):
                what, expected = f": {key} is not what {field} says", f"{several(total, 'vote')}"
                raise base.line_refused(line, "counts-differ", what, expected, json_shown(beside))
        return counts

    def table_content(self, table: TextTable, labels: base.Labels) -> AnnotationTable:
        self.check_rows(table)
        wrong: dict[str, list[int]] = {}
        for name, cells in zip(table.header, table.columns, strict=True):
            if name not in self.ignore:
                odd = {cell for cell in set(cells) if not COUNT.fullmatch(cell)}
                wrong[name] = [row for row, cell in enumerate(cells) if cell in odd] if odd else []
        table.need(wrong, hint="name that column in ignore")
        name = self._name_column(table, wrong)
        wrong.pop(name)
        _check_counts(table, wrong, name)
        names = table.column(name)
        if self.unnamed != "drop":
            check_named(table, name, "example", _DROP)
        kept = [row for row, name in enumerate(names) if name]
        votes = np.empty((len(kept), len(wrong)), np.int64)
        for place, column in enumerate(wrong):
            cells = table.column(column)
            number = {cell: _whole(cell) for cell in set(cells)}
            votes[:, place] = [number[cells[row]] for row in kept]
        places = [table.place(row).removeprefix(f"{table.source} ") for row in kept]
        names, dropped = [names[row] for row in kept], len(names) - len(kept)
        return self._table(
            table.source, "table", labels, names, list(wrong), votes, places, dropped
        )

    def _name_column(self, table: TextTable, wrong: Mapping[str, Sequence[int]]) -> str:
        wanted = self.example or ("example" if "example" in wrong else None)
        if wanted is not None:
            table.need([wanted], hint=base.as_argument("counts", example="COLUMN"))
            if wanted in wrong:
                return wanted
        for name, rows in wrong.items():
            if _is_text(table.column(name), rows):
                return name
        hint = example_hint("counts", table)
        raise base.columns_missing(table, "names of examples", "a column example", hint)

    def _table(
        self,
        source: str,
        form: Literal["array", "lines", "table"],
        labels: base.Labels,
        names: list[str] | None,
        columns: list[str],
        values: NDArray[np.int64],
        places: list[str],
        dropped: int = 0,
    ) -> AnnotationTable:
        """Return the table of votes (example, column); examples by name, else in their order."""
        check_names(columns, "label")
        check_names(names or [], "example", places)
        aside = self.none_of_these
        if states.policy(states.NONE_OF_THESE, "single-label", self.states) == states.COUNT:
            aside = ()
        own = [name for name in columns if name not in aside]
        if labels is not None:
            check_columns("counts", own, labels)
        else:  # what was declared is a label, whatever it sums to
            _warn_of_sums(source, columns, values, form)
        examples = names or [str(row) for row in range(len(values))]
        left_out = {base.reason(dropped, "line" if form == "lines" else "row", "a name"): dropped}
        offered = None if form == "lines" else own  # a line names only labels with votes
        if columns and not (self.states or self.none_of_these):
            # Plain votes, as `gathered` would have them, without an object for each.
            if names is not None:
                order = sorted(range(len(names)), key=names.__getitem__)
                examples, values = [names[row] for row in order], values[order]
            known = list(columns if labels is None else labels)
            example, column = np.nonzero(values)
            return build_table(
                "single-label",
                examples=examples,
                annotators=(),
                labels=known,
                response_example=example,
                response_annotator=np.full(example.size, -1),
                mention_response=np.arange(example.size),
                mention_label=np.array([known.index(name) for name in columns])[column],
                response_weight=values[example, column],
                labels_declared=labels is not None or offered is not None,
                left_out=left_out if dropped else {},
            )
        responses = (
            Response(
                example=examples[row],
                annotator=None,
                answer=columns[column],
                weight=float(values[row, column]),
                place=f"{places[row]}, column {columns[column]}",
            )
            for row, column in np.argwhere(values).tolist()
        )
        return self.gathered(
            "single-label",
            responses,
            labels,
            source=source,
            examples=examples,
            offered=offered,
            anonymous=True,
            left_out=left_out,
        )


def _whole(cell: str) -> int:
    return int(cell.partition(".")[0])


def _is_text(cells: Sequence[str], wrong: Sequence[int]) -> bool:
    return 2 * sum(not _NO_COUNT.fullmatch(cells[row]) for row in wrong) > len(cells)


def _check_counts(table: TextTable, wrong: Mapping[str, list[int]], named: str) -> None:
    """Raise an error unless every column that is left holds counts and nothing else."""
    words = [name for name, rows in wrong.items() if _is_text(table.column(name), rows)]
    if words:
        what = f" holds no counts in column{'s' * (len(words) > 1)} {listed(map(quoted, words))}"
        expected = "one column that names the examples, then counts"
        got = f"{quoted(table.column(words[0])[wrong[words[0]][0]])} and the like"
        hint = base.as_argument("counts", ignore=words)
        raise base.refused("columns-not-counts", what, expected, got, hint, columns=words)
    cells = sorted((row, name) for name, rows in wrong.items() for row in rows)
    if cells:
        row, name = cells[0]
        cell = table.column(name)[row]
        got = quoted(cell) + (f" ({several(len(cells), 'such cell')})" if cells[1:] else "")
        where = table.place(row).removeprefix(table.source)
        what = f"{where}, column {quoted(name)} is not a number of votes"
        hint, lines = base.AGAIN, sorted({table.lines[at] for at, _ in cells})
        if "." in cell:
            hint = base.as_argument("soft-labels", example=named) + ", if these are shares"
        expected = "a whole number, 0 or more, without signs or commas"
        raise base.refused("count-unreadable", what, expected, got, hint, lines=lines)
    if not wrong:
        expected = "one column that names the examples, then one per label"
        raise base.columns_missing(table, "counts", expected, "add one column per label")


def _warn_of_sums(
    source: str, columns: Sequence[str], values: NDArray[np.int64], form: str
) -> None:
    """Warn where a column is the sum of two others or more: no label, but a total."""
    total = values.sum(axis=1, keepdims=True)
    sums = (2 * values == total).all(axis=0) & values.any(axis=0)
    if len(columns) < 3 or sums.sum() != 1:
        return
    name = columns[int(sums.argmax())]
    hint = f"write the file without {quoted(name)}"
    if form == "table":
        hint = base.as_argument("counts", ignore=[name])
    what, got = f": column {quoted(name)} is the sum of the others", listed(map(quoted, columns))
    hint, error = f"{hint}, if it is a total", "column-of-sums"
    base.warn_of(source, error, what, "labels only", f"columns {got}", hint, columns=[name])


def _has_array(path: Path, name: str) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return f"{name}.npy" in archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return False


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
        cells = (dict(zip(columns, map(repr, row), strict=True)) for row in values)
        rows = zip(names, repeat(""), places, cells, strict=False)
        return self._gathered(found.source, rows, columns, labels, anonymous=True)

    def table_content(self, table: TextTable, labels: base.Labels) -> AnnotationTable:
        self.check_rows(table)
        examples, annotators = self._name_columns(table.header)
        if examples is None:
            hint = example_hint("soft-labels", table)
            raise base.columns_missing(table, "names of examples", "a column example", hint)
        wanted = [name for name in (examples, annotators) if name is not None]
        columns = [name for name in table.header if name not in (*wanted, *self.ignore)]
        typed = base.as_argument("soft-labels", ignore=["COLUMN"])
        table.need([*wanted, *columns], hint=f"{typed}, with columns that are there")
        if not columns:
            expected = "names of examples, then one column per label"
            raise base.columns_missing(table, "weights", expected, "add one per label")
        names = table.column(examples)
        check_named(table, examples, "example")
        people = [""] * len(table) if annotators is None else table.column(annotators)
        places = [table.place(row).removeprefix(f"{table.source} ") for row in range(len(table))]
        every = zip(*map(table.column, columns), strict=True)
        cells = (dict(zip(columns, row, strict=True)) for row in every)
        rows = zip(names, people, places, cells, strict=True)
        anonymous = annotators is None
        return self._gathered(table.source, rows, columns, labels, anonymous=anonymous)

    def _name_columns(self, header: Sequence[str]) -> tuple[str | None, str | None]:
        """Return the columns of examples and annotators; None where there is none."""
        example = _first_of(_EXAMPLES, header) if self.example is None else self.example
        return example, _first_of(_ANNOTATORS, header) if self.annotator is None else self.annotator

    def lines_content(self, path: Path, labels: base.Labels) -> AnnotationTable:
        entries = named_objects(path, "soft-labels", self.example)
        keys = {key for _, _, entry in entries for key in entry}
        who = _first_of(_ANNOTATORS, keys) if self.annotator is None else self.annotator
        rows = (
            (
                name,
                "" if who is None else key_text(line, entry, who),
                f"line {counted(line)}",
                self._cells(line, entry, labels),
            )
            for line, name, entry in entries
        )
        return self._gathered(path.name, rows, None, labels, anonymous=who is None)

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
            hint, seen = base.as_argument("soft-labels", field="KEY"), list(entry)
            raise base.refused("key-missing", what, expected, got, hint, line=line, seen=seen)
        return {label: json_shown(weight) for label, weight in found.items()}

    def _gathered(
        self,
        source: str,
        rows: Iterable[tuple[str, str, str, Mapping[str, str]]],
        columns: Sequence[str] | None,
        labels: base.Labels,
        *,
        anonymous: bool,
    ) -> AnnotationTable:
        """Return the table of rows: example, annotator, place, and weight by label."""
        responses = [
            Response(
                example=name, annotator=who or None, answer=_weights(place, cells), place=place
            )
            for name, who, place, cells in rows
        ]
        check_names(columns or [], "label")
        if labels is not None and columns is not None:
            check_columns("soft-labels", columns, labels)
        return self.gathered(
            "soft-label", responses, labels, source=source, offered=columns, anonymous=anonymous
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


def named_objects(
    path: Path, reader: str, key: str | None, hint: str = base.AGAIN, *, unnamed: bool = False
) -> list[tuple[int, str, base.Entry]]:
    """Return line, name and object of every line; without a name only where that may be.

    The name is under the key, or the first usual one that the first object has.
    """
    found = base.objects(path)
    first, wanted = found[0][1], EXAMPLE_KEYS if key is None else (key,)
    # ChaosNLI has an object called example, too.
    fit = [name for name in wanted if isinstance(first.get(name), str) or (key and name in first)]
    if not fit:
        expected = f"the key {listed(map(quoted, wanted), most=len(wanted))} in every object"
        got = listed(map(base.short, first)) or "an empty object"
        hint, seen = base.as_argument(reader, example="KEY"), list(first)
        raise base.refused("key-missing", " names no example", expected, got, hint, seen=seen)
    named = [(line, key_text(line, entry, fit[0]), entry) for line, entry in found]
    lines = [line for line, name, _ in named if not name]
    if lines and not unnamed:
        what = f" names no example in line{'s' if len(lines) > 1 else ''} "
        what += listed(map(counted, lines))
        raise base.refused(
            "example-unnamed", what, "a name in every line", "none", hint, lines=lines
        )
    return named


def key_text(line: int, entry: base.Entry, key: str) -> str:
    """Return the name under a key of an object; empty where there is none."""
    value = entry.get(key)
    if value is not None and not isinstance(value, str):
        what, got = f" holds no name as {quoted(key)}", json_shown(value)
        raise base.line_refused(line, "example-unnamed", what, "text or a number", got)
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


def labels_of(reader: str, found: NamedArray, labels: base.Labels) -> list[str]:
    if found.labels is None:
        return labels_in_order(found.values.shape[1], labels, "column")
    if labels is not None:
        check_columns(reader, found.labels, labels)
    return found.labels


def check_columns(reader: str, columns: Sequence[str], labels: Sequence[str]) -> None:
    outside = [name for name in columns if name not in labels]
    if outside:
        meant = near(outside[0], [name for name in labels if name not in columns])
        what = f" has numbers for {listed(map(quoted, outside))}"
        expected = f"columns among the {several(len(labels), 'declared label')}"
        got = f"{several(len(outside), 'column')} besides"
        hint = base.as_argument(reader, ignore=outside)
        hint = f"did you mean {quoted(meant)}? fix it, or {hint}" if meant else hint
        raise base.refused("label-unknown", what, expected, got, hint, labels=outside)


def example_hint(reader: str, table: TextTable) -> str:
    """Return what to do where no column is known to name the examples."""
    name = next((n for n in table.header if names_examples(n, table.column(n))), None)
    if name is None:
        return "add a column example with their names"
    return base.as_argument(reader, example=name) + ", if that column does"


def check_names(
    names: Sequence[str], noun: Literal["example", "label"], places: Sequence[str] = ()
) -> None:
    """Raise an error unless every name is there once, and can be one."""

    def place(at: int) -> str:
        return places[at] if places else f"place {counted(at + 1)}"

    again = [name for name, count in Counter(names).items() if count > 1]
    if again:
        first, second, *_ = (at for at, name in enumerate(names) if name == again[0])
        others = f", and {several(len(again) - 1, 'other name')} again" if again[1:] else ""
        what = f" names the {noun} {base.short(again[0])} twice"
        got = f"{place(first)} and {place(second)}{others}"
        hint, details = "keep one, or rename it", {f"{noun}s": again}
        raise base.refused(f"{noun}-twice", what, "each name once", got, hint, **details)
    unfit = [at for at, name in enumerate(names) if not name or "\0" in name]
    if unfit:
        what = f" has {several(len(unfit), noun)} without a usable name"
        expected = "text with at least one character, and no NUL"
        raise base.refused(f"{noun}-unnamed", what, expected, f"none at {place(unfit[0])}")
