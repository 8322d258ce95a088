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

from plausibly.errors import PlausiblyWarning, counted, listed

_KINDS = {
    name: kind
    for name, kind in vars(builtins).items()
    if isinstance(kind, type) and issubclass(kind, Warning)
}


@attrs.frozen(kw_only=True)
class Recorded:
    """A warning as plain data, and where in a study it was issued.

    A `PlausiblyWarning` has its name, its first line and its fields. Any other has its text and the
    nearest class of Python itself, since another process or a file may not know its own.
    """

    kind: str
    text: str
    fields: dict[str, Any] | None  # Any: each field has its own type
    filename: str
    line: int
    split: int | None = None
    method: str | None = None
    size: int | None = None
    draws: int | None = None


@contextmanager
def record_warnings(
    recorded: list[Recorded],
    **where: Any,  # Any: other fields of `Recorded`
) -> Iterator[None]:
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
        where |= {"filename": warning.filename, "line": warning.lineno}
        recorded.append(Recorded(kind=kind, text=text, fields=fields, **where))


def _plain(value: object) -> object:
    """Return plain data for what JSON does not know."""
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else str(value)


def issue(
    recorded: Sequence[Recorded],
    splits: int,
    *,
    sizes: Sequence[int] = (),
    draws: Sequence[int] = (),
) -> None:
    """Issue each warning once, whatever its numbers, on behalf of the caller's caller."""
    groups: dict[tuple[str, str], list[Recorded]] = {}
    for warning in recorded:
        groups.setdefault((warning.kind, warning.text), []).append(warning)
    for (kind, text), group in groups.items():
        first = group[0]
        if first.fields is None:
            category = _KINDS.get(kind, UserWarning)
            warnings.warn_explicit(text, category, first.filename, first.line)
            continue
        number = len({member.split for member in group} - {None})
        scope = [f"in {counted(number)} of {counted(splits)} splits"] if 0 < number < splits else []
        methods = dict.fromkeys(member.method for member in group if member.method is not None)
        where: dict[str, object] = {"methods": list(methods), "splits": number}
        for title, field, wanted in (("sizes", "size", sizes), ("draws", "draws", draws)):
            values = {getattr(member, field) for member in group}
            if wanted:
                where[title] = at = [value for value in wanted if value in values]
                if None not in values and len(values) < len(wanted):
                    scope.append(f"at {title if len(values) > 1 else field} {listed(at)}")
        more = {
            "what": f"{text} ({', '.join(scope)})" if scope else text,
            "details": {**first.fields["details"], **where},
        }
        warnings.warn(PlausiblyWarning(**{**first.fields, **more}), stacklevel=3)
