"""What the checks of plausibilities ask of every row, in one pass while a block is in the cache.

Nearly all arrays are sound, and `sound` says so at the least cost; what is wrong with the others is
found out by `row_facts` and `off_whole`.
"""

from __future__ import annotations

from contextlib import nullcontext
from math import isfinite

import attrs
import numpy as np
from numpy.typing import NDArray

from plausibly.kernels.threads import at_once, parts
from plausibly.kernels.types import Floats, Ints

SUM_WITHIN = 0.01
"""How far from 1 the probabilities of an example may sum."""

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


def sound(
    values: Floats, within: float, total: Ints | None = None, whole_within: float = 0.0
) -> tuple[bool, bool]:
    """Return whether rows are distributions, and counts of their total, beyond doubt.

    Parameters
    ----------
    values : ndarray of float, (..., example, label)
    within : float
        How far from 1 the sum of a row may be.
    total : ndarray of int, (example,), optional
        What the rows may be counts over.
    whole_within : float
        How far off whole numbers counts may be.

    Returns
    -------
    distributions : bool
        Whether all entries are finite and not below 0, and all sums are within `within` of 1. A
        row that is at the very edge may be refused: sums are rounded in another order than those of
        `row_facts`.
    whole : bool
        Whether they are, and all counts are whole numbers. False without a total.
    """
    width = values.shape[-1]
    if total is None and values.size <= _CELLS:
        return _few_sound(values, within), False
    # Rounding errors of a sum of numbers that are not below zero, and as much again.
    slack = width * float(np.finfo(values.dtype).eps)
    widened = slack > within / 2
    if widened:
        slack = width * float(np.finfo(np.float64).eps)
    low, high = 1 - (within - slack), 1 + (within - slack)
    shares = None if total is None else total.astype(np.float64)[:, None]

    def check(rows: Floats, part: slice) -> tuple[bool, bool]:
        whole = shares is not None
        made, off = _rooms(part, width, whole or widened), _rooms(part, width, whole)
        for block in _blocks(part, width):
            some, size = rows[block], block.stop - block.start
            if widened:
                np.copyto(made[:size], some)
                some = made[:size]
            # Not a number is not above; an infinite entry makes a sum infinite.
            if not some.min() >= 0:
                return False, False
            # Adds row by row in a third of the time of `sum`.
            sums = np.einsum("ij->i", some)
            if not (sums.min() >= low and sums.max() <= high):
                return False, False
            if whole and shares is not None:
                counts = np.multiply(some, shares[block], out=made[:size])
                rest = np.subtract(counts, np.rint(counts, out=off[:size]), out=counts)
                # What is left of all of them together is not less than what is left of one.
                whole = bool(np.einsum("ij,ij->", rest, rest) <= whole_within**2)
        return True, whole

    planes = values.reshape(-1, *values.shape[-2:])
    cuts = parts(planes.shape[1], _worth(values))
    found = at_once(lambda one: check(*one), [(plane, part) for plane in planes for part in cuts])
    return all(rows for rows, _ in found), all(whole for _, whole in found)


def predictions_sound(values: Floats, scale: str) -> bool:
    """Return whether predictions are, beyond doubt, what their scale says.

    Parameters
    ----------
    values : ndarray of float, (example, label)
    scale : {"probability", "logit", "independent", "any"}
    """
    if scale == "probability":
        return sound(values, SUM_WITHIN)[0]
    least, most = float(values.min()), float(values.max())
    return (
        isfinite(least) and isfinite(most) and (scale != "independent" or 0 <= least <= most <= 1)
    )


def _few_sound(values: Floats, within: float) -> bool:
    # Not a number is not above; an infinite entry makes a sum infinite.
    if not np.minimum.reduce(values, axis=None) >= 0:
        return False
    sums = np.add.reduce(values, axis=-1, dtype=np.float64)
    return bool(np.maximum.reduce(np.abs(sums - 1), axis=None) <= within)


def _rooms(part: slice, width: int, wanted: bool) -> NDArray[np.float64]:
    """Return room for a block of rows, none where it is not wanted."""
    rows = min(part.stop - part.start, max(1, _CELLS // max(1, width)))
    return np.empty((rows if wanted else 0, width))


def hard_rows(values: Floats, *, enough: int | None = None) -> int:
    """Return how many rows (example, label) are only 0 and 1.

    Parameters
    ----------
    values : ndarray, (example, label)
    enough : int, optional
        Rows that are not, beyond which no more are looked at.
    """
    hard = 0
    rows = max(1, _CELLS // values.shape[1])
    for start in range(0, len(values), rows):
        block = values[start : start + rows]
        extreme = (block == 0) | (block == 1)
        # Most predictions have no row of such entries: counting all is quicker than row by row.
        if np.count_nonzero(extreme) >= values.shape[1]:
            hard += int(np.count_nonzero(extreme.all(axis=1)))
        if enough is not None and start + len(block) - hard > enough:
            break
    return hard


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


def all_whole(values: Floats, total: Ints, within: float) -> bool:
    """Return whether all counts are whole, as far as the rounding of their shares lets them be.

    Parameters
    ----------
    values : ndarray of float, (..., example, label)
        Shares.
    total : ndarray of int, (example,)
        What they are shares of.
    within : float
        How far off counts may be at least.
    """
    error = off_whole(values, total, within)
    rounding = np.maximum(within, 4 * np.finfo(values.dtype).eps * total)
    return bool((error <= np.minimum(rounding, 0.25)).all())


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
