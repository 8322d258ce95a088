"""Labels drawn from plausibilities with uniforms that belong to the examples."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from plausibly.kernels.blocks import map_blocks
from plausibly.kernels.sparse import Dense, as_stored
from plausibly.kernels.types import Floats, Ints

_FEW = 32  # labels that are compared one by one, for all examples at once, rather than searched


def draw_labels(plausibilities: Floats | Dense, uniforms: NDArray[np.float64]) -> NDArray[np.int32]:
    """Return one label code a uniform: the first whose cumulative plausibility exceeds it.

    The uniform is scaled by the row's total instead of dividing the row, so that rows that sum to
    one only nearly are drawn from as they are, and a label of plausibility zero is never drawn.
    """
    codes = np.empty(uniforms.shape[::-1], dtype=np.int32)
    stored = as_stored(plausibilities)
    examples, width = stored.weight.shape

    def fill(rows: slice) -> None:
        block = stored.take(rows)
        if width > _FEW:
            block = block.above_zero()
        draw = _by_column if block.weight.shape[1] <= _FEW else _by_halving
        slots = draw(block.weight, uniforms[rows])
        # A product may round up to the total, and land behind the last label above zero.
        last = block.weight.shape[1] - 1 - np.argmax(block.weight[:, ::-1] > 0, axis=1)
        np.minimum(slots, last, out=slots, casting="unsafe")
        codes[:, rows] = block.label_at(np.arange(len(last)), slots)

    map_blocks(fill, (examples, max(width, uniforms.shape[1])))
    return codes


def _by_column(weight: Floats, uniforms: NDArray[np.float64]) -> Ints:
    """Return slots (draw, example), for all examples at once: short rows take longer."""
    sums = np.empty(weight.shape[::-1])
    sums[0] = weight[:, 0]
    for label in range(1, len(sums)):
        np.add(sums[label - 1], weight[:, label], out=sums[label])
    scaled = np.multiply(uniforms.T, sums[-1], order="C")
    slots = np.zeros(scaled.shape, dtype=np.uint8)
    passed = np.empty(scaled.shape, dtype=bool)
    for column in sums[:-1]:
        np.greater_equal(scaled, column, out=passed)
        slots += passed.view(np.uint8)
    return slots


def _by_halving(weight: Floats, uniforms: NDArray[np.float64]) -> Ints:
    """Return slots (draw, example), by halving: all queries take the same number of steps."""
    cumulative = np.cumsum(weight, axis=1, dtype=np.float64)
    scaled = uniforms * cumulative[:, -1:]
    width = cumulative.shape[1]
    start = np.arange(len(cumulative))[:, None] * width
    flat = cumulative.ravel()
    place: Ints = np.zeros(scaled.shape, dtype=np.intp)
    for bit in reversed(range(int(width - 1).bit_length())):
        further = place + (1 << bit)
        inside = np.minimum(further, width - 1)
        place = np.where(
            (further < width) & (flat.take(start + inside - 1) <= scaled), inside, place
        )
    return place.T
