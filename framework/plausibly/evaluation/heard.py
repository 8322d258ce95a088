"""Warnings that every split of a study repeats, said once."""

from __future__ import annotations

import builtins
import json
import pickle
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import attrs
import numpy as np

from plausibly.errors import PlausiblyWarning, counted, listed


@attrs.frozen(kw_only=True)
class Said:
    """One warning, and where in a study it was heard.

    Attributes
    ----------
    message : Warning
    filename, line : str and int
        Where it was issued.
    split, method, size, draws : int, str, int and int, or None
        None where the block was run once for all of them.
    """

    message: Warning
    filename: str
    line: int
    split: int | None = None
    method: str | None = None
    size: int | None = None
    draws: int | None = None

    @property
    def key(self) -> tuple[str, str]:
        """What makes two warnings the same: their name and first line, not their numbers."""
        if isinstance(self.message, PlausiblyWarning):
            return self.message.name, self.message.what
        return _kind(self.message).__name__, str(self.message)

    def portable(self) -> Said:
        """Return the same as another process can read it: of a kind that it knows."""
        if isinstance(self.message, PlausiblyWarning):
            return self
        try:
            pickle.loads(pickle.dumps(self.message))
        except Exception:  # noqa: BLE001  # whatever keeps somebody's warning from being sent
            return attrs.evolve(self, message=_kind(self.message)(str(self.message)))
        return self

    def to_json(self) -> dict[str, object]:
        """Return plain data; of kinds that others made, the nearest one that Python knows."""
        plain = attrs.asdict(self, recurse=False)
        if isinstance(self.message, PlausiblyWarning):
            plain["message"] = self.message.fields()
        else:
            plain["message"] = {"kind": _kind(self.message).__name__, "text": str(self.message)}
        return plain

    @classmethod
    def from_json(cls, plain: Mapping[str, object]) -> Said:
        """Return the warning that `to_json` described."""
        told = plain["message"]
        if not isinstance(told, dict):
            raise TypeError("a warning is a table")
        message: Warning
        if "kind" in told:
            kind = getattr(builtins, str(told["kind"]), UserWarning)
            known = isinstance(kind, type) and issubclass(kind, Warning)
            message = (kind if known else UserWarning)(told["text"])
        else:
            message = PlausiblyWarning(**told)
        return cls(**{**plain, "message": message})  # type: ignore[arg-type]  # as it was written


def _kind(message: Warning) -> type[Warning]:
    """Return the nearest kind of warning that comes with Python."""
    mine = (kind for kind in type(message).__mro__ if kind.__module__ == "builtins")
    return next(kind for kind in mine if issubclass(kind, Warning))


@contextmanager
def listening(
    said: list[Said],
    *,
    split: int | None = None,
    method: str | None = None,
    size: int | None = None,
    draws: int | None = None,
) -> Iterator[None]:
    """Collect the warnings of this block.

    Parameters
    ----------
    said : list of Said
        Where they are added.
    split, method, size, draws : int, str, int and int, optional
        What the block is run for.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for one in caught:
        message = one.message
        if isinstance(message, PlausiblyWarning):
            # The same, whether it was heard here, in another process, or read from a file.
            message.details = json.loads(json.dumps(message.details, default=_plain))
        said.append(
            Said(
                message=message if isinstance(message, Warning) else one.category(message),
                filename=one.filename,
                line=one.lineno,
                split=split,
                method=method,
                size=size,
                draws=draws,
            )
        )


def _plain(value: object) -> object:
    """Return what JSON has no word for as something that it has one for."""
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else str(value)


def repeat(
    said: Sequence[Said], splits: int, *, sizes: Sequence[int] = (), draws: Sequence[int] = ()
) -> None:
    """Issue each warning once, on behalf of the caller's caller.

    Parameters
    ----------
    said : sequence of Said
    splits : int
        How many there were: a warning of some of them says how many.
    sizes, draws : sequence of int
        Those that were asked for: a warning of some of them says of which.
    """
    alike: dict[tuple[str, str], list[Said]] = {}
    for one in said:
        alike.setdefault(one.key, []).append(one)
    for those in alike.values():
        first = those[0]
        message = first.message
        if not isinstance(message, PlausiblyWarning):
            warnings.warn_explicit(message, type(message), first.filename, first.line)
            continue
        number = len({one.split for one in those} - {None})
        some = [f"in {counted(number)} of {counted(splits)} splits"] if 0 < number < splits else []
        where: dict[str, object] = {
            "methods": list(dict.fromkeys(one.method for one in those if one.method is not None)),
            "splits": number,
        }
        for title, asked in (("sizes", sizes), ("draws", draws)):
            field = "size" if title == "sizes" else title
            found = {getattr(one, field) for one in those}
            if asked:
                where[title] = [value for value in asked if value in found]
            if asked and None not in found and len(found) < len(asked):
                noun = title if len(found) > 1 or title == "draws" else field
                some.append(f"at {noun} {listed(value for value in asked if value in found)}")
        again = PlausiblyWarning(
            message.name,
            f"{message.what} ({', '.join(some)})" if some else message.what,
            expected=message.expected,
            got=message.got,
            do=message.do,
            whose=message.whose,
            details={**message.details, **where},
        )
        warnings.warn(again, stacklevel=3)
