"""Annotation tables to a file and back, to the last bit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

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
from plausibly.data.names import name_texts, not_among, positions, quoted, several, text_array
from plausibly.data.states import STATES
from plausibly.data.text_table import TextTable
from plausibly.errors import InputError
from plausibly.io import datasets, files, text
from plausibly.io.arrays import Array
from plausibly.io.datasets import ANNOTATION_TABLE, FIRST_COLUMNS
from plausibly.io.label_tables import check_known
from plausibly.io.text import plain
from plausibly.kernels.types import Floats, Ints
from plausibly.protocols import ANNOTATION
from plausibly.registry.entries import calling

_ROLE = "annotations"
_KEYS = {names.EXAMPLE: "examples", names.LABEL: "labels", names.ANNOTATOR: "annotators"}
_CODED = {
    names.EXAMPLE: names.RESPONSE_EXAMPLE,
    names.ANNOTATOR: names.RESPONSE_ANNOTATOR,
    names.LABEL: names.MENTION_LABEL,
}
_BLOCK, _WEIGHT, _STATE = "block", "weight", "state"
"""Columns that are there where the table has them."""


def write_annotations(table: xr.Dataset, path: Path | str) -> None:
    """Write an annotation table; the ending decides the format, and `read_annotations` reads it.

    Every format keeps everything: names as text, order, unused labels, examples and annotators
    without response, states, attributes, and further variables of any plugin.

    Parameters
    ----------
    table : Dataset
        An annotation table; it is not changed.
    path : Path or str
        ``.csv`` or ``.parquet``: one row per mention, in words: ``response`` (a number),
        ``example``, ``annotator`` (empty = unknown), ``label`` (empty = an answer without label),
        then, where the table has them, ``block``, ``weight`` (of the mention), ``response_weight``
        and ``state``. What rows cannot say is in the column ``about`` of the CSV, in the metadata
        of the Parquet file. ``.npz`` and ``.nc`` (netCDF-3): one array per variable.

    Raises
    ------
    InputError
        ``ending-unknown``, ``output-unwritable``, ``table-unknown``, ``table-detached``, or
        ``value-unwritable`` where a format cannot hold something.
    """
    path = Path(path)
    ending = files.check_ending(path, datasets.ENDINGS)
    whole = rebuilt(check_table(table))
    with replacing(path) as part:
        if ending in datasets.ARRAY_ENDINGS:
            datasets.write_arrays(whole, ANNOTATION_TABLE, part, _KEYS)
            return
        columns = _columns_of(whole)
        # Examples that all have a response, in the order of the table, are named by the rows.
        in_rows = np.unique(whole[names.RESPONSE_EXAMPLE].values).size == whole.sizes[names.EXAMPLE]
        beside = {names.EXAMPLE: names.EXAMPLE} if in_rows else {}
        bare = whole.drop_vars(list(COLUMNS), errors="ignore")
        about = datasets.encode(bare, ANNOTATION_TABLE, part.name, beside)
        datasets.write_rows(part, list(columns), list(columns.values()), about)


def _columns_of(table: xr.Dataset) -> dict[str, Sequence[str | None] | Array]:
    """Return one row per mention, and one per response without any."""
    rows = Rows.of(table)
    response, mention = rows.spread()
    codes = {
        names.EXAMPLE: rows.example[response],
        names.ANNOTATOR: rows.annotator[response],
        names.LABEL: np.append(rows.label, names.NO_LABEL)[mention],  # of -1 the last one
    }
    columns: dict[str, Sequence[str | None] | Array] = {names.RESPONSE: response}
    for dim, code in codes.items():
        known = [*name_texts(table.indexes[dim]), None]  # the last place is where code -1 looks
        columns[dim] = [known[place] for place in code.tolist()]
    for column, variable in ((_BLOCK, names.MENTION_BLOCK), (_WEIGHT, names.MENTION_WEIGHT)):
        if variable in table.variables:
            values: Array = table[variable].values
            filled = np.append(values, values.dtype.type(0))[mention]
            columns[column] = np.ma.masked_array(filled, mask=mention < 0)
    if names.RESPONSE_WEIGHT in table.variables:
        columns[names.RESPONSE_WEIGHT] = table[names.RESPONSE_WEIGHT].values[response]
    if names.RESPONSE_STATE in table.variables:
        states = table[names.RESPONSE_STATE].values[response]
        columns[_STATE] = [STATES[code] for code in states.tolist()]
    return columns


# ---- and back


def read_annotation_file(
    path: Path | str, labels: Sequence[str] | None = None, *, kind: str | None = None
) -> AnnotationTable:
    """Read an annotation table that `write_annotations` wrote, exactly as it was.

    Parameters
    ----------
    path : Path or str
        The file; its format is found in its first bytes.
    labels : sequence of str, optional
        Labels that are declared now, in order: all that are named must be among them.
    kind : str, optional
        Read the rows of a CSV or Parquet file alone, as answers of this kind: where they were
        edited, or where a program took away what the file says of itself.

    Raises
    ------
    InputError
        ``table-changed`` where the rows are others than were written, or the file does not say what
        rows cannot, ``file-damaged``, ``label-unknown``, and what `read_table` says.
    """
    path = Path(path)
    head = files.opening(path, _ROLE, 8)
    source = path.name
    table: AnnotationTable | None
    if not head.startswith((*files.NETCDF, b"PK")):
        table = _from_rows(path, kind)
    elif kind is not None:
        raise files.meaningless(
            source,
            "kind",
            f"arrays, and kind {quoted(kind)}",
            "a CSV or Parquet file, whose rows can be read alone",
            "leave kind out: the file has its own",
        )
    else:
        about, stored = datasets.read_arrays(path, _ROLE, head)
        if about is None:
            raise datasets.damaged(source, "it does not say that it is an annotation table")
        dataset, _ = datasets.decode(about, ANNOTATION_TABLE, source, stored)
        table = _as_written(dataset, source)
    if table is None:
        raise datasets.damaged(source, "its parts do not fit together")
    if labels is None:
        return table
    known = name_texts(table.indexes[names.LABEL])
    label: Ints = table[names.MENTION_LABEL].values
    check_known([known[code] for code in np.unique(label)], labels, source, "has the label")
    fill = {name: "" for name, item in table.variables.items() if item.dtype.kind in "UO"}
    wider = table.reindex({names.LABEL: list(labels)}, fill_value=fill)
    new = positions(labels, known)[label]
    wider = wider.assign({names.MENTION_LABEL: (names.MENTION, new)})
    return rebuilt(wider.assign_attrs({**table.attrs, names.LABELS_DECLARED: 1}))


def _as_written(dataset: xr.Dataset, source: str) -> AnnotationTable | None:
    """Return the annotation table, None where its checksum is another one than was written."""
    try:
        table = rebuilt(dataset)
    except (LookupError, TypeError, ValueError, AttributeError) as reason:
        raise datasets.damaged(source, reason) from reason
    return table if table.attrs[names.CHECKSUM] == dataset.attrs.get(names.CHECKSUM) else None


def _from_rows(path: Path, kind: str | None) -> AnnotationTable:
    rows, about = datasets.read_rows(path, _ROLE)
    source = path.name
    text.distinct(rows.header, source)
    named, columns = _read_rows(rows)

    def coded(known: Mapping[str, Sequence[str]]) -> dict[str, Any]:  # Any: of `build_table`
        """Return the columns with codes into other names, -1 where a name is not among them."""
        placed = dict(columns)
        for dim, column in _CODED.items():
            # the last place is where code -1, an unknown annotator, looks
            places = np.append(positions(known[dim], named[dim]), names.UNKNOWN_ANNOTATOR)
            placed[column] = places[placed[column]]
        return placed

    if kind is not None:  # of the rows alone, as they stand
        annotation = registry.resolve(ANNOTATION, kind)
        sorted_names = {dim: sorted(texts) for dim, texts in named.items()}
        table = build_table(
            kind,
            examples=sorted_names[names.EXAMPLE],
            annotators=sorted_names[names.ANNOTATOR],
            labels=sorted_names[names.LABEL],
            **coded(sorted_names),
            labels_declared=False,
        )
        with calling(f"annotation {kind}", "validate"):
            annotation.validate(table)
        return table
    expected, found = 'the column "about" (Parquet: the metadata) as it was written', "rows alone"
    meant = "soft-label" if _WEIGHT in rows.header else "single-label"
    meant = "partial-ranking" if _BLOCK in rows.header else meant
    if about is not None:
        dataset, _ = datasets.decode(about, ANNOTATION_TABLE, source)
        known = {dim: name_texts(dataset[dim].values) for dim in _CODED if dim in dataset.variables}
        known.setdefault(names.EXAMPLE, named[names.EXAMPLE])
        named_all = len(known) == len(_CODED)
        if named_all and not any(not_among(named[dim], known[dim]) for dim in _CODED):
            placed = {**coded(known), names.EXAMPLE: text_array(known[names.EXAMPLE])}
            variables = {
                name: xr.Variable(name.partition("_")[0], values) for name, values in placed.items()
            }
            same = _as_written(dataset.assign(variables), source)
            if same is not None:
                return same
        expected, meant = "rows that fit the digest in the file", str(dataset.attrs.get(names.KIND))
        found = several(columns[names.RESPONSE_EXAMPLE].size, "response")
    raise InputError(
        "table-changed",
        f"{source} has other rows than were written, or rows alone",
        expected=expected,
        found=found,
        hint=f'copy it again; or reader="annotation-table", kind={quoted(meant)}, to read its rows',
        source=source,
    )


def _read_rows(table: TextTable) -> tuple[dict[str, list[str]], dict[str, Array]]:
    """Return names in the order in which responses first name them, and columns of codes."""
    table.need(FIRST_COLUMNS, hint="name the columns response, example, annotator and label")
    text.check_named(table, names.EXAMPLE, names.EXAMPLE, blanks=True)
    numbers = _numbers(table, names.RESPONSE, np.arange(len(table)), whole=True)
    order = np.argsort(numbers, kind="stable")
    _, start, response = np.unique(numbers[order], return_index=True, return_inverse=True)
    named: dict[str, list[str]] = {}
    codes: dict[str, Ints] = {}
    for dim in _CODED:
        cells = table.column(dim)
        texts = [cells[row] for row in order.tolist()]
        named[dim] = list(dict.fromkeys(filter(None, texts)))
        codes[dim] = positions(named[dim], texts)
    mentions = codes[names.LABEL] >= 0
    columns: dict[str, Array] = {
        names.MENTION_RESPONSE: response[mentions],
        names.MENTION_LABEL: codes[names.LABEL][mentions],
    }
    of_response: dict[str, Array] = {
        names.RESPONSE_EXAMPLE: codes[names.EXAMPLE],
        names.RESPONSE_ANNOTATOR: codes[names.ANNOTATOR],
    }
    if _BLOCK in table.header:
        columns[names.MENTION_BLOCK] = _numbers(table, _BLOCK, order[mentions], whole=True)
    if _WEIGHT in table.header:
        columns[names.MENTION_WEIGHT] = _numbers(table, _WEIGHT, order[mentions])
    if names.RESPONSE_WEIGHT in table.header:
        of_response[names.RESPONSE_WEIGHT] = _numbers(table, names.RESPONSE_WEIGHT, order)
    if _STATE in table.header:
        texts = table.column(_STATE)
        state = positions(STATES, texts)
        for row in np.flatnonzero(state < 0)[:1].tolist():
            raise text.unreadable(table, row, _STATE, texts[row], ", ".join(STATES))
        of_response[names.RESPONSE_STATE] = state[order]
    for name, values in of_response.items():
        columns[name] = values[start]
        for place in np.flatnonzero(values != values[start][response])[:1].tolist():
            raise InputError(
                "response-mixed",
                f"{table.place(order[place])} has another {name} than its response before",
                expected="rows of one response that differ in what they name alone",
                hint="give it another number",
                source=table.source,
            )
    return named, columns


def _numbers(table: TextTable, column: str, rows: Ints, *, whole: bool = False) -> Floats | Ints:
    """Return the numbers of a column in some rows, none of which may be empty."""
    cells = list(map(table.column(column).__getitem__, rows.tolist()))
    values = plain(cells) if cells else np.zeros(0, np.int64)
    if values is None or (whole and not all(map(str.isdecimal, cells))):
        fits = str.isdecimal if whole else lambda cell: plain([cell]) is not None
        place = next((place for place, cell in enumerate(cells) if not fits(cell)), 0)
        expected = "a whole number" if whole else "a number such as 0.25"
        raise text.unreadable(table, int(rows[place]), column, cells[place], expected)
    return values if whole else values.astype(np.float64)
