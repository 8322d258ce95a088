"""Plausibilities as a table with one column a label: CSV and Parquet."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.data.names import (
    DENOMINATOR,
    DRAW,
    EXAMPLE,
    LABEL,
    PLAUSIBILITIES,
    name_texts,
    several,
    text_array,
)
from plausibly.errors import InputError, counted, listed
from plausibly.io import about, arrays, files, parquet, pieces, text
from plausibly.io.array_tables import from_table
from plausibly.io.delimited import line
from plausibly.io.exact_json import check_encodable
from plausibly.io.numbers import numbers, plain
from plausibly.io.pieces import MARK
from plausibly.io.plausibilities_arrays import (
    KIND,
    array_of,
    content_of,
    not_totals,
    with_totals,
)
from plausibly.kernels.types import Ints

_ROLE = "plausibilities"
_INT64 = 2**63
_TOTAL = re.compile("[0-9]{1,19}")


def totals_of(array: xr.DataArray | xr.Dataset) -> Ints | None:
    """Return the total of each example, where there are totals."""
    return array.coords[DENOMINATOR].values if DENOMINATOR in array.coords else None


def draw_texts(array: xr.DataArray) -> list[str]:
    """Return the name of each draw: by its number, from 1, where it has none."""
    if DRAW in array.coords:
        return name_texts(array[DRAW].values)
    return [str(number + 1) for number in range(array.sizes[DRAW])]


def draw_column(draws: list[str]) -> list[str] | Ints:
    """Return names of draws as whole numbers, where they are some, else as text."""
    whole = plain(draws)
    return draws if whole is None or whole.dtype.kind != "i" else whole.astype(np.int64)


@attrs.frozen(kw_only=True, eq=False)
class _Columns:
    """The columns before those of the labels, and the rows of numbers."""

    draws: list[str] | None
    examples: list[str]
    totals: Ints | None
    labels: list[str]
    values: NDArray[Any]  # Any: float32 or float64

    @classmethod
    def of(cls, array: xr.DataArray, whose: str) -> _Columns:
        labels, examples = name_texts(array[LABEL].values), name_texts(array[EXAMPLE].values)
        check_encodable(labels, LABEL, whose)
        check_encodable(examples, EXAMPLE, whose)
        draws = draw_texts(array) if DRAW in array.dims else None
        times = 1 if draws is None else len(draws)
        totals = totals_of(array)
        return cls(
            draws=None if draws is None else [name for name in draws for _ in examples],
            examples=examples * times,
            totals=None if totals is None else np.tile(totals, times),
            labels=labels,
            values=array.values.reshape(-1, len(labels)),
        )


def write_csv(array: xr.DataArray, path: Path) -> None:
    """Write a CSV, every number so long that it reads back as it was."""
    columns = _Columns.of(array, path.name)
    # A first label of this name would read back as the totals: then the column is always there.
    named = columns.totals is not None or columns.labels[0] == DENOMINATOR
    before = [
        *([] if columns.draws is None else [DRAW]),
        EXAMPLE,
        *([DENOMINATOR] if named else []),
    ]
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(line([*before, *columns.labels]))
        for row, name in enumerate(columns.examples):
            draw = [] if columns.draws is None else [columns.draws[row]]
            total = "" if columns.totals is None else int(columns.totals[row])
            shares = columns.values[row].astype(float).tolist()
            file.write(line([*draw, name, *([total] if named else []), *shares]))


def write_parquet(array: xr.DataArray, path: Path) -> None:
    """Write a Parquet file: the columns of a CSV, attributes and coordinates in its metadata."""
    columns = _Columns.of(array, path.name)
    content = content_of(array, form="wide")
    entries = [
        pieces.entry(piece, path.name, key=piece.name if piece.name == PLAUSIBILITIES else None)
        for piece in content.pieces
    ]
    parquet.write_columns(
        path,
        [
            *([] if columns.draws is None else [DRAW]),
            EXAMPLE,
            *([] if columns.totals is None else [DENOMINATOR]),
            *columns.labels,
        ],
        [
            *([] if columns.draws is None else [draw_column(columns.draws)]),
            columns.examples,
            *([] if columns.totals is None else [columns.totals]),
            *np.ascontiguousarray(columns.values.T),
        ],
        {MARK: pieces.said(content, entries, path.name)},
    )


# ---- and back


def read_parquet(path: Path, said: str) -> xr.DataArray:
    """Return plausibilities in a wide Parquet file that says of itself what it is.

    Raises
    ------
    InputError
        ``file-damaged`` where the columns do not fit what it says.
    """
    whose = path.name
    content = pieces.understood(said, KIND, whose)
    held = {piece.name: piece for piece in content.pieces}
    try:
        labels = name_texts(held[LABEL].values)
        names = name_texts(held[EXAMPLE].values)
        columns = parquet.read_columns(path, _ROLE)
        before = len(columns) - len(labels)
        rows = [column.texts() for column in columns[:before] if column.name == EXAMPLE]
        values = np.stack([column.numbers() for column in columns[before:]], axis=1)
        times, rest = divmod(len(values), len(names))
        drawn = columns[0].name == DRAW
        draws = _draws_said(held, times)
        if drawn and columns[0].texts() != [name for name in draws for _ in names]:
            raise ValueError(f"its draws are not {listed(draws)} of every example")
        if rest or rows != [names * times] or (times != 1 and not drawn):
            raise ValueError(f"it has {several(len(values), 'row')} of {len(names)} examples")
        if [column.name for column in columns[before:]] != labels:
            raise ValueError("the columns are not of its labels")
    except (KeyError, ValueError, ZeroDivisionError) as reason:
        raise pieces.damaged(whose, reason) from reason
    shape = (times, len(names), len(labels)) if drawn else (len(names), len(labels))
    return array_of(content, whose, values.reshape(shape))


def _draws_said(held: Mapping[str, pieces.Piece], times: int) -> list[str]:
    if DRAW in held:
        return name_texts(held[DRAW].values)
    return [str(number + 1) for number in range(times)]


def read_table(path: Path, head: bytes) -> xr.DataArray:
    """Return plausibilities in a table with one column a label."""
    if head.startswith(b"PAR1"):
        drawn = parquet.names(path)[:2] == (DRAW, EXAMPLE)
    else:
        drawn = about.begins(head, [DRAW, EXAMPLE])
    if drawn:
        return _read_draws(text.read_table(path, role=_ROLE, unique=False))
    found = from_table(path, _ROLE, EXAMPLE, unique=False)
    labels = found.labels or []
    if labels[:1] != [DENOMINATOR]:
        text.distinct(labels, path.name)
        return arrays.labelled(found, name=PLAUSIBILITIES)
    text.distinct(labels[1:], path.name)
    rest = attrs.evolve(found, values=found.values[:, 1:], labels=labels[1:])
    array = arrays.labelled(rest, name=PLAUSIBILITIES)
    if np.isnan(found.values[:, 0]).all():
        return array
    # Read as digits: a float64 would round totals above 2^53.
    table = text.read_table(path, role=_ROLE, unique=False)
    return as_single(array, read_totals(table.columns[table.header.index(DENOMINATOR)], path.name))


def read_totals(digits: Sequence[str], whose: str) -> Ints:
    """Return the totals in a column; errors are ``denominator-unfit``."""
    wrong = [total for total in digits if not (_TOTAL.fullmatch(total) and int(total) < _INT64)]
    if wrong:
        raise not_totals(whose, f'"{wrong[0]}"')
    return np.array([int(total) for total in digits], dtype=np.int64)


def _read_draws(table: text.TextTable) -> xr.DataArray:
    """Return ([draw], example, label) of a table with one row a draw of an example."""
    whose, header = table.whose, table.header
    named = header[2:3] == (DENOMINATOR,)
    first = 3 if named else 2
    labels = header[first:]
    text.distinct(labels, whose)
    if not len(table) or not labels:
        raise files.empty(whose, "one row a draw of an example, one column a label")
    draws, examples = table.columns[0], table.columns[1]
    draw_codes = {name: code for code, name in enumerate(dict.fromkeys(draws))}
    codes = {name: code for code, name in enumerate(dict.fromkeys(examples))}
    row_of = np.full((len(draw_codes), len(codes)), -1, np.intp)
    for row, (draw, example) in enumerate(zip(draws, examples, strict=True)):
        place = draw_codes[draw], codes[example]
        if row_of[place] >= 0:
            raise _draws_unfit(table, f"names draw {draw} of {example} twice", row)
        row_of[place] = row
    if (row_of < 0).any():
        lack = int((row_of < 0).sum())
        raise _draws_unfit(table, f"lacks {several(lack, 'row')}", None)
    rest = "draw and example, then one column of numbers a label and nothing else"
    values = numbers(
        table, range(first, len(header)), rest=rest, do="remove what is no label from the file"
    )
    whole = plain(list(draw_codes))
    array = xr.DataArray(
        values[row_of],
        dims=(DRAW, EXAMPLE, LABEL),
        coords={
            DRAW: text_array(list(draw_codes)) if whole is None else whole,
            EXAMPLE: text_array(list(codes)),
            LABEL: text_array(labels),
        },
        name=PLAUSIBILITIES,
    )
    if not named or not any(table.columns[2]):
        return array
    totals = read_totals(table.columns[2], whose)[row_of]
    if (totals != totals[0]).any():
        raise not_totals(whose, "other totals in other draws")
    return as_single(array, totals[0])


def _draws_unfit(table: text.TextTable, what: str, row: int | None) -> InputError:
    where = "" if row is None else f" (again in {table.unit} {counted(table.lines[row])})"
    return InputError(
        "draws-incomplete",
        f"{table.whose} {what}{where}",
        expected="each draw of each example, once",
        got=several(len(table), "row"),
        do="write it again, or remove the draws that are not whole",
        whose=table.whose,
    )


def as_single(array: xr.DataArray, totals: Ints) -> xr.DataArray:
    """Return the array with totals; float32 where the shares were float32 when they were written.

    Read as float64 they are near the shares, but not what a count over its total gives.
    """
    values = array.values
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        single = values.astype(np.float32)
        shares = np.rint(values * totals[:, None]) / totals[:, None]
    was_single = (single == values).all() and (shares != values).any()
    return with_totals(array.copy(data=single) if was_single else array, totals)
