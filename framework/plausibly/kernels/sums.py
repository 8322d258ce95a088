"""Sums over cells that do not depend on the order of their terms."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from plausibly.kernels.types import Floats, Ints

Number = TypeVar("Number", np.float64, np.int16, np.int64)

_EXACT = 2.0**53  # floats below are exact for whole numbers


def ordered_sum(cells: Ints, terms: Floats, size: int) -> NDArray[np.float64]:
    """Return the sum of the terms of each cell, the same for every order of the terms.

    Parameters
    ----------
    cells : ndarray of int, (term,)
        The cell, 0 to `size` - 1, to which a term is added.
    terms : ndarray of float, (term,)
        What to add.
    size : int
        Number of cells.

    Returns
    -------
    ndarray of float64, (cell,)
        Exact where all terms are whole numbers and their total is below 2^53.
    """
    if terms.strides == (0,) and terms.size and terms[0] == 1:  # `ones`: counted, not added
        return np.bincount(cells, minlength=size).astype(np.float64)
    if not whole(terms):
        order = np.lexsort((terms, cells))
        cells, terms = cells[order], terms[order]
    return np.bincount(cells, weights=terms, minlength=size).astype(np.float64, copy=False)


def ones(size: int, dtype: type[Number]) -> NDArray[Number]:
    """Return ones that take no memory, and cannot be changed."""
    return np.broadcast_to(np.ones((), dtype), size)


def whole(terms: Floats) -> bool:
    """Return whether all terms are whole numbers whose sums a float64 holds exactly."""
    if terms.size and terms.min() == 1 == terms.max():
        return True
    return bool((terms == np.rint(terms)).all() and float(np.abs(terms).sum()) < _EXACT)
