"""When votes were given, as platforms write it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone

from plausibly.plugin import InputError, TextTable
from plausibly_builtins.readers._names import short

_NUMBER = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,9})?")
_NAMED = re.compile(r"[A-Z][a-z]{2} ([A-Z][a-z]{2} [0-9]{1,2} [0-9:]{8}) ([A-Z]{3}) ([0-9]{4})")
# By the name of the zone alone: what the platform's own server writes.
_HOURS = {"UTC": 0, "GMT": 0, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5}
_HOURS |= {"MST": -7, "MDT": -6, "PST": -8, "PDT": -7}


def from_iso(text: str) -> datetime:
    """Return a time as ISO 8601 has it, or with a zone by its name; ValueError if it is neither."""
    said, _, zone = text.rpartition(" ")
    if zone not in _HOURS:
        return datetime.fromisoformat(text)
    return datetime.fromisoformat(said).replace(tzinfo=timezone(timedelta(hours=_HOURS[zone])))


def _read(text: str, months_first: bool) -> tuple[str, float]:
    """Return in which way a time is told, and what can be compared; ValueError where in none."""
    if _NUMBER.fullmatch(text):
        return "a number", float(text)
    named = _NAMED.fullmatch(text)
    if named:
        if named[2] not in _HOURS:
            raise ValueError(text)
        zone = timezone(timedelta(hours=_HOURS[named[2]]))
        found = datetime.strptime(f"{named[1]} {named[3]}", "%b %d %H:%M:%S %Y")
        return "with a zone", found.replace(tzinfo=zone).timestamp()
    if months_first and "/" in text:
        found = datetime.strptime(text, "%m/%d/%Y %H:%M:%S")
    else:
        found = from_iso(text)
    if found.tzinfo is None:
        return "without a zone", found.replace(tzinfo=UTC).timestamp()
    return "with a zone", found.timestamp()


def times(table: TextTable, column: Sequence[str], *, months_first: bool) -> list[float | None]:
    """Return the time of each row, in seconds; None where the cell is empty.

    Parameters
    ----------
    table : TextTable
        The file, for messages.
    column : sequence of str
        Numbers, ISO 8601, ``Wed Jan 24 09:51:16 PST 2018``, or ``7/12/2014 08:34:29``.
    months_first : bool
        Whether the last of these may stand there.

    Raises
    ------
    InputError
        ``time-unreadable``, or ``times-unlike`` where they are told in several ways.
    """
    found: list[float | None] = []
    first: tuple[str, int] | None = None
    for row, text in enumerate(column):
        if not text:
            found.append(None)
            continue
        try:
            way, time = _read(text, months_first)
        except (ValueError, OverflowError):
            raise InputError(
                "time-unreadable",
                f"{table.place(row)} has the time {short(text)}",
                expected="a number, 2018-01-24T09:51:16, or Wed Jan 24 09:51:16 PST 2018",
                got="neither",
                do="write all times in one of these ways",
                whose=table.whose,
                details={"line": table.lines[row]},
            ) from None
        first = first or (way, row)
        if way != first[0]:
            raise InputError(
                "times-unlike",
                f"{table.place(row)} has a time that is {way}",
                expected=f"as in {table.unit} {table.lines[first[1]]}: {first[0]}",
                got=short(text),
                do="write all times in one way",
                whose=table.whose,
                details={"line": table.lines[row]},
            )
        found.append(time)
    return found
