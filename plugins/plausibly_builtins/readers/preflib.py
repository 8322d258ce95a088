"""PrefLib: rankings with ties and without, complete or not, and alternatives in categories."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from plausibly_builtins.readers._exports import about, as_typed, files_below, refused, short

TYPES: Final = ("soc", "soi", "toc", "toi", "cat")
"""Strict or with ties (s, t), complete or incomplete orders (c, i); categories."""

Lines: TypeAlias = list[tuple[int, str]]
Said: TypeAlias = Mapping[str, tuple[int, str]]

_KEY = re.compile(r"#\s*([^:]*?)\s*:\s*(.*?)\s*")
_WHOLE = re.compile(r"[0-9]{1,15}")
_COUNT = re.compile(r"[1-9][0-9]{0,14}")
_NUMBERED = re.compile(r"(ALTERNATIVE|CATEGORY) NAME ([1-9][0-9]{0,14})")
_GROUP = re.compile(r"\s*(?:\{([^{}]*)\}|([^{},]*))\s*(,|$)")
_LINE_END = re.compile(r"\r\n?")
_VOTERS = "NUMBER VOTERS"
_UNIQUE = ("NUMBER UNIQUE ORDERS", "NUMBER UNIQUE PREFERENCES")


@attrs.frozen(kw_only=True)
class Ballot:
    """An order, or a division into categories, that voters share: numbers of each group."""

    line: int
    count: int
    groups: tuple[tuple[int, ...], ...]

    @property
    def size(self) -> int:
        """How many alternatives it names."""
        return sum(map(len, self.groups))


@attrs.frozen(kw_only=True)
class Profile:
    """What a file holds; number i of an alternative or category is at place i - 1.

    `sums` are what the header counts: a line, and the number there.
    """

    type: str
    alternatives: tuple[str, ...]
    categories: tuple[str, ...] = ()
    sums: Mapping[str, tuple[int, int]]
    whose: str = ""
    ballots: list[Ballot] = attrs.field(factory=list)


def read_profile(path: Path, whose: str) -> Profile:
    """Return what a file holds; every count of its header is that of its ballots."""
    with about(whose):
        return attrs.evolve(_profile(path, whose), whose=whose)


def _profile(path: Path, whose: str) -> Profile:
    text = _LINE_END.sub("\n", decode_text(file_contents(path, "annotations"), whose))
    every = [(number, line.strip()) for number, line in enumerate(text.split("\n"), start=1)]
    lines = [(number, line) for number, line in every if line]
    if not lines:
        raise refused(
            "file-empty",
            " is empty",
            "a header and ballots",
            "nothing",
            "download it again, or name another file",
        )
    ending = path.suffix.lstrip(".").lower()
    mark = ":"
    body = [line for line in lines if not line[1].startswith("#")]
    if lines[0][1].startswith("#"):
        profile = _header([line for line in lines if line[1].startswith("#")], body, ending)
    else:
        mark, (profile, body) = ",", _older(lines, ending)
    ballots = [_ballot(line, *text.partition(mark)[::2]) for line, text in body]
    for ballot in ballots:
        _check(ballot, profile)
    first: dict[tuple[frozenset[int], ...], int] = {}
    for ballot in ballots:
        before = first.setdefault(tuple(map(frozenset, ballot.groups)), ballot.line)
        if before != ballot.line:
            what = "order" if profile.type != "cat" else "division"
            raise refused(
                "order-twice",
                f" lists one {what} in lines {counted(before)} and {counted(ballot.line)}",
                "each once, with the number of its voters",
                "two lines; the order within braces means nothing",
                "add the two counts up in one line",
                lines=[before, ballot.line],
            )
    sums = {"voters": sum(b.count for b in ballots), "different ballots": len(ballots)}
    for what, found in sums.items():
        line, said = profile.sums[what]
        if found != said:
            raise refused(
                "preflib-counts",
                f" line {counted(line)} says that there are {counted(said)} {what}",
                "as many in the ballots",
                counted(found),
                "download the file again, or mend that number",
                line=line,
                said=said,
                found=found,
            )
    return attrs.evolve(profile, ballots=ballots)


def _broken(
    line: int, what: str, expected: str, got: str, do: str = "mend that line"
) -> InputError:
    """Return the error about a line that is not as the format has it."""
    got = got if len(got) <= 60 else f"{got[:59]}…"
    what = f" line {counted(line)} {what}"
    return refused("preflib-broken", what, expected, got, do, line=line)


def _header(head: Lines, body: Lines, ending: str) -> Profile:
    """Return what the lines before the ballots say."""
    if body and head[-1][0] > body[0][0]:
        line, text = next((line, text) for line, text in head if line > body[0][0])
        what, do = "is of the header, after ballots", "move that line above the ballots"
        raise _broken(line, what, "the whole header first", quoted(text), do)
    said: dict[str, tuple[int, str]] = {}
    for line, text in head:
        match = _KEY.fullmatch(text)
        if match is None or not match[1]:
            do = "mend or remove that line"
            raise _broken(line, "is no line of a header", "# KEY: value", quoted(text), do)
        key = match[1].upper()
        named = key.startswith(("ALTERNATIVE NAME", "CATEGORY NAME"))
        if named and not _NUMBERED.fullmatch(key):
            expected = "a number from 1, such as # ALTERNATIVE NAME 1: cat"
            what = "names nothing that has a number"
            raise _broken(line, what, expected, quoted(text))
        if key in said:
            got = f"lines {counted(said[key][0])} and {counted(line)}"
            what, do = f"says {key} again", "remove one of them"
            raise _broken(line, what, "each key once", got, do)
        said[key] = (line, match[2])
    end, typed = head[-1][0], "DATA TYPE" in said
    kind = said["DATA TYPE"][1].lower() if typed else ending
    if kind not in TYPES:
        raise refused(
            "type-unfit",
            f" is of type {short(kind)}",
            f"one of {listed(TYPES, most=len(TYPES))}",
            "# DATA TYPE" if typed else "no DATA TYPE in the header",
            "name a file of orders or categories"
            if typed
            else "add a line such as # DATA TYPE: toi",
        )
    categories = _names(said, "CATEGORY", "NUMBER CATEGORIES", end) if kind == "cat" else ()
    unique = next((key for key in _UNIQUE if key in said), _UNIQUE[kind == "cat"])
    return Profile(
        type=kind,
        categories=categories,
        alternatives=_names(said, "ALTERNATIVE", "NUMBER ALTERNATIVES", end),
        sums={
            "voters": _number(said, _VOTERS, end),
            "different ballots": _number(said, unique, end),
        },
    )


def _number(said: Said, key: str, end: int) -> tuple[int, int]:
    if key not in said:
        got = near(key, said) or several(len(said), "other key")
        what, do = f"ends a header without {key}", "download the file again, or add that line"
        raise _broken(end, what, f"# {key}: a number", got, do)
    line, text = said[key]
    if not _WHOLE.fullmatch(text):
        raise _broken(line, f"gives no number as {key}", "a whole number", quoted(text))
    return line, int(text)


def _names(said: Said, what: str, key: str, end: int) -> tuple[str, ...]:
    """Return the names of alternatives or categories, by number; each there, and once."""
    line, number = _number(said, key, end)
    found = {
        int(match[2]): value
        for name, value in said.items()
        if (match := _NUMBERED.fullmatch(name)) and match[1] == what
    }
    return _in_order(found, number, what.lower(), line)


def _in_order(
    found: Mapping[int, tuple[int, str]], number: int, what: str, line: int
) -> tuple[str, ...]:
    """Return names in the order of their numbers, which have to be 1 to `number`."""
    if len(found) != number or not number or max(found) != number or min(found) != 1:
        plural = {"category": "categories"}.get(what, f"{what}s")
        raise _broken(
            line,
            f"says that there are {counted(number)} {plural}",
            f"a name for each, numbered from 1, and at least one {what}",
            several(len(found), "name"),
            "complete the names, or mend that number",
        )
    first: dict[str, int] = {}
    for at, name in (found[place] for place in range(1, number + 1)):
        expected = f"a name of its own for each {what}"
        if not name:
            raise _broken(at, f"names no {what}", expected, "nothing")
        if name in first:
            got = f"lines {counted(first[name])} and {counted(at)}"
            raise _broken(at, f"names the {what} {short(name)} again", expected, got)
        first[name] = at
    return tuple(first)


def _older(lines: Lines, ending: str) -> tuple[Profile, Lines]:
    """Return what a file of before 2022 holds, and its ballots: numbers, names, then these."""
    first, number = lines[0]
    if not _WHOLE.fullmatch(number) or ending == "cat":
        raise _broken(
            first,
            "begins neither a header nor an older file of orders",
            "lines # KEY: value, or the number of alternatives",
            quoted(number),
            "download the file again, as PrefLib has had it since 2022",
        )
    names, rest = lines[1 : int(number) + 1], lines[int(number) + 1 :]
    found: dict[int, tuple[int, str]] = {}
    for line, text in names:
        place, _, name = text.partition(",")
        if not _WHOLE.fullmatch(place.strip()) or int(place) in found:
            expected = "a number of its own, a comma, and a name"
            raise _broken(line, "names no further alternative", expected, quoted(text))
        found[int(place)] = (line, name.strip())
    alternatives = _in_order(found, int(number), "alternative", first)
    line, text = rest[0] if rest else (lines[-1][0], "")
    sums = [part.strip() for part in text.split(",")]
    if len(sums) != 3 or not all(map(_WHOLE.fullmatch, sums)) or sums[0] != sums[1]:
        raise _broken(
            line,
            "does not count the ballots",
            "numbers of voters, of ballots, and of different orders",
            quoted(text) if rest else "the end of the file",
            "download the file again",
        )
    profile = Profile(
        type=ending if ending in TYPES else "toi",
        alternatives=alternatives,
        sums={"voters": (line, int(sums[0])), "different ballots": (line, int(sums[2]))},
    )
    return profile, rest[1:]


def _ballot(line: int, count: str, order: str) -> Ballot:
    """Return the ballot on a line: its count, and what it says."""
    if not _COUNT.fullmatch(count.strip()):
        expected = "count: order, such as 3: 1,{2,4}"
        what = "does not begin with how many voters say so"
        raise _broken(line, what, expected, quoted(count.strip()))
    groups: list[tuple[int, ...]] = []
    order, at, last = order.strip(), 0, ","
    while last:
        match = _GROUP.match(order, at)
        if match is None:
            rest = order[at:].strip()
            is_open = rest.startswith("{") and "}" not in rest
            what = "has a brace that is not closed" if is_open else "holds what is no order"
            expected = "numbers of alternatives, with ties as {2,4}"
            raise _broken(line, what, expected, quoted(rest))
        braced, single, last = match.groups()
        texts = [single] if braced is None else braced.split(",") if braced.strip() else []
        for text in texts:
            if not _WHOLE.fullmatch(text.strip()):
                what = "names no alternative where one should be"
                raise _broken(line, what, "its number", quoted(text.strip()))
        groups.append(tuple(map(int, texts)))
        at = match.end()
    return Ballot(line=line, count=int(count), groups=tuple(groups))


def _check(ballot: Ballot, profile: Profile) -> None:
    """Raise an error unless a ballot is one of its type, of alternatives that there are."""
    number, groups, kind = len(profile.alternatives), ballot.groups, profile.type
    named = [place for group in groups for place in group]
    outside = [place for place in named if not 0 < place <= number]
    twice = [place for place, count in Counter(named).items() if count > 1]
    tied = kind.startswith("s") and any(len(group) > 1 for group in groups)
    wrong: tuple[str, str, str, str, str] | None = None
    if outside:
        wrong = (
            "alternative-unknown",
            f"names alternative {counted(outside[0])}",
            f"1 to {counted(number)}",
            f"{several(len(outside), 'number')} beyond",
            "mend that line, or name that alternative in the header",
        )
    elif twice:
        wrong = (
            "alternative-twice",
            f"names {short(profile.alternatives[twice[0] - 1])} twice",
            "each alternative once in a ballot",
            f"{listed(twice)} again",
            "mend that line",
        )
    elif kind == "cat":
        wanted = len(profile.categories)
        if len(groups) != wanted:
            wrong = (
                "preflib-broken",
                f"has {several(len(groups), 'group')}",
                f"one a category, {wanted}, an empty one as {{}}",
                "more" if len(groups) > wanted else "fewer",
                "mend that line",
            )
    elif not all(groups):
        wrong = (
            "ballot-empty",
            "ranks no alternative" + (" in one of its groups" if named else ""),
            "an alternative at every rank",
            "{}",
            "remove it, and count anew in the header",
        )
    elif tied or (kind.endswith("c") and ballot.size < number):
        wider = f"t{kind[1:]}" if tied else f"{kind[:2]}i"
        wrong = (
            "type-unfit",
            "holds a tie" if tied else "leaves alternatives out",
            f"{'strict' if tied else 'complete'} orders, as {kind} files have",
            f"{several(ballot.size, 'alternative')} in {several(len(groups), 'rank')}",
            f'"# DATA TYPE: {wider}", or mend that line',
        )
    if wrong is not None:
        name, what, *rest = wrong
        what = f" line {counted(ballot.line)} {what}"
        raise refused(name, what, *rest, line=ballot.line)


Unlisted: TypeAlias = Literal["excluded", "unknown"]

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
                return self.recognises(found[0], file.read(65_536))
        text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
        if text.startswith(b"#"):
            return _HEADER.search(_ANY_END.sub(b"\n", text)) is not None
        first, *rest = _ANY_END.split(text, maxsplit=2)
        return (
            _is_ballots(path)
            and first.strip().isdigit()
            and bool(rest)
            and rest[0].startswith(b"1,")
        )

    def read(self, path: Path, labels: Sequence[str] | None) -> AnnotationTable:
        """Return the annotation table in the file or folder."""
        with about(path.name):
            if path.is_dir():
                profiles = self._in_folder(path)
            else:
                profiles = {self.example or path.stem: read_profile(path, path.name)}
            first = next(iter(profiles.values()))
            self._check_unlisted(profiles.values(), len(first.alternatives))
        # A declared label that was on no ballot is one that nobody compared.
        beyond = labels is not None and not set(labels) <= set(first.alternatives)
        responses = [
            response
            for example, profile in profiles.items()
            for response in self._responses(example, profile)
        ]
        return self.gathered(
            "label-set" if first.type == "cat" else "partial-ranking",
            responses,
            labels,
            whose=path.name,
            examples=profiles,
            offered=first.alternatives,
            anonymous=True,
            unlisted=self.unlisted or ("unknown" if beyond else "excluded"),
        )

    def _in_folder(self, folder: Path) -> dict[str, Profile]:
        """Return what the files of a folder hold, by example."""
        if self.example is not None:
            raise refused(
                "example-unfit",
                " is a folder, whose examples are called as its files",
                "the name of an example where there is one file",
                f"example {quoted(self.example)}",
                "leave example out",
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
            raise refused(
                "file-empty",
                " holds no file of ballots",
                "files that end in " + listed(f".{kind}" for kind in TYPES),
                "none",
                "name the folder that holds them",
            )
        first = next(iter(found.values()))
        for other in found.values():
            differ = sorted(set(first.alternatives) ^ set(other.alternatives))
            if differ:
                raise InputError(
                    "alternatives-differ",
                    f"{other.whose} has other alternatives than {first.whose}",
                    expected="the same names in every file of a folder",
                    got=f"only one of the two has {listed(map(short, differ))}",
                    do="read those files one by one, or mend the names",
                    whose=folder.name,
                    details={"alternatives": differ},
                )
            if (first.type == "cat") != (other.type == "cat"):
                raise InputError(
                    "types-mixed",
                    f"{other.whose} is of type {other.type}, {first.whose} of type {first.type}",
                    expected="either orders or categories in a folder",
                    got="both",
                    do="put them into two folders",
                    whose=folder.name,
                )
        return found

    def _check_unlisted(self, profiles: Iterable[Profile], labels: int) -> None:
        shorter = [_place(p, b) for p in profiles for b in p.ballots if b.size < labels]
        if self.unlisted is None and shorter:
            raise refused(
                "unlisted-unsaid",
                f" holds {several(len(shorter), 'line')} that name fewer than all "
                f"{several(labels, 'alternative')}, first {shorter[0]}",
                "a word on what that means, since the format has none: "
                "excluded = the others come after all that are named; "
                "unknown = nobody compared them",
                "no word",
                as_typed("preflib", 'unlisted = "excluded"') + " where voters could "
                'name every label, "unknown" where they could not',
                places=shorter,
            )

    def _responses(self, example: str, profile: Profile) -> Iterator[Response]:
        with about(profile.whose):
            chosen = self._category(profile)
        for ballot in profile.ballots:
            groups = [[profile.alternatives[at - 1] for at in group] for group in ballot.groups]
            yield Response(
                example=example,
                annotator=None,
                answer=groups if chosen is None else groups[chosen],
                weight=float(ballot.count),
                place=_place(profile, ballot),
            )

    def _category(self, profile: Profile) -> int | None:
        """Return the place of the category that is read; None in files of orders."""
        categories = profile.categories
        if self.category in categories:
            return categories.index(str(self.category))
        if self.category is None and len(categories) < 2:
            return 0 if categories else None
        if not categories:
            raise refused(
                "category-unfit",
                " has no categories",
                "a file of type cat, or no category",
                f"type {profile.type}, category {quoted(self.category or '')}",
                "leave category out",
            )
        raise refused(
            "category-unsaid" if self.category is None else "category-missing",
            f" has {counted(len(categories))} categories"
            if self.category is None
            else f" has no category {quoted(self.category)}",
            "the one whose alternatives are the answer",
            listed(map(short, categories)),
            as_typed("preflib", f"category = {short(categories[0])}"),
            categories=list(categories),
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
