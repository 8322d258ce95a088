"""Columns of text that repeat: each text once, and a code for every row."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import overload

import attrs
import numpy as np
from numpy.typing import NDArray

from plausibly.kernels.types import Ints
from plausibly.kernels.utf8 import Utf8


class Column(Sequence[str]):
    """A column of text that makes its texts when they are asked for."""

    __slots__ = ()

    @abstractmethod
    def some(self, rows: slice) -> list[str]:
        """Return the texts of some rows."""

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return self.some(place)
        return self.some(slice(place, place + 1 or None))[0]


@attrs.frozen(eq=False)
class Coded(Column):
    """A column of text."""

    names: list[str]
    codes: Ints

    @classmethod
    def of(cls, texts: Sequence[str]) -> Coded:
        """Return a column with its texts coded; itself where it is coded already."""
        if isinstance(texts, cls):
            return texts
        places: dict[str, int] = {}
        codes = [places.setdefault(text, len(places)) for text in texts]
        return cls(list(places), np.array(codes, np.int64))

    @classmethod
    def taken(cls, texts: Sequence[str], places: Ints) -> Coded:
        """Return a column of texts by their places, where texts may repeat or not be in use."""
        first = cls.of(texts)
        codes = first.codes[places]
        used = np.zeros(len(first.names), bool)
        used[codes] = True
        names = [name for name, kept in zip(first.names, used.tolist(), strict=True) if kept]
        return cls(names, (np.cumsum(used) - 1)[codes])

    @property
    def has_empty(self) -> bool:
        """Whether a text is empty."""
        return "" in self.names

    def __len__(self) -> int:
        return int(self.codes.size)

    def some(self, rows: slice) -> list[str]:
        """Return the texts of some rows."""
        return [self.names[code] for code in self.codes[rows].tolist()]

    def __iter__(self) -> Iterator[str]:
        return map(self.names.__getitem__, self.codes.tolist())

    def __contains__(self, text: object) -> bool:
        return text in self.names


@attrs.frozen(eq=False)
class Keyed(Column):
    """A column of text whose rows are numbers in the order of the texts."""

    words: NDArray[np.uint64]
    key_of: Callable[[NDArray[np.uint64]], NDArray[np.uint64]]
    bits: int
    texts_of: Callable[[NDArray[np.uint64]], Utf8]
    code: Callable[[], Coded]

    def keys_of(self, rows: slice) -> NDArray[np.uint64]:
        """Return the keys of some rows."""
        return self.key_of(self.words[rows])

    @cached_property
    def coded(self) -> Coded:
        """The column with each different text once."""
        return self.code()

    @cached_property
    def has_empty(self) -> bool:
        """Whether a text is empty: nothing comes before it."""
        if not len(self):
            return False
        return not self.texts_of(self.key_of(self.words.min(keepdims=True))).data.size

    def __len__(self) -> int:
        return int(self.words.size)

    def some(self, rows: slice) -> list[str]:
        """Return the texts of some rows."""
        return self.texts_of(self.keys_of(rows)).texts()

    def __iter__(self) -> Iterator[str]:
        return iter(self.coded)


def by_code(values: Ints, codes: Ints) -> Ints:
    """Return the value of each code; the codes themselves where they are the values."""
    return codes if np.array_equal(values, np.arange(values.size)) else values[codes]
