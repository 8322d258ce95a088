"""Columns of text that repeat: each text once, and a code for every row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

import attrs
import numpy as np

from plausibly.kernels.types import Ints


@attrs.frozen(eq=False)
class Coded(Sequence[str]):
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

    def __len__(self) -> int:
        return int(self.codes.size)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [self.names[code] for code in self.codes[place].tolist()]
        return self.names[int(self.codes[place])]

    def __iter__(self) -> Iterator[str]:
        return map(self.names.__getitem__, self.codes.tolist())

    def __contains__(self, text: object) -> bool:
        return text in self.names


def by_code(values: Ints, codes: Ints) -> Ints:
    """Return the value of each code; the codes themselves where they are the values."""
    return codes if np.array_equal(values, np.arange(values.size)) else values[codes]
