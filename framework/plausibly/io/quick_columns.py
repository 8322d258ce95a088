"""Columns of a large text table: what stands in them, and the texts when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from plausibly.data.coded import Coded, Column, Keyed
from plausibly.kernels import words
from plausibly.kernels.alike import alike
from plausibly.kernels.types import Ints
from plausibly.kernels.utf8 import Utf8

_BLANKS = np.frombuffer(b"\t \xc2\xe2\xe3\xef", np.uint8)  # first bytes of blanks of any width
_WIDE = 40  # bits of a key that leave enough for whoever said what


@attrs.frozen(eq=False)
class LongColumn(Column):
    """A column with texts of any size: where each of them stands."""

    data: NDArray[np.uint8]
    starts: Ints
    ends: Ints

    def __len__(self) -> int:
        return int(self.starts.size)

    def some(self, rows: slice) -> list[str]:
        """Return the texts of some rows."""
        return self._texts(self.starts[rows], self.ends[rows])

    def __iter__(self) -> Iterator[str]:
        return iter(self.coded)

    @cached_property
    def coded(self) -> Coded:
        """The column with each different text once."""
        found = alike(self.data, self.starts, self.ends - self.starts)
        if found is None:
            return Coded.of(self._texts(self.starts, self.ends))
        codes, some = found
        return Coded(self._texts(self.starts[some], self.ends[some]), codes)

    def _texts(self, starts: Ints, ends: Ints) -> list[str]:
        pairs = zip(starts.tolist(), ends.tolist(), strict=True)
        data = memoryview(self.data.data)
        return [str(data[start:end], "utf-8") for start, end in pairs]


@attrs.frozen(eq=False)
class ShortColumn(Column):
    """A column of texts that are short enough to be numbers."""

    words: words.Words

    def __len__(self) -> int:
        return int(self.words.size)

    def some(self, rows: slice) -> list[str]:
        """Return the texts of some rows."""
        return words.texts_of(self.words[rows]).texts()

    def __iter__(self) -> Iterator[str]:
        return iter(self.coded)

    @cached_property
    def coded(self) -> Coded:
        """The column with each different text once."""
        found = words.coded(self.words)
        if found is None:
            return Coded.of(words.texts_of(self.words).texts())
        codes, different = found
        return Coded(words.texts_of(different).texts(), codes)

    @property
    def may_hold_blanks(self) -> bool:
        """Whether a text begins as a blank does, without a look at each different text."""
        return bool(np.isin((self.words >> np.uint64(56)).astype(np.uint8), _BLANKS).any())

    @cached_property
    def keyed(self) -> Keyed | Coded:
        """The column with its rows as numbers."""
        if not self.words.size:
            return self.coded
        differ, same = words.differing(self.words)
        low = max(0, (differ & -differ).bit_length() - 1)
        span = differ.bit_length() - low
        # The bits between those that differ may stay: they are the same everywhere.
        loose = span <= _WIDE

        def key_of(some: words.Words) -> words.Words:
            if loose:
                return (some & np.uint64(differ)) >> np.uint64(low)
            return words.together(some, differ, 0)

        def texts_of(some: words.Words) -> Utf8:
            there = some << np.uint64(low) if loose else words.apart(some, differ)
            return words.texts_of(there | np.uint64(same))

        return Keyed(
            words=self.words,
            key_of=key_of,
            bits=span if loose else differ.bit_count(),
            texts_of=texts_of,
            code=lambda: self.coded,
        )


QuickColumn: TypeAlias = LongColumn | ShortColumn
