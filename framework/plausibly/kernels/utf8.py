"""Names as the bytes that an index of text keeps: compared and told apart without reading them.

A Python text a name takes several times as long to make and to hash as all that is asked here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import attrs
import numpy as np
from numpy.typing import NDArray

from plausibly.kernels.blocks import map_blocks
from plausibly.kernels.types import Hashes

WORD = 8
"""Bytes of a number."""

_LONGEST = 1 << 9  # bytes of a name; beyond, texts are as good
_ODD = np.uint64(0x9E3779B97F4A7C15)
_HALF, _BITS = np.uint64(32), np.uint64(64)
BELOW = np.array([2 ** (8 * size) - 1 for size in range(WORD + 1)], np.uint64)
"""What is below each number of bytes."""


def stir(marks: Hashes) -> None:
    """Spread what was last put into marks over all of their bits, where they stand."""
    marks *= _ODD
    marks ^= marks >> _HALF


@attrs.frozen(eq=False)
class Utf8:
    """Texts in UTF-8, end to end."""

    data: NDArray[np.uint8]
    offsets: NDArray[np.int64] | NDArray[np.int32]
    texts: Callable[[], list[str]]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def _bytes(self) -> NDArray[np.uint8]:
        return self.data[self.offsets[0] : self.offsets[-1]]

    def same(self, other: Utf8) -> bool:
        """Return whether the names are the same in the same order."""
        if len(self) != len(other):
            return False
        if not np.array_equal(self._bytes, other._bytes):
            return False
        here, there = self.offsets[0], other.offsets[0]
        return np.array_equal(self.offsets - here, other.offsets - there)

    def joined(self, part: slice = slice(None)) -> bytes:
        """Return the bytes of the names of a slice with a zero byte between them."""
        start, stop, _ = part.indices(len(self))
        if stop <= start:
            return b""
        first, last = int(self.offsets[start]), int(self.offsets[stop])
        kept = np.ones(last - first + stop - start - 1, bool)
        kept[self.offsets[start + 1 : stop] - first + np.arange(stop - start - 1)] = False
        found = np.zeros(kept.size, np.uint8)
        found[kept] = self.data[first:last]
        return found.tobytes()

    @cached_property
    def marks(self) -> Hashes | None:
        """A number for each name, in ascending order: names with different ones are different.

        None where a name is long.
        """
        sizes = np.diff(self.offsets)
        longest = int(sizes.max(initial=0))
        if longest > _LONGEST:
            return None
        marks = sizes.astype(np.uint64)
        marks *= _ODD

        map_blocks(lambda rows: self._mark(rows, sizes[rows], marks[rows]), (len(self), WORD // 2))
        marks.sort()
        return marks

    def _mark(self, block: slice, sizes: NDArray[np.int64], marks: Hashes) -> None:
        """Stir the words of some names into their marks, one after the other."""
        first, last = int(self.offsets[block.start]), int(self.offsets[block.stop])
        room = np.zeros((last - first) // WORD + 2, np.dtype("<u8"))
        room.view(np.uint8)[: last - first] = self.data[first:last]
        place = self.offsets[block.start : block.stop] - first
        # A name may begin anywhere: each of its words is the end of one and the start of the next.
        down = ((place & 7) << 3).astype(np.uint64)
        place >>= 3
        here, left = room.take(place), sizes
        rows = None
        while True:
            place += 1
            after = room.take(place)
            here >>= down
            here |= after << (_BITS - down)
            here &= BELOW.take(np.minimum(left, WORD))
            mark = marks if rows is None else marks[rows]
            here ^= mark
            stir(here)
            marks[slice(None) if rows is None else rows] = here
            longer = np.flatnonzero(left > WORD)
            if not longer.size:
                return
            here, left = after, left - WORD
            if longer.size < left.size:
                here, left, place, down = here[longer], left[longer], place[longer], down[longer]
                rows = longer if rows is None else rows[longer]

    @cached_property
    def usable(self) -> bool:
        """Whether no name is empty or has a zero byte, and all differ for sure."""
        marks = self.marks
        if marks is None or not len(self):
            return not len(self)
        if np.diff(self.offsets).min() == 0 or self._bytes.min() == 0:
            return False
        return not (marks[1:] == marks[:-1]).any()

    def apart(self, other: Utf8) -> bool:
        """Return whether no name is among the others, for sure."""
        if self.marks is None or other.marks is None:
            return False
        # Two ascending runs, which a stable sort merges.
        both = np.sort(np.concatenate([self.marks, other.marks]), kind="stable")
        return not (both[1:] == both[:-1]).any()
