"""Large text tables without anything odd in them, read by arrays: the texts of the strict parser.

Odd is a quote, a zero byte, a lone carriage return, a row with more or fewer fields than the first,
a blank row, or what is not UTF-8. A file with any of that is left to the strict parser, which knows
what to say of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import overload

import attrs
import numpy as np
from numpy.typing import NDArray

from plausibly.arrays import Ints
from plausibly.kernels.threads import at_once, parts
from plausibly.labelled.coded import Coded, Keyed

LEAST = 1 << 18
"""Bytes of a file that is worth it."""

_WORD = 8
_TABLE_BITS = 20
_BLOCK = 1 << 15  # so that what is in hand stays in the cache
_BYTES = 1 << 17  # the same, of the file
_PART = 1 << 20  # bytes that are worth a thread
_NEWLINE, _RETURN = ord("\n"), ord("\r")
_KEPT = np.array([2**64 - 2 ** (64 - 8 * size) for size in range(9)], np.uint64)


@attrs.frozen(eq=False)
class QuickColumn(Sequence[str]):
    """A column of a file: its texts are made when they are asked for.

    Attributes
    ----------
    data : ndarray of uint8
        The bytes of the file, and some more.
    starts, ends : ndarray of int, (row,)
        Where each text begins and ends.
    """

    data: NDArray[np.uint8]
    starts: Ints
    ends: Ints

    def __len__(self) -> int:
        return int(self.starts.size)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return self._texts(self.starts[place], self.ends[place])
        return self._texts(self.starts[[place]], self.ends[[place]])[0]

    def __iter__(self) -> Iterator[str]:
        return iter(self.coded)

    def rows(self, start: int) -> QuickColumn:
        """Return the column from a row on."""
        return QuickColumn(self.data, self.starts[start:], self.ends[start:])

    @cached_property
    def coded(self) -> Coded:
        """The column with each different text once."""
        keys = self._keys()
        found = None if keys is None else _coded(keys)
        if keys is None or found is None:
            return Coded.of(self._texts(self.starts, self.ends))
        codes, some = found
        return Coded(_texts_of(keys[some]), codes)

    @cached_property
    def keyed(self) -> Keyed | Coded:
        """The column with its rows as numbers, where the texts are short; else coded."""
        keys = self._keys()
        if keys is None or not keys.size:
            return self.coded
        differ, same = _differing(keys)
        return Keyed(
            keys=_together(keys, differ, 0),
            bits=differ.bit_count(),
            texts_of=lambda some: _texts_of(_apart(some, differ) | np.uint64(same)),
            code=lambda: self.coded,
        )

    def _keys(self) -> NDArray[np.uint64] | None:
        """Return texts of up to eight bytes as numbers in their order; None where one is longer."""
        # Eight bytes from every place on; those behind a text are taken away again. No text holds
        # a zero byte, so that two texts never have one number.
        shape = (self.data.size - _WORD + 1,)
        words = np.ndarray(shape, np.dtype(">u8"), self.data.data, strides=(1,))
        keys = np.empty(len(self), np.uint64)
        for rows in _blocks(len(self)):
            starts = self.starts[rows]
            size = self.ends[rows] - starts
            if size.max() > _WORD:
                return None
            np.bitwise_and(words[starts], _KEPT.take(size), out=keys[rows])
        return keys

    def _texts(self, starts: Ints, ends: Ints) -> list[str]:
        pairs = zip(starts.tolist(), ends.tolist(), strict=True)
        data = memoryview(self.data.data)
        return [str(data[start:end], "utf-8") for start, end in pairs]


def _coded(keys: NDArray[np.uint64]) -> tuple[NDArray[np.int32], NDArray[np.int64]] | None:
    """Return the place of each key among the different ones in order, and a row of each of them.

    None where the keys and their places do not fit into 64 bits together.
    """
    below = int(keys.size).bit_length()
    differ = _differing(keys)[0]
    if differ.bit_count() + below > 64:
        return None
    if differ.bit_count() <= _TABLE_BITS:
        short = _together(keys, differ, 0).view(np.int64)
        where = np.full(1 << differ.bit_count(), -1, np.int64)
        where[short] = np.arange(short.size)
        there = where >= 0
        place = np.cumsum(there, dtype=np.int32) - np.int32(1)
        return place.take(short), where[there]
    # Sorting numbers is several times faster than sorting places by numbers.
    packed = _together(keys, differ, below)
    packed |= np.arange(keys.size, dtype=np.uint64)
    packed.sort()
    new = np.ones(keys.size, bool)
    np.greater_equal(packed[1:] ^ packed[:-1], np.uint64(1 << below), out=new[1:])
    packed &= np.uint64((1 << below) - 1)
    order = packed.view(np.int64)
    codes = np.empty(keys.size, np.int32)
    codes[order] = np.cumsum(new, dtype=np.int32) - np.int32(1)
    return codes, order[new]


def _differing(keys: NDArray[np.uint64]) -> tuple[int, int]:
    """Return the bits in which keys differ, and those that all of them have."""
    if not keys.size:
        return 0, 0
    every = int(np.bitwise_and.reduce(keys))
    return int(np.bitwise_or.reduce(keys)) ^ every, every


def _texts_of(keys: NDArray[np.uint64]) -> list[str]:
    """Return texts: the bytes of a number from its greatest on, and zeros behind them."""
    texts = keys.byteswap().view("S8")
    try:
        names: list[str] = texts.astype("U8").tolist()  # ASCII only, and several times faster
    except UnicodeDecodeError:
        names = [text.decode("utf-8") for text in texts.tolist()]
    return names


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


def _apart(keys: NDArray[np.uint64], differ: int) -> NDArray[np.uint64]:
    """Return the bits that `_together` has moved together where they were."""
    found = np.zeros(keys.size, np.uint64)
    for mask, move in _runs(differ):
        found |= (keys << np.uint64(move)) & np.uint64(mask)
    return found


def _together(keys: NDArray[np.uint64], differ: int, at: int) -> NDArray[np.uint64]:
    """Return the bits of keys that are in `differ`, moved together, from bit `at` on."""
    runs = [(np.uint64(mask), at - move) for mask, move in _runs(differ)]
    found = np.zeros(keys.size, np.uint64)
    part = np.empty(min(_BLOCK, keys.size), np.uint64)
    for rows in _blocks(keys.size):
        given, out = keys[rows], found[rows]
        here = part[: given.size]
        for bits, move in runs:
            np.bitwise_and(given, bits, out=here)
            if move > 0:
                here <<= np.uint64(move)
            else:
                here >>= np.uint64(-move)
            out |= here
    return found


def _blocks(size: int) -> Iterator[slice]:
    for start in range(0, size, _BLOCK):
        yield slice(start, start + _BLOCK)


def _separators(read: NDArray[np.uint8], delimiter: int) -> tuple[Ints, int]:
    """Return the places of delimiters and line ends, and the number of line ends."""
    dtype = np.int32 if read.size < 2**31 else np.int64

    def within(part: slice) -> tuple[list[Ints], int]:
        found, lines = [], 0
        for start in range(part.start, part.stop, _BYTES):
            some = read[start : min(start + _BYTES, part.stop)]
            ends = some == _NEWLINE
            lines += int(np.count_nonzero(ends))
            ends |= some == delimiter
            places = np.flatnonzero(ends)
            found.append(np.add(places, start, out=np.empty(places.size, dtype), casting="unsafe"))
        return found, lines

    done = at_once(within, parts(read.size, _PART))
    return np.concatenate([some for found, _ in done for some in found]), sum(n for _, n in done)


def quick_columns(data: bytes, delimiter: str) -> tuple[QuickColumn, ...] | None:
    """Return the columns of a text table, its first row among them; None where anything is odd.

    Parameters
    ----------
    data : bytes
        The file, with or without byte order mark.
    delimiter : str
    """
    if not data or b'"' in data or b"\0" in data or not _is_utf8(data):
        return None
    returns = b"\r" in data
    if returns and not data.count(b"\r") == data.count(b"\r\n") == data.count(b"\n"):
        return None
    end = b"" if data.endswith(b"\n") else b"\r\n" if returns else b"\n"
    read = np.frombuffer(b"".join((data, end, bytes(_WORD))), np.uint8)
    ends, count = _separators(read, ord(delimiter))
    width = int(np.searchsorted(ends, (data + end if end else data).index(b"\n"))) + 1
    lines, over = divmod(ends.size, width)
    # All line ends stand at the ends of rows where as many stand there as there are.
    last = read[ends[width - 1 :: width]] == _NEWLINE
    if over or count != lines or not last.all():
        return None
    starts = np.empty_like(ends)
    starts[0] = 3 if data.startswith(b"\xef\xbb\xbf") else 0
    np.add(ends[:-1], 1, out=starts[1:])
    if returns:
        ends[width - 1 :: width] -= 1
    first, last = starts[::width], ends[width - 1 :: width]
    if (last - first == width - 1).any():
        return None  # nothing but delimiters: a blank row
    return tuple(QuickColumn(read, starts[at::width], ends[at::width]) for at in range(width))


def _is_utf8(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
