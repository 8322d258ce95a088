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
    file_opening,
    listed,
    quoted,
    read_table,
    states,
    warn,
)
from plausibly_builtins.readers._counts_arrays import from_arrays
from plausibly_builtins.readers._counts_json import from_lines, has_counter, is_flat, is_lines
from plausibly_builtins.readers._counts_text import Counted, check_columns, from_text
from plausibly_builtins.readers._names import check_names


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
        """Return whether the file says that it holds counts, by an array or a key of that name.

        Whole numbers alone may be answers as well: a table of them is read by the name of the
        reader only.
        """
        if head.startswith(b"PK"):
            return _has_array(path, self.array)
        return is_lines(path) and has_counter(head, self.field)

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

        Warns
        -----
        PlausiblyWarning
            ``column-of-sums`` where a column that nobody declared holds the sum of the others.
        """
        ending = path.suffix.lower()
        if ending in {".npy", ".npz"}:
            return self._table(from_arrays(path, self.array, labels), labels, path.name)
        if is_lines(path) and not is_flat(file_opening(path, "annotations")):
            found = from_lines(path, example=self.example, field=self.field, unnamed=self.unnamed)
            return self._table(found, labels, path.name)
        return self.from_table(read_table(path, role="annotations"), labels)

    def from_table(self, table: TextTable, labels: Sequence[str] | None) -> AnnotationTable:
        """Return the annotation table of columns of text; see `read`."""
        found = from_text(
            table.seen(), example=self.example, ignore=self.ignore, unnamed=self.unnamed
        )
        return self._table(found, labels, table.whose, ignorable=True)

    def _table(
        self, found: Counted, labels: Sequence[str] | None, whose: str, *, ignorable: bool = False
    ) -> AnnotationTable:
        """Return the table; examples by name, else in their order."""
        check_names(whose, found.columns, "label")
        check_names(whose, found.examples or [], "example")
        aside = self.none_of_these
        if states.policy(states.NONE_OF_THESE, "single-label", self.states) == states.COUNT:
            aside = ()
        offered = [name for name in found.columns if name not in aside]
        if labels is not None:
            check_columns(whose, offered, labels)
        else:  # what was declared is a label, whatever it sums to
            _warn_of_sums(found, whose, ignorable)
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


def _warn_of_sums(found: Counted, whose: str, ignorable: bool) -> None:
    """Warn where a column is the sum of two others or more: no label, but a total."""
    total = found.values.sum(axis=1, keepdims=True)
    sums = (2 * found.values == total).all(axis=0) & found.values.any(axis=0)
    if len(found.columns) < 3 or sums.sum() != 1:
        return
    name = found.columns[int(sums.argmax())]
    warn(
        "column-of-sums",
        f"{whose}: column {quoted(name)} is the sum of the others in every row",
        expected="one column a label",
        got=f"columns {listed(map(quoted, found.columns))}",
        do=f'--reader \'{{name = "counts", ignore = ["{name}"]}}\', if it is a total'
        if ignorable
        else f"write the file without {quoted(name)}, if it is a total",
        whose=whose,
        details={"columns": [name]},
        stacklevel=6,
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
