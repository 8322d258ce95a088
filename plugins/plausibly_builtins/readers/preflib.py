"""PrefLib: rankings with ties and without, complete or not, and alternatives in categories."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, TypeAlias

import attrs

from plausibly.plugin import (
    AnnotationTable,
    InputError,
    Response,
    ResponseOptions,
    counted,
    decode_text,
    file_contents,
    listed,
    near,
    quoted,
    several,
)
from plausibly_builtins.readers._exports import files_below, short

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
    """Return the header, and line, count and order of every ballot."""
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
    """Return names in the order of their numbers, which have to be 1 to `number`."""
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
    """Return what a file holds; every count of its header is that of its ballots."""
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
        found.append(tuple(_ballot_number(part.strip(), line, whose) for part in parts))
        at = match.end()
    return tuple(found)


def _ballot_number(text: str, line: int, whose: str) -> int:
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


Unlisted: TypeAlias = Literal["excluded", "unknown"]

_LOOK = 65_536
_HEADER = re.compile(rb"(?m)^#\s*NUMBER ALTERNATIVES\s*:")
_ANY_END = re.compile(rb"[\r\n]+")


@attrs.frozen(kw_only=True)
class PrefLib(ResponseOptions):
    """Read ballots of PrefLib: one file is one example, and every ballot a response.

    Files are of types soc, soi, toc and toi (rankings) or cat (label sets), as their headers say;
    the ending of the name only hints at it. A folder holds an example a file, all with the same
    alternatives. Nobody knows who voted: an order that several voters share is one response with
    their number as its weight.

    Attributes
    ----------
    unlisted : {"excluded", "unknown"} or None
        What it means that a ballot does not name an alternative: it comes after all that are named,
        or nobody compared it. The format does not say; needed where a ballot names fewer than all.
        Declared labels beyond the alternatives of complete ballots are unknown ones.
    category : str or None
        For cat files: the category whose alternatives are the answer.
    example : str or None
        Name of the example of a single file; None takes the name of the file without its ending.
    """

    unlisted: Unlisted | None = attrs.field(
        default=None,
        validator=attrs.validators.optional(attrs.validators.in_(("excluded", "unknown"))),
    )
    category: str | None = None
    example: str | None = attrs.field(
        default=None, validator=attrs.validators.optional(attrs.validators.min_len(1))
    )

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether there is a header of PrefLib, or the numbers of an older file."""
        if path.is_dir():
            found = _files(path)
            if not found:
                return False
            with found[0].open("rb") as file:
                return self.recognises(found[0], file.read(_LOOK))
        text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
        if text.startswith(b"#"):
            return _HEADER.search(_ANY_END.sub(b"\n", text)) is not None
        if not _is_ballots(path):
            return False
        first, *rest = _ANY_END.split(text, maxsplit=2)
        return first.strip().isdigit() and bool(rest) and rest[0].startswith(b"1,")

    def read(self, path: Path, labels: Sequence[str] | None) -> AnnotationTable:
        """Return the annotation table in the file or folder."""
        if path.is_dir():
            profiles = self._in_folder(path)
        else:
            profiles = {self.example or path.stem: read_profile(path, path.name)}
        first = next(iter(profiles.values()))
        known = first.header.alternatives
        # A declared label that was on no ballot is one that nobody compared.
        beyond = labels is not None and not set(labels) <= set(known)
        kind = "label-set" if first.header.type == "cat" else "partial-ranking"
        self._check_unlisted(profiles, len(known), path.name)
        responses = [
            response
            for example, profile in profiles.items()
            for response in self._responses(example, profile)
        ]
        return self.gathered(
            kind,
            responses,
            labels,
            whose=path.name,
            examples=profiles,
            offered=first.header.alternatives,
            anonymous=True,
            unlisted=self.unlisted or ("unknown" if beyond else "excluded"),
        )

    def _in_folder(self, folder: Path) -> dict[str, Profile]:
        """Return what the files of a folder hold, by example."""
        if self.example is not None:
            raise InputError(
                "example-unfit",
                f"{folder.name} is a folder, whose examples are called as its files",
                expected="the name of an example where there is one file",
                got=f"example {quoted(self.example)}",
                do="leave example out",
                whose=folder.name,
            )
        found: dict[str, Profile] = {}
        for path in _files(folder):
            profile = read_profile(path, f"{folder.name}/{path.relative_to(folder).as_posix()}")
            if path.stem in found:
                raise InputError(
                    "example-twice",
                    f"{profile.whose} is of example {path.stem}, as {found[path.stem].whose} is",
                    expected="one file an example",
                    got="two",
                    do="move one of them elsewhere; a file of another type holds the same ballots",
                    whose=folder.name,
                )
            found[path.stem] = profile
        if not found:
            raise InputError(
                "file-empty",
                f"{folder.name} holds no file of ballots",
                expected="files that end in " + listed(f".{kind}" for kind in TYPES),
                got="none",
                do="name the folder that holds them",
                whose=folder.name,
            )
        first = next(iter(found.values()))
        for profile in found.values():
            _check_alike(first, profile, folder.name)
        return found

    def _check_unlisted(self, profiles: dict[str, Profile], labels: int, whose: str) -> None:
        if self.unlisted is not None:
            return
        short = [
            _place(profile, ballot)
            for profile in profiles.values()
            for ballot in profile.ballots
            if ballot.size < labels
        ]
        if short:
            raise InputError(
                "unlisted-unsaid",
                f"{whose} holds {several(len(short), 'line')} that name fewer than all "
                f"{several(labels, 'alternative')}, first {short[0]}",
                expected="a word on what that means, since the format has none: "
                "excluded = the others come after all that are named; "
                "unknown = nobody compared them",
                got="no word",
                do='--reader \'{name = "preflib", unlisted = "excluded"}\' where voters could '
                'name every label, "unknown" where they could not',
                whose=whose,
                details={"places": short},
            )

    def _responses(self, example: str, profile: Profile) -> Iterator[Response]:
        names = profile.header.alternatives
        chosen = self._category(profile)
        for ballot in profile.ballots:
            groups = [[names[place - 1] for place in group] for group in ballot.groups]
            yield Response(
                example=example,
                annotator=None,
                answer=groups if chosen is None else groups[chosen],
                weight=float(ballot.count),
                place=_place(profile, ballot),
            )

    def _category(self, profile: Profile) -> int | None:
        """Return the place of the category that is read; None in files of orders."""
        categories, whose = profile.header.categories, profile.whose
        if not categories:
            if self.category is not None:
                raise InputError(
                    "category-unfit",
                    f"{whose} has no categories",
                    expected="a file of type cat, or no category",
                    got=f"type {profile.header.type}, category {quoted(self.category)}",
                    do="leave category out",
                    whose=whose,
                )
            return None
        if self.category in categories:
            return categories.index(str(self.category))
        if self.category is None and len(categories) == 1:
            return 0
        raise InputError(
            "category-unsaid" if self.category is None else "category-missing",
            f"{whose} has {counted(len(categories))} categories"
            if self.category is None
            else f"{whose} has no category {quoted(self.category)}",
            expected="the one whose alternatives are the answer",
            got=listed(map(short, categories)),
            do=f"--reader '{{name = \"preflib\", category = {short(categories[0])}}}'",
            whose=whose,
            details={"categories": list(categories)},
        )


