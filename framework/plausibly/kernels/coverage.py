"""Coverage of prediction sets: of plausibilities, of their majority vote, and the set sizes.

Every function walks over blocks of rows, so that temporaries stay small, and sums each row from
its own values alone, in whole numbers: an example has the same coverage alone and in a batch, dense
and sparse, and in every order of the labels.
"""

from __future__ import annotations

import math
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from plausibly.kernels.blocks import map_blocks, row_blocks
from plausibly.kernels.ranks import hull
from plausibly.kernels.sparse import Dense, as_stored
from plausibly.kernels.types import Bools, Floats, Ints

Ties: TypeAlias = Literal["first", "random", "fractional", "any", "all"]
TIES: tuple[Ties, ...] = get_args(Ties)

_UNITS = 2.0**62  # what 1 is as a whole number, so that sums up to 2 fit into 64 bits


def aggregated(sets: Bools, plausibilities: Floats | Dense) -> NDArray[np.float64]:
    """Return the plausibility inside each set: ``sum_k lambda_k 1[k in C(x)]``.

    The mean over examples is the aggregated coverage of Stutz et al. (2023).
    """
    covered = np.empty(sets.shape[0])
    stored = as_stored(plausibilities)

    def fill(rows: slice) -> None:
        block = stored.take(rows)
        held = block.inside(sets[rows]) & (block.weight > 0)
        if 4 * np.count_nonzero(held) > held.size:
            terms = np.multiply(block.weight, held, dtype=np.float64)
            covered[rows] = row_sums(terms)
            return
        # Most sets hold few labels: the sums of rows are differences of cumulative whole numbers.
        place = np.flatnonzero(held)
        terms = block.weight.ravel()[place].astype(np.float64) * _UNITS
        sums = np.append(0, np.cumsum(np.rint(terms).astype(np.int64)))
        ends = np.searchsorted(place, np.arange(len(held) + 1) * held.shape[1])
        covered[rows] = np.diff(sums[ends]) / _UNITS

    map_blocks(fill, stored.weight.shape)
    return np.minimum(covered, 1.0, out=covered)


def row_sums(terms: Floats, most: float = 1.0) -> NDArray[np.float64]:
    """Return the sum of each row, the same in every order and whatever zeros stand between."""
    scale = _UNITS / 2.0 ** math.ceil(math.log2(max(most, 1.0)))
    units = np.multiply(terms, scale, dtype=np.float64)
    # In whole numbers, whose sums are never rounded.
    np.rint(units, out=units)
    sums: NDArray[np.float64] = np.add.reduce(units.astype(np.int64), axis=-1) / scale
    return sums


def tie_counts(plausibilities: Floats | Dense) -> NDArray[np.int64]:
    """Return how many labels share the largest plausibility of each example."""
    weight = as_stored(plausibilities).weight
    counts: NDArray[np.int64] = np.count_nonzero(_tied(weight), axis=1)
    return counts


def majority_vote(
    sets: Bools,
    plausibilities: Floats | Dense,
    ties: Ties = "first",
    uniform: NDArray[np.float64] | None = None,
    order: Ints | None = None,
) -> NDArray[np.float64]:
    """Return whether each set holds the majority vote, the one with the largest plausibility."""
    if ties == "random" and uniform is None:
        raise ValueError('ties "random" needs one uniform per example')
    stored = as_stored(plausibilities)
    if ties == "random" and order is not None:
        sets, stored = sets[:, order], stored.ordered(order)
    covered = np.empty(sets.shape[0])
    for rows in row_blocks(sets.shape):
        # Slots stand by rising code: the first of the tied ones is the first of the tied labels.
        block = stored.take(rows)
        inside, tied = block.inside(sets[rows]), _tied(block.weight)
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
    # Added as bytes, in as few as hold the sum: `count_nonzero` takes three times as long.
    narrow = np.min_scalar_type(sets.shape[1])
    counts: NDArray[np.integer] = np.add.reduce(sets.view(np.uint8), axis=1, dtype=narrow)
    return counts.astype(np.int64)


def along_order(
    sets: Bools, plausibilities: Floats | Dense, order: Ints
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return what each set misses along the order of the labels.

    The plausibility outside of it, ``sum_k lambda_k 1[k not in C(x)]``; the same times the steps
    from k to the nearest label of the set, 0 for an empty one; and 1 where the set has a hole.
    """
    stored = as_stored(plausibilities)
    missed, steps, holes = (np.empty(len(sets)) for _ in range(3))
    place = np.arange(len(order))
    for rows in row_blocks(sets.shape):
        inside, weights = sets[rows][:, order], stored.take(rows).ordered(order).dense()
        before = np.maximum.accumulate(np.where(inside, place, -len(order)), axis=1)
        after = np.minimum.accumulate(np.where(inside, place, 2 * len(order))[:, ::-1], axis=1)[
            :, ::-1
        ]
        far = np.minimum(place - before, after - place) * inside.any(axis=1, keepdims=True)
        missed[rows] = row_sums(weights * ~inside)
        steps[rows] = row_sums(weights * far, len(order))
        holes[rows] = (hull(inside) != inside).any(axis=1)
    return missed, steps, holes


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
