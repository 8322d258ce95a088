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

from plausibly.io.quick_columns import LongColumn, QuickColumn, ShortColumn
from plausibly.kernels import words
from plausibly.kernels.blocks import at_once, parts
from plausibly.kernels.types import Ints

Item = TypeVar("Item")
Made = TypeVar("Made")

LEAST = 1 << 18
"""Bytes of a file that is worth it."""

_BYTES = 1 << 18  # of the file, so that what is in hand stays in the cache
_PART = 1 << 2  # pieces that are worth a thread
_NEWLINE, _RETURN, _QUOTE, _NOT_ASCII = ord("\n"), ord("\r"), ord('"'), 0x80
_MARK = b"\xef\xbb\xbf"


class _Odd(Exception):
    """What stands here is for the strict parser."""


@attrs.frozen(eq=False)
class QuickTable:
    """A table whose rows are all alike."""

    first: tuple[str, ...]
    named: bool
    columns: tuple[QuickColumn, ...]


@attrs.frozen(eq=False)
class _Piece:
    """Whole rows of a file."""

    start: int
    beyond: NDArray[np.uint8]

    @property
    def bytes(self) -> NDArray[np.uint8]:
        """Their bytes, with the last line end."""
        return self.beyond[: -words.BYTES]


@attrs.frozen(eq=False)
class _Layout:
    """What the rows of a file have in common."""

    delimiter: int
    width: int
    returns: bool

    def look(self, pieces: Sequence[_Piece]) -> list[tuple[int, bool]]:
        """Return how many rows stand in each piece, and whether it is ASCII."""
        found = []
        for piece in pieces:
            some = piece.bytes
            if some.min() == 0 or (some == _QUOTE).any():
                raise _Odd
            if not self.returns and (some == _RETURN).any():
                raise _Odd
            count = int(np.count_nonzero(some == _NEWLINE))
            found.append((count, bool(some.max() < _NOT_ASCII)))
        return found

    def fields(self, piece: _Piece, rows: int) -> tuple[Ints, Ints]:
        """Return where the texts of a piece begin in it, and their sizes, row by row."""
        some = piece.bytes
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
    """Return a text table; None where anything is odd."""
    start = len(_MARK) if data.startswith(_MARK) else 0
    line = data.find(b"\n")
    opening = data[start : line if line >= 0 else len(data)]
    returns = opening.endswith(b"\r")
    if b'"' in opening or b"\0" in opening or opening.count(b"\r") != returns:
        return None
    if not _is_utf8(opening):
        return None
    first = tuple(opening.removesuffix(b"\r").decode("utf-8").split(delimiter))
    named = header(first)
    begin = start + len(opening) + 1 if named else start
    if not any(first) or begin >= len(data):
        return None
    layout = _Layout(ord(delimiter), len(first), returns)
    end = b"" if data.endswith(b"\n") else b"\r\n" if returns else b"\n"
    try:
        return QuickTable(first, named, _columns(data, layout, list(_pieces(data, begin, end))))
    except _Odd:
        return None


def _pieces(data: bytes, start: int, end: bytes) -> Iterator[_Piece]:
    """Return the rows from a place on; the last ones are a copy, with the line end they lack."""
    read = np.frombuffer(data, np.uint8)
    while start < len(data):
        stop = data.rfind(b"\n", start, start + _BYTES) + 1
        stop = stop or data.find(b"\n", start) + 1 or len(data)  # a row longer than a piece
        if len(data) - stop < words.BYTES:
            last = b"".join((data[start:], end, bytes(words.BYTES)))
            yield _Piece(start, np.frombuffer(last, np.uint8))
            return
        yield _Piece(start, read[start : stop + words.BYTES])
        start = stop


def _columns(data: bytes, layout: _Layout, pieces: Sequence[_Piece]) -> tuple[QuickColumn, ...]:
    width = layout.width
    looked = [one for some in _by_threads(layout.look, pieces) for one in some]
    if not all(plain for _, plain in looked) and not _is_utf8(data):
        raise _Odd
    ends = accumulate((count for count, _ in looked), initial=0)
    rows = [slice(*pair) for pair in pairwise(ends)]
    both = list(zip(pieces, rows, strict=True))
    short = [np.empty(rows[-1].stop, np.uint64) for _ in range(width)]
    long: set[int] = set()

    def numbers(some: Sequence[tuple[_Piece, slice]]) -> None:
        for piece, within in some:
            starts, sizes = layout.fields(piece, within.stop - within.start)
            if sizes.max() > words.BYTES:
                largest = sizes.reshape(-1, width).max(axis=0)
                long.update(np.flatnonzero(largest > words.BYTES).tolist())
                np.minimum(sizes, words.BYTES, out=sizes)
            found = words.words_at(piece.beyond, starts, sizes)
            for at in {*range(width)} - long:
                short[at][within] = found[at::width]

    _by_threads(numbers, both)
    columns: list[QuickColumn] = [ShortColumn(numbers) for numbers in short]
    if not long:
        return tuple(columns)
    kind = np.int32 if len(data) < 2**31 else np.int64
    spans = {at: np.empty((2, rows[-1].stop), kind) for at in long}

    def places(some: Sequence[tuple[_Piece, slice]]) -> None:
        for piece, within in some:
            starts, sizes = layout.fields(piece, within.stop - within.start)
            starts += piece.start
            sizes += starts
            for at, (begin, end) in spans.items():
                begin[within], end[within] = starts[at::width], sizes[at::width]

    _by_threads(places, both)
    for at, (begin, end) in spans.items():
        columns[at] = LongColumn(np.frombuffer(data, np.uint8), begin, end)
    return tuple(columns)


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
