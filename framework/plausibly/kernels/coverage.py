"""Coverage of prediction sets: of plausibilities, of their voted label, and the set sizes.

Every function walks over blocks of rows, so that temporaries stay small, and sums each row from
its own values alone: an example has the same coverage alone and in a batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from plausibly.arrays import Bools, Floats, Ints
from plausibly.kernels.slots import Slots
from plausibly.kernels.threads import at_once, parts

Ties: TypeAlias = Literal["first", "random", "fractional", "any", "all"]
TIES: tuple[Ties, ...] = get_args(Ties)

_CELLS = 1 << 17  # a block of this many cells, as float64, stays within the second-level cache
_WORTH = 1 << 21  # cells that are worth a thread


def row_blocks(shape: tuple[int, ...]) -> Iterator[slice]:
    """Yield slices of rows of an array (row, column, ...) that hold about `_CELLS` cells each."""
    yield from _blocks(slice(0, shape[0]), shape[1])


def _blocks(part: slice, width: int) -> Iterator[slice]:
    """Yield slices of some of the rows that hold about `_CELLS` cells each."""
    rows = max(1, _CELLS // max(1, width))
    for start in range(part.start, part.stop, rows):
        yield slice(start, min(start + rows, part.stop))


def _in_parts(fill: Callable[[slice], None], shape: tuple[int, ...]) -> None:
    """Call what fills the rows of a slice, in threads where there are many cells."""
    at_once(fill, parts(shape[0], max(1, _WORTH // max(1, shape[1]))))


def aggregated(sets: Bools, plausibilities: Floats | Slots) -> NDArray[np.float64]:
    """Return the plausibility inside each set: ``sum_k lambda_k 1[k in C(x)]``.

    Parameters
    ----------
    sets : ndarray of bool, (example, label)
    plausibilities : ndarray, (example, label), or Slots
        Finite; rows sum to 1. float32 is summed in float64.

    Returns
    -------
    ndarray of float64, (example,)
        In [0, 1]: a row that sums to more than 1 by rounding is not covered more than wholly.

    Notes
    -----
    The mean over examples is the aggregated coverage of Stutz et al. (2023).
    """
    covered = np.empty(sets.shape[0])
    if isinstance(plausibilities, Slots):
        _sum_slots(sets, plausibilities, covered)
        return np.minimum(covered, 1.0, out=covered)
    dense = plausibilities

    def fill(part: slice) -> None:
        inside = np.empty((max(1, _CELLS // max(1, sets.shape[1])), sets.shape[1]))
        for rows in _blocks(part, sets.shape[1]):
            some = inside[: rows.stop - rows.start]
            np.multiply(dense[rows], sets[rows], out=some)
            np.add.reduce(some, axis=1, out=covered[rows])

    _in_parts(fill, sets.shape)
    return np.minimum(covered, 1.0, out=covered)


def _sum_slots(sets: Bools, slots: Slots, out: NDArray[np.float64]) -> None:
    """Write the plausibility inside each set, added in the order in which a dense row adds it.

    Two numbers have one sum. More are put in their places in a row of zeros, since numpy adds a
    row in halves: which numbers meet first depends on where they stand.
    """
    held = inside_slots(sets, slots)
    terms = np.where(held, slots.weight, 0).astype(np.float64)
    np.add.reduce(terms, axis=1, out=out)
    many = np.flatnonzero(np.count_nonzero(held, axis=1) > 2)
    rows = max(1, _CELLS // max(1, slots.labels))
    inside = np.zeros((min(rows, many.size), slots.labels))
    for start in range(0, many.size, rows):
        block = many[start : start + rows]
        row, slot = np.nonzero(held[block])
        label = slots.label[block][row, slot]
        inside[row, label] = terms[block[row], slot]
        out[block] = np.add.reduce(inside[: block.size], axis=1)
        inside[row, label] = 0


def inside_slots(sets: Bools, slots: Slots) -> Bools:
    """Return which slots hold a label that is in the set: ndarray of bool, (example, slot)."""
    found = np.take_along_axis(sets, np.maximum(slots.label, 0), axis=1)
    held: Bools = np.logical_and(found, slots.label >= 0, out=found)
    return held


def tie_counts(plausibilities: Floats | Slots) -> NDArray[np.int64]:
    """Return how many labels share the largest plausibility of each example.

    Parameters
    ----------
    plausibilities : ndarray, (example, label), or Slots

    Returns
    -------
    ndarray of int64, (example,)
        1 where the vote is not tied.
    """
    if isinstance(plausibilities, Slots):
        tied: NDArray[np.int64] = np.add.reduce(plausibilities.tied(), axis=1, dtype=np.int64)
        return tied
    counts = np.empty(plausibilities.shape[0], dtype=np.int64)
    for rows in row_blocks(plausibilities.shape):
        counts[rows] = np.count_nonzero(_tied(plausibilities[rows]), axis=1)
    return counts


def voted(
    sets: Bools,
    plausibilities: Floats | Slots,
    ties: Ties = "first",
    uniform: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Return whether each set holds the voted label, the one with the largest plausibility.

    Parameters
    ----------
    sets : ndarray of bool, (example, label)
    plausibilities : ndarray, (example, label), or Slots
    ties : {"first", "random", "fractional", "any", "all"}
        What counts where L > 1 labels share the largest plausibility: the first of them in label
        order, the one that `uniform` picks, each of them with credit 1/L, any, or all.
    uniform : ndarray of float64, (example,), optional
        In [0, 1); one an example, for ``"random"`` alone.

    Returns
    -------
    ndarray of float64, (example,)
        0 or 1, and multiples of 1/L for ``"fractional"``.

    Raises
    ------
    ValueError
        For ``"random"`` without uniforms: the choice must belong to the example, not to a state.
    """
    if ties == "random" and uniform is None:
        raise ValueError('ties "random" needs one uniform an example')
    if isinstance(plausibilities, Slots):
        # Rising codes, so that the first of the tied slots is the first of the tied labels.
        sets, plausibilities = inside_slots(sets, plausibilities), plausibilities.weight
    covered = np.empty(sets.shape[0])
    for rows in row_blocks(sets.shape):
        inside, tied = sets[rows], _tied(plausibilities[rows])
        if ties == "any":
            covered[rows] = (inside & tied).any(axis=1)
        elif ties == "all":
            covered[rows] = (inside | ~tied).all(axis=1)
        elif ties == "fractional":
            share = np.count_nonzero(inside & tied, axis=1) / np.count_nonzero(tied, axis=1)
            covered[rows] = share
        else:
            chosen = np.argmax(tied, axis=1) if uniform is None else _nth_tied(tied, uniform[rows])
            covered[rows] = inside[np.arange(len(chosen)), chosen]
    return covered


