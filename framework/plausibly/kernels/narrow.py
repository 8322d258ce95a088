"""Rows of few labels, column by column: numpy begins anew with each row, which takes longer."""

from __future__ import annotations

import numpy as np

from plausibly.kernels.threads import at_once, parts
from plausibly.kernels.types import Floats

_MOST = 32  # labels; beyond, a row is long enough
_ROWS = 1 << 13  # in hand at once, so that a column stays in the cache
_WORTH = 1 << 18  # entries that are worth a thread


def largest(values: Floats) -> Floats:
    """Return the largest entry of each row, (example,).

    Parameters
    ----------
    values : ndarray, (example, label)
        Without NaN.
    """
    found = np.empty(len(values), dtype=values.dtype)
    of_rows = _largest if 1 < values.shape[1] <= _MOST else _largest_of_many

    def fill(part: slice) -> None:
        of_rows(values[part], found[part])

    at_once(fill, parts(len(values), max(1, _WORTH // max(1, values.shape[1]))))
    return found


def _largest_of_many(values: Floats, found: Floats) -> None:
    np.maximum.reduce(values, axis=1, out=found)


def _largest(values: Floats, found: Floats) -> None:
    for start in range(0, len(values), _ROWS):
        block, out = values[start : start + _ROWS], found[start : start + _ROWS]
        np.maximum(block[:, 0], block[:, 1], out=out)
        for place in range(2, values.shape[1]):
            np.maximum(out, block[:, place], out=out)
