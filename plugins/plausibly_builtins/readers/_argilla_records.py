"""Argilla: records with what annotators said and what models suggested, from three forms.

Version 2 writes records nested (responses by question), or flat (three lists a question:
``label.responses``, ``label.responses.users``, ``label.responses.status``); version 1 a list of
responses, each with values by question.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeAlias

import attrs

from plausibly.plugin import (
    InputError,
    counted,
    file_opening,
    json_head,
    json_shown,
    listed,
    quoted,
    read_json,
    several,
)
from plausibly_builtins.readers._counts_json import objects
from plausibly_builtins.readers._names import short

Fields: TypeAlias = Mapping[str, object]

USUAL_NAMES: Final = ("id", "external_id", "_server_id")
"""Keys that name the examples, the first that has a value in every record."""

_RESPONSES, _USERS, _STATUS = ".responses", ".responses.users", ".responses.status"
_SUGGESTION, _SCORE, _AGENT = ".suggestion", ".suggestion.score", ".suggestion.agent"
_EXPECTED = "a list of records, or one a line"
_BESIDE = ("suggestions", "metadata", "vectors")
_NOBODY = "None"  # what version 2 writes for a response without user


@attrs.frozen(kw_only=True)
class Given:
    """What one annotator said to a question; what the file does not say is None."""

    user: str | None
    status: object
    value: object
    place: str


@attrs.frozen(kw_only=True)
class Suggested:
    """What a model suggested as the answer to a question."""

    value: object
    score: object
    agent: object
    place: str


@attrs.frozen(kw_only=True)
class Record:
    """A record, in any of the forms.

    Attributes
    ----------
    whose : str
        Name of the file.
    place : str
        Where in it: ``record 3``, ``line 3``.
    fields : mapping
        What stands there.
    columns : frozenset of str or None
        Keys of all records of a flat file; None in other forms.
    """

    whose: str
    place: str
    fields: Fields
    columns: frozenset[str] | None

    def named(self, key: str) -> object:
        """Return what stands under a key of the record, of its metadata or of its fields."""
        for part in (self.fields, self.fields.get("metadata"), self.fields.get("fields")):
            if isinstance(part, dict) and part.get(key) is not None:
                return part[key]
        return self.fields.get(key)

    def questions(self) -> list[str]:
        """Return the questions that have responses, or columns for them."""
        if self.columns is not None:
            return _stems(self.fields, _RESPONSES)
        responses = self._part("responses")
        if isinstance(responses, dict):
            return list(responses)
        return [name for values in map(self._values, self._entries(responses)) for name in values]

    def responses(self, question: str) -> list[Given]:
        """Return what annotators said to a question."""
        if self.columns is not None:
            return self._columns(question, self.columns)
        responses = self._part("responses")
        if isinstance(responses, dict):
            entries = self._entries(responses.get(question))
            return [self._given(entry, entry.get("value"), at) for at, entry in _placed(entries)]
        return [
            self._given(entry, self._values(entry).get(question), at)
            for at, entry in _placed(self._entries(responses))
        ]

    def suggested(self) -> list[str]:
        """Return the questions that have suggestions."""
        if self.columns is not None:
            return _stems(self.fields, _SUGGESTION)
        part = self._part("suggestions")
        if isinstance(part, dict):
            return list(part)
        return [str(entry.get("question_name")) for entry in self._entries(part)]

    def suggestions(self, question: str) -> list[Suggested]:
        """Return what models suggested as the answer to a question."""
        if self.columns is not None:
            keys = (question + end for end in (_SUGGESTION, _SCORE, _AGENT))
            found = [
                dict(zip(("value", "score", "agent"), map(self.fields.get, keys), strict=True))
            ]
            return list(map(self._suggestion, found))
        part = self._part("suggestions")
        if isinstance(part, dict):
            return list(map(self._suggestion, self._entries([part.get(question) or {}])))
        entries = self._entries(part)
        return [self._suggestion(e) for e in entries if e.get("question_name") == question]

    def _part(self, key: str) -> dict[str, object] | list[object]:
        found = self.fields.get(key)
        if found is None:
            return {}
        if not isinstance(found, (dict, list)):
            raise self.unlike(f"no list or object of {key}", found)
        return found

    def _entries(self, found: object) -> list[Fields]:
        if found is None:
            return []
        if not isinstance(found, list) or not all(isinstance(entry, dict) for entry in found):
            raise self.unlike("no list of responses or suggestions", found)
        return found

    def _values(self, entry: Fields) -> dict[str, object]:
        """Return the values by question of a response of version 1; none where it has null."""
        values = entry.get("values")
        if values is None:
            return {}
        if not isinstance(values, dict):
            raise self.unlike('a response whose "values" are no object', values)
        return {
            name: value.get("value") if isinstance(value, dict) else value
            for name, value in values.items()
        }

    def _columns(self, question: str, columns: frozenset[str]) -> list[Given]:
        """Return the responses in the three lists of a flat record, which go together."""
        said = self._list(question + _RESPONSES)
        beside: dict[str, list[object]] = {
            end: self._list(question + end) if question + end in columns else [None] * len(said)
            for end in (_USERS, _STATUS)
        }
        users, statuses = beside[_USERS], beside[_STATUS]
        if not len(said) == len(users) == len(statuses):
            raise InputError(
                "responses-unlike",
                f"{self.whose} {self.place}: the lists of {quoted(question)} are not equally long",
                expected="a user and a status for each response",
                got=f"{several(len(said), 'response')}, {several(len(users), 'user')}, "
                f"{counted(len(statuses))} status{'' if len(statuses) == 1 else 'es'}",
                do="mend that record, or export again",
                whose=self.whose,
                details={"place": self.place, "question": question},
            )
        return [
            self._given({"user_id": user, "status": status}, value, at)
            for at, (value, user, status) in enumerate(
                zip(said, users, statuses, strict=True), start=1
            )
        ]

    def _list(self, key: str) -> list[object]:
        found = self.fields.get(key)
        if found is not None and not isinstance(found, list):
            raise self.unlike(f"no list as {quoted(key)}", found)
        return found or []

    def _given(self, entry: Fields, value: object, at: int) -> Given:
        key = "user_id" if entry.get("user_id") is not None else "user"
        user = entry.get(key)
        if user is not None and not isinstance(user, str):
            raise self.unlike(f"no name of a user as {quoted(key)}", user)
        return Given(
            user=str(user) if user and user != _NOBODY else None,
            status=entry.get("status"),
            value=value,
            place=f"{self.place} response {counted(at)}",
        )

    def _suggestion(self, entry: Fields) -> Suggested:
        value, score, agent = (entry.get(key) for key in ("value", "score", "agent"))
        return Suggested(value=value, score=score, agent=agent, place=self.place)

    def unlike(self, holds: str, found: object) -> InputError:
        """Return the error about a record of another shape."""
        return InputError(
            "record-unlike",
            f"{self.whose} {self.place} holds {holds}",
            expected="a record as Argilla exports it",
            got=json_shown(found),
            do="mend that record, or export again",
            whose=self.whose,
            details={"place": self.place},
        )


def _placed(entries: Sequence[Fields]) -> Iterator[tuple[int, Fields]]:
    return enumerate(entries, start=1)


def _stems(fields: Fields, end: str) -> list[str]:
    return [key.removesuffix(end) for key in fields if key.endswith(end) and key != end]


def has_records(head: bytes) -> bool:
    """Return whether a file that starts so holds records of Argilla."""
    values = json_head(head)
    listing = values[0] if len(values) == 1 and isinstance(values[0], list) else values
    return any(isinstance(record, dict) and _is_record(record) for record in listing)


def _is_record(fields: Fields) -> bool:
    if _is_flat(fields):
        return any(question + _USERS in fields for question in _stems(fields, _RESPONSES)) or any(
            question + _AGENT in fields for question in _stems(fields, _SUGGESTION)
        )
    return (
        isinstance(fields.get("fields"), dict)
        and isinstance(fields.get("responses"), (dict, list))
        and any(key in fields for key in _BESIDE)
    )


def _is_flat(fields: Fields) -> bool:
    return any(_stems(fields, end) for end in (_RESPONSES, _SUGGESTION))


def load(path: Path) -> list[Record]:
    """Return the records of a JSON or JSON Lines file.

    Raises
    ------
    InputError
        ``argilla-shape`` where it holds something else, ``record-unlike``, ``line-unlike``, and
        what `plausibly.plugin.read_json` says.
    """
    whose = path.name
    found = _listing(path)
    columns = frozenset(key for _, fields in found for key in fields)
    flat = any(_is_flat(fields) for _, fields in found)
    if not flat and not columns & {"responses", "suggestions"}:
        raise InputError(
            "argilla-shape",
            f"{whose} holds no responses of Argilla",
            expected='"responses" in the records, or "QUESTION.responses" in flat ones',
            got=listed(map(short, sorted(columns))) or several(len(found), "record"),
            do="export the records with their responses (records.to_list, records.to_json)",
            whose=whose,
            details={"seen": sorted(columns)},
        )
    return [
        Record(whose=whose, place=place, fields=fields, columns=columns if flat else None)
        for place, fields in found
    ]


def _listing(path: Path) -> list[tuple[str, dict[str, object]]]:
    """Return the records with their places: of a list, or of the lines."""
    start = file_opening(path, "annotations").removeprefix(b"\xef\xbb\xbf").lstrip()
    if not start.startswith(b"["):
        return [(f"line {counted(line)}", fields) for line, fields in objects(path)]
    found = read_json(path, expected=_EXPECTED)
    listing = found if isinstance(found, list) else []
    records: list[tuple[str, dict[str, object]]] = []
    for number, fields in enumerate(listing, start=1):
        if not isinstance(fields, dict):
            raise InputError(
                "record-unlike",
                f"{path.name} record {counted(number)} is no object",
                expected=_EXPECTED,
                got=json_shown(fields),
                do="mend or remove that record",
                whose=path.name,
                details={"place": f"record {number}"},
            )
        records.append((f"record {counted(number)}", fields))
    return records
