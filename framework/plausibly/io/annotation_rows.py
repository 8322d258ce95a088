"""Annotation tables as rows: one a mention, in words, as people and spreadsheets read them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.data import names
from plausibly.data.names import name_texts, positions, quoted
from plausibly.data.rows import Rows
from plausibly.data.states import STATES
from plausibly.errors import InputError, counted
from plausibly.io import about, parquet
from plausibly.io.delimited import line
from plausibly.io.exact_json import check_encodable
from plausibly.io.numbers import plain
from plausibly.io.pieces import MARK
from plausibly.io.text import TextTable
from plausibly.kernels.types import Bools, Ints

RESPONSE, EXAMPLE, ANNOTATOR, LABEL = NEEDED = (
    names.RESPONSE,
    names.EXAMPLE,
    names.ANNOTATOR,
    names.LABEL,
)
"""The first columns; the others are there where the table has what they say."""

_BLOCK, _WEIGHT, _RESPONSE_WEIGHT, _STATE = "block", "weight", names.RESPONSE_WEIGHT, "state"
_NUMBER = re.compile("[0-9]{1,15}")


Columns: TypeAlias = dict[str, list[str | None] | NDArray[Any]]  # Any: numbers of their own type
"""Columns by name: text, None for nothing; or numbers, masked where there is none."""


@attrs.frozen(kw_only=True, eq=False)
class _Row:
    """Which response and mention each row is about; mention -1 = a response without one."""

    response: Ints
    mention: Ints

    @classmethod
    def of(cls, rows: Rows) -> _Row:
        empty = np.flatnonzero(rows.mentions == 0)
        response = np.concatenate((rows.response, empty))
        mention = np.concatenate((np.arange(rows.response.size), np.full(empty.size, -1)))
        order = np.argsort(response, kind="stable")
        return cls(response=response[order], mention=mention[order])


def columns_of(table: xr.Dataset, whose: str) -> Columns:
    """Return the columns of a table.

    Parameters
    ----------
    table : Dataset
        An annotation table that is known to be intact.
    whose : str
        Name of the file, for messages.

    Raises
    ------
    InputError
        ``name-unwritable``.
    """
    rows = Rows.of(table)
    row = _Row.of(rows)
    bare = row.mention < 0
    label = np.append(rows.label, names.NO_LABEL)[row.mention]
    label[bare] = names.NO_LABEL
    found: Columns = {RESPONSE: row.response.astype(np.int64)}
    for dim, codes in (
        (EXAMPLE, rows.example[row.response]),
        (ANNOTATOR, rows.annotator[row.response]),
        (LABEL, label),
    ):
        texts = name_texts(table.indexes[dim])
        check_encodable(texts, dim, whose)
        known: list[str | None] = [*texts, None]  # the last place is where code -1 looks
        found[dim] = [known[code] for code in codes.tolist()]
    for column, variable in ((_BLOCK, names.MENTION_BLOCK), (_WEIGHT, names.MENTION_WEIGHT)):
        if variable in table.variables:
            values: NDArray[Any] = table[variable].values  # Any: blocks or weights
            filled = np.append(values, values.dtype.type(0))[row.mention]
            found[column] = np.ma.masked_array(filled, mask=bare)
    if names.RESPONSE_WEIGHT in table.variables:
        found[_RESPONSE_WEIGHT] = table[names.RESPONSE_WEIGHT].values[row.response]
    if names.RESPONSE_STATE in table.variables:
        states = table[names.RESPONSE_STATE].values[row.response]
        found[_STATE] = [STATES[code] for code in states.tolist()]
    return found


def write_csv(columns: Columns, said: str, path: Path) -> None:
    """Write columns as CSV, with what the file says of itself in a last column."""
    quoted_once: dict[str, str] = {}

    def cell(value: object) -> str:
        if value is None:
            return ""
        if isinstance(value, str):
            if value not in quoted_once:
                quoted_once[value] = line([value])[:-1]
            return quoted_once[value]
        return repr(value)

    cells = [line([part])[:-1] for part in about.cells(said)]
    texts = [
        [cell(value) for value in (column if isinstance(column, list) else column.tolist())]
        for column in columns.values()
    ]
    size = len(texts[0])
    rows = zip(*texts, [*cells[:size], *[""] * (size - len(cells))], strict=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(line([*columns, about.COLUMN]))
        file.writelines(",".join(row) + "\n" for row in rows)
        file.writelines(f"{',' * len(columns)}{part}\n" for part in cells[size:])


def write_parquet(columns: Columns, said: str, path: Path) -> None:
    """Write columns as Parquet, with what the file says of itself in the metadata."""
    parquet.write_columns(path, list(columns), list(columns.values()), {MARK: said})


# ---- and back


def is_header(header: Sequence[str]) -> bool:
    """Return whether these are the names of our columns."""
    return tuple(header[: len(NEEDED)]) == NEEDED


@attrs.frozen(kw_only=True, eq=False)
class Read:
    """Rows of a file: codes into names, in the order in which responses first name them.

    Attributes
    ----------
    named : dict of str to list of str
        Examples, annotators and labels.
    columns : dict of str to ndarray
        The structural columns of the table, by name.
    """

    named: Mapping[str, list[str]]
    columns: Mapping[str, NDArray[Any]]  # Any: codes, weights

    def coded(self, known: Mapping[str, Sequence[str]]) -> dict[str, NDArray[Any]] | None:
        """Return the columns with codes into other names; None where a name is not among them."""
        found = dict(self.columns)
        for dim, column in (
            (EXAMPLE, names.RESPONSE_EXAMPLE),
            (ANNOTATOR, names.RESPONSE_ANNOTATOR),
            (LABEL, names.MENTION_LABEL),
        ):
            place = positions(known[dim], self.named[dim])
            if (place < 0).any():
                return None
            # the last place is where code -1, an unknown annotator, looks
            found[column] = np.append(place, names.UNKNOWN_ANNOTATOR)[found[column]]
        return found


def read_rows(table: TextTable) -> Read:
    """Return what the rows of a table say.

    Rows in any order: those of one response have its number.

    Raises
    ------
    InputError
        ``columns-missing``, ``number-unreadable``, ``example-unnamed``, ``state-unknown`` or
        ``response-mixed``, with the line.
    """
    table.need(NEEDED, do="name the columns response, example, annotator and label")
    first = [table.column(column) for column in NEEDED]
    # Rows of which only the last column says something: the rest of what the file says of itself.
    kept = [row for row, cells in enumerate(zip(*first, strict=True)) if any(cells)]
    numbers = _whole(table, RESPONSE, kept)
    order = np.argsort(numbers, kind="stable")
    numbers, kept = numbers[order], [kept[place] for place in order.tolist()]
    _, start, response = np.unique(numbers, return_index=True, return_inverse=True)
    example, annotator, label = ([column[row] for row in kept] for column in first[1:])
    unnamed = [row for row, name in zip(kept, example, strict=True) if not name]
    if unnamed:
        raise InputError(
            "example-unnamed",
            f"{table.whose} names no example in {table.places(unnamed)}",
            expected="the name of an example",
            got="an empty cell",
            do="name it, or remove the row",
            whose=table.whose,
        )
    named: dict[str, list[str]] = {}
    codes: dict[str, Ints] = {}
    for dim, texts in ((EXAMPLE, example), (ANNOTATOR, annotator), (LABEL, label)):
        known = {name: code for code, name in enumerate(dict.fromkeys(filter(None, texts)))}
        named[dim] = list(known)
        codes[dim] = np.array([known.get(name, -1) for name in texts], np.int64)
    mentions = codes[LABEL] >= 0
    columns: dict[str, NDArray[Any]] = {  # Any: codes, weights
        names.MENTION_RESPONSE: response[mentions],
        names.MENTION_LABEL: codes[LABEL][mentions],
    }
    of_response: dict[str, NDArray[Any]] = {  # Any: as above
        names.RESPONSE_EXAMPLE: codes[EXAMPLE],
        names.RESPONSE_ANNOTATOR: codes[ANNOTATOR],
    }
    said = [row for row, one in zip(kept, mentions.tolist(), strict=True) if one]
    if _BLOCK in table.header:
        columns[names.MENTION_BLOCK] = _whole(table, _BLOCK, said)
    if _WEIGHT in table.header:
        columns[names.MENTION_WEIGHT] = _numbers(table, _WEIGHT, said)
    if _RESPONSE_WEIGHT in table.header:
        of_response[names.RESPONSE_WEIGHT] = _numbers(table, _RESPONSE_WEIGHT, kept)
    if _STATE in table.header:
        of_response[names.RESPONSE_STATE] = _states(table, kept)
    for name, values in of_response.items():
        _check_one(table, kept, values == values[start][response], numbers)
        columns[name] = values[start]
    return Read(named=named, columns=columns)


def _check_one(table: TextTable, kept: Sequence[int], same: Bools, numbers: Ints) -> None:
    if not same.all():
        place = int(np.flatnonzero(~same)[0])
        raise InputError(
            "response-mixed",
            f"{table.place(kept[place])} is about another example, annotator, weight or state than "
            f"the rows before it of response {counted(int(numbers[place]))}",
            expected="rows of one response that differ in what they name alone",
            do="give it another number",
            whose=table.whose,
        )


def _refuse(table: TextTable, row: int, column: str, expected: str, text: str) -> InputError:
    return InputError(
        "number-unreadable",
        f'{table.place(row)}, column "{column}" is not a number',
        expected=expected,
        got=quoted(text if len(text) <= 30 else f"{text[:29]}…"),
        do="mend that line",
        whose=table.whose,
        details={"lines": [table.lines[row]]},
    )


def _whole(table: TextTable, column: str, rows: Sequence[int]) -> Ints:
    texts = table.column(column)
    if not all(_NUMBER.fullmatch(texts[row]) for row in rows):
        row = next(row for row in rows if not _NUMBER.fullmatch(texts[row]))
        raise _refuse(table, row, column, "a whole number", texts[row])
    return np.array([int(texts[row]) for row in rows], np.int64)


def _numbers(table: TextTable, column: str, rows: Sequence[int]) -> NDArray[np.float64]:
    texts = table.column(column)
    values = plain([texts[row] for row in rows])
    if values is None and rows:
        row = next((row for row in rows if plain([texts[row]]) is None), rows[0])
        raise _refuse(table, row, column, "a number such as 0.25", texts[row])
    return np.zeros(0) if values is None else values.astype(np.float64)


def _states(table: TextTable, rows: Sequence[int]) -> Ints:
    texts = table.column(_STATE)
    known = {word: code for code, word in enumerate(STATES)}
    for row in rows:
        if texts[row] not in known:
            raise InputError(
                "state-unknown",
                f"{table.place(row)}: {quoted(texts[row])} is no state of a response",
                expected=", ".join(STATES),
                do="mend that line",
                whose=table.whose,
            )
    return np.array([known[texts[row]] for row in rows], np.int64)
