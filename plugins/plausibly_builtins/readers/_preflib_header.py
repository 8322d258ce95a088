"""The header of a PrefLib file: what is said before the ballots."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

import attrs

from plausibly.plugin import InputError, counted, listed, near, quoted, several
from plausibly_builtins.readers._names import short

TYPES: Final = ("soc", "soi", "toc", "toi", "cat")
"""Strict or with ties (s, t), complete or incomplete orders (c, i); categories."""

Lines: TypeAlias = Sequence[tuple[int, str]]

_KEY = re.compile(r"#\s*([^:]*?)\s*:\s*(.*?)\s*")
_WHOLE = re.compile(r"[0-9]{1,15}")
_NUMBERED = re.compile(r"(ALTERNATIVE|CATEGORY) NAME ([1-9][0-9]{0,14})")
_UNIQUE = ("NUMBER UNIQUE ORDERS", "NUMBER UNIQUE PREFERENCES")


@attrs.frozen(kw_only=True)
class Header:
    """What the header says.

    Attributes
    ----------
    type : str
        One of `TYPES`.
    alternatives, categories : tuple of str
        Their names; number i is at place i - 1.
    voters, unique : int
        How many ballots there are, and how many different ones.
    voters_line, unique_line : int
        Lines that say so.
    """

    type: str
    alternatives: tuple[str, ...]
    categories: tuple[str, ...]
    voters: int
    unique: int
    voters_line: int
    unique_line: int


def broken(whose: str, line: int, what: str, *, expected: str, got: str, do: str) -> InputError:
    """Return the error about a line that is not as the format has it."""
    return InputError(
        "preflib-broken",
        f"{whose} line {counted(line)} {what}",
        expected=expected,
        got=got if len(got) <= 60 else f"{got[:59]}…",
        do=do,
        whose=whose,
        details={"line": line},
    )


def split(lines: Lines, whose: str, ending: str) -> tuple[Header, list[tuple[int, str, str]]]:
    """Return the header, and line, count and order of every ballot.

    Parameters
    ----------
    lines : sequence of (int, str)
        Lines that are not blank, with their number.
    whose : str
        Name of the file.
    ending : str
        Its ending, such as ``.toi``: the type where the header says none.
    """
    if lines and lines[0][1].startswith("#"):
        head = [(line, text) for line, text in lines if text.startswith("#")]
        body = [(line, text) for line, text in lines if not text.startswith("#")]
        if body and head[-1][0] > body[0][0]:
            line, text = next((line, text) for line, text in head if line > body[0][0])
            raise broken(
                whose,
                line,
                "is of the header, after ballots",
                expected="the whole header first",
                got=quoted(text),
                do="move that line above the ballots",
            )
        return _header(head, whose, ending), [(line, *_counted(text, ":")) for line, text in body]
    return _older(lines, whose, ending)


def _counted(text: str, mark: str) -> tuple[str, str]:
    count, _, order = text.partition(mark)
    return count.strip(), order.strip()


def _header(head: Lines, whose: str, ending: str) -> Header:
    said: dict[str, tuple[int, str]] = {}
    for line, text in head:
        match = _KEY.fullmatch(text)
        if match is None or not match[1]:
            raise broken(
                whose,
                line,
                "is no line of a header",
                expected="# KEY: value",
                got=quoted(text),
                do="mend or remove that line",
            )
        key = match[1].upper()
        if key.startswith(("ALTERNATIVE NAME", "CATEGORY NAME")) and not _NUMBERED.fullmatch(key):
            raise broken(
                whose,
                line,
                "names nothing that has a number",
                expected="a number from 1, such as # ALTERNATIVE NAME 1: cat",
                got=quoted(text),
                do="mend that line",
            )
        if key in said:
            raise broken(
                whose,
                line,
                f"says {key} again",
                expected="each key once",
                got=f"lines {counted(said[key][0])} and {counted(line)}",
                do="remove one of them",
            )
        said[key] = (line, match[2])
    end = head[-1][0]
    kind = said["DATA TYPE"][1].lower() if "DATA TYPE" in said else ending.lstrip(".").lower()
    if kind not in TYPES:
        raise InputError(
            "type-unfit",
            f"{whose} is of type {short(kind)}",
            expected=f"one of {listed(TYPES, most=len(TYPES))}",
            got="# DATA TYPE" if "DATA TYPE" in said else "no DATA TYPE in the header",
            do="name a file of orders or categories"
            if "DATA TYPE" in said
            else "add a line such as # DATA TYPE: toi",
            whose=whose,
        )
    unique = next((key for key in _UNIQUE if key in said), _UNIQUE[kind == "cat"])
    categories = _names(said, "CATEGORY", "NUMBER CATEGORIES", whose, end) if kind == "cat" else ()
    return Header(
        type=kind,
        alternatives=_names(said, "ALTERNATIVE", "NUMBER ALTERNATIVES", whose, end),
        categories=categories,
        voters=_number(said, "NUMBER VOTERS", whose, end),
        unique=_number(said, unique, whose, end),
        voters_line=said["NUMBER VOTERS"][0],
        unique_line=said[unique][0],
    )


def _number(said: Mapping[str, tuple[int, str]], key: str, whose: str, end: int) -> int:
    if key not in said:
        meant = near(key, said)
        raise broken(
            whose,
            end,
            f"ends a header without {key}",
            expected=f"# {key}: a number",
            got=f"{meant}" if meant else f"{several(len(said), 'other key')}",
            do="download the file again, or add that line",
        )
    line, text = said[key]
    if not _WHOLE.fullmatch(text):
        raise broken(
            whose,
            line,
            f"gives no number as {key}",
            expected="a whole number",
            got=quoted(text),
            do="mend that line",
        )
    return int(text)


def _names(
    said: Mapping[str, tuple[int, str]], what: str, key: str, whose: str, end: int
) -> tuple[str, ...]:
    """Return the names of alternatives or categories, by number; each there, and once."""
    number = _number(said, key, whose, end)
    found = {
        int(match[2]): value
        for name, value in said.items()
        if (match := _NUMBERED.fullmatch(name)) and match[1] == what
    }
    return checked(found, number, what.lower(), said[key][0], whose)


def checked(
    found: Mapping[int, tuple[int, str]], number: int, what: str, line: int, whose: str
) -> tuple[str, ...]:
    """Return names in the order of their numbers, which have to be 1 to `number`.

    Parameters
    ----------
    found : mapping of int to (int, str)
        Line and name, by number.
    number : int
        How many the file says there are.
    what : str
        ``"alternative"`` or ``"category"``.
    line : int
        Where the file says so.
    whose : str
        Name of the file.
    """
    plural = {"category": "categories"}.get(what, f"{what}s")
    if len(found) != number or not number or max(found) != number or min(found) != 1:
        raise broken(
            whose,
            line,
            f"says that there are {counted(number)} {plural}",
            expected=f"a name for each, numbered from 1, and at least one {what}",
            got=f"{several(len(found), 'name')}",
            do="complete the names, or mend that number",
        )
    first: dict[str, int] = {}
    for at, name in (found[place] for place in range(1, number + 1)):
        if not name or name in first:
            raise broken(
                whose,
                at,
                f"names no {what}" if not name else f"names the {what} {short(name)} again",
                expected=f"a name of its own for each {what}",
                got="nothing" if not name else f"lines {counted(first[name])} and {counted(at)}",
                do="mend that line",
            )
        first[name] = at
    return tuple(first)


def _older(lines: Lines, whose: str, ending: str) -> tuple[Header, list[tuple[int, str, str]]]:
    """Return what a file of before 2022 holds: numbers first, then names, then ballots."""
    number = lines[0][1].strip()
    kind = ending.lstrip(".").lower()
    if not _WHOLE.fullmatch(number) or kind == "cat":
        raise broken(
            whose,
            lines[0][0],
            "begins neither a header nor an older file of orders",
            expected="lines # KEY: value, or the number of alternatives",
            got=quoted(lines[0][1]),
            do="download the file again, as PrefLib has had it since 2022",
        )
    names, rest = lines[1 : int(number) + 1], lines[int(number) + 1 :]
    found: dict[int, tuple[int, str]] = {}
    for line, text in names:
        place, _, name = text.partition(",")
        if not _WHOLE.fullmatch(place.strip()) or int(place) in found:
            raise broken(
                whose,
                line,
                "names no further alternative",
                expected="a number of its own, a comma, and a name",
                got=quoted(text),
                do="mend that line",
            )
        found[int(place)] = (line, name.strip())
    alternatives = checked(found, int(number), "alternative", lines[0][0], whose)
    line, text = rest[0] if rest else (lines[-1][0], "")
    sums = [part.strip() for part in text.split(",")]
    if len(sums) != 3 or not all(map(_WHOLE.fullmatch, sums)) or sums[0] != sums[1]:
        raise broken(
            whose,
            line,
            "does not count the ballots",
            expected="numbers of voters, of ballots, and of different orders",
            got=quoted(text) if rest else "the end of the file",
            do="download the file again",
        )
    header = Header(
        type=kind if kind in TYPES else "toi",
        alternatives=alternatives,
        categories=(),
        voters=int(sums[0]),
        unique=int(sums[2]),
        voters_line=line,
        unique_line=line,
    )
    return header, [(at, *_counted(ballot, ",")) for at, ballot in rest[1:]]
