"""Which rows and columns a wide table has: names of examples, and what is no annotator."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from plausibly.plugin import (
    InputError,
    TextTable,
    counted,
    listed,
    names_examples,
    quoted,
    several,
    warn,
)

_ROWS = 4  # in fewer, two annotators who never agree are nothing special
_LINE_END = re.compile(r"\r\n|\r|\n")


def check_header(table: TextTable) -> None:
    """Raise an error where names repeat, or where a column with content has none."""
    counts = Counter(name for name in table.header if name)
    twice = [name for name, count in counts.items() if count > 1]
    if twice:
        raise InputError(
            "columns-repeat",
            f"{table.whose} names {listed(map(quoted, twice))} {counts[twice[0]]} times in its "
            "first row",
            expected="one column an annotator, each with a name of its own",
            got=listed(table.header),
            do="--reader '{name = \"wide-table\", header = false}', if that row is no header",
            whose=table.whose,
            details={"columns": twice},
        )
    empty = [place for place, name in enumerate(table.header) if not name]
    unnamed = [place for place in empty if place and any(table.columns[place])]
    if unnamed:
        raise InputError(
            "columns-unnamed",
            f"{table.whose} has {several(len(unnamed), 'column')} without a name "
            f"({listed(place + 1 for place in unnamed)})",
            expected="the name of an annotator above each column",
            got="an empty cell",
            do="name them in the first row, or --reader "
            "'{name = \"wide-table\", header = false}', if that row is no header",
            whose=table.whose,
        )


def names_first(
    table: TextTable, wanted: Sequence[tuple[int, str]], declared: Sequence[str] | None
) -> bool:
    """Return whether the first column names the examples, and say so.

    It does where each of its cells is another text that nobody says, and either it is called so or
    no other column is like it. A column that is called so and is not like it raises an error.
    """
    if not table.named or len(wanted) < 2 or wanted[0][0] != 0 or not len(table):
        return False
    apart = [name for place, name in wanted if _stands_apart(table, place, wanted, declared)]
    name = wanted[0][1]
    called = names_examples(name, ())
    if called and name not in apart:
        raise _unclear(table, [name], "repeats itself, or what others say")
    if not called and (apart != [name] or len(table) < 2):
        return False
    warn(
        "example-column",
        f"{table.whose}: column {quoted(name)} is taken for the names of the examples",
        expected="a column example, or its name",
        got="another text in each row, which is no label",
        do=f'--reader \'{{name = "wide-table", example = "{name}"}}\', to say that it is',
        whose=table.whose,
        details={"column": name},
        stacklevel=7,
    )
    return True


def _stands_apart(
    table: TextTable,
    place: int,
    wanted: Sequence[tuple[int, str]],
    declared: Sequence[str] | None,
) -> bool:
    """Return whether a column says something else in every row, which nobody else says."""
    cells = table.columns[place]
    said = set(declared or ()).union(*(table.columns[at] for at, _ in wanted if at != place))
    return all(cells) and len(set(cells)) == len(cells) and said.isdisjoint(cells)


def check_unclear(
    table: TextTable,
    wanted: Sequence[tuple[int, str]],
    example: int | None,
    declared: Sequence[str] | None,
) -> None:
    """Raise an error where a column says something else in every row: it names, or describes.

    Two rows are enough where no column names the examples; else it takes more.
    """
    cells = {name: table.columns[place] for place, name in wanted}
    said = Counter(text for column in cells.values() for text in set(column) if text)
    if table.named and len(cells) > 1 and all(said[name] for name in cells):
        raise _header_unclear(table, list(cells))
    least = 2 if example is None else _ROWS
    if len(cells) > 1 and len(table) >= least:
        unclear = [name for place, name in wanted if _stands_apart(table, place, wanted, declared)]
        if unclear:
            what = "says something else in every row, which nobody else says"
            raise _unclear(table, unclear, what, asked=example is not None)


def _unclear(
    table: TextTable, unclear: Sequence[str], what: str, *, asked: bool = False
) -> InputError:
    """Return the error about columns that may be of no annotator; `asked` if names are known."""
    names = ", ".join(f'"{name}"' for name in unclear)
    ignore = f"ignore = [{names}]"
    do = f"--reader '{{name = \"wide-table\", {ignore}}}', if it is of no annotator"
    if not asked:
        do = (
            f'--reader \'{{name = "wide-table", example = "{unclear[0]}"}}\', if it names the '
            f"examples; {ignore}, if it is of no annotator"
        )
    return InputError(
        "columns-unclear",
        f"{table.whose}: column {quoted(unclear[0])} {what}",
        expected="labels, one column an annotator",
        got=listed(map(quoted, table.column(unclear[0]))),
        do=do,
        whose=table.whose,
        details={"columns": unclear},
    )


def _header_unclear(table: TextTable, names: Sequence[str]) -> InputError:
    shown = ", ".join(f'"{name}"' for name in names)
    return InputError(
        "header-unclear",
        f"{table.whose}: every column is called as a label that its rows name",
        expected="names of annotators in the first row",
        got=listed(map(quoted, names)),
        do="--reader '{name = \"wide-table\", header = false}', if that row is no header; "
        f"annotators = [{shown}], if it is",
        whose=table.whose,
    )


def example_names(table: TextTable, example: int | None) -> tuple[list[str], list[str]]:
    """Return the name of each row, and those of blank rows between them."""
    if example is None:
        return _positions(table)
    names = list(table.columns[example])
    unnamed = [row for row, name in enumerate(names) if not name]
    if unnamed:
        raise InputError(
            "example-unnamed",
            f"{table.whose} names no example in {table.places(unnamed)}",
            expected="the name of an example",
            got="an empty cell",
            do="name it, or remove the row",
            whose=table.whose,
            details={"lines": [table.lines[row] for row in unnamed]},
        )
    return names, []


def _positions(table: TextTable) -> tuple[list[str], list[str]]:
    """Return names by place, where a blank row is an example to which nobody responded."""
    if table.unit != "line":
        return [str(row) for row in range(len(table))], []
    header = table.header if table.named else ()
    due = 2 + _line_ends(header) if table.named else 1
    names: list[str] = []
    blank: list[str] = []
    for row, line in enumerate(table.lines):
        if row == 0 and table.named and line > due:
            raise InputError(
                "rows-blank",
                f"{table.whose} has blank rows before line {counted(line)}",
                expected="examples from the first row on, since nothing names them",
                got=several(line - due, "blank row"),
                do="remove them, or name the examples in a column: "
                '--reader \'{name = "wide-table", example = "COLUMN"}\'',
                whose=table.whose,
            )
        for _ in range(line - due):
            blank.append(str(len(names) + len(blank)))
        names.append(str(len(names) + len(blank)))
        due = line + 1 + _line_ends(column[row] for column in table.columns)
    return names, blank


def _line_ends(cells: Iterable[str]) -> int:
    return sum(len(_LINE_END.findall(cell)) for cell in cells)
