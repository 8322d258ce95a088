"""The ballots of a PrefLib file, strictly."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

import attrs

from plausibly.plugin import (
    InputError,
    counted,
    decode_text,
    file_contents,
    listed,
    quoted,
    several,
)
from plausibly_builtins.readers._names import short
from plausibly_builtins.readers._preflib_header import Header, broken, split

Groups: TypeAlias = tuple[tuple[int, ...], ...]
"""Numbers of alternatives: one group a rank, or one a category."""

_COUNT = re.compile(r"[1-9][0-9]{0,14}")
_NUMBER = re.compile(r"[0-9]{1,15}")
_GROUP = re.compile(r"\s*(?:\{([^{}]*)\}|([^{},]*))\s*(,|$)")
_LINE_END = re.compile(r"\r\n?")


@attrs.frozen(kw_only=True)
class Ballot:
    """An order, or a division into categories, that some voters share.

    Attributes
    ----------
    line : int
        Where it stands.
    count : int
        How many voters say so.
    groups : tuple of tuple of int
        Alternatives of each rank or category.
    """

    line: int
    count: int
    groups: Groups

    @property
    def size(self) -> int:
        """How many alternatives it names."""
        return sum(map(len, self.groups))


@attrs.frozen(kw_only=True)
class Profile:
    """What a file holds: the alternatives, and all ballots."""

    whose: str
    header: Header
    ballots: list[Ballot]


def read_profile(path: Path, whose: str) -> Profile:
    """Return what a file holds; every count of its header is that of its ballots.

    Parameters
    ----------
    path : Path
        The file.
    whose : str
        What messages call it.

    Raises
    ------
    InputError
        ``preflib-broken`` and ``alternative-twice`` with the line, ``alternative-unknown``,
        ``ballot-empty``, ``order-twice``, ``preflib-counts``, ``type-unfit``.
    """
    text = _LINE_END.sub("\n", decode_text(file_contents(path, "annotations"), whose))
    lines = [
        (number, line.strip())
        for number, line in enumerate(text.split("\n"), start=1)
        if line.strip()
    ]
    if not lines:
        raise InputError(
            "file-empty",
            f"{whose} is empty",
            expected="a header and ballots",
            got="nothing",
            do="download it again, or name another file",
            whose=whose,
        )
    header, body = split(lines, whose, path.suffix)
    ballots = [
        Ballot(line=line, count=_count(count, line, whose), groups=_groups(order, line, whose))
        for line, count, order in body
    ]
    for ballot in ballots:
        _check(ballot, header, whose)
    _check_once(ballots, header, whose)
    _check_sum(sum(ballot.count for ballot in ballots), header.voters, "voters", header, whose)
    _check_sum(len(ballots), header.unique, "different ballots", header, whose)
    return Profile(whose=whose, header=header, ballots=ballots)


def _count(text: str, line: int, whose: str) -> int:
    if not _COUNT.fullmatch(text):
        raise broken(
            whose,
            line,
            "does not begin with how many voters say so",
            expected="count: order, such as 3: 1,{2,4}",
            got=quoted(text),
            do="mend that line",
        )
    return int(text)


def _groups(order: str, line: int, whose: str) -> Groups:
    found: list[tuple[int, ...]] = []
    at, last = 0, ","
    while last:
        match = _GROUP.match(order, at)
        if match is None:
            rest = order[at:].strip()
            raise broken(
                whose,
                line,
                "has a brace that is not closed"
                if rest.startswith("{") and "}" not in rest
                else "holds what is no order",
                expected="numbers of alternatives, with ties as {2,4}",
                got=quoted(rest),
                do="mend that line",
            )
        braced, single, last = match[1], match[2], match[3]
        parts = [single] if braced is None else braced.split(",") if braced.strip() else []
        found.append(tuple(_number(part.strip(), line, whose) for part in parts))
        at = match.end()
    return tuple(found)


def _number(text: str, line: int, whose: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise broken(
            whose,
            line,
            "names no alternative where one should be",
            expected="its number",
            got=quoted(text),
            do="mend that line",
        )
    return int(text)


def _check(ballot: Ballot, header: Header, whose: str) -> None:
    """Raise an error unless a ballot is one of its type, of alternatives that there are."""
    where, number = f"{whose} line {counted(ballot.line)}", len(header.alternatives)
    named = [place for group in ballot.groups for place in group]
    outside = [place for place in named if not 0 < place <= number]
    twice = [place for place, count in Counter(named).items() if count > 1]
    if outside:
        raise InputError(
            "alternative-unknown",
            f"{where} names alternative {counted(outside[0])}",
            expected=f"1 to {counted(number)}",
            got=f"{several(len(outside), 'number')} beyond",
            do="mend that line, or name that alternative in the header",
            whose=whose,
            details={"line": ballot.line},
        )
    if twice:
        raise InputError(
            "alternative-twice",
            f"{where} names {short(header.alternatives[twice[0] - 1])} twice",
            expected="each alternative once in a ballot",
            got=f"{listed(twice)} again",
            do="mend that line",
            whose=whose,
            details={"line": ballot.line},
        )
    if header.type == "cat":
        if len(ballot.groups) != len(header.categories):
            raise broken(
                whose,
                ballot.line,
                f"has {several(len(ballot.groups), 'group')}",
                expected=f"one a category, {len(header.categories)}, an empty one as {{}}",
                got="more" if len(ballot.groups) > len(header.categories) else "fewer",
                do="mend that line",
            )
        return
    if not all(ballot.groups):
        raise InputError(
            "ballot-empty",
            f"{where} ranks no alternative" + (" in one of its groups" if named else ""),
            expected="an alternative at every rank",
            got="{}",
            do="remove it, and count anew in the header",
            whose=whose,
            details={"line": ballot.line},
        )
    tied = header.type.startswith("s") and any(len(group) > 1 for group in ballot.groups)
    if tied or (header.type.endswith("c") and ballot.size < number):
        raise InputError(
            "type-unfit",
            f"{where} {'holds a tie' if tied else 'leaves alternatives out'}",
            expected=f"{'strict' if tied else 'complete'} orders, as {header.type} files have",
            got=f"{several(ballot.size, 'alternative')} in {several(len(ballot.groups), 'rank')}",
            do=f'"# DATA TYPE: {_wider(header.type, tied=tied)}", or mend that line',
            whose=whose,
            details={"line": ballot.line},
        )


def _wider(kind: str, *, tied: bool) -> str:
    return f"t{kind[1:]}" if tied else f"{kind[:2]}i"


def _check_once(ballots: Sequence[Ballot], header: Header, whose: str) -> None:
    first: dict[tuple[frozenset[int], ...], int] = {}
    for ballot in ballots:
        before = first.setdefault(tuple(map(frozenset, ballot.groups)), ballot.line)
        if before != ballot.line:
            what = "order" if header.type != "cat" else "division"
            raise InputError(
                "order-twice",
                f"{whose} lists one {what} in lines {counted(before)} and {counted(ballot.line)}",
                expected="each once, with the number of its voters",
                got="two lines; the order within braces means nothing",
                do="add the two counts up in one line",
                whose=whose,
                details={"lines": [before, ballot.line]},
            )


def _check_sum(found: int, said: int, what: str, header: Header, whose: str) -> None:
    if found != said:
        line = header.voters_line if what == "voters" else header.unique_line
        raise InputError(
            "preflib-counts",
            f"{whose} line {counted(line)} says that there are {counted(said)} {what}",
            expected="as many in the ballots",
            got=counted(found),
            do="download the file again, or mend that number",
            whose=whose,
            details={"line": line, "said": said, "found": found},
        )
