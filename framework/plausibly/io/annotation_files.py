"""Annotation tables to a file and back, to the last bit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import xarray as xr

from plausibly import extras
from plausibly.atomic import replacing
from plausibly.data import names
from plausibly.data.annotations import AnnotationTable, rebuilt
from plausibly.data.names import name_texts, quoted, several
from plausibly.data.seal import check_table
from plausibly.errors import InputError, MissingExtra
from plausibly.io import annotation_rows, arrays, files, pieces, text
from plausibly.io.annotation_rows import (
    COLUMNS,
    KIND,
    NAMED,
    content_of,
    declared,
    table_of,
    table_of_rows,
)
from plausibly.io.pieces import (
    ABOUT,
    MARK,
    Content,
    netcdf_content,
    npz_content,
    npz_names,
    write_netcdf as write_classic,
    write_npz,
)
from plausibly.io.plausibilities import unknown_ending

_ROLE = "annotations"


ENDINGS = (".csv", ".parquet", ".npz", ".nc")
"""Of the files that are written."""


def check_output(path: Path) -> None:
    """Raise ``ending-unknown`` or ``extra-missing`` before anything is written there."""
    if path.suffix.lower() not in ENDINGS:
        raise unknown_ending(path, list(ENDINGS))
    if path.suffix.lower() == ".parquet":
        extras.require("pyarrow", extra="parquet", whose=path.name)


def write_annotations(table: xr.Dataset, path: Path | str) -> None:
    """Write an annotation table; the ending decides the format, and `read_annotations` reads it.

    Every format keeps everything: names as text, order, unused labels, examples and annotators
    without response, states, attributes, and further variables of any plugin.

    Parameters
    ----------
    table : Dataset
        An annotation table; it is not changed.
    path : Path or str
        ``.csv`` or ``.parquet``: one row a mention, in words: ``response`` (a number), ``example``,
        ``annotator`` (empty = unknown), ``label`` (empty = an answer without label), then, where
        the table has them, ``block``, ``weight`` (of the mention), ``response_weight`` and
        ``state``. What rows cannot say is in the column ``about`` of the CSV, in the metadata of
        the Parquet file. ``.npz`` and ``.nc`` (netCDF-3): an array each variable.

    Raises
    ------
    InputError
        ``ending-unknown``, ``output-unwritable``, ``table-unknown`` or ``table-detached``,
        ``variable-unwritable``, ``attribute-unwritable``, ``name-unwritable`` where a format cannot
        hold something.
    """
    path = Path(path)
    writers: Mapping[str, Callable[[AnnotationTable, Path], None]] = {
        ".csv": _write_rows,
        ".parquet": _write_rows,
        ".npz": _write_npz,
        ".nc": _write_netcdf,
    }
    check_output(path)
    write = writers[path.suffix.lower()]
    whole = rebuilt(check_table(table))
    with replacing(path) as part:
        write(whole, part)


def _write_npz(table: AnnotationTable, path: Path) -> None:
    keys = {names.EXAMPLE: "examples", names.LABEL: "labels", names.ANNOTATOR: "annotators"}
    write_npz(content_of(table), path, keys)


def _write_netcdf(table: AnnotationTable, path: Path) -> None:
    write_classic(content_of(table), path)


def _write_rows(table: AnnotationTable, path: Path) -> None:
    content = content_of(table)
    columns = annotation_rows.columns_of(table, path.name)
    # Examples that all have a response, in the order of the table, are named by the rows.
    told = np.unique(table[names.RESPONSE_EXAMPLE].values).size == table.sizes[names.EXAMPLE]
    entries = [
        pieces.entry(
            piece, path.name, key=piece.name if told and piece.name == names.EXAMPLE else None
        )
        for piece in content.pieces
        if piece.name not in COLUMNS
    ]
    said = pieces.said(content, entries, path.name)
    to_csv = path.suffix.lower() == ".csv"
    write = annotation_rows.write_csv if to_csv else annotation_rows.write_parquet
    write(columns, said, path)


# ---- and back


def is_annotation_file(path: Path, head: bytes) -> bool:
    """Return whether `write_annotations` wrote a file, or somebody who edited what it wrote.

    Parameters
    ----------
    path : Path
        The file.
    head : bytes
        Its first bytes.
    """
    try:
        if head.startswith(b"PAR1"):
            return annotation_rows.is_header(text.names(path))
        if head.startswith(b"PK"):
            return {ABOUT, names.MENTION_RESPONSE} <= npz_names(path)
    except (InputError, MissingExtra):
        return False
    if head.startswith(arrays.SIGNATURES):
        return f'"{MARK}": "{KIND}"'.encode() in head
    return pieces.begins(head, annotation_rows.NEEDED)


def read_annotation_file(
    path: Path | str, labels: Sequence[str] | None = None, *, kind: str | None = None
) -> AnnotationTable:
    """Read an annotation table that `write_annotations` wrote, exactly as it was.

    Parameters
    ----------
    path : Path or str
        The file, told by its first bytes.
    labels : sequence of str, optional
        Labels that are declared now, in order; by default those of the table. All that are named
        must be among them.
    kind : str, optional
        Read the rows of a CSV or Parquet file alone, as they stand, as answers of this kind: where
        they were changed, or where a program took away what the file says of itself.

    Returns
    -------
    AnnotationTable
        With its attributes, also ``reader`` and ``source`` of the file from which it was first
        read.

    Raises
    ------
    InputError
        ``table-incomplete`` where the file does not say what rows cannot, ``table-changed`` where
        the rows are others than were written, ``file-damaged``, ``label-unknown``, and what
        `read_table` says.
    """
    path = Path(path)
    head = files.opening(path, _ROLE, 8)
    whose = path.name
    if kind is not None and head.startswith((*arrays.SIGNATURES, b"PK")):
        raise InputError(
            "option-unfit",
            f"{whose}: kind has no meaning here",
            expected="a CSV or Parquet file, whose rows can be read alone",
            got=f"arrays, and kind {quoted(kind)}",
            do="leave kind out: the file has its own",
            whose=whose,
        )
    if head.startswith(arrays.SIGNATURES):
        table = _from_content(netcdf_content(arrays.load(path, _ROLE), KIND, whose), whose)
    elif head.startswith(b"PK"):
        table = _from_content(npz_content(arrays.read_npz(path, _ROLE), KIND, whose), whose)
    else:
        table = _from_rows(path, head, kind)
    return table if labels is None else declared(table, labels, whose)


def _from_content(content: Content | None, whose: str) -> AnnotationTable:
    if content is None:
        raise pieces.damaged(whose, ValueError("it does not say that it is an annotation table"))
    columns = {piece.name: piece.values for piece in content.pieces if piece.name in COLUMNS}
    table = table_of(content, {}, columns, whose)
    if table is None:
        raise pieces.damaged(whose, ValueError("its parts do not fit together"))
    return table


def _as_kind(kind: str) -> str:
    flags = f"--reader annotation-table --kind {kind}"
    return f"{flags} (kind={quoted(kind)}), if the rows are such answers"


def _looks_like(rows: text.TextTable) -> str:
    """Return the kind of answer that the columns suggest."""
    if "block" in rows.header:
        return "partial-ranking"
    return "soft-label" if "weight" in rows.header else "single-label"


def _from_rows(path: Path, head: bytes, kind: str | None) -> AnnotationTable:
    rows = text.read_table(path, role=_ROLE)
    whose = path.name
    if head.startswith(b"PAR1"):
        said = text.metadata(path, MARK)
    else:
        column = rows.column(pieces.COLUMN) if pieces.COLUMN in rows.header else []
        said = pieces.joined(column)
    read = annotation_rows.read_rows(rows)
    if kind is not None:
        return table_of_rows(read, kind, whose)
    if said is None:
        raise InputError(
            "table-incomplete",
            f"{whose} does not say what its rows cannot",
            expected='the column "about" as plausibly wrote it (Parquet: the metadata), with the '
            "kind of answer, all labels and what else there is",
            got="rows alone",
            do=f"write it again; or {_as_kind(_looks_like(rows))}, to read them alone",
            whose=whose,
        )
    content = pieces.understood(said, KIND, whose)
    held = {piece.name: piece.values for piece in content.pieces if piece.name in NAMED}
    named = {names.EXAMPLE: read.named[names.EXAMPLE]}
    named |= {dim: name_texts(values) for dim, values in held.items()}
    columns = read.coded(named) if set(NAMED) <= set(named) else None
    table = None if columns is None else table_of(content, named, columns, whose)
    if table is None:
        raise InputError(
            "table-changed",
            f"{whose} has other rows than were written",
            expected="rows that fit the digest in the file",
            got=f"{several(read.columns[names.RESPONSE_EXAMPLE].size, 'response')}, "
            f"{several(read.columns[names.MENTION_LABEL].size, 'mention')}",
            do=f"copy it again; or {_as_kind(str(content.attributes.get(names.KIND)))}, to read "
            "them as they stand",
            whose=whose,
        )
    return table
