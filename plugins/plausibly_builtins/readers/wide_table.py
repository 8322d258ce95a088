"""Wide tables: one row per example, one column per annotator."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

import attrs

from plausibly.plugin import AnnotationTable, InputError, counted, listed, quoted, several
from plausibly.plugin.readers import (
    Response,
    TextTable,
    check_named,
    first_rows,
    names_examples,
    read_table,
)
from plausibly_builtins.readers import base

_ROWS = 4  # in fewer, two annotators who never agree are nothing special
_LINE_END = re.compile(r"\r\n|\r|\n")
_EXAMPLE = ("example", "task", "")  # an empty first name is what pandas writes above its index
_BLANKS = frozenset({"?", "-", ".", "-1", "-1.0"})
_DECIMAL = re.compile(r"(-?[0-9]+)\.0+")
_PERSON = re.compile(
    r"(ann|annotator|clinician|coder|doctor|expert|judge|label+er|pathologist|performer|physician|"
    r"radiologist|rater|reader|reviewer|user|worker)[ _.#-]*([0-9]+|(?<=[ _.#-])[a-z])",
    re.IGNORECASE,
)
Places: TypeAlias = Sequence[tuple[int, str]]
"""Places of columns, and the names of their annotators."""


@attrs.frozen(kw_only=True)
class WideTable(base.TableExport):
    """Read CSV, TSV or Parquet with one row per example and one column per annotator.

    Every value is kept as the text that was written; an empty cell is no response: this
    annotator did not see this example. An annotator without any response stays, as does an example.

    Attributes
    ----------
    header : bool
        Whether the first row names the columns. Without, they are called ``"1"``, ``"2"``, …
    example : str or None
        Column that names the examples; None takes ``example`` or ``task``, or a first column that
        does. Where there is none, examples are called ``"0"``, ``"1"``, … by their rows.
    annotators : tuple of str
        Columns of the annotators; by default all that are neither the names nor ignored.
    ignore : tuple of str
        Columns that are neither.
    missing : tuple of str
        Cells that mean "no response", besides the empty one.
    separator : str or None
        What stands between the labels of a cell: answers are then label sets.
    integers : bool
        Read ``1.0`` as ``1``: what programs make of whole numbers in a column with empty cells.
    delimiter : str or None
        ``","``, ``";"`` or a tab; None finds out.
    """

    header: bool = True
    example: str | None = None
    annotators: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    separator: str | None = attrs.field(default=None, validator=base.NOT_EMPTY)
    integers: bool = False
    delimiter: str | None = None

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether the columns are there, or all are called as annotators are."""
        rows = first_rows(path, head, self.delimiter)
        if not rows or not rows[0] or len({len(row) for row in rows}) > 1:
            return False
        named = rows[0] if self.header else tuple(str(at + 1) for at in range(len(rows[0])))
        if not {*self.annotators, *self.ignore, self.example} - {None} <= set(named):
            return False
        people = [name for name in named if _PERSON.fullmatch(name.strip())]
        others = [name for name in named if name not in (*people, *self.ignore)]
        return bool(self.annotators) or (len(people) > 1 and len(others) < 2)

    def read(self, path: Path, labels: base.Labels) -> AnnotationTable:
        table = read_table(
            path, role="annotations", header=self.header, delimiter=self.delimiter, unique=False
        )
        return self.from_table(table, labels)

    def table_content(self, table: TextTable, labels: base.Labels) -> AnnotationTable:
        example, annotators = self._columns(table, labels)
        if example is None:
            names, blank = _positions(table)
        else:
            names, blank = list(table.columns[example]), []
            check_named(table, table.header[example], "example")
        cells = Counter(c for place, _ in annotators for c in table.columns[place] if c)
        for text in self.missing:
            cells.pop(text, None)
        if labels is None:
            base.warn_missing_words(table.source, cells, _BLANKS)
        decimals = labels is None and cells and all(map(_DECIMAL.fullmatch, cells))
        if decimals and not self.integers:
            what = f": labels {listed(map(quoted, cells))} are kept as text"
            expected = "names of labels; are they whole numbers, made decimals by empty cells?"
            hint = base.as_argument("wide-table", integers=True) + ", if they are"
            base.warn_of(table.source, "labels-like-decimals", what, expected, "", hint)
        offered = [table.offered.get(name) for _, name in annotators]
        every = dict.fromkeys(label for of in offered for label in of or ())
        return self.gathered(
            "single-label" if self.separator is None else "label-set",
            self._responses(table, annotators, names),
            labels,
            source=table.source,
            examples=[*names, *blank],
            annotators=[name for _, name in annotators],
            # Labels that every column could hold, where all columns say it.
            offered=None
            if self.separator is not None or None in offered
            else [label for label in every if label and label not in self.missing],
        )

    def _responses(
        self, table: TextTable, annotators: Places, names: Sequence[str]
    ) -> Iterator[Response]:
        skipped = {"", *self.missing}
        for place, annotator in annotators:
            for row, cell in enumerate(table.columns[place]):
                if cell in skipped:
                    continue
                parts = [cell] if self.separator is None else cell.split(self.separator)
                if self.integers:
                    whole = map(_DECIMAL.fullmatch, parts)
                    parts = [m[1] if m else part for m, part in zip(whole, parts, strict=True)]
                yield Response(
                    example=names[row],
                    annotator=annotator,
                    answer=parts[0] if self.separator is None else parts,
                    place=f"{table.unit} {counted(table.lines[row])}, column {annotator}",
                )

    def _columns(
        self, table: TextTable, labels: base.Labels
    ) -> tuple[int | None, list[tuple[int, str]]]:
        """Return the place of the names of examples, and those of the annotators' columns."""
        _check_header(table)
        header, example = table.header, None
        for name in _EXAMPLE if self.example is None else (self.example,):
            usable = name in header and (name or not header[0]) and example is None
            usual = table.named and name not in (*self.annotators, *self.ignore)
            if usable and (usual or self.example is not None):
                example = header.index(name)
        # What is ignored has to be there, and may hold anything.
        needed = [*self.annotators, *([] if self.example is None else [self.example])]
        needed += [name for name in self.ignore if name not in table.header]
        typed = base.as_argument("wide-table", example="COLUMN")
        table.need(needed, hint=f"{typed}, with names of columns that are there")
        taken = {*self.ignore, *([] if example is None else [table.header[example]])}
        wanted = [
            (place, name)
            for place, name in enumerate(table.header)
            if name and name not in taken and (not self.annotators or name in self.annotators)
        ]
        if not wanted:
            expected = "one column per annotator, besides the names of the examples"
            raise base.columns_missing(table, "an annotator", expected, "ignore fewer columns")
        table.need([name for _, name in wanted], hint="ignore what is no annotator")
        if not self.annotators:
            if example is None and self.example is None and _names_first(table, wanted, labels):
                example, wanted = 0, wanted[1:]
            _check_unclear(table, wanted, example, labels)
        return example, wanted


