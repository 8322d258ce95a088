"""Arrays of counts: which label each column is of, and which numbers are no counts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from plausibly.plugin import (
    InputError,
    NamedArray,
    counted,
    from_npy,
    from_npz,
    listed,
    several,
)
from plausibly_builtins.readers._counts_text import Counted, check_columns

_MOST = 2**53  # whole numbers that a float64 weight holds exactly


def from_arrays(path: Path, array: str, labels: Sequence[str] | None) -> Counted:
    """Return the counts in an npy or npz file; options and errors are those of the reader."""
    found = (
        from_npy(path, "annotations")
        if path.suffix.lower() == ".npy"
        else from_npz(path, "annotations", (array,))
    )
    values = _whole(found)
    return Counted(
        examples=found.examples,
        columns=columns_of(found, labels),
        values=values,
        places=[f"row {counted(row + 1)}" for row in range(len(values))],
    )


def columns_of(found: NamedArray, labels: Sequence[str] | None) -> list[str]:
    """Return the label of each column of an array."""
    width = found.values.shape[1]
    if found.labels is not None:
        if labels is not None:
            check_columns(found.whose, found.labels, labels)
        return found.labels
    if labels is None:
        raise InputError(
            "labels-unnamed",
            f"{found.whose} has {several(width, 'column')} and no label names",
            expected="names in column order; an order is never guessed",
            do="--labels labels.txt (one name a line)",
            whose=found.whose,
        )
    if len(labels) != width:
        raise InputError(
            "names-count",
            f"{found.whose} has {several(width, 'column')} and {counted(len(labels))} labels",
            expected="one name a column",
            got=listed(labels),
            do="name every column once, in order",
            whose=found.whose,
        )
    return list(labels)


def _whole(found: NamedArray) -> NDArray[np.int64]:
    """Return the counts of an array as integers."""
    values = found.values
    fit = np.isfinite(values) & (values >= 0) & (values == np.floor(values)) & (values < _MOST)
    if not fit.all():
        row, column = (int(index) for index in np.argwhere(~fit)[0])
        raise InputError(
            "count-unreadable",
            f"{found.whose} row {counted(row + 1)}, column {column + 1} is not a number of votes",
            expected="a whole number, 0 or more",
            got=f"{values[row, column]}",
            do="save the counts, not shares of them",
            whose=found.whose,
        )
    return values.astype(np.int64)
