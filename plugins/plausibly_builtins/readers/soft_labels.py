"""Soft labels: a weight for each label, by example and annotator."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import attrs

from plausibly.plugin import (
    AnnotationTable,
    JsonNumber,
    Response,
    ResponseOptions,
    TextTable,
    file_opening,
    first_rows,
    from_npy,
    from_npz,
    read_table,
)
from plausibly_builtins.readers._counts_arrays import columns_of
from plausibly_builtins.readers._counts_json import first_object, is_flat, is_lines
from plausibly_builtins.readers._counts_text import COUNT, check_columns
from plausibly_builtins.readers._names import check_names
from plausibly_builtins.readers._soft_rows import (
    NUMBER,
    Spread,
    from_array,
    from_lines,
    from_text,
    name_columns,
)

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
        """Return whether there are annotators and weights that are not all whole numbers.

        Or, in JSON Lines, the key of a distribution and no counts.
        """
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
        """Return the annotation table in the file.

        Parameters
        ----------
        path : Path
            The file: CSV, TSV, Parquet, npy, npz, or JSON Lines (.jsonl).
        labels : sequence of str or None
            The declared labels; needed, in order, where the file names none.

        Raises
        ------
        InputError
            ``weights-invalid`` where a weight is negative, no number, or not finite,
            ``weights-zero`` where all are 0, each with its row; ``columns-missing``,
            ``labels-unnamed``, ``names-count``, ``label-unknown``, ``example-unnamed``,
            ``key-missing``, ``line-unlike``, ``response-twice``, and those of the file readers.

        Warns
        -----
        PlausiblyWarning
            ``annotators-unnamed`` where a column of annotators has empty cells.
        """
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
