"""PrefLib: rankings with ties and without, complete or not, and alternatives put in categories."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

import attrs

from plausibly.plugin import (
    AnnotationTable,
    InputError,
    Response,
    ResponseOptions,
    counted,
    listed,
    quoted,
    several,
)
from plausibly_builtins.readers._consolidated import files_below
from plausibly_builtins.readers._names import short
from plausibly_builtins.readers._preflib_ballots import Ballot, Profile, read_profile
from plausibly_builtins.readers._preflib_header import TYPES

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
        """Return the annotation table in the file or folder.

        Parameters
        ----------
        path : Path
            The file, or a folder of such files; others in it are not read.
        labels : sequence of str or None
            The declared labels; None takes the alternatives of the header, in its order.

        Raises
        ------
        InputError
            ``preflib-broken``, ``alternative-unknown``, ``alternative-twice``, ``ballot-empty`` and
            ``order-twice`` with the line, ``preflib-counts``, ``type-unfit``, ``unlisted-unsaid``,
            ``category-unsaid``, ``category-missing``, ``category-unfit``, ``alternatives-differ``,
            ``example-twice``, ``example-unfit``.
        """
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
