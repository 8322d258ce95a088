"""Coverage of prediction sets: of plausibilities, of their voted label, and the set sizes.

Every function walks over blocks of rows, so that temporaries stay small, and sums each row from
its own values alone, in whole numbers: an example has the same coverage alone and in a batch, dense
and packed, and in every order of the labels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from plausibly.kernels.blocks import at_once, parts
from plausibly.kernels.sparse import Slots
from plausibly.kernels.types import Bools, Floats, Ints

Ties: TypeAlias = Literal["first", "random", "fractional", "any", "all"]
TIES: tuple[Ties, ...] = get_args(Ties)

_CELLS = 1 << 17  # a block of this many cells, as float64, stays within the second-level cache
_WORTH = 1 << 21  # cells that are worth a thread
_UNITS = 2.0**62  # what 1 is as a whole number, so that sums up to 2 fit into 64 bits


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

    The mean over examples is the aggregated coverage of Stutz et al. (2023).
    """
    covered = np.empty(sets.shape[0])
    lam = plausibilities.weight if isinstance(plausibilities, Slots) else plausibilities
    block = (max(1, _CELLS // max(1, lam.shape[1])), lam.shape[1])

    def fill(part: slice) -> None:
        terms, units = np.empty(block), np.empty(block, np.int64)
        for rows in _blocks(part, block[1]):
            held = sets[rows]
            if isinstance(plausibilities, Slots):
                held = inside_slots(held, plausibilities.take(rows))
            some = np.multiply(lam[rows], held, out=terms[: len(held)])
            covered[rows] = _summed(some, units[: len(held)], _UNITS)

    _in_parts(fill, sets.shape)
    return np.minimum(covered, 1.0, out=covered)


def row_sums(terms: Floats, most: float = 1.0) -> NDArray[np.float64]:
    """Return the sum of each row, the same in every order and whatever zeros stand between."""
    scale = _UNITS / 2.0 ** math.ceil(math.log2(max(most, 1.0)))
    return _summed(terms.astype(np.float64), np.empty(terms.shape, np.int64), scale)


def _summed(
    terms: NDArray[np.float64], units: NDArray[np.int64], scale: float
) -> NDArray[np.float64]:
    """Return sums of rows in whole numbers, never rounded; both arrays are overwritten."""
    np.rint(np.multiply(terms, scale, out=terms), out=terms)
    np.copyto(units, terms, casting="unsafe")
    found: NDArray[np.float64] = np.add.reduce(units, axis=-1) / scale
    return found


def inside_slots(sets: Bools, slots: Slots) -> Bools:
    """Return which slots hold a label that is in the set: ndarray of bool, (example, slot)."""
    found = np.take_along_axis(sets, np.maximum(slots.label, 0), axis=1)
    held: Bools = np.logical_and(found, slots.label >= 0, out=found)
    return held


def tie_counts(plausibilities: Floats | Slots) -> NDArray[np.int64]:
    """Return how many labels share the largest plausibility of each example."""
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
    order: Ints | None = None,
) -> NDArray[np.float64]:
    """Return whether each set holds the voted label, the one with the largest plausibility."""
    if ties == "random" and uniform is None:
        raise ValueError('ties "random" needs one uniform an example')
    if ties == "random" and order is not None:
        sets = sets[:, order]
        if isinstance(plausibilities, Slots):
            plausibilities = plausibilities.recoded(np.argsort(order), len(order))
        else:
            plausibilities = plausibilities[:, order]
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
    """Return the number of labels in each set."""
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
    count = np.count_nonzero(tied, axis=1)
    # In two exact products: one that is rounded up to a whole number would pick the next label.
    high = uniform.astype(np.float32).astype(np.float64)
    head, tail = high * count, (uniform - high) * count
    wanted = np.floor(head + tail)
    wanted -= head - wanted + tail < 0
    wanted = wanted.astype(np.int64)
    place = np.cumsum(tied, axis=1) > wanted[:, None]
    codes: Ints = np.argmax(place, axis=1)
    return codes
