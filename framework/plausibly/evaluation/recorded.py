"""Warnings of many calibrations, recorded and issued once."""

from __future__ import annotations

import builtins
import json
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import attrs
import numpy as np

from plausibly.errors import PlausiblyWarning, counted

_KINDS = {
    name: kind
    for name, kind in vars(builtins).items()
    if isinstance(kind, type) and issubclass(kind, Warning)
}


@attrs.frozen
class Recorded:
    """A warning as plain data, and in which split of a study it was issued.

    A `PlausiblyWarning` has its name, its first line and its fields. Any other has its text and the
    nearest class of Python itself, since another process or a file may not know its own.
    """

    kind: str
    text: str
    fields: dict[str, Any] | None  # Any: each field has its own type
    filename: str
    line: int
    split: int | None = None


@contextmanager
def record_warnings(recorded: list[Recorded], split: int | None = None) -> Iterator[None]:
    """Collect the warnings of this block."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        message, fields = warning.message, None
        if isinstance(message, PlausiblyWarning):
            # The same, whether it was issued here, in another process, or read from a file.
            fields = json.loads(json.dumps(message.fields(), default=_plain))
            kind, text = message.name, message.what
        else:
            nearest = (k for k in type(message).__mro__ if _KINDS.get(k.__name__) is k)
            kind, text = next(nearest).__name__, str(message)
        recorded.append(Recorded(kind, text, fields, warning.filename, warning.lineno, split))


def _plain(value: object) -> object:
    """Return plain data for what JSON does not know."""
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else str(value)


def issue(recorded: Sequence[Recorded], splits: int) -> None:
    """Issue each warning once, whatever its numbers, on behalf of the caller's caller."""
    groups: dict[tuple[str, str], list[Recorded]] = {}
    for warning in recorded:
        groups.setdefault((warning.kind, warning.text), []).append(warning)
    for (kind, text), group in groups.items():
        first = group[0]
        if first.fields is None:
            warnings.warn_explicit(text, _KINDS[kind], first.filename, first.line)
            continue
        number = len({member.split for member in group} - {None})
        scope = f" (in {counted(number)} of {counted(splits)} splits)" if number < splits else ""
        what = f"{text}{scope}" if number else text
        warnings.warn(PlausiblyWarning(**{**first.fields, "what": what}), stacklevel=3)
