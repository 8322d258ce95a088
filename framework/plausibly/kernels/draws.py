"""Labels drawn from plausibilities with uniforms that belong to the examples."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from plausibly.kernels.blocks import map_blocks
from plausibly.kernels.sparse import Dense, Sparse, as_stored
from plausibly.kernels.types import Floats, Ints

_FEW = 32  # labels that are compared one by one, for all examples at once, rather than searched


def draw_labels(plausibilities: Floats | Dense, uniforms: NDArray[np.float64]) -> NDArray[np.int32]:
    """Return one label code a uniform: the first whose cumulative plausibility exceeds it.

    The uniform is scaled by the row's total instead of dividing the row, so that rows that sum to
    one only nearly are drawn from as they are, and a label of plausibility zero is never drawn.
    """
    codes = np.empty(uniforms.shape[::-1], dtype=np.int32)
    out = codes.T
    stored = as_stored(plausibilities)
    examples, width = stored.weight.shape

    def fill(rows: slice) -> None:
        block = stored.take(rows)
        if isinstance(block, Sparse):
            _slots(block.weight, block.filled, block.label, uniforms[rows], out[rows])
        elif width <= _FEW:
            _by_column(block.weight, uniforms[rows], out[rows])
        else:
            _long_rows(block.weight, uniforms[rows], out[rows])

    map_blocks(fill, (examples, max(width, uniforms.shape[1])))
    return codes


def _by_column(
    plausibilities: Floats, uniforms: NDArray[np.float64], out: NDArray[np.int32]
) -> None:
    """Draw from few labels: a label of all examples at once, since rows this short take longer."""
    cumulative = _cumulated(plausibilities)
    scaled = np.multiply(uniforms.T, cumulative[-1], order="C")
    place = _reached(scaled, cumulative[:-1])
    if (scaled >= cumulative[-1]).any():
        np.minimum(place, _last(plausibilities), out=place, casting="unsafe")
    out.T[...] = place


def _cumulated(plausibilities: Floats) -> NDArray[np.float64]:
    """Return the cumulative sums of each example, (label, example)."""
    rows, labels = plausibilities.shape
    sums = np.empty((labels, rows))
    sums[0] = plausibilities[:, 0]
    for label in range(1, labels):
        np.add(sums[label - 1], plausibilities[:, label], out=sums[label])
    return sums


def _reached(scaled: NDArray[np.float64], sums: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Return how many of the sums (label, example) each number (draw, example) is at least."""
    few = np.zeros(scaled.shape, dtype=np.uint8)
    passed = np.empty(scaled.shape, dtype=bool)
    for column in sums:
        np.greater_equal(scaled, column, out=passed)
        few += passed.view(np.uint8)
    return few


def _last(plausibilities: Floats) -> Ints:
    """Return the last label above zero: a product may round up to the total, and land behind it."""
    last: Ints = plausibilities.shape[1] - 1 - np.argmax(plausibilities[:, ::-1] > 0, axis=1)
    return last


def _long_rows(
    plausibilities: Floats, uniforms: NDArray[np.float64], out: NDArray[np.int32]
) -> None:
    rows, labels = plausibilities.shape
    where = np.flatnonzero(plausibilities > 0)
    if 2 * where.size > plausibilities.size:
        cumulative = np.cumsum(plausibilities, axis=1, dtype=np.float64)
        place = _places(cumulative, uniforms)
        np.minimum(place, _last(plausibilities)[:, None], out=out, casting="unsafe")
        return
    row, column = np.divmod(where, labels)
    start = np.searchsorted(row, np.arange(rows + 1))
    count = np.diff(start)
    width = int(count.max(initial=0))
    slot = np.arange(where.size) - start[row]
    # Few by columns in memory, as they are asked for.
    by_column = width <= _FEW
    place = slot * rows + row if by_column else row * width + slot
    weight = np.zeros(rows * width, plausibilities.dtype)
    label = np.zeros(rows * width, np.int32)
    weight[place] = plausibilities.ravel()[where]
    label[place] = column
    shape = (width, rows) if by_column else (rows, width)
    weights, codes = weight.reshape(shape), label.reshape(shape)
    if by_column:
        weights, codes = weights.T, codes.T
    _slots(weights, count, codes, uniforms, out)


def _slots(
    weight: Floats, count: Ints, label: Ints, uniforms: NDArray[np.float64], out: NDArray[np.int32]
) -> None:
    rows, width = weight.shape
    if width > _FEW:
        cumulative = np.cumsum(weight, axis=1, dtype=np.float64)
        slots = np.minimum(_places(cumulative, uniforms), count[:, None] - 1)
        out[...] = np.take_along_axis(label, slots, axis=1)
        return
    sums = _cumulated(weight)
    place = np.minimum(_reached(np.multiply(uniforms.T, sums[-1], order="C"), sums[:-1]), count - 1)
    place *= rows
    place += np.arange(rows)
    out.T[...] = label.T.ravel().take(place)


def _places(cumulative: NDArray[np.float64], uniforms: NDArray[np.float64]) -> Ints:
    """Return how many cumulative sums are at most each uniform times the total: (row, draw)."""
    scaled = uniforms * cumulative[:, -1:]
    width = cumulative.shape[1]
    # The least place whose sum exceeds, by halving: all queries take the same number of steps.
    start = np.arange(len(cumulative))[:, None] * width
    flat = cumulative.ravel()
    place: Ints = np.zeros(scaled.shape, dtype=np.intp)
    for bit in reversed(range(int(width - 1).bit_length())):
        further = place + (1 << bit)
        inside = np.minimum(further, width - 1)
        place = np.where(
            (further < width) & (flat.take(start + inside - 1) <= scaled), inside, place
        )
    return place
