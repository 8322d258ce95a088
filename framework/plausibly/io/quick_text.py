"""Large text tables without anything odd in them, read by arrays: the texts of the strict parser.

Odd is a quote, a zero byte, a lone carriage return, a row with more or fewer fields than the first,
a blank row, or what is not UTF-8. A file with any of that is left to the strict parser, which knows
what to say of it.

The file is looked at once, in pieces of whole rows that stay in the cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import TypeVar

import attrs
import numpy as np
from numpy.typing import NDArray

from plausibly.arrays import Ints
from plausibly.io.quick_columns import LongColumn, QuickColumn, ShortColumn
from plausibly.kernels import words
from plausibly.kernels.threads import at_once, parts

Item = TypeVar("Item")
Made = TypeVar("Made")

LEAST = 1 << 18
"""Bytes of a file that is worth it."""

_BYTES = 1 << 17  # of the file, so that what is in hand stays in the cache
_PART = 1 << 3  # pieces that are worth a thread
_NEWLINE, _RETURN = ord("\n"), ord("\r")
_MARK = b"\xef\xbb\xbf"


class _Odd(Exception):
    """What stands here is for the strict parser."""


@attrs.frozen(eq=False)
class QuickTable:
    """A table whose rows are all alike.

    Attributes
    ----------
    first : tuple of str
        The first row.
    named : bool
        Whether that row names the columns, and is none of theirs.
    columns : tuple of sequence of str
        One a column.
    """

    first: tuple[str, ...]
    named: bool
    columns: tuple[QuickColumn, ...]


@attrs.frozen(eq=False)
class _File:
    """Bytes that are to be read, with eight more behind them."""

    read: NDArray[np.uint8]
    delimiter: int
    width: int
    returns: bool

    def rows(self, piece: slice) -> int:
        """Return how many rows stand in a piece."""
        return int(np.count_nonzero(self.read[piece] == _NEWLINE))

    def fields(self, piece: slice, rows: int) -> tuple[Ints, Ints]:
        """Return where the texts of a piece begin in it, and their sizes, row by row."""
        some = self.read[piece]
        ends = some == _NEWLINE
        if self.returns:
            alone = some == _RETURN
            if np.count_nonzero(alone) != rows or not alone[:-1][ends[1:]].all() or ends[0]:
                raise _Odd
        ends |= some == self.delimiter
        places = np.flatnonzero(ends)
        # All line ends stand at the ends of rows where as many stand there as there are.
        if places.size != rows * self.width:
            raise _Odd
        last = places[self.width - 1 :: self.width]
        if not (some.take(last) == _NEWLINE).all():
            raise _Odd
        starts = np.empty_like(places)
        starts[0] = 0
        np.add(places[:-1], 1, out=starts[1:])
        if self.returns:
            last -= 1
        sizes = np.subtract(places, starts, out=places)
        if sizes.min() == 0 and not sizes.reshape(rows, self.width).any(axis=1).all():
            raise _Odd  # nothing but delimiters: a blank row
        return starts, sizes


def quick_table(
    data: bytes, delimiter: str, header: Callable[[tuple[str, ...]], bool]
) -> QuickTable | None:
    """Return a text table; None where anything is odd.

    Parameters
    ----------
    data : bytes
        The file, with or without byte order mark.
    delimiter : str
    header : callable
        Whether the first row names the columns.
    """
    start = len(_MARK) if data.startswith(_MARK) else 0
    if len(data) == start or b'"' in data or b"\0" in data or not _is_utf8(data):
        return None
    returns = b"\r" in data
    end = b"" if data.endswith(b"\n") else b"\r\n" if returns else b"\n"
    whole = b"".join((data, end, bytes(words.BYTES)))
    opening = whole[start : whole.index(b"\n")].removesuffix(b"\r")
    first = tuple(opening.decode("utf-8").split(delimiter))
    named = header(first)
    file = _File(np.frombuffer(whole, np.uint8), ord(delimiter), len(first), returns)
    pieces = list(_pieces(whole, start, len(whole) - words.BYTES))
    try:
        if named:
            line = slice(start, whole.index(b"\n", start) + 1)
            file.fields(line, 1)
            pieces[:1] = [slice(line.stop, pieces[0].stop)]
            pieces = [piece for piece in pieces if piece.stop > piece.start]
        return QuickTable(first, named, _columns(file, pieces)) if pieces else None
    except _Odd:
        return None


def _pieces(whole: bytes, start: int, end: int) -> Iterator[slice]:
    """Return pieces of whole rows."""
    while start < end:
        stop = whole.rfind(b"\n", start, min(start + _BYTES, end)) + 1
        stop = stop or whole.index(b"\n", start) + 1  # a row longer than a piece
        yield slice(start, stop)
        start = stop


def _columns(file: _File, pieces: Sequence[slice]) -> tuple[QuickColumn, ...]:
    counts = [rows for some in _by_threads(lambda a: [*map(file.rows, a)], pieces) for rows in some]
    rows = [slice(*pair) for pair in pairwise(accumulate(counts, initial=0))]
    short = [np.empty(rows[-1].stop, np.uint64) for _ in range(file.width)]
    long: set[int] = set()
    every = words.every_word(file.read)

    def numbers(some: Sequence[tuple[slice, slice]]) -> None:
        for piece, within in some:
            starts, sizes = file.fields(piece, within.stop - within.start)
            if sizes.max() > words.BYTES:
                largest = sizes.reshape(-1, file.width).max(axis=0)
                long.update(np.flatnonzero(largest > words.BYTES).tolist())
                np.minimum(sizes, words.BYTES, out=sizes)
            # All words of a piece, which costs less than to look for those that are wanted.
            here = every[piece].astype(np.uint64).take(starts)
            words.cut(here, sizes, here)
            for at in {*range(file.width)} - long:
                short[at][within] = here[at :: file.width]

    both = list(zip(pieces, rows, strict=True))
    _by_threads(numbers, both)
    found: list[QuickColumn] = [ShortColumn(numbers) for numbers in short]
    if not long:
        return tuple(found)
    kind = np.int32 if file.read.size < 2**31 else np.int64
    spans = {at: np.empty((2, rows[-1].stop), kind) for at in long}

    def places(some: Sequence[tuple[slice, slice]]) -> None:
        for piece, within in some:
            starts, sizes = file.fields(piece, within.stop - within.start)
            for at, span in spans.items():
                begin, size = starts[at :: file.width], sizes[at :: file.width]
                np.add(begin, piece.start, out=span[0, within], casting="unsafe")
                np.add(span[0, within], size, out=span[1, within], casting="unsafe")

    _by_threads(places, both)
    for at, (begin, end) in spans.items():
        found[at] = LongColumn(file.read, begin, end)
    return tuple(found)


def _by_threads(work: Callable[[Sequence[Item]], Made], items: Sequence[Item]) -> list[Made]:
    """Return what is made of consecutive items, in as many lots as there are threads."""
    return at_once(work, [items[part] for part in parts(len(items), _PART)])


def _is_utf8(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
