"""Arrays out of tables: a column of example names, then a column of numbers a label."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import attrs
import numpy as np
from numpy.typing import NDArray

from plausibly.data.names import is_blank, near, quoted
from plausibly.errors import InputError, listed
from plausibly.io import files, frames, parquet, text, views
from plausibly.io.arrays import NamedArray
from plausibly.io.hints import names_examples
from plausibly.io.numbers import numbers

_REST = "a column of example names, then one column of numbers a label and nothing else"
_INDEX = ("", "Unnamed: 0", "__index_level_0__")
"""What pandas, or what read its files, calls an index without a name."""
_NO_LABEL = "remove what is no label from the file"


class _Column(Protocol):
    """One column that knows its type, of Parquet or of a frame."""

    @property
    def name(self) -> str: ...
    @property
    def content(self) -> str: ...
    @property
    def type(self) -> str: ...
    def texts(self) -> list[str]: ...
    def numbers(self) -> NDArray[Any]: ...  # Any: float32 stays float32


@attrs.frozen(kw_only=True)
class _Asked:
    """Which columns are not of labels."""

    whose: str
    example: str
    view: str | None
    unique: bool
    views_fit: bool

    def places(self, table: text.TextTable) -> tuple[int, int | None, list[int]]:
        """Return the position of the names, of the views, and those of the numbers."""
        header, whose = table.header, self.whose
        self._check_index(table)
        guess = near(self.example, header)
        if guess is None and header and names_examples(header[0], table.columns[0]):
            guess = header[0]
        hint = f"add a column {self.example} with the names of the examples"
        if guess is not None:
            hint = f"--example {quoted(guess)}, if that column names the examples"
        table.need([self.example], do=hint)
        taken = [header.index(self.example)]
        if self.view is not None:
            self._check_view(table)
            taken.append(header.index(self.view))
        rest = [position for position in range(len(header)) if position not in taken]
        if self.unique:
            text.distinct([header[position] for position in rest], whose)
        if not rest:
            raise InputError(
                "columns-missing",
                f"{whose} has no column of numbers",
                expected=_REST,
                got=f"only {listed(quoted(header[position]) for position in sorted(taken))}",
                do="add one column a label",
                whose=whose,
            )
        return taken[0], taken[1] if len(taken) > 1 else None, rest

    def _check_index(self, table: text.TextTable) -> None:
        """Raise ``index-column`` where a column is the index of a data frame, and not asked for."""
        header, whose = table.header, self.whose
        # An unnamed column elsewhere is none, such as the last one where lines end in a comma.
        found = [name for name in _INDEX if name in header and (name or header[0] == "")]
        if not found or found[0] in (self.example, self.view):
            return
        at = header.index(found[0])
        some = f"{listed(table.columns[at][:3])}, … " if table.columns[at] else "a column "
        there = self.example in header
        kind = "parquet" if whose.endswith(".parquet") else "csv"
        raise InputError(
            "index-column",
            f"column {at + 1} of {whose} looks like the index of a pandas data frame",
            expected="a column of example names and one column of numbers per label",
            got=f"{some}under the name {quoted(header[at])}",
            do=f'df.to_{kind}("{whose}", index=False)'
            if there
            else f"--example {quoted(header[at])}, if it names the examples",
            whose=whose,
            details={"column": header[at]},
        )

    def _check_view(self, table: text.TextTable) -> None:
        """Raise where there is no such column, or where it names the examples."""
        view = str(self.view)
        others = [name for name in table.header if name != self.example]
        guess = near(view, others) or (others[0] if others else "")
        hint = f"--view {quoted(guess)}, if that column names the views"
        if view == self.example:
            raise InputError(
                "option-unfit",
                f"{self.whose}: view has no meaning here",
                expected="another column than the one that names the examples",
                got=quoted(view),
                do=hint if guess else "leave view out",
                whose=self.whose,
            )
        table.need([view], do=hint if guess else "leave view out")

    def check_named(self, names: Sequence[str], table: text.TextTable) -> None:
        """Raise ``example-unnamed`` where a row has no name that can be seen."""
        unnamed = [row for row, name in enumerate(names) if is_blank(name)]
        if unnamed:
            raise InputError(
                "example-unnamed",
                f"{self.whose} has no example name in {table.places(unnamed)}",
                expected=f"a name in column {quoted(self.example)}",
                got="an empty cell",
                do="name it, or remove the row",
                whose=self.whose,
                details={"lines": [table.lines[row] for row in unnamed]},
            )

    def no_label(self, names: Sequence[str]) -> str:
        """Return what to do about a column without numbers."""
        if self.views_fit and self.view is None and len(set(names)) < len(names):
            return f"{_NO_LABEL}, or --view COLUMN (view=COLUMN), if it names views of an example"
        return _NO_LABEL

    def named(
        self,
        values: NDArray[Any],  # Any: the type is the file's
        names: list[str],
        labels: list[str],
        of_view: list[str] | None,
        table: text.TextTable,
    ) -> NamedArray:
        """Return rows of numbers under their names, as planes where they are of views."""
        whose = self.whose
        if of_view is None:
            if self.views_fit:
                views.check_one_row(names, whose)
            return NamedArray(values=values, examples=names, labels=labels, whose=whose)
        planes, examples, augmentations = views.stacked(
            values, names, of_view, column=str(self.view), whose=whose, places=table.places
        )
        return NamedArray(
            values=planes,
            examples=examples,
            labels=labels,
            whose=whose,
            augmentations=augmentations,
        )


def from_table(
    path: Path,
    role: str,
    example: str,
    *,
    unique: bool = True,
    view: str | None = None,
    views_fit: bool = False,
) -> NamedArray:
    """Read a CSV, TSV or Parquet file: a column of example names, then a column a label.

    The first column called `example` has the names; a label may be called so too.

    Parameters
    ----------
    path : Path
    role : str
        What it is for, in the words of messages.
    example : str
        Column that names the examples.
    unique : bool
        False leaves it to the caller to look for labels that repeat.
    view : str, optional
        Column that names the view of each row: the result has a plane for each of them.
    views_fit : bool
        Whether several rows an example could be views of it, which is then said.
    """
    whose = path.name
    asked = _Asked(whose=whose, example=example, view=view, unique=unique, views_fit=views_fit)
    if files.opening(path, role, 4) == b"PAR1":
        return _from_columns(parquet.read_columns(path, role), asked)
    table = text.read_table(path, role=role, unique=False)
    name_place, view_place, rest = asked.places(table)
    if not len(table):
        raise files.empty(whose, "one row an example", "a header and no rows")
    names = list(table.columns[name_place])
    asked.check_named(names, table)
    values = numbers(table, rest, rest=_REST, do=asked.no_label(names))
    labels = [table.header[position] for position in rest]
    of_view = None if view_place is None else list(table.columns[view_place])
    return asked.named(values, names, labels, of_view, table)


def from_frame(frame: object, example: str, *, view: str | None = None) -> NamedArray:
    """Read a data frame; parameters as in `from_table`, errors of `plausibly.io.frames` besides."""
    whose, columns = frames.columns_of(frame)
    asked = _Asked(whose=whose, example=example, view=view, unique=True, views_fit=True)
    return _from_columns(columns, asked)


def _from_columns(columns: Sequence[_Column], asked: _Asked) -> NamedArray:
    whose = asked.whose
    header = tuple(column.name for column in columns)
    nothing: tuple[list[str], ...] = tuple([] for _ in header)
    first = [c.texts() if c.content == "text" else [] for c in columns[:1]]
    shell = text.TextTable(
        whose=whose, header=header, columns=(*first, *nothing[1:]), lines=(), unit="row"
    )
    name_place, view_place, rest = asked.places(shell)
    names = columns[name_place].texts()
    words = [columns[position] for position in rest if columns[position].content != "number"]
    if words:
        raise InputError(
            "columns-not-numeric",
            f"{whose} holds no numbers in column{'s' if len(words) > 1 else ''} "
            f"{listed(quoted(column.name) for column in words)}",
            expected=_REST,
            got=listed(column.type for column in words),
            do=asked.no_label(names),
            whose=whose,
            details={"columns": [column.name for column in words]},
        )
    arrays = [columns[position].numbers() for position in rest]
    single = all(array.dtype == np.float32 for array in arrays)
    values = np.stack(arrays, axis=1).astype(np.float32 if single else np.float64, copy=False)
    if not names:
        raise files.empty(whose, "one row an example", "columns without rows")
    labels = [header[position] for position in rest]
    of_view = None if view_place is None else columns[view_place].texts()
    rows = text.TextTable(
        whose=whose, header=header, columns=nothing, lines=range(1, len(names) + 1), unit="row"
    )
    asked.check_named(names, rows)
    return asked.named(values, names, labels, of_view, rows)
