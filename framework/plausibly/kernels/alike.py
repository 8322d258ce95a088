"""Which texts of a file are the same: told by their words of eight bytes, without reading them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from plausibly.kernels.blocks import at_once, parts
from plausibly.kernels.types import Hashes, Ints
from plausibly.kernels.utf8 import BELOW, WORD, stir
from plausibly.kernels.words import every_word, in_order

_BLOCK = 1 << 14  # texts in hand at once, so that they stay in the cache
_WORTH = 1 << 16  # texts that are worth a thread
_KEPT = 1 << 23  # words of different texts, all together
_MARKED = 40  # bits of a mark, so that two texts seldom share one


def alike(
    data: NDArray[np.uint8], starts: Ints, sizes: Ints
) -> tuple[NDArray[np.int32], NDArray[np.int64]] | None:
    """Return a code for each text, the same exactly where texts are, and a text of each code."""
    number = starts.size
    below = int(number).bit_length()
    if data.size < WORD or below + _MARKED > 64:
        return None
    words = every_word(data)
    # Sorting numbers is several times faster than sorting places by numbers.
    packed = np.empty(number, np.uint64)

    def mark(within: slice) -> None:
        for block in _blocks(within):
            marks = _marks(words, starts[block].astype(np.int64), sizes[block])
            marks >>= np.uint64(below)
            marks <<= np.uint64(below)
            marks |= np.arange(block.start, block.stop, dtype=np.uint64)
            packed[block] = marks

    at_once(mark, parts(number, _WORTH))
    codes, some = in_order(packed, below)
    # Those that look alike are compared with one of them; together, these fit into the cache.
    many = -(-sizes[some].max(initial=0) // WORD)
    if many * some.size > _KEPT:
        return None
    kept = np.empty((many, some.size), np.uint64)
    at, left = starts[some].astype(np.int64), sizes[some].astype(np.int64)
    for row in kept:
        row[:] = _read(words, at, left)
        at, left = at + WORD, np.maximum(left - WORD, 0)

    def same(within: slice) -> bool:
        return all(
            _same(words, starts[block], sizes[block], codes[block], kept, sizes[some])
            for block in _blocks(within)
        )

    return (codes, some) if all(at_once(same, parts(number, _WORTH))) else None


def _blocks(within: slice) -> Iterator[slice]:
    for start in range(within.start, within.stop, _BLOCK):
        yield slice(start, min(start + _BLOCK, within.stop))


def _read(words: NDArray[np.uint64], at: Ints, left: Ints) -> NDArray[np.uint64]:
    """Return up to eight bytes from places on, and zeros behind them."""
    last = words.size - 1
    if at.max(initial=0) <= last:
        found = words[at].astype(np.uint64, copy=False)
    else:  # the last bytes of all have no eight behind them
        found = words[np.minimum(at, last)].astype(np.uint64)
        beyond = np.clip(at - last, 0, WORD - 1).astype(np.uint64)
        found >>= beyond * np.uint64(WORD)
    found &= BELOW.take(np.minimum(left, WORD))
    return found


def _marks(words: NDArray[np.uint64], at: Ints, left: Ints) -> Hashes:
    """Stir the words of each text into a number."""
    marks = left.astype(np.uint64)
    stir(marks)
    rows = np.arange(left.size)
    while rows.size:
        mark = marks[rows] ^ _read(words, at, left)
        stir(mark)
        marks[rows] = mark
        longer = np.flatnonzero(left > WORD)
        rows, at, left = rows[longer], at[longer] + WORD, left[longer] - WORD
    return marks


def _same(
    words: NDArray[np.uint64],
    starts: Ints,
    left: Ints,
    codes: Ints,
    kept: NDArray[np.uint64],
    sizes: Ints,
) -> bool:
    """Return whether texts are those of their codes."""
    if not np.array_equal(left, sizes.take(codes)):
        return False
    at = starts.astype(np.int64)
    for row in kept:
        longer = np.flatnonzero(left > 0)
        if longer.size < left.size:
            at, left, codes = at[longer], left[longer], codes[longer]
        if not np.array_equal(_read(words, at, left), row.take(codes)):
            return False
        at, left = at + WORD, left - WORD
    return True