def _check_header(table: TextTable) -> None:
    """Raise an error where columns that hold anything do not have names of their own."""
    columns = enumerate(zip(table.header, table.columns, strict=True))
    first: dict[str, int] = {}
    for place, (name, cells) in columns:
        before = first.setdefault(name, place)
        if (name and before != place) or (not name and place and any(cells)):
            error, what = "columns-unnamed", f" has no name for column {place + 1}"
            if name:
                error, what = "columns-repeat", f" names {quoted(name)} twice in its first row"
            hint = "name it in the first row; header=False, if that row is no header"
            expected = "a name of its own for each column"
            raise base.refused(error, what, expected, listed(table.header), hint)


def _names_first(table: TextTable, wanted: Places, declared: base.Labels) -> bool:
    """Return whether the first column names the examples, and say so."""
    if not table.named or len(wanted) < 2 or wanted[0][0] != 0 or not len(table):
        return False
    apart, name = _apart(table, wanted, declared), wanted[0][1]
    called = names_examples(name, ())
    if called and name not in apart:
        raise _unclear(table, name, "repeats itself, or what others say")
    if not called and (apart != [name] or len(table) < 2):
        return False
    what = f": column {quoted(name)} is taken for the names of the examples"
    hint = base.as_argument("wide-table", example=name) + ", to say that it is"
    base.warn_of(table.source, "example-column", what, "a column example, or its name", "", hint)
    return True


def _apart(table: TextTable, wanted: Places, declared: base.Labels) -> list[str]:
    """Return the columns with another text in every row, which no other column has."""
    apart: list[str] = []
    for place, name in wanted:
        cells = table.columns[place]
        others = (table.columns[at] for at, _ in wanted if at != place)
        known = set(declared or ()).union(*others)
        if all(cells) and len(set(cells)) == len(cells) and known.isdisjoint(cells):
            apart.append(name)
    return apart


def _check_unclear(
    table: TextTable, wanted: Places, example: int | None, declared: base.Labels
) -> None:
    """Raise an error where a column has another text in every row: it names, or describes."""
    names = [name for _, name in wanted]
    if len(names) < 2:
        return
    labels = set().union(*(table.columns[place] for place, _ in wanted))
    if table.named and labels.issuperset(names):
        what = ": every column is called as a label that its rows name"
        of_people = base.as_argument("wide-table", annotators=names)
        more = f", if that row is no header; {of_people}, if it is"
        expected, found = "names of annotators in the first row", listed(map(quoted, names))
        raise base.needed("wide-table", what, expected, found, more, header=False)
    if len(table) >= (2 if example is None else _ROWS):
        for name in _apart(table, wanted, declared):
            what = "has another text in every row, which no other column has"
            raise _unclear(table, name, what, named=example is not None)


def _unclear(table: TextTable, name: str, what: str, *, named: bool = False) -> InputError:
    what, expected = f": column {quoted(name)} {what}", "labels, one column per annotator"
    found = listed(map(quoted, table.column(name)))
    more = ", if it is of no annotator"
    if named:
        return base.needed("wide-table", what, expected, found, more, ignore=[name])
    more = f", if it names the examples; {base.as_argument('wide-table', ignore=[name])}{more}"
    return base.needed("wide-table", what, expected, found, more, example=name)


def _positions(table: TextTable) -> tuple[list[str], list[str]]:
    """Return names by place, and those of blank rows: examples without response."""
    if table.unit != "line":
        return [str(row) for row in range(len(table))], []
    due = 2 + _line_ends(table.header) if table.named else 1
    names: list[str] = []
    blank: list[str] = []
    for row, line in enumerate(table.lines):
        if row == 0 and table.named and line > due:
            what, number = f" has blank rows before line {counted(line)}", line - due
            expected = "examples from the first row on, since nothing names them"
            hint = f"remove them, or {base.as_argument('wide-table', example='COLUMN')}"
            raise base.refused("rows-blank", what, expected, several(number, "blank row"), hint)
        for _ in range(line - due):
            blank.append(str(len(names) + len(blank)))
        names.append(str(len(names) + len(blank)))
        due = line + 1 + _line_ends(column[row] for column in table.columns)
    return names, blank


def _line_ends(cells: Iterable[str]) -> int:
    return sum(len(_LINE_END.findall(cell)) for cell in cells)
