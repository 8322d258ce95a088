"""Names out of files: shown in messages, and each there once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal

from plausibly.plugin import InputError, counted, quoted, several

_MOST_SHOWN = 60


def short(name: str) -> str:
    """Return a name between quotation marks, cut where it is too long for a message."""
    return quoted(name if len(name) <= _MOST_SHOWN else f"{name[: _MOST_SHOWN - 1]}…")


def check_names(whose: str, names: Sequence[str], noun: Literal["example", "label"]) -> None:
    """Raise an error unless every name is there once, and can be one.

    Parameters
    ----------
    whose : str
        Name of the file.
    names : sequence of str
        Its examples or labels.
    noun : {"example", "label"}
        What they name.

    Raises
    ------
    InputError
        ``example-twice`` and ``example-unnamed``, or the like for labels.
    """
    again = [name for name, count in Counter(names).items() if count > 1]
    if again:
        places = [place for place, name in enumerate(names, start=1) if name == again[0]]
        raise InputError(
            f"{noun}-twice",
            f"{whose} names the {noun} {short(again[0])} twice",
            expected="each name once",
            got=f"at places {counted(places[0])} and {counted(places[1])}"
            + (f", and {several(len(again) - 1, 'other name')} again" if again[1:] else ""),
            do="keep one, or give them names of their own",
            whose=whose,
            details={f"{noun}s": again},
        )
    unfit = [place for place, name in enumerate(names, start=1) if not name or "\0" in name]
    if unfit:
        raise InputError(
            f"{noun}-unnamed",
            f"{whose} has {several(len(unfit), noun)} without a usable name",
            expected="text with at least one character, and no NUL",
            got=f"none at place {counted(unfit[0])}",
            do=f"name each {noun}",
            whose=whose,
        )
