"""Tables of text as files hold them, with each different text of a column once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import overload

import attrs
import numpy as np

from plausibly.data.names import is_blank, quoted
from plausibly.errors import InputError, counted, listed
from plausibly.kernels.types import Ints


@attrs.frozen(eq=False)
class Coded(Sequence[str]):
    """A column of text."""

    names: list[str]
    codes: Ints

    @classmethod
    def of(cls, texts: Sequence[str]) -> Coded:
        """Return a column with its texts coded; itself where it is coded already."""
        if isinstance(texts, cls):
            return texts
        places: dict[str, int] = {}
        codes = [places.setdefault(text, len(places)) for text in texts]
        return cls(list(places), np.array(codes, np.int64))

    @classmethod
    def taken(cls, texts: Sequence[str], places: Ints) -> Coded:
        """Return a column of texts by their places, where texts may repeat or not be in use."""
        first = cls.of(texts)
        codes = first.codes[places]
        used = np.zeros(len(first.names), bool)
        used[codes] = True
        names = [name for name, kept in zip(first.names, used.tolist(), strict=True) if kept]
        return cls(names, (np.cumsum(used) - 1)[codes])

    def __len__(self) -> int:
        return int(self.codes.size)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [self.names[code] for code in self.codes[place].tolist()]
        return self.names[int(self.codes[place])]

    def __iter__(self) -> Iterator[str]:
        return map(self.names.__getitem__, self.codes.tolist())

    def __contains__(self, text: object) -> bool:
        return text in self.names


@attrs.frozen(kw_only=True, eq=False)
class TextTable:
    """Columns of text, and where in the file each row stands.

    Attributes
    ----------
    source : str
        Name of the file.
    header : tuple of str
        Names of the columns; ``"1"``, ``"2"``, … where the file has no header.
    columns : tuple of sequence of str
        One sequence per column, in the order of the header; an empty cell is the empty text.
    lines : sequence of int
        For each row the line on which it starts, counted from 1.
    unit : str
        ``"line"``, or ``"row"`` for Parquet, which has no lines.
    named : bool
        Whether the file names its columns.
    nested : dict of str to str
        Columns of Parquet files that hold no plain values, and their type.
    offered : dict of str to tuple of str
        Columns that say which texts they could hold, such as a categorical one of a frame.
    """

    source: str
    header: tuple[str, ...]
    columns: tuple[Sequence[str], ...]
    lines: Sequence[int]
    unit: str = "line"
    named: bool = True
    nested: Mapping[str, str] = attrs.field(factory=dict)
    offered: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict)

    def __len__(self) -> int:
        return len(self.lines)

    def seen(self) -> TextTable:
        """Return the table with an empty cell wherever nothing but blanks was written."""
        columns = []
        for column in self.columns:
            different = column.names if isinstance(column, Coded) else {*column}
            # Names that are letters and digits alone need no look of their own.
            if any(map(is_blank, (name for name in different if name and not name.isalnum()))):
                coded = Coded.of(column)
                texts = ["" if is_blank(name) else name for name in coded.names]
                column = Coded.taken(texts, coded.codes)
            columns.append(column)
        return attrs.evolve(self, columns=tuple(columns))

    def column(self, name: str) -> list[str]:
        """Return the values of a column that is there (see `need`)."""
        return list(self.columns[self.header.index(name)])

    def coded(self, name: str) -> Coded:
        """Return the values of a column that is there, each different one once."""
        return Coded.of(self.columns[self.header.index(name)])

    def place(self, row: int) -> str:
        """Return where a row stands, as messages say it: ``votes.csv line 88``."""
        return f"{self.source} {self.unit} {counted(self.lines[row])}"

    def places(self, rows: Iterable[int]) -> str:
        """Return up to three of the lines, and the count: ``lines 4, 8, 9, … (12 in all)``."""
        numbers = [counted(self.lines[row]) for row in rows]
        return f"{self.unit}{'s' if len(numbers) > 1 else ''} {listed(numbers)}"

    def need(self, names: Iterable[str], *, hint: str) -> None:
        """Raise ``columns-missing`` unless every one of `names` is a column of plain values.

        Parameters
        ----------
        names : iterable of str
            Columns that the caller is going to read.
        hint : str
            What the user can type, such as ``columns={"example": "item"}``.
        """
        wanted = list(names)
        absent = [name for name in wanted if name not in self.header]
        for name in wanted:
            if name in self.nested:
                raise InputError(
                    "column-nested",
                    f'{self.source} holds no plain values in column "{name}"',
                    expected="one text or number per row",
                    found=self.nested[name],
                    hint="write one row per value",
                    source=self.source,
                )
        if not absent:
            return
        seen = listed(self.header) if self.named else f"{len(self.header)} columns without names"
        raise InputError(
            "columns-missing",
            f"{self.source} has no column {', '.join(map(quoted, absent))}",
            expected=f"columns {', '.join(wanted)}",
            found=seen,
            hint=hint,
            source=self.source,
            details={"missing": absent, "seen": list(self.header)},
        )