def sizes(sets: Bools) -> NDArray[np.int64]:
    """Return the number of labels in each set.

    Parameters
    ----------
    sets : ndarray of bool, (example, label)

    Returns
    -------
    ndarray of int64, (example,)
    """
    counts = np.empty(sets.shape[0], dtype=np.int64)
    # Added as bytes, in as few bytes as hold the sum: `count_nonzero` of short rows takes twice as
    # long.
    narrow = np.min_scalar_type(sets.shape[1])

    def fill(part: slice) -> None:
        counts[part] = np.add.reduce(sets[part].view(np.uint8), axis=1, dtype=narrow)

    _in_parts(fill, sets.shape)
    return counts


def _tied(plausibilities: Floats) -> Bools:
    """Return which labels have the largest plausibility of their row."""
    tied: Bools = plausibilities == plausibilities.max(axis=1, keepdims=True)
    return tied


def _nth_tied(tied: Bools, uniform: NDArray[np.float64]) -> Ints:
    """Return the code of the tied label that each uniform picks, each with the same chance."""
    wanted = np.floor(uniform * np.count_nonzero(tied, axis=1)).astype(np.int64)
    place = np.cumsum(tied, axis=1) > wanted[:, None]
    codes: Ints = np.argmax(place, axis=1)
    return codes
