"""Short texts as numbers: up to eight bytes, the first of them greatest, zeros behind.

Numbers are in the order of the texts, which is that of their UTF-8 bytes. No text holds a zero
byte, so that two texts never have one number.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from plausibly.kernels.blocks import at_once, parts
from plausibly.kernels.types import Ints
from plausibly.kernels.utf8 import BELOW, WORD, Utf8

Words: TypeAlias = NDArray[np.uint64]

BYTES = WORD
"""The most that a text may have."""

_TABLE_BITS = 20
_BLOCK = 1 << 15  # so that what is in hand stays in the cache
_PART = 1 << 18  # numbers that are worth a thread


def every_word(data: NDArray[np.uint8]) -> Words:
    """Return the eight bytes from every place on as a number, the first one least: a view."""
    shape = (data.size - BYTES + 1,)
    return np.ndarray(shape, np.dtype("<u8"), data.data, strides=(1,))


def words_at(data: NDArray[np.uint8], starts: Ints, sizes: Ints) -> Words:
    """Return texts as words, (text,)."""
    # A word from every place on, which costs less than to look for those that are wanted.
    words = every_word(data).astype(np.uint64).take(starts)
    words &= BELOW.take(sizes)
    return words.byteswap(inplace=True)


def end_to_end(data: NDArray[np.uint8], places: Ints) -> Words:
    """Return texts that stand end to end as words, (text,)."""
    size = len(places) - 1
    found = np.empty(size, np.uint64)

    def read(within: slice) -> None:
        for rows in _blocks(within.stop, within.start):
            here = places[rows.start : rows.stop + 1].astype(np.int64)
            some = data[here[0] - places[0] : here[-1] - places[0]]
            some = np.concatenate([some, np.zeros(BYTES, np.uint8)])
            found[rows] = words_at(some, here[:-1] - here[0], np.diff(here))

    at_once(read, parts(size, _PART))
    return found


def texts_of(words: Words) -> Utf8:
    """Return the texts of words."""
    cells = words.byteswap().view(np.uint8)
    sizes = np.zeros(words.size, np.int64)
    for size in range(BYTES):
        sizes += (words << np.uint64(8 * size)) != 0
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    return Utf8.of(cells[cells != 0], offsets)


def coded(words: Words) -> tuple[NDArray[np.int32], Words] | None:
    """Return the place of each word among the different ones in order, and those.

    None where the words and their places do not fit into 64 bits together.
    """
    differ, same = differing(words)
    below = int(words.size).bit_length()
    if differ.bit_count() + below > 64:
        return None
    if differ.bit_count() <= _TABLE_BITS:
        there = np.zeros(1 << differ.bit_count(), bool)
        codes = np.empty(words.size, np.int32)
        for rows in _blocks(words.size):
            short = together(words[rows], differ, 0).view(np.int64)
            there[short] = True
            codes[rows] = short
        place = np.cumsum(there, dtype=np.int32)
        place -= 1
        for rows in _blocks(words.size):
            codes[rows] = place.take(codes[rows])
        found = np.flatnonzero(there).astype(np.uint64)
        return codes, apart(found, differ) | np.uint64(same)
    # Sorting numbers is several times faster than sorting places by numbers.
    packed = together(words, differ, below)
    packed |= np.arange(words.size, dtype=np.uint64)
    codes, some = in_order(packed, below)
    return codes, words[some]


def in_order(packed: Words, below: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the place of each number among the different ones in order, and a row of each."""
    packed.sort()
    new = np.ones(packed.size, bool)
    np.greater_equal(packed[1:] ^ packed[:-1], np.uint64(1 << below), out=new[1:])
    packed &= np.uint64((1 << below) - 1)
    order = packed.view(np.int64)
    codes = np.empty(packed.size, np.int32)
    codes[order] = np.cumsum(new, dtype=np.int32) - np.int32(1)
    return codes, order[new]


def differing(words: Words) -> tuple[int, int]:
    """Return the bits in which words differ, and those that all of them have."""
    if not words.size:
        return 0, 0
    every, some = (1 << 64) - 1, 0
    for rows in _blocks(words.size):
        every &= int(np.bitwise_and.reduce(words[rows]))
        some |= int(np.bitwise_or.reduce(words[rows]))
    return some ^ every, every


def apart(words: Words, differ: int) -> Words:
    """Return the bits that `together` has moved together where they were."""
    found = np.zeros(words.size, np.uint64)
    for mask, move in _runs(differ):
        found |= (words << np.uint64(move)) & np.uint64(mask)
    return found


def together(words: Words, differ: int, at: int) -> Words:
    """Return the bits of words that are in `differ`, moved together, from bit `at` on."""
    runs = [(np.uint64(mask), at - move) for mask, move in _runs(differ)]
    found = np.zeros(words.size, np.uint64)

    def moved(within: slice) -> None:
        part = np.empty(min(_BLOCK, within.stop - within.start), np.uint64)
        for rows in _blocks(within.stop, within.start):
            given, out = words[rows], found[rows]
            here = part[: given.size]
            for bits, move in runs:
                np.bitwise_and(given, bits, out=here)
                if move > 0:
                    here <<= np.uint64(move)
                else:
                    here >>= np.uint64(-move)
                out |= here

    at_once(moved, parts(words.size, _PART))
    return found


def _runs(differ: int) -> Iterator[tuple[int, int]]:
    """Return runs of the bits in `differ`, and how far each moves down to meet the one below."""
    at = 0
    while differ:
        low = (differ & -differ).bit_length() - 1
        run = (~(differ >> low) & ((differ >> low) + 1)).bit_length() - 1
        mask = ((1 << run) - 1) << low
        yield mask, low - at
        differ &= ~mask
        at += run


def _blocks(end: int, start: int = 0) -> Iterator[slice]:
    for first in range(start, end, _BLOCK):
        yield slice(first, min(first + _BLOCK, end))
