"""PrefLib: rankings with ties and without, complete or not, and alternatives in categories."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, TypeAlias

import attrs

from plausibly.plugin import AnnotationTable, counted, listed, near, quoted, several
from plausibly.plugin.readers import Response, decode_text, file_opening
from plausibly_builtins.readers import base

TYPES: Final = ("soc", "soi", "toc", "toi", "cat")
"""Strict or with ties (s, t), complete or incomplete orders (c, i); categories."""

Lines: TypeAlias = list[tuple[int, str]]
Fields: TypeAlias = Mapping[str, tuple[int, str]]
"""Line and text of each key of a header."""

_KEY = re.compile(r"#\s*([^:]*?)\s*:\s*(.*?)\s*")
_WHOLE = re.compile(r"[0-9]{1,15}")
_COUNT = re.compile(r"[1-9][0-9]{0,14}")
_NUMBERED = re.compile(r"(ALTERNATIVE|CATEGORY) NAME ([1-9][0-9]{0,14})")
_GROUP = re.compile(r"\s*(?:\{([^{}]*)\}|([^{},]*))\s*(,|$)")
_HEADER = re.compile(rb"(?m)^#\s*NUMBER ALTERNATIVES\s*:")
_ANY_END = re.compile(rb"[\r\n]+")
_LINE_END = re.compile(r"\r\n?|\n")
_UNIQUE = ("NUMBER UNIQUE ORDERS", "NUMBER UNIQUE PREFERENCES")


@attrs.frozen(kw_only=True)
class Ballot:
    """An order, or a division into categories, that voters share: numbers of each group."""

    line: int
    count: int
    groups: tuple[tuple[int, ...], ...]

    @property
    def size(self) -> int:
        return sum(map(len, self.groups))


@attrs.frozen(kw_only=True)
class Profile:
    """Contents of a file; number i of an alternative or category is at place i - 1."""

    source: str
    type: str
    categories: tuple[str, ...]
    alternatives: tuple[str, ...]
    ballots: list[Ballot]

    def place(self, ballot: Ballot) -> str:
        """Return where a ballot stands, within the file or folder that messages name."""
        inside = self.source.partition("/")[2]
        return f"{inside} line {counted(ballot.line)}".lstrip()


def read_profile(path: Path, source: str) -> Profile:
    """Return what a file holds; every count of its header is that of its ballots."""
    with base.about(source):
        text = decode_text(file_opening(path, "annotations", -1), source)
        every = enumerate(map(str.strip, _LINE_END.split(text)), start=1)
        lines = [(number, line) for number, line in every if line]
        if not lines:
            raise base.refused("file-empty", " is empty", "a header and ballots")
        ending = path.suffix.lstrip(".").lower()
        if lines[0][1].startswith("#"):
            mark, (fields, body) = ":", _header(lines)
        else:
            mark, (fields, body) = ",", _older(lines, ending)
        kind = fields["DATA TYPE"][1].lower() if "DATA TYPE" in fields else ending
        if kind not in TYPES:
            expected, hint = f"one of {listed(TYPES, most=5)}", "write a line # DATA TYPE: toi"
            what = " has no type of orders or categories"
            raise base.refused("type-unfit", what, expected, base.short(kind), hint)
        categories = _names(fields, "CATEGORY", "CATEGORIES") if kind == "cat" else ()
        alternatives = _names(fields, "ALTERNATIVE", "ALTERNATIVES")
        unique = next((key for key in _UNIQUE if key in fields), _UNIQUE[kind == "cat"])
        ballots = [_ballot(line, *order.partition(mark)[::2]) for line, order in body]
        first: dict[tuple[frozenset[int], ...], int] = {}
        for ballot in ballots:
            _check(ballot, kind, alternatives, len(categories))
            before = first.setdefault(tuple(map(frozenset, ballot.groups)), ballot.line)
            if before != ballot.line:
                found = f"the same in line {counted(before)}"
                raise base.unlike(ballot.line, "each ballot once", found=found)
        votes = sum(ballot.count for ballot in ballots)
        for key, number in (("NUMBER VOTERS", votes), (unique, len(ballots))):
            line, stated = _number(fields, key)
            if number != stated:
                expected = f"{counted(number)}, as in the ballots"
                raise base.unlike(line, expected, found=counted(stated))
        return Profile(
            source=source,
            type=kind,
            categories=categories,
            alternatives=alternatives,
            ballots=ballots,
        )


def _header(lines: Lines) -> tuple[Fields, Lines]:
    """Return the fields of a header, and the ballots below it."""
    body = [(line, text) for line, text in lines if not text.startswith("#")]
    fields: dict[str, tuple[int, str]] = {}
    for line, text in lines:
        if not text.startswith("#"):
            continue
        match = _KEY.fullmatch(text)
        key = match[1].upper() if match else ""
        named = key.startswith(("ALTERNATIVE NAME", "CATEGORY NAME"))
        if match is None or not key or (named and not _NUMBERED.fullmatch(key)):
            expected = "# KEY: value; names have numbers from 1, as # ALTERNATIVE NAME 1: cat"
            raise base.unlike(line, expected, found=quoted(text))
        if key in fields or (body and line > body[0][0]):
            expected = "each key once, and the whole header above the ballots"
            raise base.unlike(line, expected, found=quoted(text))
        fields[key] = (line, match[2])
    return fields, body


def _older(lines: Lines, ending: str) -> tuple[Fields, Lines]:
    """Return a file of before 2022 in the same way: it has numbers and names, without keys."""
    first, number = lines[0]
    if not _WHOLE.fullmatch(number) or ending == "cat":
        raise base.unlike(first, "# KEY: value, or a number of alternatives", found=quoted(number))
    kind = ending if ending in TYPES else "toi"
    fields = {"NUMBER ALTERNATIVES": lines[0], "DATA TYPE": (first, kind)}
    names, rest = lines[1 : int(number) + 1], lines[int(number) + 1 :]
    for line, text in names:
        place, _, name = text.partition(",")
        key = f"ALTERNATIVE NAME {int(place)}" if _WHOLE.fullmatch(place.strip()) else ""
        if not key or key in fields:
            raise base.unlike(line, "a number of its own, a comma, and a name", found=quoted(text))
        fields[key] = (line, name.strip())
    line, text = rest[0] if rest else (lines[-1][0], "the end of the file")
    sums = [part.strip() for part in text.split(",")]
    if len(sums) != 3 or not all(map(_WHOLE.fullmatch, sums)) or sums[0] != sums[1]:
        expected = "numbers of voters, of ballots, and of different orders"
        raise base.unlike(line, expected, found=quoted(text))
    return {**fields, "NUMBER VOTERS": (line, sums[0]), _UNIQUE[0]: (line, sums[2])}, rest[1:]


def _number(fields: Fields, key: str) -> tuple[int, int]:
    line, text = fields.get(key, (max(line for line, _ in fields.values()), ""))
    if not _WHOLE.fullmatch(text):
        found = quoted(text) if key in fields else near(key, fields)
        found = found or several(len(fields), "other key")
        raise base.unlike(line, f"# {key}: a whole number", found=found)
    return line, int(text)


def _names(fields: Fields, noun: str, plural: str) -> tuple[str, ...]:
    """Return the names of alternatives or categories, numbered from 1 on."""
    line, number = _number(fields, f"NUMBER {plural}")
    matches = ((_NUMBERED.fullmatch(key), value) for key, value in fields.items())
    by_number = {int(match[2]): value for match, value in matches if match and match[1] == noun}
    if not by_number or sorted(by_number) != list(range(1, min(number, len(by_number) + 1) + 1)):
        expected = f"names of 1 to {counted(number)}, and at least one ({noun.lower()})"
        raise base.unlike(line, expected, found=several(len(by_number), "name"))
    names: list[str] = []
    for at, name in (by_number[place] for place in range(1, number + 1)):
        if not name or name in names:
            expected = f"a name of its own for each {noun.lower()}"
            raise base.unlike(at, expected, found=base.short(name) if name else "nothing")
        names.append(name)
    return tuple(names)


def _ballot(line: int, count: str, order: str) -> Ballot:
    if not _COUNT.fullmatch(count.strip()):
        raise base.unlike(line, "count: order, as 3: 1,{2,4}", found=base.short(count.strip()))
    groups: list[tuple[int, ...]] = []
    order, at, last = order.strip(), 0, ","
    while last:
        match = _GROUP.match(order, at)
        texts: Sequence[str] = [order[at:]]
        if match is not None:
            braced, single, last = match.groups()
            texts = [single] if braced is None else braced.split(",") if braced.strip() else []
            at = match.end()
        wrong = [text.strip() for text in texts if not _WHOLE.fullmatch(text.strip())]
        if wrong:
            expected = "numbers of alternatives, with ties as {2,4}"
            raise base.unlike(line, expected, found=base.short(wrong[0]))
        groups.append(tuple(map(int, texts)))
    return Ballot(line=line, count=int(count), groups=tuple(groups))


def _check(ballot: Ballot, kind: str, alternatives: Sequence[str], categories: int) -> None:
    number, line, groups = len(alternatives), ballot.line, ballot.groups
    named = [place for group in groups for place in group]
    if outside := [place for place in named if not 0 < place <= number]:
        raise base.unlike(line, f"numbers from 1 to {counted(number)}", found=listed(outside))
    if twice := [place for place, count in Counter(named).items() if count > 1]:
        raise base.unlike(line, "each alternative once", found=f"{listed(twice)} again")
    if kind == "cat":
        if len(groups) != categories:
            expected = f"a group per category, {categories}, an empty one as {{}}"
            raise base.unlike(line, expected, found=several(len(groups), "group"))
        return
    if not all(groups):
        raise base.unlike(line, "one alternative or more at every rank", found="{}")
    tied = kind.startswith("s") and any(len(group) > 1 for group in groups)
    if tied or (kind.endswith("c") and ballot.size < number):
        expected = f"{'strict' if tied else 'complete'} orders, as {kind} files have"
        found = f"{several(ballot.size, 'alternative')} in {several(len(groups), 'rank')}"
        raise base.unlike(line, expected, found=found)


@attrs.frozen(kw_only=True)
class PrefLib(base.Export):
    """Read ballots of PrefLib: one file is one example, and every ballot a response.

    Files are of types soc, soi, toc and toi (rankings) or cat (label sets), as their headers say. A
    folder holds one file per example, all with the same alternatives. Voters are unknown: an order
    that several voters share is one response with their number as its weight.

    Attributes
    ----------
    unlisted : {"excluded", "unknown"} or None
        What it means that a ballot does not name an alternative: it comes after all that are named,
        or was not compared. Needed where a ballot names fewer than all.
    category : str or None
        For cat files: the category whose alternatives are the answer.
    example : str or None
        Name of the example of a single file; None takes the name of the file without its ending.
    """

    unlisted: Literal["excluded", "unknown"] | None = None
    category: str | None = None
    example: str | None = attrs.field(default=None, validator=base.NOT_EMPTY)

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether there is a header of PrefLib, or the numbers of an older file."""
        if path.is_dir():
            files = _files(path)
            return bool(files) and self.recognises(files[0], file_opening(files[0], "annotations"))
        text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
        if text.startswith(b"#"):
            return _HEADER.search(_ANY_END.sub(b"\n", text)) is not None
        first, *rest = _ANY_END.split(text, maxsplit=2)
        numbers = first.strip().isdigit() and bool(rest) and rest[0].startswith(b"1,")
        return _is_ballots(path) and numbers

    def content(self, path: Path, labels: base.Labels) -> AnnotationTable:
        if path.is_dir():
            profiles = self._in_folder(path)
        else:
            profiles = {self.example or path.stem: read_profile(path, path.name)}
        first = next(iter(profiles.values()))
        number = len(first.alternatives)
        shorter = [p.place(b) for p in profiles.values() for b in p.ballots if b.size < number]
        if self.unlisted is None and shorter:
            what = f" has ballots that name fewer than all alternatives, first {shorter[0]}"
            expected = "excluded, if the others come after all that are named; unknown, if not"
            found = several(len(shorter), "such line")
            raise base.needed("preflib", what, expected, found, unlisted="excluded")
        # A declared label that was on no ballot was not compared.
        beyond = labels is not None and not set(labels) <= set(first.alternatives)
        return self.gathered(
            "label-set" if first.type == "cat" else "partial-ranking",
            [r for name, of in profiles.items() for r in self._responses(name, of)],
            labels,
            source=path.name,
            examples=profiles,
            offered=first.alternatives,
            anonymous=True,
            unlisted=self.unlisted or ("unknown" if beyond else "excluded"),
        )

    def _in_folder(self, folder: Path) -> dict[str, Profile]:
        """Return what the files of a folder hold, by example."""
        if self.example is not None:
            what, found = " is a folder of several examples", f"example {quoted(self.example)}"
            expected = "the name of an example where there is one file"
            raise base.unfit(what, expected, found, "leave example out")
        profiles: dict[str, Profile] = {}
        for path in _files(folder):
            profile = read_profile(path, f"{folder.name}/{path.relative_to(folder).as_posix()}")
            first = next(iter(profiles.values()), profile)
            differ = sorted(set(first.alternatives) ^ set(profile.alternatives))
            with base.about(profile.source):
                if path.stem in profiles:
                    what = f" is of example {path.stem}, as {profiles[path.stem].source} is"
                    hint = "move one of them elsewhere; a file of another type has the same ballots"
                    raise base.refused("example-twice", what, "one file per example", "two", hint)
                if differ:
                    what = f" has other alternatives than {first.source}"
                    expected = "the same names in every file"
                    found = listed(map(base.short, differ))
                    raise base.refused("alternatives-differ", what, expected, found)
                if (first.type == "cat") != (profile.type == "cat"):
                    expected = f"{first.type}, as {first.source}: either orders or categories"
                    raise base.unlike("as a whole", expected, found=profile.type)
            profiles[path.stem] = profile
        if not profiles:
            expected = "files that end in " + listed(f".{kind}" for kind in TYPES)
            raise base.refused("file-empty", " holds no file of ballots", expected, "none")
        return profiles

    def _responses(self, example: str, profile: Profile) -> Iterator[Response]:
        chosen: int | None = None
        with base.about(profile.source):
            if profile.categories:
                options = ("preflib", "category", "categories", profile.categories)
                chosen = profile.categories.index(base.choose(*options, self.category))
            elif self.category is not None:
                found = f"type {profile.type}, category {quoted(self.category)}"
                raise base.unfit(" has no categories", "a file of type cat, or no category", found)
        for ballot in profile.ballots:
            groups = [[profile.alternatives[at - 1] for at in group] for group in ballot.groups]
            yield Response(
                example=example,
                annotator=None,
                answer=groups if chosen is None else groups[chosen],
                weight=float(ballot.count),
                place=profile.place(ballot),
            )


def _is_ballots(path: Path) -> bool:
    return path.suffix.lower().lstrip(".") in TYPES


def _files(folder: Path) -> list[Path]:
    return [path for path in base.files_below(folder, "*") if _is_ballots(path)]
