"""Warnings of many calibrations, recorded and issued once."""

from __future__ import annotations

import builtins
import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import attrs
import numpy as np

from plausibly.errors import PlausiblyWarning, counted, listed


@attrs.frozen(kw_only=True)
class Recorded:
    """A warning, and where in a study it was issued."""

    message: Warning
    filename: str
    line: int
    split: int | None = None
    method: str | None = None
    size: int | None = None
    draws: int | None = None

    def to_json(self) -> dict[str, object]:
        """Return plain data; of other classes the nearest one of Python."""
        plain = attrs.asdict(self, recurse=False)
        if isinstance(self.message, PlausiblyWarning):
            plain["message"] = self.message.fields()
        else:
            plain["message"] = {"kind": _kind(self.message).__name__, "text": str(self.message)}
        return plain

    @classmethod
    def from_json(cls, plain: Mapping[str, object]) -> Recorded:
        """Return the warning that `to_json` described."""
        written = plain["message"]
        if not isinstance(written, dict):
            raise TypeError("a warning is a table")
        message: Warning
        if "kind" not in written:
            message = PlausiblyWarning(**written)
        else:
            kind = getattr(builtins, str(written["kind"]), UserWarning)
            known = isinstance(kind, type) and issubclass(kind, Warning)
            message = (kind if known else UserWarning)(written["text"])
        return cls(**{**plain, "message": message})  # type: ignore[arg-type]  # as it was written


def _kind(message: Warning) -> type[Warning]:
    """Return the nearest class of warning of Python itself."""
    mine = (kind for kind in type(message).__mro__ if kind.__module__ == "builtins")
    return next(kind for kind in mine if issubclass(kind, Warning))


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
        message = (
            warning.message
            if isinstance(warning.message, Warning)
            else warning.category(warning.message)
        )
        if isinstance(message, PlausiblyWarning):
            # The same, whether it was issued here, in another process, or read from a file.
            message.details = json.loads(json.dumps(message.details, default=_plain))
        recorded.append(
            Recorded(message=message, filename=warning.filename, line=warning.lineno, **where)
        )


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
    """Issue each warning once, on behalf of the caller's caller."""
    groups: dict[tuple[str, str], list[Recorded]] = {}
    for warning in recorded:
        # Warnings are the same by their name and first line, whatever their numbers.
        message = warning.message
        key = (_kind(message).__name__, str(message))
        if isinstance(message, PlausiblyWarning):
            key = message.name, message.what
        groups.setdefault(key, []).append(warning)
    for group in groups.values():
        first = group[0]
        message = first.message
        if not isinstance(message, PlausiblyWarning):
            warnings.warn_explicit(message, type(message), first.filename, first.line)
            continue
        number = len({member.split for member in group} - {None})
        scope = [f"in {counted(number)} of {counted(splits)} splits"] if 0 < number < splits else []
        where: dict[str, object] = {
            "methods": list(
                dict.fromkeys(member.method for member in group if member.method is not None)
            ),
            "splits": number,
        }
        for title, field, wanted in (("sizes", "size", sizes), ("draws", "draws", draws)):
            values = {getattr(member, field) for member in group}
            if wanted:
                where[title] = at = [value for value in wanted if value in values]
                if None not in values and len(values) < len(wanted):
                    scope.append(f"at {title if len(values) > 1 else field} {listed(at)}")
        more = {
            "what": f"{message.what} ({', '.join(scope)})" if scope else message.what,
            "details": {**message.details, **where},
        }
        again = PlausiblyWarning(**{**message.fields(), **more})  # type: ignore[arg-type]  # its own
        warnings.warn(again, stacklevel=3)