def _place(profile: Profile, ballot: Ballot) -> str:
    """Return where a ballot stands, within the file or folder that messages name."""
    inside = profile.whose.partition("/")[2]
    return f"{inside} line {counted(ballot.line)}".lstrip()


def _is_ballots(path: Path) -> bool:
    return path.suffix.lower().lstrip(".") in TYPES


def _files(folder: Path) -> list[Path]:
    """Return the files of ballots below a folder."""
    return [path for path in files_below(folder, "*") if _is_ballots(path)]


def _check_alike(first: Profile, other: Profile, whose: str) -> None:
    one, two = first.header, other.header
    if set(one.alternatives) != set(two.alternatives):
        differ = sorted(set(one.alternatives) ^ set(two.alternatives))
        raise InputError(
            "alternatives-differ",
            f"{other.whose} has other alternatives than {first.whose}",
            expected="the same names in every file of a folder",
            got=f"only one of the two has {listed(map(short, differ))}",
            do="read those files one by one, or mend the names",
            whose=whose,
            details={"alternatives": differ},
        )
    if (one.type == "cat") != (two.type == "cat"):
        raise InputError(
            "types-mixed",
            f"{other.whose} is of type {two.type}, {first.whose} of type {one.type}",
            expected="either orders or categories in a folder",
            got="both",
            do="put them into two folders",
            whose=whose,
        )
