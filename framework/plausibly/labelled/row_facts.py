"""What the checks of plausibilities ask of every row, in one pass while a block is in the cache."""

from __future__ import annotations

from contextlib import nullcontext
from math import isfinite

import attrs
import numpy as np
from numpy.typing import NDArray

from plausibly.arrays import Floats, Ints
from plausibly.kernels.threads import at_once, parts

_CELLS = 1 << 16  # in hand at once, so that they stay in the cache
_WORTH = 1 << 19  # cells that are worth a thread


@attrs.frozen(kw_only=True, eq=False)
class RowFacts:
    """What holds of the rows of an array of numbers.

    Attributes
    ----------
    least, most : float
        Of all entries; NaN where one is.
    sums : ndarray of float64, (row,)
        Added in float64.
    """

    least: float
    most: float
    sums: NDArray[np.float64]


def row_facts(values: Floats) -> RowFacts:
    """Return the facts about an array whose last dim are the entries of a row."""
    flat = values.reshape(-1, values.shape[-1])
    if flat.size <= _CELLS:
        return _of_few(values)
    sums = np.empty(len(flat))

    def within(part: slice) -> tuple[float, float]:
        least, most = [], []
        for block in _blocks(part, flat.shape[1]):
            some = flat[block]
            least.append(some.min())
            most.append(some.max())
            with np.errstate(invalid="ignore"):  # infinite entries are told of by the extremes
                some.sum(axis=1, dtype=np.float64, out=sums[block])
        # Of numpy: its least of numbers is NaN where one of them is.
        return float(np.min(least)), float(np.max(most))

    found = at_once(within, parts(len(flat), _worth(flat)))
    least, most = np.min([low for low, _ in found]), np.max([high for _, high in found])
    return RowFacts(least=float(least), most=float(most), sums=sums.reshape(values.shape[:-1]))


def _of_few(values: Floats) -> RowFacts:
    least, most = float(values.min()), float(values.max())
    # Infinite entries are told of by the extremes.
    quiet = nullcontext() if isfinite(least + most) else np.errstate(invalid="ignore")
    with quiet:
        sums = np.add.reduce(values, axis=-1, dtype=np.float64)
    return RowFacts(least=least, most=most, sums=sums)


def off_whole(values: Floats, total: Ints, within: float) -> NDArray[np.float64]:
    """Return how far off whole numbers the counts of each row are, (..., example).

    Parameters
    ----------
    values : ndarray of float, (..., example, label)
        Shares.
    total : ndarray of int, (example,)
        What they are shares of.
    within : float
        What is not above this may be given for a row that is off by less.
    """
    found = np.empty(values.shape[:-1])

    def fill(part: slice) -> None:
        for block in _blocks(part, values[..., 0, :].size):
            counts = np.multiply(values[..., block, :], total[block, None], dtype=np.float64)
            counts -= np.rint(counts)
            np.abs(counts, out=counts)
            worst = counts.max(initial=0.0)
            found[..., block] = worst if worst <= within else counts.max(axis=-1)

    at_once(fill, parts(len(total), _worth(values)))
    return found


def _worth(values: Floats) -> int:
    """Return the number of rows that are worth a thread."""
    return max(1, _WORTH // max(1, int(values.shape[-1])))


def _blocks(part: slice, width: int) -> list[slice]:
    step = max(1, _CELLS // max(1, width))
    return [
        slice(start, min(start + step, part.stop)) for start in range(part.start, part.stop, step)
    ]
