"""Warnings that every split of a study repeats, said once."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import attrs

from plausibly.errors import PlausiblyWarning, counted


@attrs.define
class _Entry:
    """The first warning of its text, and where it was heard again."""

    first: warnings.WarningMessage
    splits: set[int] = attrs.field(factory=set)
    methods: dict[str, None] = attrs.field(factory=dict)  # a set that keeps its order


@attrs.define
class Heard:
    """Collects warnings while splits run, and repeats each of them once."""

    _entries: dict[tuple[str, str], _Entry] = attrs.field(factory=dict)

    @contextmanager
    def listening(self, split: int | None = None, method: str | None = None) -> Iterator[None]:
        """Collect the warnings of this block.

        Parameters
        ----------
        split : int, optional
            None where the block is run once for all splits.
        method : str, optional
        """
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
        for one in caught:
            entry = self._entries.setdefault(_key(one), _Entry(one))
            if split is not None:
                entry.splits.add(split)
            if method is not None:
                entry.methods[method] = None

    def repeat(self, splits: int) -> None:
        """Issue each warning once, on behalf of the caller's caller.

        Parameters
        ----------
        splits : int
            How many there were: a warning of some of them says how many.
        """
        for entry in self._entries.values():
            message = entry.first.message
            if not isinstance(message, PlausiblyWarning):
                first = entry.first
                warnings.warn_explicit(message, first.category, first.filename, first.lineno)
                continue
            number = len(entry.splits)
            some = f" (in {counted(number)} of {counted(splits)} splits)"
            again = PlausiblyWarning(
                message.name,
                message.what + (some if 0 < number < splits else ""),
                expected=message.expected,
                got=message.got,
                do=message.do,
                whose=message.whose,
                details={**message.details, "methods": list(entry.methods), "splits": number},
            )
            warnings.warn(again, stacklevel=3)


def _key(one: warnings.WarningMessage) -> tuple[str, str]:
    """Return what makes two warnings the same: their name and first line, not their numbers."""
    if isinstance(one.message, PlausiblyWarning):
        return one.message.name, one.message.what
    return one.category.__name__, str(one.message)
