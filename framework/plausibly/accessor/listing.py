"""Tables of examples that print the first rows and give all of them as a frame."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import attrs
import pandas as pd

from plausibly import text
from plausibly.errors import counted
from plausibly.plots.text import shown_name

Row: TypeAlias = tuple[object, ...]

SHOWN = 10
_GAP = "  "
_LABELS = 6
_WIDE = 60
_CELL = 240


@attrs.frozen(kw_only=True, repr=False)
class Listing:
    """Rows under titles; made when they are asked for.

    Attributes
    ----------
    title : str
    columns : tuple of str
    total : int
        Number of rows.
    rows : callable
        Returns the rows from a start up to an end.
    most : int
        Rows that are printed.
    notes : tuple of str
    """

    title: str
    columns: tuple[str, ...]
    total: int
    rows: Callable[[int, int], Sequence[Row]]
    most: int = SHOWN
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return self.total

    def to_frame(self) -> pd.DataFrame:
        """Return all rows; labels of a set are a tuple of their names."""
        return pd.DataFrame(list(self.rows(0, self.total)), columns=list(self.columns))

    def __repr__(self) -> str:
        rows = self._shown()
        widths = [
            max(len(row[column]) for row in (self.columns, *rows))
            for column in range(len(self.columns))
        ]
        lines = [self.title]
        for row in (self.columns, *rows):
            cells = (f"{text:<{width}}" for text, width in zip(row, widths, strict=True))
            lines.append(_GAP.join(cells).rstrip())
        return "\n".join([*lines, *self._ends()])

    def _repr_html_(self) -> str:
        return text.framed(
            self.title,
            text.table(self._shown(), head=self.columns),
            *(text.paragraph(note) for note in self._ends()),
        )

    def _shown(self) -> list[tuple[str, ...]]:
        found = self.rows(0, min(self.most, self.total))
        return [tuple(map(as_text, row)) for row in found]

    def _ends(self) -> list[str]:
        rest = self.total - self.most
        more = [f"… {counted(rest)} more, in to_frame()"] if rest > 0 else []
        return [*more, *self.notes]


def as_text(value: object) -> str:
    """Return a cell as it is printed: sets between braces, long ones with their number."""
    if isinstance(value, float):
        return f"{value:g}"
    if not isinstance(value, tuple):
        return shown_name(value, width=_CELL, lines=1)
    names = [shown_name(name, width=_WIDE, lines=1) for name in value[:_LABELS]]
    shown = ", ".join(names)
    return (
        f"{{{shown}, … {counted(len(value))} labels}}" if len(value) > _LABELS else f"{{{shown}}}"
    )
