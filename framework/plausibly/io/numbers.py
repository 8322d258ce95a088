"""Numbers in text tables: what counts as one, and which cell is none."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from plausibly.data.names import NUMBER, WHOLE
from plausibly.errors import InputError, counted, listed
from plausibly.io.text import TextTable

_DIGITS = 19  # more than these do not fit 64 bits
_FAULTS = {
    re.compile(r"[+-]?[0-9]*,[0-9]+"): "write decimals with a point",
    re.compile(r"[+-]?[0-9.,]+ ?%"): "write 0.75 instead of 75%",
}
"""Numbers in another form, and what to do about them."""
_NOT_A_NUMBER = frozenset({"", "na", "nan"})
_LARGEST = 2**63 - 1


def value_of(text: str) -> float | None:
    """Return the number a cell holds; NaN for an empty cell, ``NA`` or ``NaN``; None for others."""
    word = text.strip()
    if word.lower() in _NOT_A_NUMBER:
        return float("nan")
    try:
        return None if "_" in word else float(word)
    except ValueError:
        return None


def _column(texts: Sequence[str]) -> tuple[NDArray[np.float64], list[int]]:
    """Return the numbers of a column, and the rows that hold none."""
    try:
        values = np.array([float(text) for text in texts], dtype=np.float64)
    except ValueError:
        pass
    else:
        if not any("_" in text for text in texts):
            return values, []
    read = [value_of(text) for text in texts]
    wrong = [row for row, value in enumerate(read) if value is None]
    values = np.array([np.nan if value is None else value for value in read], dtype=np.float64)
    return values, wrong


def numbers(table: TextTable, columns: Sequence[int], *, rest: str, do: str) -> NDArray[np.float64]:
    """Return the numbers in some columns of a table, (row, column).

    Parameters
    ----------
    table : TextTable
        The table.
    columns : sequence of int
        Positions of the columns.
    rest : str
        What the file should hold, for the message.
    do : str
        What to type where a whole column is no numbers.

    Raises
    ------
    InputError
        ``columns-not-numeric`` for columns that hold no number at all, ``number-unreadable`` with
        the line for single cells.
    """
    found = np.empty((len(table), len(columns)), dtype=np.float64)
    words: list[int] = []
    cells: list[tuple[int, int]] = []
    for place, position in enumerate(columns):
        found[:, place], wrong = _column(table.columns[position])
        cells += [(row, position) for row in wrong]
        column = table.columns[position]
        if wrong and np.isnan(found[:, place]).all() and not _fault(column[wrong[0]]):
            words.append(position)
    if words:
        raise _not_numeric(table, words, rest, do)
    if cells:
        raise _unreadable(table, cells)
    return found


def _not_numeric(table: TextTable, words: list[int], rest: str, do: str) -> InputError:
    names = [table.header[position] for position in words]
    quoted = listed(f'"{name}"' for name in names)
    first = next(text for text in table.columns[words[0]] if value_of(text) is None)
    return InputError(
        "columns-not-numeric",
        f"{table.whose} holds no numbers in column{'s' if len(names) > 1 else ''} {quoted}",
        expected=rest,
        got=f'"{_short(first)}" and the like',
        do=do,
        whose=table.whose,
        details={"columns": names},
    )


def _unreadable(table: TextTable, cells: list[tuple[int, int]]) -> InputError:
    row, position = min(cells)
    text = table.columns[position][row]
    many = f" ({counted(len(cells))} such cells)" if len(cells) > 1 else ""
    return InputError(
        "number-unreadable",
        f'{table.place(row)}, column "{table.header[position]}" is not a number',
        expected="a number such as 0.25",
        got=f'"{_short(text)}"{many}',
        do=_fault(text) or "mend that line",
        whose=table.whose,
        details={"lines": sorted({table.lines[where] for where, _ in cells})},
    )


def _fault(text: str) -> str | None:
    """Return what to do about a number in another form; None where it is no number at all."""
    fit = (do for pattern, do in _FAULTS.items() if pattern.fullmatch(text.strip()))
    return next(fit, None)


def _short(text: str) -> str:
    return text if len(text) <= 30 else f"{text[:29]}…"


def plain(texts: Sequence[str]) -> NDArray[np.int64] | NDArray[np.float64] | None:
    """Return a column as numbers where every value is one beyond doubt, else None.

    Beyond doubt is a decimal as programs write it: no empty cell, no leading zero (``007``), no
    plus, no blank, no ``nan``. Whole numbers that fit 64 bits become integers, others floats.
    """
    if not texts or not all(NUMBER.fullmatch(text) and text != "-0" for text in texts):
        return None
    if all(WHOLE.fullmatch(text) for text in texts):
        integers = [int(text) if len(text) <= _DIGITS + 1 else _LARGEST + 1 for text in texts]
        if all(abs(integer) <= _LARGEST for integer in integers):
            return np.array(integers, dtype=np.int64)
        return None
    values = np.array([float(text) for text in texts], dtype=np.float64)
    return values if bool(np.isfinite(values).all()) else None
