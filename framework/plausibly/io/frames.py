"""Data frames in memory as tables of text: pandas, polars, pyarrow, and Hugging Face data sets.

All through narwhals (extra ``frames``); of a data set its Arrow table, so that `datasets` itself is
not imported. Every value becomes the text that Python writes of it, and what is missing (None, NaN,
the NA of pandas, null) an empty cell; text such as ``nan`` stays text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import attrs
import numpy as np
import pandas as pd

from plausibly import extras
from plausibly.data.names import is_missing, is_name, name_text, quoted
from plausibly.data.text_table import TextTable
from plausibly.errors import InputError, counted, listed
from plausibly.io.text import Cells, Column, Content, as_texts, distinct, table_of
from plausibly.kernels.types import Numbers

FRAME = "the frame"
_DATA_SET = "the data set"
_RENAME = "frame.columns = [...], with different names"


class Frame(Protocol):
    """A table in memory with named columns."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""


@attrs.frozen(eq=False)
class FrameColumn(Column):
    """One column of a frame, and what numbers in it are called."""

    called: tuple[str, ...] | None = None

    def texts(self) -> list[str]:
        """Return the values as text; what is missing is the empty text."""
        values: list[object] = self.cells.to_list()
        if self.called is not None:
            return [self._name_of(value, row) for row, value in enumerate(values)]
        return as_texts(values, single=self.type == "Float32")

    def numbers(self) -> Numbers:
        """Return the values of a number column, (row,); what is missing is NaN."""
        values = [np.nan if is_missing(value) else value for value in self.cells.to_list()]
        return np.array(values, np.float32 if self.type == "Float32" else np.float64)

    def offered(self) -> tuple[str, ...] | None:
        """Return the texts that the column could hold, where its type lists them."""
        # Categories of polars are shared by all columns of a process.
        shared = self.type == "Categorical" and self.cells.implementation.is_polars()
        if self.called is None and self.type in ("Categorical", "Enum") and not shared:
            return tuple(map(name_text, self.cells.cat.get_categories().to_list()))
        return self.called

    def _name_of(self, value: object, row: int) -> str:
        called = self.called or ()
        if is_missing(value) or value == -1:  # of a data set: no label
            return ""
        if isinstance(value, int) and 0 <= value < len(called):
            return called[value]
        raise InputError(
            "label-number",
            f"{_DATA_SET} row {counted(row + 1)}, column {quoted(self.name)} has an unnamed label",
            expected=f"0 to {len(called) - 1}, or -1 for no label",
            found=str(value),
            hint="fix the features of the data set",
            source=_DATA_SET,
        )


def _unfit(source: str, what: str, expected: str, found: str, hint: str) -> InputError:
    return InputError(
        "frame-unfit", f"{source} {what}", expected=expected, found=found, hint=hint, source=source
    )


def columns_of(frame: Any) -> tuple[str, list[FrameColumn]]:  # Any: `datasets` is not imported
    """Return what a frame is called in messages, and its columns in order."""
    source, called = FRAME, dict[str, tuple[str, ...]]()
    kind = f"{type(frame).__module__.partition('.')[0]} {type(frame).__name__}"
    if hasattr(frame, "with_format"):
        source, features = _DATA_SET, getattr(frame, "features", None)
        # The names behind the numbers of the columns that are of labels.
        for name, feature in features.items() if isinstance(features, Mapping) else ():
            listed_names = getattr(feature, "names", None)
            if isinstance(listed_names, (list, tuple)):
                called[str(name)] = tuple(map(str, listed_names))
        if isinstance(frame, Mapping) or not hasattr(frame, "__len__"):
            hint = 'load_dataset(..., split="train") without streaming'
            found = listed(map(quoted, frame)) if isinstance(frame, Mapping) else kind
            raise _unfit(source, "is no table", "one split, in memory", found, hint)
        frame = frame.with_format("arrow")[:]
    if callable(getattr(frame, "collect", None)):
        raise _unfit(source, "is lazy", "columns in memory", kind, "frame.collect()")
    if isinstance(frame, pd.DataFrame):
        frame = _with_index(frame)
    nw = extras.require("narwhals.stable.v1", extra="frames", source=source)
    # Without narwhals, which refuses names that repeat.
    by_library = (getattr(frame, attribute, None) for attribute in ("column_names", "columns"))
    raw = next((names for names in by_library if names is not None and not callable(names)), ())
    distinct([name_text(name) for name in raw], source, _RENAME)
    try:
        native = nw.from_native(frame, eager_only=True)
    except TypeError:
        expected = "the path of a file, or a frame of pandas, polars, pyarrow or datasets"
        raise _unfit(source, "is no frame", expected, kind, "pandas.DataFrame(...)") from None
    series = list(native.iter_columns())
    if not series or not len(series[0]):
        found = f"{len(series)} columns without a row" if series else "no column"
        hint = "look at how it was selected or read"
        raise _unfit(source, "is empty", "columns with one row or more", found, hint)
    return source, [
        FrameColumn(
            name_text(column.name),
            _content(column),
            str(column.dtype).partition("(")[0],
            column,
            called.get(str(column.name)),
        )
        for column in series
    ]


def text_table(frame: object) -> TextTable:
    """Return a frame as a table of text, which readers read as they read files."""
    return table_of(*columns_of(frame))


def _content(series: Cells) -> Content:
    if series.dtype.is_numeric():
        return "number"
    if series.dtype.is_nested():
        return "nested"
    plain = (
        is_missing(value) or (is_name(value) and not isinstance(value, bytes))
        for value in series.to_list()
    )
    return "text" if all(plain) else "nested"


def _with_index(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame of pandas with its index as columns, where that names anything."""
    if isinstance(frame.columns, pd.MultiIndex):
        what, found = f"has {frame.columns.nlevels} levels of columns", map(str, frame.columns)
        hint = 'frame.columns = ["_".join(c) for c in frame.columns]'
        raise _unfit(FRAME, what, "one name per column", listed(found), hint)
    index = frame.index
    if all(name is not None for name in index.names):
        names = [name_text(name) for name in (*index.names, *frame.columns)]
        distinct(names, FRAME, _RENAME)
        return frame.reset_index()
    texts = index.nlevels == 1 and all(isinstance(name, str) for name in index)
    if texts and len(index) and "index" not in frame.columns:
        return frame.reset_index(names="index")
    return frame
