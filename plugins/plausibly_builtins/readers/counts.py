"""Tables of counts: how many annotators gave each label to each example."""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import attrs
import numpy as np
from numpy.typing import NDArray

from plausibly.plugin import (
    AnnotationTable,
    InputError,
    NamedArray,
    TextTable,
    build_table,
    counted,
    first_rows,
    from_npy,
    from_npz,
    listed,
    near,
    quoted,
    read_table,
    several,
)

_COUNT = re.compile(r"(0|[1-9][0-9]{0,14})(\.0+)?")
_EXAMPLE = "example"
_MOST = 2**53  # whole numbers that a float64 weight holds exactly
_VOTES = (frozenset({"task", "worker", "label"}), frozenset({"example", "annotator", "label"}))


@attrs.frozen(kw_only=True)
class Counts:
    """Read votes that were counted: one row an example, one column a label.

    Who voted is unknown; each count becomes one response that counts so many times.

    Attributes
    ----------
    example : str or None
        Column that names the examples; None takes ``example``, else the first column that is not of
        counts.
    ignore : tuple of str
        Columns that are neither the names nor a label.
    unnamed : {"error", "drop"}
        What to do with rows without a name; dropped ones are counted.
    array : str
        Array of an npz file. Names are taken from its arrays ``labels``, ``label_names`` or
        ``class_names``, and ``examples`` or ``names``.
    """

    example: str | None = None
    ignore: tuple[str, ...] = ()
    unnamed: Literal["error", "drop"] = "error"
    array: str = "counts"

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether the file is a two-dimensional array or a table of counts."""
        if head.startswith(b"\x93NUMPY"):
            whole = any(mark in head[:128] for mark in (b"'<i", b"'|i", b"'<u", b"'|u"))
            return whole and path.suffix.lower() == ".npy"
        if head.startswith(b"PK"):
            return _has_array(path, self.array)
        rows = first_rows(path, head)
        if (
            len(rows) < 2
            or any(set(rows[0]) >= row for row in _VOTES)
            or len({len(row) for row in rows}) > 1
        ):
            return False
        names = [name for name in rows[0] if name not in self.ignore]
        if self.example is None and _EXAMPLE not in names and any(map(_COUNT.fullmatch, names)):
            return False  # numbers in the first row: nobody says that it is a header
        counts = [
            name
            for name, *cells in zip(*rows, strict=True)
            if name in names and all(map(_COUNT.fullmatch, cells))
        ]
        return len(counts) >= 2 and len(counts) == len(names) - 1

    def read(self, path: Path, labels: Sequence[str] | None) -> AnnotationTable:
        """Return the annotation table in the file.

        Parameters
        ----------
        path : Path
            The file: npy, npz, CSV, TSV or Parquet.
        labels : sequence of str or None
            The declared labels; needed, in column order, where the file names none.

        Raises
        ------
        InputError
            ``labels-unnamed``, ``names-count``, ``label-unknown``, ``columns-missing``,
            ``columns-not-counts``, ``count-unreadable`` with the line, ``example-unnamed``,
            ``example-twice``, and those of the file readers.
        """
        ending = path.suffix.lower()
        if ending in {".npy", ".npz"}:
            found = (
                from_npy(path, "annotations")
                if ending == ".npy"
                else from_npz(path, "annotations", (self.array,))
            )
            return _table(found.examples, _whole(found), _columns(found, labels), labels)
        table = read_table(path, role="annotations")
        return self._from_text(table, labels)

    def _from_text(self, table: TextTable, labels: Sequence[str] | None) -> AnnotationTable:
        table.need(self.ignore, do="name columns of the file in ignore")
        if not len(table):
            raise InputError(
                "file-empty",
                f"{table.whose} is empty",
                expected="one row an example",
                got="a header and no rows",
                do="write it again, or name another file",
                whose=table.whose,
            )
        wrong = {
            name: [row for row, cell in enumerate(cells) if not _COUNT.fullmatch(cell)]
            for name, cells in zip(table.header, table.columns, strict=True)
            if name not in self.ignore
        }
        name = self._name_column(table, wrong)
        wrong.pop(name)
        _check_counts(table, wrong)
        columns = list(wrong)
        if labels is not None:
            _check_labels(table.whose, columns, labels)
        names = table.column(name)
        kept = _kept(table, names, self.unnamed)
        values = np.array(
            [[_count(table.column(column)[row]) for column in columns] for row in kept], np.int64
        ).reshape(len(kept), len(columns))
        examples = [names[row] for row in kept]
        _check_once(table, examples, kept)
        dropped = {"rows without a name": len(table) - len(kept)}
        return _table(examples, values, columns, labels, dropped)

    def _name_column(self, table: TextTable, wrong: dict[str, list[int]]) -> str:
        wanted = self.example or (_EXAMPLE if _EXAMPLE in wrong else None)
        if wanted is not None:
            table.need([wanted], do='--reader \'{name = "counts", example = "COLUMN"}\'')
            if wanted in wrong:
                return wanted
        for name, rows in wrong.items():
            if _is_text(table, rows):
                return name
        raise InputError(
            "columns-missing",
            f"{table.whose} has no column that names the examples",
            expected="a column example, or one that is not of counts",
            got=listed(wrong),
            do=f'--reader \'{{name = "counts", example = "{next(iter(wrong), "COLUMN")}"}}\', '
            "if that column does",
            whose=table.whose,
            details={"seen": list(table.header)},
        )


def _is_text(table: TextTable, wrong: Sequence[int]) -> bool:
    """Return whether a column holds mostly something else than counts."""
    return 2 * len(wrong) > len(table)


def _check_counts(table: TextTable, wrong: dict[str, list[int]]) -> None:
    """Raise an error unless every column that is left holds counts and nothing else."""
    words = [name for name, rows in wrong.items() if _is_text(table, rows)]
    if words:
        shown = ", ".join(f'"{name}"' for name in words)
        raise InputError(
            "columns-not-counts",
            f"{table.whose} holds no counts in column{'s' if len(words) > 1 else ''} "
            f"{listed(map(quoted, words))}",
            expected="one column that names the examples, then counts",
            got=f"{quoted(table.column(words[0])[wrong[words[0]][0]])} and the like",
            do=f"--reader '{{name = \"counts\", ignore = [{shown}]}}'",
            whose=table.whose,
            details={"columns": words},
        )
    cells = [(row, name) for name, rows in wrong.items() for row in rows]
    if cells:
        row, name = min(cells)
        many = f" ({several(len(cells), 'such cell')})" if len(cells) > 1 else ""
        raise InputError(
            "count-unreadable",
            f"{table.place(row)}, column {quoted(name)} is not a number of votes",
            expected="a whole number, 0 or more",
            got=f"{quoted(table.column(name)[row])}{many}",
            do="mend that line",
            whose=table.whose,
            details={"lines": sorted({table.lines[where] for where, _ in cells})},
        )
    if not wrong:
        raise InputError(
            "columns-missing",
            f"{table.whose} has no column of counts",
            expected="one column that names the examples, then one a label",
            got=listed(table.header),
            do="add one column a label",
            whose=table.whose,
        )


def _count(cell: str) -> int:
    return int(cell.partition(".")[0])


def _kept(table: TextTable, names: Sequence[str], unnamed: str) -> list[int]:
    """Return the rows that have a name; raises an error if one has none, unless it may."""
    without = [row for row, name in enumerate(names) if not name]
    if without and unnamed != "drop":
        raise InputError(
            "example-unnamed",
            f"{table.whose} names no example in {table.places(without)}",
            expected="the name of an example",
            got="an empty cell",
            do='name it, or --reader \'{name = "counts", unnamed = "drop"}\' (recorded)',
            whose=table.whose,
            details={"lines": [table.lines[row] for row in without]},
        )
    return [row for row, name in enumerate(names) if name]


def _check_once(table: TextTable, examples: Sequence[str], kept: Sequence[int]) -> None:
    twice = [name for name, count in Counter(examples).items() if count > 1]
    if twice:
        rows = [row for row, name in zip(kept, examples, strict=True) if name == twice[0]]
        more = f" (and {several(len(twice) - 1, 'example')} more again)" if len(twice) > 1 else ""
        raise InputError(
            "example-twice",
            f"{table.whose} names {quoted(twice[0])} in {table.places(rows)}{more}",
            expected="one row an example",
            got=f"{len(rows)}",
            do="keep one, or add up their counts",
            whose=table.whose,
            details={"examples": twice},
        )


def _check_labels(whose: str, columns: Sequence[str], labels: Sequence[str]) -> None:
    outside = [name for name in columns if name not in labels]
    if not outside:
        return
    meant = near(outside[0], [name for name in labels if name not in columns])
    shown = ", ".join(f'"{name}"' for name in outside)
    ignore = f"--reader '{{name = \"counts\", ignore = [{shown}]}}'"
    raise InputError(
        "label-unknown",
        f"{whose} counts votes for {listed(map(quoted, outside))}",
        expected=f"columns among the {several(len(labels), 'declared label')}",
        got=f"{several(len(outside), 'column')} besides",
        do=f"did you mean {quoted(meant)}? mend it, or {ignore}" if meant else ignore,
        whose=whose,
        details={"labels": outside},
    )


def _columns(found: NamedArray, labels: Sequence[str] | None) -> list[str]:
    """Return the label of each column of an array."""
    width = found.values.shape[1]
    if found.labels is not None:
        if labels is not None:
            _check_labels(found.whose, found.labels, labels)
        return found.labels
    if labels is None:
        raise InputError(
            "labels-unnamed",
            f"{found.whose} has {several(width, 'column')} and no label names",
            expected="names in column order; an order is never guessed",
            do="--labels labels.txt (one name a line)",
            whose=found.whose,
        )
    if len(labels) != width:
        raise InputError(
            "names-count",
            f"{found.whose} has {several(width, 'column')} and {counted(len(labels))} labels",
            expected="one name a column",
            got=listed(labels),
            do="name every column once, in order",
            whose=found.whose,
        )
    return list(labels)


def _whole(found: NamedArray) -> NDArray[np.int64]:
    """Return the counts of an array as integers."""
    values = found.values
    fit = np.isfinite(values) & (values >= 0) & (values == np.floor(values)) & (values < _MOST)
    if not fit.all():
        row, column = (int(index) for index in np.argwhere(~fit)[0])
        raise InputError(
            "count-unreadable",
            f"{found.whose} row {counted(row + 1)}, column {column + 1} is not a number of votes",
            expected="a whole number, 0 or more",
            got=f"{values[row, column]}",
            do="save the counts, not shares of them",
            whose=found.whose,
        )
    return values.astype(np.int64)


def _table(
    examples: Sequence[str] | None,
    counts: NDArray[np.int64],
    columns: Sequence[str],
    labels: Sequence[str] | None,
    left_out: dict[str, int] | None = None,
) -> AnnotationTable:
    """Return the table of counts (example, column); examples by name, else in their order."""
    if examples is None:
        examples = [str(row) for row in range(counts.shape[0])]
    else:
        order = sorted(range(len(examples)), key=examples.__getitem__)
        examples, counts = [examples[row] for row in order], counts[order]
    known = list(columns if labels is None else labels)
    place = np.array([known.index(name) for name in columns], np.int64)
    example, column = np.nonzero(counts)
    return build_table(
        "single-label",
        examples=examples,
        annotators=(),
        labels=known,
        response_example=example,
        response_annotator=np.full(example.size, -1),
        mention_response=np.arange(example.size),
        mention_label=place[column],
        response_weight=counts[example, column],
        left_out={reason: count for reason, count in (left_out or {}).items() if count},
    )


def _has_array(path: Path, name: str) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return f"{name}.npy" in archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return False
