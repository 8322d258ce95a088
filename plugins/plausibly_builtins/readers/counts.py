"""Tables of counts: how many annotators gave each label to each example."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Literal

import attrs
import numpy as np
from numpy.typing import NDArray

from plausibly.plugin import AnnotationTable, build_table, counted, listed, quoted, several
from plausibly.plugin.readers import JsonNumber, NamedArray, Response, TextTable, json_shown, states
from plausibly_builtins.readers import base
from plausibly_builtins.readers.label_columns import (
    COUNT,
    EXAMPLE_KEYS,
    LabelColumns,
    check_columns,
    check_names,
    example_hint,
    first_object,
    is_lines,
    labels_of,
    named_objects,
)

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
            got = f"{values[row, column]}"
            raise base.refused("count-unreadable", what, "a whole number, 0 or more", got)
        columns = labels_of("counts", found, labels)
        places = [f"row {counted(row + 1)}" for row in range(len(values))]
        votes = values.astype(np.int64)
        return self._table(found.whose, labels, found.examples, columns, votes, places)

    def lines_content(self, path: Path, labels: base.Labels) -> AnnotationTable:
        every = named_objects(path, "counts", self.example, _DROP, unnamed=self.unnamed == "drop")
        found = {line: self._counts(line, entry) for line, name, entry in every if name}
        names = {line: name for line, name, _ in every if name}
        columns = sorted(set().union(*found.values()))
        values = [[counts.get(label, 0) for label in columns] for counts in found.values()]
        dropped = len(every) - len(names)
        return self._table(
            path.name,
            labels,
            list(names.values()),
            columns,
            np.array(values, np.int64).reshape(len(names), len(columns)),
            [f"line {counted(line)}" for line in names],
            left_out={base.reason(dropped, "line", "a name"): dropped},
            offered=False,
        )

    def _counts(self, line: int, entry: base.Entry) -> dict[str, int]:
        """Return the counts of an object; lists beside them have to be the same numbers."""
        counter, field = entry.get(self.field), self.field
        if not isinstance(counter, dict):
            what = f" line {counted(line)} holds no counts as {quoted(field)}"
            expected = 'an object of label and votes, such as {"cat": 3, "dog": 1}'
            got = json_shown(counter) if field in entry else listed(map(base.short, entry)) or "{}"
            do, seen = base.as_argument("counts", field="KEY"), list(entry)
            raise base.refused("key-missing", what, expected, got, do, line=line, seen=seen)
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
            numbers = [item.value for item in beside if isinstance(item, JsonNumber)]
            found = sorted(filter(None, numbers))
            same_size = len(found) == len(wanted) and len(numbers) == len(beside)
            if not same_size or any(
                abs(a - b) > margin for a, b in zip(found, wanted, strict=True)
            ):
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
        table.need(wrong, do="name that column in ignore")
        name = self._name_column(table, wrong)
        wrong.pop(name)
        _check_counts(table, wrong, name)
        names = table.column(name)
        if self.unnamed != "drop":
            base.check_named(table, names, _DROP)
        kept = [row for row, name in enumerate(names) if name]
        values = np.empty((len(kept), len(wrong)), np.int64)
        for place, column in enumerate(wrong):
            cells = table.column(column)
            number = {cell: _whole(cell) for cell in set(cells)}
            values[:, place] = [number[cells[row]] for row in kept]
        dropped = len(table) - len(kept)
        return self._table(
            table.whose,
            labels,
            [names[row] for row in kept],
            list(wrong),
            values,
            [table.place(row).removeprefix(f"{table.whose} ") for row in kept],
            left_out={base.reason(dropped, "row", "a name"): dropped},
            ignorable=True,
        )

    def _name_column(self, table: TextTable, wrong: Mapping[str, Sequence[int]]) -> str:
        wanted = self.example or ("example" if "example" in wrong else None)
        if wanted is not None:
            table.need([wanted], do=base.as_argument("counts", example="COLUMN"))
            if wanted in wrong:
                return wanted
        for name, rows in wrong.items():
            if _is_text(table.column(name), rows):
                return name
        do = example_hint("counts", table)
        raise base.columns_missing(table, "names of examples", "a column example", do)

    def _table(
        self,
        source: str,
        labels: base.Labels,
        names: list[str] | None,
        columns: list[str],
        values: NDArray[np.int64],
        places: list[str],
        *,
        left_out: Mapping[str, int] = MappingProxyType({}),
        offered: bool = True,
        ignorable: bool = False,
    ) -> AnnotationTable:
        """Return votes (example, column); examples by name, else in their order.

        `offered` says that the columns are all labels, in order, and `ignorable` that the option
        `ignore` leaves columns out.
        """
        check_names(columns, "label")
        check_names(names or [], "example", places)
        aside = self.none_of_these
        if states.policy(states.NONE_OF_THESE, "single-label", self.states) == states.COUNT:
            aside = ()
        own = [name for name in columns if name not in aside]
        if labels is not None:
            check_columns("counts", own, labels)
        else:  # what was declared is a label, whatever it sums to
            _warn_of_sums(source, columns, values, ignorable)
        examples = names or [str(row) for row in range(len(values))]
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
                labels_declared=labels is not None or offered,
                left_out={reason: count for reason, count in left_out.items() if count},
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
            whose=source,
            examples=examples,
            offered=own if offered else None,
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
        do = base.as_argument("counts", ignore=words)
        raise base.refused("columns-not-counts", what, expected, got, do, columns=words)
    cells = sorted((row, name) for name, rows in wrong.items() for row in rows)
    if cells:
        row, name = cells[0]
        cell = table.column(name)[row]
        got = quoted(cell) + (f" ({several(len(cells), 'such cell')})" if cells[1:] else "")
        where = table.place(row).removeprefix(table.whose)
        what = f"{where}, column {quoted(name)} is not a number of votes"
        do, lines = base.AGAIN, sorted({table.lines[at] for at, _ in cells})
        if "." in cell:
            do = base.as_argument("soft-labels", example=named) + ", if these are shares"
        expected = "a whole number, 0 or more, without signs or commas"
        raise base.refused("count-unreadable", what, expected, got, do, lines=lines)
    if not wrong:
        expected = "one column that names the examples, then one per label"
        raise base.columns_missing(table, "counts", expected, "add one column per label")


def _warn_of_sums(
    source: str, columns: Sequence[str], values: NDArray[np.int64], ignorable: bool
) -> None:
    """Warn where a column is the sum of two others or more: no label, but a total."""
    total = values.sum(axis=1, keepdims=True)
    sums = (2 * values == total).all(axis=0) & values.any(axis=0)
    if len(columns) < 3 or sums.sum() != 1:
        return
    name = columns[int(sums.argmax())]
    do = f"write the file without {quoted(name)}"
    if ignorable:
        do = base.as_argument("counts", ignore=[name])
    what, got = f": column {quoted(name)} is the sum of the others", listed(map(quoted, columns))
    do, error = f"{do}, if it is a total", "column-of-sums"
    base.warn_of(source, error, what, "labels only", f"columns {got}", do, columns=[name])


def _has_array(path: Path, name: str) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return f"{name}.npy" in archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return False
