"""Sums that do not depend on the order of their terms.

Sums of floats do. Plausibilities must not depend on the order of rows, so terms that are not whole
numbers are sorted before they are added.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from plausibly.kernels.threads import at_once, parts
from plausibly.kernels.types import Floats, Ints

Number = TypeVar("Number", np.float64, np.int16, np.int64)

_EXACT = 2.0**53  # floats below are exact for whole numbers
_CELLS = 1 << 17  # sums that stay in the cache


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
    if only_ones(terms):
        return np.bincount(cells, minlength=size).astype(np.float64)
    if not whole(terms):
        order = np.lexsort((terms, cells))
        cells, terms = cells[order], terms[order]
    return np.bincount(cells, weights=terms, minlength=size).astype(np.float64, copy=False)


def ones(size: int, dtype: type[Number]) -> NDArray[Number]:
    """Return ones that take no memory, and cannot be changed."""
    return np.broadcast_to(np.ones((), dtype), size)


def only_ones(terms: Floats) -> bool:
    """Return whether these are `ones`."""
    return terms.strides == (0,) and terms.size > 0 and terms[0] == 1


def whole(terms: Floats) -> bool:
    """Return whether all terms are whole numbers whose sums a float64 holds exactly."""
    if only_ones(terms) or (terms.size and terms.min() == 1 == terms.max()):
        return True
    return bool((terms == np.rint(terms)).all() and float(np.abs(terms).sum()) < _EXACT)


def sums_by_label(
    example: Ints, label: Ints, terms: Floats, shape: tuple[int, int], total: Floats | None = None
) -> NDArray[np.float64]:
    """Return sums (example, label) of terms, the same for every order of the terms of an example.

    Parameters
    ----------
    example, label : ndarray of int, (term,)
        Where each term is added; examples rise.
    terms : ndarray of float, (term,)
    shape : tuple of int
        Number of examples and of labels.
    total : ndarray of float, (example,), optional
        What the sums of an example are divided by.

    Returns
    -------
    ndarray of float64, (example, label)
    """
    n, labels = shape
    if not whole(terms):
        order = np.lexsort((terms, label, example))
        example, label, terms = example[order], label[order], terms[order]
    alike = only_ones(terms)
    values = np.empty(shape)
    height = max(1, _CELLS // max(1, labels))

    def within(part: slice) -> None:
        for start in range(part.start, part.stop, height):
            stop = min(start + height, part.stop)
            first, last = np.searchsorted(example, np.array((start, stop), example.dtype))
            cells = example[first:last].astype(np.int64)
            cells -= start
            cells *= labels
            cells += label[first:last]
            size = (stop - start) * labels
            sums = np.bincount(cells, None if alike else terms[first:last], minlength=size)
            rows = sums.reshape(stop - start, labels)
            if total is None:
                values[start:stop] = rows
            else:
                np.divide(rows, total[start:stop, None], out=values[start:stop])

    at_once(within, parts(n, 4 * height))
    return values
