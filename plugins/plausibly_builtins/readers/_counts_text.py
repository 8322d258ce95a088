"""Tables of counts as text: which column names the examples, and which cells are no counts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from plausibly.plugin import (
    InputError,
    TextTable,
    listed,
    names_examples,
    near,
    quoted,
    several,
)

COUNT = re.compile(r"(0|[1-9][0-9]{0,14})(\.0+)?")
"""A number of votes: programs write whole numbers as 2.0 too."""

EXAMPLE = "example"

_FAULTS = {
    re.compile(r"-[0-9.,]+"): ("a negative number", "a count is 0 or more: mend that line"),
    re.compile(r"[0-9]*,[0-9]+"): ("a comma", "write numbers without commas"),
    re.compile(r"[0-9]*\.[0-9]+"): (
        "a fraction",
        '--reader \'{name = "soft-labels", example = "COLUMN"}\', if these are shares',
    ),
}
"""Numbers that are no counts, what is wrong with them, and what to do."""


@attrs.frozen(kw_only=True, eq=False)
class Counted:
    """Votes by example and label.

    Attributes
    ----------
    examples : list of str or None
        Names; None = by their places.
    columns : list of str
        The label of each column.
    values : ndarray of int64, (example, column)
        The votes.
    places : list of str
        Where in the file each example stands.
    left_out : dict of str to int
        What does not count, by reason.
    offered : bool
        Whether the file names all of its labels, in an order.
    """

    examples: list[str] | None
    columns: list[str]
    values: NDArray[np.int64]
    places: list[str]
    left_out: dict[str, int] = attrs.field(factory=dict)
    offered: bool = True


def reason(number: int, noun: str, lacks: str) -> str:
    """Return why things do not count, as it follows their number: ``rows without a name``."""
    return f"{noun}{'' if number == 1 else 's'} without {lacks}"


def from_text(
    table: TextTable, *, example: str | None, ignore: Sequence[str], unnamed: str
) -> Counted:
    """Return the counts in a table of text; options and errors are those of the reader."""
    table.need(ignore, do="name columns of the file in ignore")
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
        name: _no_counts(cells)
        for name, cells in zip(table.header, table.columns, strict=True)
        if name not in ignore
    }
    table.need(wrong, do="name that column in ignore")
    name = _name_column(table, wrong, example)
    wrong.pop(name)
    _check_counts(table, wrong, name)
    columns = list(wrong)
    names = table.column(name)
    kept = _kept(table, names, unnamed)
    values = np.empty((len(kept), len(columns)), np.int64)
    for place, column in enumerate(columns):
        cells = table.column(column)
        number = {cell: whole(cell) for cell in set(cells)}
        values[:, place] = [number[cells[row]] for row in kept]
    examples = [names[row] for row in kept]
    dropped = len(table) - len(kept)
    _check_once(table, examples, kept)
    return Counted(
        examples=examples,
        columns=columns,
        values=values,
        places=[table.place(row).removeprefix(f"{table.whose} ") for row in kept],
        left_out={reason(dropped, "row", "a name"): dropped},
    )


def _no_counts(cells: Sequence[str]) -> list[int]:
    """Return the rows of a column that hold no count."""
    odd = {cell for cell in set(cells) if not COUNT.fullmatch(cell)}
    return [row for row, cell in enumerate(cells) if cell in odd] if odd else []


def _name_column(table: TextTable, wrong: dict[str, list[int]], example: str | None) -> str:
    """Return the column that names the examples."""
    wanted = example or (EXAMPLE if EXAMPLE in wrong else None)
    if wanted is not None:
        table.need([wanted], do='--reader \'{name = "counts", example = "COLUMN"}\'')
        if wanted in wrong:
            return wanted
    for name, rows in wrong.items():
        if _is_text(table.column(name), rows):
            return name
    raise InputError(
        "columns-missing",
        f"{table.whose} has no column that names the examples",
        expected="a column example, or one that is not of counts",
        got=listed(wrong),
        do=example_hint("counts", table),
        whose=table.whose,
        details={"seen": list(table.header)},
    )


def example_hint(reader: str, table: TextTable) -> str:
    """Return what to do where no column is known to name the examples."""
    name = next((n for n in table.header if names_examples(n, table.column(n))), None)
    if name is None:
        return "add a column example with their names"
    return f'--reader \'{{name = "{reader}", example = "{name}"}}\', if that column does'


def _is_text(cells: Sequence[str], wrong: Sequence[int]) -> bool:
    """Return whether a column holds mostly something else than counts, right or wrong."""
    return 2 * sum(_fault(cells[row]) is None for row in wrong) > len(cells)


def _fault(cell: str) -> tuple[str, str] | None:
    return next((said for pattern, said in _FAULTS.items() if pattern.fullmatch(cell)), None)


def _check_counts(table: TextTable, wrong: dict[str, list[int]], named: str) -> None:
    """Raise an error unless every column that is left holds counts and nothing else."""
    words = [name for name, rows in wrong.items() if _is_text(table.column(name), rows)]
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
        cell = table.column(name)[row]
        said, do = _fault(cell) or ("", "mend that line")
        many = f" ({several(len(cells), 'such cell')})" if len(cells) > 1 else ""
        raise InputError(
            "count-unreadable",
            f"{table.place(row)}, column {quoted(name)} is not a number of votes",
            expected="a whole number, 0 or more",
            got=quoted(cell) + (f", {said}" if said else "") + many,
            do=do.replace("COLUMN", named),
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


def whole(cell: str) -> int:
    """Return the number in a cell that `COUNT` matches."""
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


def check_columns(
    whose: str,
    columns: Sequence[str],
    labels: Sequence[str],
    *,
    reader: str = "counts",
    does: str = "counts votes for",
) -> None:
    """Raise ``label-unknown`` unless every column is of a declared label."""
    outside = [name for name in columns if name not in labels]
    if not outside:
        return
    meant = near(outside[0], [name for name in labels if name not in columns])
    shown = ", ".join(f'"{name}"' for name in outside)
    ignore = f"--reader '{{name = \"{reader}\", ignore = [{shown}]}}'"
    raise InputError(
        "label-unknown",
        f"{whose} {does} {listed(map(quoted, outside))}",
        expected=f"columns among the {several(len(labels), 'declared label')}",
        got=f"{several(len(outside), 'column')} besides",
        do=f"did you mean {quoted(meant)}? mend it, or {ignore}" if meant else ignore,
        whose=whose,
        details={"labels": outside},
    )
