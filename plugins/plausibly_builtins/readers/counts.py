"""Tables of counts: how many annotators gave each label to each example."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import attrs
import numpy as np

from plausibly.plugin import (
    AnnotationTable,
    Response,
    ResponseOptions,
    TextTable,
    build_table,
    first_rows,
    read_table,
    states,
)
from plausibly_builtins.readers._counts_arrays import from_arrays
from plausibly_builtins.readers._counts_json import from_lines, has_counter
from plausibly_builtins.readers._counts_text import (
    COUNT,
    EXAMPLE,
    Counted,
    check_columns,
    from_text,
)
from plausibly_builtins.readers._names import check_names

_VOTES = (frozenset({"task", "worker", "label"}), frozenset({"example", "annotator", "label"}))
_LINES = frozenset({".jsonl", ".ndjson"})


@attrs.frozen(kw_only=True)
class Counts(ResponseOptions):
    """Read votes that were counted: one row an example, one column a label.

    Who voted is unknown; each count becomes one response that counts so many times. An example
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

    example: str | None = None
    ignore: tuple[str, ...] = ()
    unnamed: Literal["error", "drop"] = "error"
    array: str = "counts"
    field: str = "label_counter"

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether the file is a two-dimensional array or a table of counts."""
        if head.startswith(b"\x93NUMPY"):
            whole = any(mark in head[:128] for mark in (b"'<i", b"'|i", b"'<u", b"'|u"))
            return whole and path.suffix.lower() == ".npy"
        if head.startswith(b"PK"):
            return _has_array(path, self.array)
        if path.suffix.lower() in _LINES:
            return has_counter(head, self.field)
        rows = first_rows(path, head)
        if (
            len(rows) < 2
            or any(set(rows[0]) >= row for row in _VOTES)
            or len({len(row) for row in rows}) > 1
        ):
            return False
        names = [name for name in rows[0] if name not in self.ignore]
        if self.example is None and EXAMPLE not in names and any(map(COUNT.fullmatch, names)):
            return False  # numbers in the first row: nobody says that it is a header
        counts = [
            name
            for name, *cells in zip(*rows, strict=True)
            if name in names and all(map(COUNT.fullmatch, cells))
        ]
        return len(counts) >= 2 and len(counts) == len(names) - 1

    def read(self, path: Path, labels: Sequence[str] | None) -> AnnotationTable:
        """Return the annotation table in the file.

        Parameters
        ----------
        path : Path
            The file: npy, npz, CSV, TSV, Parquet, or JSON Lines (.jsonl).
        labels : sequence of str or None
            The declared labels; needed, in column order, where the file names none.

        Raises
        ------
        InputError
            ``labels-unnamed``, ``names-count``, ``label-unknown``, ``columns-missing``,
            ``columns-not-counts``, ``count-unreadable`` with the line, ``example-unnamed``,
            ``example-twice``, ``key-missing``, ``line-unlike``, ``counts-differ`` where lists
            beside the counts say something else, and those of the file readers.
        """
        ending = path.suffix.lower()
        if ending in {".npy", ".npz"}:
            return self._table(from_arrays(path, self.array, labels), labels, path.name)
        if ending in _LINES:
            found = from_lines(path, example=self.example, field=self.field, unnamed=self.unnamed)
            return self._table(found, labels, path.name)
        return self.from_table(read_table(path, role="annotations"), labels)

    def from_table(self, table: TextTable, labels: Sequence[str] | None) -> AnnotationTable:
        """Return the annotation table of columns of text; see `read`."""
        found = from_text(
            table.seen(), example=self.example, ignore=self.ignore, unnamed=self.unnamed
        )
        return self._table(found, labels, table.whose)

    def _table(self, found: Counted, labels: Sequence[str] | None, whose: str) -> AnnotationTable:
        """Return the table; examples by name, else in their order."""
        check_names(whose, found.columns, "label")
        check_names(whose, found.examples or [], "example")
        aside = self.none_of_these
        if states.policy(states.NONE_OF_THESE, "single-label", self.states) == states.COUNT:
            aside = ()
        offered = [name for name in found.columns if name not in aside]
        if labels is not None:
            check_columns(whose, offered, labels)
        if found.columns and not (self.states or self.none_of_these):
            return _table(found, labels)
        return self.gathered(
            "single-label",
            _responses(found),
            labels,
            whose=whose,
            examples=_examples(found),
            offered=offered if found.offered else None,
            anonymous=True,
            left_out=found.left_out,
        )


def _examples(found: Counted) -> list[str]:
    return found.examples or [str(row) for row in range(len(found.values))]


def _responses(found: Counted) -> Iterator[Response]:
    names = _examples(found)
    for row, column in np.argwhere(found.values).tolist():
        yield Response(
            example=names[row],
            annotator=None,
            answer=found.columns[column],
            weight=float(found.values[row, column]),
            place=f"{found.places[row]}, column {found.columns[column]}",
        )


def _table(found: Counted, labels: Sequence[str] | None) -> AnnotationTable:
    """Return the table of plain votes, as `gathered` would, without an object for each."""
    examples, values = _examples(found), found.values
    if found.examples is not None:
        order = sorted(range(len(examples)), key=examples.__getitem__)
        examples, values = [examples[row] for row in order], values[order]
    known = list(found.columns if labels is None else labels)
    place = np.array([known.index(name) for name in found.columns], np.int64)
    example, column = np.nonzero(values)
    return build_table(
        "single-label",
        examples=examples,
        annotators=(),
        labels=known,
        response_example=example,
        response_annotator=np.full(example.size, -1),
        mention_response=np.arange(example.size),
        mention_label=place[column],
        response_weight=values[example, column],
        labels_declared=labels is not None or found.offered,
        left_out={reason: count for reason, count in found.left_out.items() if count},
    )


def _has_array(path: Path, name: str) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return f"{name}.npy" in archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return False
