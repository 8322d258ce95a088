"""Annotation tables to a file and back, to the last bit."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly import registry
from plausibly.atomic import replacing
from plausibly.data import names
from plausibly.data.annotations import (
    COLUMNS,
    AnnotationTable,
    Rows,
    build_table,
    check_table,
    rebuilt,
)
from plausibly.data.names import name_texts, positions, quoted, several, text_array
from plausibly.data.states import STATES
from plausibly.data.text_table import TextTable
from plausibly.errors import InputError, MissingExtra, counted
from plausibly.io import arrays, files, pieces, text
from plausibly.io.arrays import Array
from plausibly.io.label_tables import check_known
from plausibly.io.pieces import ABOUT, MARK, check_encodable, npz_names
from plausibly.io.text import plain
from plausibly.kernels.types import Ints
from plausibly.protocols import ANNOTATION
from plausibly.registry.entries import calling

ENDINGS = (".csv", ".parquet", ".npz", ".nc")
"""Of the files that are written."""

_KIND = "annotation table"
_ROLE = "annotations"
_DIGEST = "digest"
_KEYS = {names.EXAMPLE: "examples", names.LABEL: "labels", names.ANNOTATOR: "annotators"}
_NAMED = (names.EXAMPLE, names.LABEL, names.ANNOTATOR)
_CODED = {
    names.EXAMPLE: names.RESPONSE_EXAMPLE,
    names.ANNOTATOR: names.RESPONSE_ANNOTATOR,
    names.LABEL: names.MENTION_LABEL,
}
_FIRST = (names.RESPONSE, names.EXAMPLE, names.ANNOTATOR, names.LABEL)
_BLOCK, _WEIGHT, _RESPONSE_WEIGHT, _STATE = "block", "weight", names.RESPONSE_WEIGHT, "state"
"""Columns of a file: the first ones, and those that are there where the table has them."""

_NUMBER = re.compile("[0-9]{1,15}")


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
    ending = files.check_ending(path, ENDINGS)
    whole = rebuilt(check_table(table))
    digest = _digest(whole)
    bare = whole.copy(deep=False)
    del bare.attrs[names.CHECKSUM]
    with replacing(path) as part:
        if ending in (".npz", ".nc"):
            pieces.write_arrays(bare, _KIND, part, _KEYS, digest=digest)
            return
        columns = _columns_of(whole, part.name)
        # Examples that all have a response, in the order of the table, are named by the rows.
        told = np.unique(whole[names.RESPONSE_EXAMPLE].values).size == whole.sizes[names.EXAMPLE]
        beside = {names.EXAMPLE: names.EXAMPLE} if told else {}
        about = pieces.said(
            bare.drop_vars(list(COLUMNS), errors="ignore"),
            _KIND,
            part.name,
            beside,
            digest=digest,
        )
        pieces.write_rows(part, list(columns), list(columns.values()), about)


def _digest(table: xr.Dataset) -> str:
    """Return the digest of names and codes that is part of version 1 of the format."""
    state = blake2b(digest_size=16)
    for dim in _NAMED:
        texts = name_texts(table.indexes[dim])
        state.update(f"{dim}:{len(texts)}:".encode())
        state.update("\0".join(texts).encode("utf-8", "surrogatepass"))
    for column in COLUMNS:
        if column in table.variables:
            values = table[column].values
            values = values.astype("<f8" if values.dtype.kind == "f" else "<i8")
            state.update(f"{column}:{values.size}:".encode())
            state.update(values.tobytes())
    return state.hexdigest()


def _columns_of(table: xr.Dataset, whose: str) -> dict[str, Sequence[str | None] | Array]:
    """Return one row a mention, and one a response without any."""
    rows = Rows.of(table)
    empty = np.flatnonzero(rows.mentions == 0)
    response = np.concatenate((rows.response, empty))
    mention = np.concatenate((np.arange(rows.response.size), np.full(empty.size, -1)))
    order = np.argsort(response, kind="stable")
    response, mention = response[order], mention[order]
    bare = mention < 0
    codes = {
        names.EXAMPLE: rows.example[response],
        names.ANNOTATOR: rows.annotator[response],
        names.LABEL: np.append(rows.label, names.NO_LABEL)[mention],  # of -1 the last one
    }
    found: dict[str, Sequence[str | None] | Array] = {names.RESPONSE: response.astype(np.int64)}
    for dim, code in codes.items():
        texts = name_texts(table.indexes[dim])
        check_encodable(texts, dim, whose)
        known: list[str | None] = [*texts, None]  # the last place is where code -1 looks
        found[dim] = [known[one] for one in code.tolist()]
    for column, variable in ((_BLOCK, names.MENTION_BLOCK), (_WEIGHT, names.MENTION_WEIGHT)):
        if variable in table.variables:
            values: Array = table[variable].values
            filled = np.append(values, values.dtype.type(0))[mention]
            found[column] = np.ma.masked_array(filled, mask=bare)
    if names.RESPONSE_WEIGHT in table.variables:
        found[_RESPONSE_WEIGHT] = table[names.RESPONSE_WEIGHT].values[response]
    if names.RESPONSE_STATE in table.variables:
        states = table[names.RESPONSE_STATE].values[response]
        found[_STATE] = [STATES[code] for code in states.tolist()]
    return found


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
            return text.names(path)[: len(_FIRST)] == _FIRST
        if head.startswith(b"PK"):
            return {ABOUT, names.MENTION_RESPONSE} <= npz_names(path)
    except (InputError, MissingExtra):
        return False
    if head.startswith(arrays.SIGNATURES):
        return f'"{MARK}": "{_KIND}"'.encode() in head
    return pieces.begins(head, _FIRST)


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
    if head.startswith((*arrays.SIGNATURES, b"PK")):
        if kind is not None:
            raise files.meaningless(
                whose,
                "kind",
                f"arrays, and kind {quoted(kind)}",
                "a CSV or Parquet file, whose rows can be read alone",
                "leave kind out: the file has its own",
            )
        about, stored = pieces.read_arrays(path, _ROLE, head)
        if about is None:
            raise pieces.damaged(whose, "it does not say that it is an annotation table")
        dataset, more = pieces.understood(about, _KIND, whose, stored)
        table = _table_of(dataset, whose)
        if _digest(table) != more.get(_DIGEST):
            raise pieces.damaged(whose, "its parts do not fit together")
    else:
        table = _from_rows(path, kind)
    return table if labels is None else _declared(table, labels, whose)


def _table_of(dataset: xr.Dataset, whose: str, **rows: xr.Variable) -> AnnotationTable:
    try:
        return rebuilt(dataset.assign(rows))
    except (LookupError, TypeError, ValueError, AttributeError) as reason:
        raise pieces.damaged(whose, reason) from reason


def _as_kind(kind: str) -> str:
    return f'reader="annotation-table", kind={quoted(kind)}, if the rows are such answers'


def _from_rows(path: Path, kind: str | None) -> AnnotationTable:
    rows = text.read_table(path, role=_ROLE)
    whose = path.name
    about = pieces.said_in(path, rows)
    named, columns = _read_rows(rows)

    def coded(
        known: Mapping[str, Sequence[str]],
    ) -> dict[str, Any] | None:  # Any: arguments of `build_table`
        """Return the columns with codes into other names; None where a name is not among them."""
        found = dict(columns)
        for dim, column in _CODED.items():
            place = positions(known[dim], named[dim])
            if (place < 0).any():
                return None
            # the last place is where code -1, an unknown annotator, looks
            found[column] = np.append(place, names.UNKNOWN_ANNOTATOR)[found[column]]
        return found

    guess = "soft-label" if _WEIGHT in rows.header else "single-label"
    guess = "partial-ranking" if _BLOCK in rows.header else guess
    if kind is not None:  # of the rows alone, as they stand
        annotation = registry.resolve(ANNOTATION, kind)
        sorted_names = {dim: sorted(texts) for dim, texts in named.items()}
        try:
            table = build_table(
                kind,
                examples=sorted_names[names.EXAMPLE],
                annotators=sorted_names[names.ANNOTATOR],
                labels=sorted_names[names.LABEL],
                **(coded(sorted_names) or {}),
                labels_declared=False,
            )
            with calling(f"annotation {kind}", "validate"):
                annotation.validate(table)
        except InputError as error:
            error.what = f"{whose}: {error.what}"
            raise
        return table
    if about is None:
        raise InputError(
            "table-incomplete",
            f"{whose} does not say what its rows cannot",
            expected='the column "about" as plausibly wrote it (Parquet: the metadata), with the '
            "kind of answer, all labels and what else there is",
            got="rows alone",
            do=f"write it again; or {_as_kind(guess)}, to read them alone",
            whose=whose,
        )
    dataset, more = pieces.understood(about, _KIND, whose)
    known = {dim: name_texts(dataset[dim].values) for dim in _NAMED if dim in dataset.variables}
    known.setdefault(names.EXAMPLE, named[names.EXAMPLE])
    found = coded(known) if len(known) == len(_NAMED) else None
    if found is not None:
        found[names.EXAMPLE] = text_array(known[names.EXAMPLE])
        variables = {
            name: xr.Variable(name.partition("_")[0], values) for name, values in found.items()
        }
        table = _table_of(dataset, whose, **variables)
        if _digest(table) == more.get(_DIGEST):
            return table
    raise InputError(
        "table-changed",
        f"{whose} has other rows than were written",
        expected="rows that fit the digest in the file",
        got=f"{several(columns[names.RESPONSE_EXAMPLE].size, 'response')}, "
        f"{several(columns[names.MENTION_LABEL].size, 'mention')}",
        do=f"copy it again; or {_as_kind(str(dataset.attrs.get(names.KIND)))}, to read "
        "them as they stand",
        whose=whose,
    )


def _declared(table: AnnotationTable, labels: Sequence[str], whose: str) -> AnnotationTable:
    """Return the table with other labels declared; what is known of labels goes with them."""
    known = name_texts(table.indexes[names.LABEL])
    label: Ints = table[names.MENTION_LABEL].values
    used = [known[code] for code in np.unique(label).tolist()]
    check_known(used, labels, whose, "has the label")
    fill = {name: "" for name, item in table.variables.items() if item.dtype.kind in "UO"}
    wider = table.reindex({names.LABEL: list(labels)}, fill_value=fill)
    new = positions(labels, known)[label]
    wider = wider.assign({names.MENTION_LABEL: (names.MENTION, new)})
    return rebuilt(wider.assign_attrs({**table.attrs, names.LABELS_DECLARED: 1}))


def _read_rows(table: TextTable) -> tuple[dict[str, list[str]], dict[str, Array]]:
    """Return names in the order in which responses first name them, and columns of codes."""
    table.need(_FIRST, do="name the columns response, example, annotator and label")
    first = [table.column(column) for column in _FIRST]
    # Rows of which only the last column says something: the rest of what the file says.
    kept = [row for row, filled in enumerate(map(any, zip(*first, strict=True))) if filled]
    numbers = _whole(table, names.RESPONSE, kept)
    order = np.argsort(numbers, kind="stable")
    numbers, kept = numbers[order], [kept[place] for place in order.tolist()]
    _, start, response = np.unique(numbers, return_index=True, return_inverse=True)
    named: dict[str, list[str]] = {}
    codes: dict[str, Ints] = {}
    for dim, cells in zip(_FIRST[1:], first[1:], strict=True):
        texts = [cells[row] for row in kept]
        named[dim] = list(dict.fromkeys(filter(None, texts)))
        codes[dim] = positions(named[dim], texts)
    unnamed = [kept[place] for place in np.flatnonzero(codes[names.EXAMPLE] < 0).tolist()]
    if unnamed:
        raise text.unnamed(table, names.EXAMPLE, names.EXAMPLE, unnamed)
    mentions = codes[names.LABEL] >= 0
    said = [kept[place] for place in np.flatnonzero(mentions).tolist()]
    columns: dict[str, Array] = {
        names.MENTION_RESPONSE: response[mentions],
        names.MENTION_LABEL: codes[names.LABEL][mentions],
    }
    of_response: dict[str, Array] = {
        names.RESPONSE_EXAMPLE: codes[names.EXAMPLE],
        names.RESPONSE_ANNOTATOR: codes[names.ANNOTATOR],
    }
    for column, read, found, variable, rows in (
        (_BLOCK, _whole, columns, names.MENTION_BLOCK, said),
        (_WEIGHT, _numbers, columns, names.MENTION_WEIGHT, said),
        (_RESPONSE_WEIGHT, _numbers, of_response, names.RESPONSE_WEIGHT, kept),
        (_STATE, _states, of_response, names.RESPONSE_STATE, kept),
    ):
        if column in table.header:
            found[variable] = read(table, column, rows)
    for name, values in of_response.items():
        columns[name] = values[start]
        other = np.flatnonzero(values != values[start][response])
        if other.size:
            place = int(other[0])
            raise InputError(
                "response-mixed",
                f"{table.place(kept[place])} is about another example, annotator, weight or "
                "state than the rows before it of response "
                f"{counted(int(numbers[place]))}",
                expected="rows of one response that differ in what they name alone",
                do="give it another number",
                whose=table.whose,
            )
    return named, columns


def _whole(table: TextTable, column: str, rows: Sequence[int]) -> Ints:
    texts = table.column(column)
    for row in rows:
        if not _NUMBER.fullmatch(texts[row]):
            raise text.unreadable(table, row, column, texts[row], "a whole number")
    return np.array([int(texts[row]) for row in rows], np.int64)


def _numbers(table: TextTable, column: str, rows: Sequence[int]) -> NDArray[np.float64]:
    texts = table.column(column)
    values = plain([texts[row] for row in rows])
    if values is None and rows:
        row = next((row for row in rows if plain([texts[row]]) is None), rows[0])
        raise text.unreadable(table, row, column, texts[row])
    return np.zeros(0) if values is None else values.astype(np.float64)


def _states(table: TextTable, column: str, rows: Sequence[int]) -> Ints:
    texts = table.column(column)
    found = positions(STATES, [texts[row] for row in rows])
    for row in np.asarray(rows)[found < 0][:1].tolist():
        raise InputError(
            "state-unknown",
            f"{table.place(row)}: {quoted(texts[row])} is no state of a response",
            expected=", ".join(STATES),
            do="mend that line",
            whose=table.whose,
        )
    return found
