"""The columns of a table of labels: other names, parents, an order, and whatever else is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausibly.data.labels import Hierarchy, read_aliases
from plausibly.data.names import ALIAS, LABEL, ORDER, PARENT, near, quoted, text_array
from plausibly.errors import InputError
from plausibly.io.numbers import plain
from plausibly.io.text import TextTable

_ALIASES = "aliases"  # read as the same


# Any: numbers or text
def label_columns(table: TextTable, labels: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Return the columns beside the names of labels, checked.

    Parameters
    ----------
    table : TextTable
        With a column ``label``.
    labels : sequence of str
        The names in it.

    Returns
    -------
    dict of str to ndarray, (label,)
        ``alias`` and ``parent`` are text. Others are of numbers where every cell that is filled is
        one beyond doubt, NaN where it is empty; else text, exactly as written.

    Raises
    ------
    InputError
        ``columns-repeat``, ``alias-ambiguous``, ``parent-unknown``, ``parents-circular``,
        ``number-unreadable`` or ``order-twice``, with the lines.
    """
    columns = dict(zip(table.header, table.columns, strict=True))
    columns.pop(LABEL)
    if _ALIASES in columns:
        if ALIAS in columns:
            raise InputError(
                "columns-repeat",
                f'{table.whose} has both a column "{ALIAS}" and a column "{_ALIASES}"',
                expected="one column of other names, with | between several in a cell",
                got="two",
                do=f'put all of them into "{ALIAS}"',
                whose=table.whose,
            )
        columns = {ALIAS if name == _ALIASES else name: c for name, c in columns.items()}
    aliases: dict[str, str] = {}
    if ALIAS in columns:
        aliases = read_aliases(labels, columns[ALIAS], whose=table.whose, places=table.places)
    if PARENT in columns:
        _check_parents(table, labels, columns[PARENT], aliases)
    if ORDER in columns:
        _check_order(table, labels, columns[ORDER])
    return {
        name: text_array(texts) if name in (ALIAS, PARENT) else _values(texts)
        for name, texts in columns.items()
    }


def _values(texts: Sequence[str]) -> NDArray[Any]:
    """Return numbers, NaN in empty cells, or text."""
    filled = [text for text in texts if text]
    values = plain(filled)
    if values is None:
        return text_array(texts)
    if len(filled) == len(texts):
        return values
    found = np.full(len(texts), np.nan)
    found[[bool(text) for text in texts]] = values
    return found


def _check_parents(
    table: TextTable, labels: Sequence[str], parents: Sequence[str], aliases: dict[str, str]
) -> None:
    known = set(labels)
    unknown = [row for row, name in enumerate(parents) if name and name not in known]
    if unknown:
        row = unknown[0]
        name = parents[row]
        meant = aliases.get(name) or near(name, [one for one in labels if one != labels[row]])
        others = f" (so it is in {table.places(unknown[1:])})" if len(unknown) > 1 else ""
        raise InputError(
            "parent-unknown",
            f"{table.place(row)}: the parent of {quoted(labels[row])} is {quoted(name)}, which is "
            f"no label of the table{others}",
            expected="a label with a row of its own, or an empty cell",
            got=quoted(name),
            do=f"did you mean {quoted(meant)}? mend it"
            if meant
            else f"add a row for {quoted(name)}, or give the column another name, if annotators "
            "cannot say it",
            whose=table.whose,
            details={"lines": [table.lines[one] for one in unknown]},
        )
    Hierarchy.of(labels, parents, whose=table.whose, places=table.places)


def _check_order(table: TextTable, labels: Sequence[str], texts: Sequence[str]) -> None:
    row_of: dict[float, int] = {}
    for row, text in enumerate(texts):
        if not text:
            continue
        value = plain([text])
        if value is None:
            raise InputError(
                "number-unreadable",
                f'{table.place(row)}, column "{ORDER}" is not a number',
                expected="the place of the label, such as 1, or an empty cell",
                got=quoted(text),
                do="number the labels from one end to the other",
                whose=table.whose,
                details={"lines": [table.lines[row]]},
            )
        before = row_of.setdefault(float(value[0]), row)
        if before != row:
            raise InputError(
                "order-twice",
                f"{table.whose} puts {quoted(labels[before])} and {quoted(labels[row])} at one "
                f"place of the order ({table.places([before, row])})",
                expected="a place of its own for each label",
                got=f"{text} twice",
                do="number them apart, or make one an alias of the other",
                whose=table.whose,
                details={"lines": [table.lines[before], table.lines[row]]},
            )
