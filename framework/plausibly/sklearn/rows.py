"""Names of the rows of X: what annotations are matched by, and what randomness is keyed by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs
import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from plausibly.data import names
from plausibly.data.names import check_names, name_texts, several, text_array
from plausibly.errors import InputError, counted, listed, warn
from plausibly.kernels.random import hash_names
from plausibly.kernels.types import Hashes

Coordinates = Mapping[str, Sequence[object]]
"""More that is known of each row, by name."""

_WHOSE = "X"
_DISTINCT = 0.9


@attrs.frozen
class Rows:
    """Names of the rows of X.

    Attributes
    ----------
    names : list of str
        ``"0"``, ``"1"``, … where nobody named them.
    named : bool
        Whether somebody did.
    """

    names: list[str]
    named: bool

    def __len__(self) -> int:
        return len(self.names)


def rows_of(x: object, *, examples: Sequence[object] | None = None, unique: bool = True) -> Rows:
    """Return the names of the rows of X.

    Parameters
    ----------
    x : array-like or frame
        The index of a pandas frame names its rows, unless it only counts them from 0.
    examples : sequence, optional
        Their names, said.
    unique : bool
        Whether names in the index must differ; rows that a model is fitted on may come again.

    Raises
    ------
    InputError
        ``rows-differ``, ``example-twice`` or ``example-unnamed``.
    """
    size = count(x)
    if examples is not None:
        said = name_texts(examples)
        check_length(len(said), size, "examples")
        check_names(said, names.EXAMPLE, whose="examples")
        return Rows(said, named=True)
    index = naming_index(x)
    if index is None:
        return Rows([str(row) for row in range(size)], named=False)
    found = name_texts(index)
    if unique:
        check_names(found, names.EXAMPLE, whose="the index of X")
    return Rows(found, named=True)


def count(x: object) -> int:
    """Return the number of rows of whatever scikit-learn takes as X."""
    shape: tuple[int, ...] | None = getattr(x, "shape", None)
    return int(shape[0]) if shape else len(x)  # type: ignore[arg-type]  # a list of rows


def naming_index(data: object) -> pd.Index | None:
    """Return the index of pandas data, or None where it says no more than a row's place."""
    if not isinstance(data, (pd.DataFrame, pd.Series)):
        return None
    index = data.index
    counts = isinstance(index, pd.RangeIndex) and index.start == 0 and index.step == 1
    return None if counts else index


def check_length(given: int, rows: int, whose: str) -> None:
    """Raise ``rows-differ`` where something with one entry a row has another length."""
    if given != rows:
        raise InputError(
            "rows-differ",
            f"{whose} have {several(given, 'row')}, and X has {counted(rows)}",
            expected="one a row of X, in its order",
            got=counted(given),
            do="pass both from one split, or name the rows: examples=[...]",
            whose=whose,
        )


def labelled(
    values: NDArray[np.floating],
    rows: Rows,
    labels: Sequence[str],
    coordinates: Coordinates | None,
    *,
    prefix: str = "",
) -> xr.DataArray:
    """Return probabilities under the names of rows and labels.

    Parameters
    ----------
    values : ndarray, (example, label)
    rows : Rows
    labels : sequence of str
        Of the columns.
    coordinates : mapping of str to sequence, optional
        More that is known of each example, such as its group.
    prefix : str
        Goes before names that nobody gave, so that row 0 of two arrays is not one example.
    """
    called = rows.names if rows.named else [f"{prefix}{name}" for name in rows.names]
    array = xr.DataArray(
        values,
        dims=(names.EXAMPLE, names.LABEL),
        coords={
            names.EXAMPLE: (names.EXAMPLE, text_array(called)),
            names.LABEL: (names.LABEL, text_array(labels)),
        },
        name="predictions",
        attrs={names.SCALE: "probability"},
    )
    for name, column in (coordinates or {}).items():
        found = np.asarray(column)
        check_length(len(found), len(rows), f"coordinates of {name}")
        array = array.assign_coords({name: (names.EXAMPLE, found)})
    return array


@attrs.frozen
class Seen:
    """What is remembered of the rows that a model was fitted on: names, or else contents.

    Attributes
    ----------
    named : bool
    marks : ndarray of uint64, (row,)
        Different hashes, in ascending order.
    telling : bool
        Whether hashes tell rows apart: where many rows are alike, equal ones say nothing.
    """

    named: bool
    marks: Hashes
    telling: bool


def seen(x: object) -> Seen | None:
    """Return what to remember of the rows of X, or None where they cannot be told apart."""
    index = naming_index(x)
    marks = _contents(x) if index is None else hash_names(name_texts(index))
    if marks is None:
        return None
    distinct = np.unique(marks)
    named = index is not None
    return Seen(named, distinct, named or distinct.size >= _DISTINCT * marks.size)


def warn_if_seen(before: Seen | None, x: object, rows: Rows) -> None:
    """Warn where the rows of X that calibrate are rows that the model was fitted on.

    Names decide alone. Rows without names count as the same where they hold the same numbers, and
    only if that is true of half of them.
    """
    if before is None or not before.telling or before.named != rows.named:
        return
    marks = hash_names(rows.names) if rows.named else _contents(x)
    if marks is None:
        return
    again = np.isin(marks, before.marks)
    if not again.any() or (not rows.named and again.sum() * 2 < again.size):
        return
    which = [name for name, same in zip(rows.names, again.tolist(), strict=True) if same]
    warn(
        "model-saw-examples",
        f"the model was fitted on {counted(len(which))} of {counted(len(rows))} rows of X",
        expected="rows that the model has not seen: else sets cover less than they promise",
        got=listed(which) if rows.named else "rows with the same numbers",
        do="train_test_split first, then fit on one part and conformalize on the other",
        whose=_WHOSE,
        details={"examples": which},
        stacklevel=3,
    )


def _contents(x: object) -> Hashes | None:
    """Return a hash of the numbers in each row, or None where X is no matrix of numbers."""
    values = x.to_numpy() if isinstance(x, pd.DataFrame) else x
    if not isinstance(values, np.ndarray) or values.ndim != 2 or not values.size:
        return None
    if values.dtype.kind not in "iuf":
        return None
    hashed = pd.util.hash_pandas_object(pd.DataFrame(values), index=False)
    return hashed.to_numpy().astype(np.uint64)
