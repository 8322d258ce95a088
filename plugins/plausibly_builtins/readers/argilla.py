"""Argilla: records with responses to questions, nested, flat, or of version 1."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, TypeAlias

import attrs
import xarray as xr

from plausibly.plugin import (
    AnnotationTable,
    InputError,
    JsonNumber,
    NamedPrediction,
    Response,
    ResponseOptions,
    counted,
    file_opening,
    from_named,
    json_head,
    json_shown,
    listed,
    near,
    quoted,
    read_json,
    several,
)
from plausibly_builtins.readers._columns import objects
from plausibly_builtins.readers._exports import about, as_typed, refused, short, told

Fields: TypeAlias = Mapping[str, object]
Kind: TypeAlias = Literal["single-label", "label-set", "partial-ranking"]

_STATES: Final = {"submitted": "answered", "draft": "unfinished", "discarded": "skipped"}
_NOT_THERE = "pending"
_USUAL_NAMES = ("id", "external_id", "_server_id")
_RESPONSES, _USERS, _STATUS = ".responses", ".responses.users", ".responses.status"
_SUGGESTION, _SCORE, _AGENT = ".suggestion", ".suggestion.score", ".suggestion.agent"
_FORMS: Final = {
    "label": ("single labels", ("single-label", "label-set")),
    "list": ("lists of labels", ("label-set", "partial-ranking")),
    "ranks": ("labels with ranks", ("partial-ranking",)),
}
"""Forms of answers: what messages call them, and the kinds that they can be."""


@attrs.frozen(kw_only=True)
class Said:
    """What an annotator or a model says to a question; what the file does not say is None."""

    place: str
    value: object
    user: str | None = None
    status: object = None
    score: object = None
    agent: object = None


@attrs.frozen(kw_only=True)
class Record:
    """A record, in any of the forms; `columns` are the keys of all records of a flat file."""

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
        part = self._part("responses")
        if isinstance(part, dict):
            return list(part)
        return [name for entry in self._entries(part) for name in self._values(entry)]

    def responses(self, question: str) -> Iterator[Said]:
        """Yield what annotators said to a question."""
        entries: Iterable[Fields]
        if self.columns is not None:
            entries = self._from_columns(question, self.columns)
        elif isinstance(part := self._part("responses"), dict):
            entries = self._entries(part.get(question))
        else:
            found = self._entries(part)
            entries = ({**one, "value": self._values(one).get(question)} for one in found)
        for at, entry in enumerate(entries, start=1):
            key = "user_id" if entry.get("user_id") is not None else "user"
            user = entry.get(key)
            if user is not None and not isinstance(user, str):
                raise self.unlike(f"no name of a user as {quoted(key)}", user)
            yield Said(
                place=f"{self.place} response {counted(at)}",
                value=entry.get("value"),
                # None is what version 2 writes for a response without user.
                user=str(user) if user and user != "None" else None,
                status=entry.get("status"),
            )

    def suggested(self) -> list[str]:
        """Return the questions that have suggestions."""
        if self.columns is not None:
            return _stems(self.fields, _SUGGESTION)
        part = self._part("suggestions")
        if isinstance(part, dict):
            return list(part)
        return [str(entry.get("question_name")) for entry in self._entries(part)]

    def suggestions(self, question: str) -> list[Said]:
        """Return what models suggested as the answer to a question."""
        keys: tuple[str, ...] = ("value", "score", "agent")
        if self.columns is not None:
            entries = [self.fields]
            keys = tuple(question + end for end in (_SUGGESTION, _SCORE, _AGENT))
        elif isinstance(part := self._part("suggestions"), dict):
            entries = self._entries([part.get(question) or {}])
        else:
            entries = [e for e in self._entries(part) if e.get("question_name") == question]
        found = [[entry.get(key) for key in keys] for entry in entries]
        return [Said(place=self.place, value=v, score=s, agent=a) for v, s, a in found]

    def _part(self, key: str) -> dict[str, object] | list[object]:
        found = self.fields.get(key)
        if found is not None and not isinstance(found, (dict, list)):
            raise self.unlike(f"no list or object of {key}", found)
        return {} if found is None else found

    def _entries(self, found: object) -> list[Fields]:
        if found is None:
            return []
        if not isinstance(found, list) or not all(isinstance(entry, dict) for entry in found):
            raise self.unlike("no list of responses or suggestions", found)
        return found

    def _values(self, entry: Fields) -> dict[str, object]:
        """Return the values by question of a response of version 1; none where it has null."""
        values = {} if entry.get("values") is None else entry["values"]
        if not isinstance(values, dict):
            raise self.unlike('a response whose "values" are no object', values)
        return {
            name: value.get("value") if isinstance(value, dict) else value
            for name, value in values.items()
        }

    def _from_columns(self, question: str, columns: frozenset[str]) -> list[Fields]:
        """Return the responses in the three lists of a flat record, which go together."""

        def cells(end: str) -> list[object] | None:
            found = self.fields.get(question + end)
            if found is not None and not isinstance(found, list):
                raise self.unlike(f"no list as {quoted(question + end)}", found)
            return found or [] if question + end in columns else None

        values = cells(_RESPONSES) or []
        nothing = [None] * len(values)
        found = [cells(end) for end in (_USERS, _STATUS)]
        users, statuses = (nothing if one is None else one for one in found)
        if not len(values) == len(users) == len(statuses):
            raise refused(
                "responses-unlike",
                f" {self.place}: the lists of {quoted(question)} are not equally long",
                "a user and a status for each response",
                f"{several(len(values), 'response')}, {several(len(users), 'user')}, "
                f"{counted(len(statuses))} status{'' if len(statuses) == 1 else 'es'}",
                "mend that record, or export again",
                place=self.place,
                question=question,
            )
        return [
            {"value": value, "user_id": user, "status": status}
            for value, user, status in zip(values, users, statuses, strict=True)
        ]

    def unlike(self, holds: str, found: object) -> InputError:
        """Return the error about a record of another shape."""
        return refused(
            "record-unlike",
            f" {self.place} holds {holds}",
            "a record as Argilla exports it",
            json_shown(found),
            "mend that record, or export again",
            place=self.place,
        )


def _stems(fields: Fields, end: str) -> list[str]:
    return [key.removesuffix(end) for key in fields if key.endswith(end) and key != end]


def _is_flat(fields: Fields) -> bool:
    return any(_stems(fields, end) for end in (_RESPONSES, _SUGGESTION))


def _is_record(fields: object) -> bool:
    if not isinstance(fields, dict):
        return False
    if _is_flat(fields):
        marks = [question + _USERS for question in _stems(fields, _RESPONSES)]
        marks += [question + _AGENT for question in _stems(fields, _SUGGESTION)]
        return any(mark in fields for mark in marks)
    return (
        isinstance(fields.get("fields"), dict)
        and isinstance(fields.get("responses"), (dict, list))
        and any(key in fields for key in ("suggestions", "metadata", "vectors"))
    )


def load(path: Path) -> list[Record]:
    """Return the records of a JSON or JSON Lines file."""
    expected = "a list of records, or one a line"
    found: list[tuple[str, Fields]] = []
    start = file_opening(path, "annotations").removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"["):
        listing = read_json(path, expected=expected)
        for number, fields in enumerate(listing if isinstance(listing, list) else [], start=1):
            if not isinstance(fields, dict):
                raise refused(
                    "record-unlike",
                    f" record {counted(number)} is no object",
                    expected,
                    json_shown(fields),
                    "mend or remove that record",
                    place=f"record {number}",
                )
            found.append((f"record {counted(number)}", fields))
    else:
        found += [(f"line {counted(line)}", fields) for line, fields in objects(path)]
    columns = frozenset(key for _, fields in found for key in fields)
    flat = any(_is_flat(fields) for _, fields in found)
    if not flat and not columns & {"responses", "suggestions"}:
        raise refused(
            "argilla-shape",
            " holds no responses of Argilla",
            '"responses" in the records, or "QUESTION.responses" in flat ones',
            listed(map(short, sorted(columns))) or several(len(found), "record"),
            "export the records with their responses (records.to_list, records.to_json)",
            seen=sorted(columns),
        )
    kept = columns if flat else None
    return [Record(place=place, fields=f, columns=kept) for place, f in found]


@attrs.frozen(kw_only=True)
class Argilla(ResponseOptions):
    """Read records of Argilla: nested or flat ones of version 2, or those of version 1.

    One question gives the answers. A label question or a rating names one label, a multi-label
    question a set, a ranking orders labels; labels of equal rank share a block. Who discards a
    record skips it, a draft is unfinished, and who is pending has not answered. Suggestions are
    no responses: they are what `predictions` gives.

    Attributes
    ----------
    question : str or None
        The question whose answers are read; None takes the only one that there is.
    kind : {"single-label", "label-set", "partial-ranking"} or None
        What answers are. It must be said where they are lists of labels, since the export writes
        sets and rankings alike.
    example : str or None
        Key of a record, its metadata or its fields that names the examples; None takes ``id``,
        ``external_id`` or ``_server_id``.
    """

    question: str | None = None
    kind: Kind | None = None
    example: str | None = None

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether records with responses or suggestions of Argilla come first."""
        values = json_head(head)
        listing = values[0] if len(values) == 1 and isinstance(values[0], list) else values
        return any(map(_is_record, listing))

    def read(self, path: Path, labels: Sequence[str] | None) -> AnnotationTable:
        """Return the annotation table in the file."""
        with about(path.name):
            records = load(path)
            asked = sorted({name for record in records for name in record.questions()})
            suggested = any(record.suggested() for record in records)
            question = self._question(asked, suggested=suggested)
            names = self._names(path.name, records)
            given = [
                (name, said, state)
                for name, record in zip(names, records, strict=True)
                for said in record.responses(question)
                if (state := _state(said)) is not None
            ]
            kind = self._kind(question, [said for _, said, _ in given])
            places = [said.place for _, said, _ in given if said.status is None]
            if places:
                told(
                    path.name,
                    "status-missing",
                    f" does not say whether {several(len(places), 'response')} "
                    f"{'was' if len(places) == 1 else 'were'} submitted ({listed(places)})",
                    "submitted, draft or discarded",
                    "no status: each counts, also what may be a draft or discarded",
                    "export flat records, which have it: dataset.records.to_list(flatten=True)",
                    stacklevel=5,
                )
            responses = [
                Response(
                    example=name,
                    annotator=said.user,
                    answer=None if state == "skipped" else _answer(kind, said.value),
                    state=state,
                    place=said.place,
                )
                for name, said, state in given
            ]
            return self.gathered(kind, responses, labels, whose=path.name, examples=names)

    def predictions(
        self, path: Path, labels: Sequence[str] | None, model: str | None
    ) -> xr.DataArray:
        """Return what a model suggested, (example, label); see `plausibly.plugin.from_named`."""
        with about(path.name):
            records = load(path)
            names = self._names(path.name, records)
            asked = sorted({name for record in records for name in record.suggested()})
            question = self._question(asked, suggested=None) if asked else ""
            found = [
                (name, said)
                for name, record in zip(names, records, strict=True)
                for said in record.suggestions(question)
                if said.value is not None
            ]
            if self._kind(question, [said for _, said in found]) == "partial-ranking":
                raise refused(
                    "predictions-ranked",
                    f": suggestions to {quoted(question)} are rankings",
                    "labels with scores",
                    "labels in order",
                    'question = "..." with a question about labels',
                )
            predictions = [
                NamedPrediction(
                    example=name,
                    model=str(said.agent) if isinstance(said.agent, str) else "",
                    scores=tuple(_scores(said)),
                    place=said.place,
                )
                for name, said in found
            ]
            return from_named(predictions, labels, whose=path.name, model=model, examples=names)

    def _question(self, asked: Sequence[str], *, suggested: bool | None) -> str:
        """Return the question that is meant; suggested None: the suggestions are read."""
        if not asked and (self.question is None or suggested):
            raise refused(
                "annotations-empty",
                " holds no response",
                "records that somebody answered",
                "suggestions only" if suggested else "records without responses",
                'plausibly.read_predictions(path, reader="argilla") reads what models suggested'
                if suggested
                else "export again when records are answered",
            )
        if self.question is None and len(asked) == 1:
            return asked[0]
        if self.question is not None and (self.question in asked or not asked):
            return self.question
        noun = "question" if suggested is not None else "suggested question"
        meant = near(self.question, asked) if self.question is not None else None
        typed = as_typed("argilla", f"question = {quoted(meant or asked[0])}")
        raise refused(
            "questions-several" if self.question is None else "question-unknown",
            f" has {several(len(asked), noun)}"
            if self.question is None
            else f" has no {noun} called {short(self.question)}",
            "the question whose answers are meant",
            listed(map(short, asked)),
            typed + (", or another of them" if len(asked) > 1 else ""),
            questions=list(asked),
        )

    def _names(self, whose: str, records: Sequence[Record]) -> list[str]:
        """Return the name of the example of each record."""
        if self.example is not None:
            found = {self.example: [record.named(self.example) for record in records]}
        else:
            every = {key: [record.fields.get(key) for record in records] for key in _USUAL_NAMES}
            found = {key: values for key, values in every.items() if any(values)}
        if not found:
            told(
                whose,
                "examples-numbered",
                ": no record has an id; examples are called by their place, from 0",
                "a name that stays when records come or go",
                f"{several(len(records), 'record')} without id",
                'example = "..." with a key that names them',
                stacklevel=5,
            )
            return [str(place) for place in range(len(records))]
        for values in found.values():
            if all(isinstance(value, str) and value for value in values):
                return list(map(str, values))
        key, values = next(iter(found.items()))
        at = next(at for at, one in enumerate(values) if not isinstance(one, str) or not one)
        raise refused(
            "example-unnamed",
            f" {records[at].place} names no example",
            f"text or a number as {quoted(key)}",
            json_shown(values[at]) if values[at] is not None else "no such key, or null",
            as_typed("argilla", 'example = "KEY"') + " with a key that names them",
            place=records[at].place,
        )

    def _kind(self, question: str, given: Sequence[Said]) -> str:
        """Return the kind of the answers: what their form says, or the user."""
        first: dict[str, str] = {}
        for said in given:
            form = _form(said)
            if form is not None:
                first.setdefault(form, said.place)
        empty = [said.place for said in given if said.value == []]
        if empty and "ranks" not in first:
            first.setdefault("list", empty[0])
        if "label" in first and len(first) > 1:
            raise refused(
                "answers-mixed",
                f": answers to {quoted(question)} are of two forms",
                "labels, or lists of labels",
                listed(f"{_FORMS[form][0]} ({place})" for form, place in first.items()),
                "mend the records of one form, or put them into a file of their own",
            )
        form = "ranks" if "ranks" in first else next(iter(first), None)
        if form is None:
            return self.kind or "single-label"
        called, kinds = _FORMS[form]
        if self.kind is not None and self.kind not in kinds:
            raise refused(
                "kind-unfit",
                f": answers to {quoted(question)} are {called}",
                f"answers of kind {self.kind}",
                f"{called}, first {first[form]}",
                f"kind = {quoted(kinds[0])}, or leave kind out",
            )
        if self.kind is None and form == "list":
            option = f'question = {quoted(question)}, kind = "label-set"'
            raise refused(
                "kind-unclear",
                f" does not say whether answers to {quoted(question)} are sets or rankings",
                "the kind of the answers: the export writes both as lists",
                f"lists of labels, first {first[form]}",
                as_typed("argilla", option) + ', or "partial-ranking"',
            )
        return self.kind or kinds[0]


def _state(said: Said) -> str | None:
    """Return the state of a response; None for somebody who has yet to answer."""
    status = said.status
    if status == _NOT_THERE:
        return None
    if status is not None and (not isinstance(status, str) or status not in _STATES):
        raise refused(
            "status-unknown",
            f" {said.place} has a status that is none",
            listed((*_STATES, _NOT_THERE), most=len(_STATES) + 1),
            json_shown(status),
            "mend that record, or export again",
            place=said.place,
        )
    state = "answered" if status is None else _STATES[status]
    return "skipped" if state == "answered" and said.value is None else state


def _form(said: Said) -> str | None:
    """Return the form of an answer; None where there is none, or an empty list."""
    value = said.value
    if value is None or value == []:
        return None
    if isinstance(value, str):
        return "label"
    if isinstance(value, list) and all(isinstance(item, str) and item for item in value):
        return "list"
    if isinstance(value, list) and _ranked(value):
        return "ranks"
    raise refused(
        "answer-unfit",
        f" {said.place} names no label",
        "a label, a number, a list of labels, or labels with ranks from 1",
        json_shown(value),
        'question = "..." with a question about labels; spans and tables are not read',
        place=said.place,
    )


def _ranked(items: Sequence[object]) -> bool:
    """Return whether all items are labels with ranks, or all labels in order."""
    with_rank = 0
    for item in items:
        if not isinstance(item, dict) or not isinstance(item.get("value"), str):
            return False
        rank = item.get("rank")
        whole = rank.whole if isinstance(rank, JsonNumber) else None
        if not item["value"] or (rank is not None and (whole is None or whole < 1)):
            return False
        with_rank += "rank" in item
    return with_rank in (0, len(items))


def _answer(kind: str, value: object) -> object:
    """Return a value as its kind of answer reads it; what has the rank null is not ranked."""
    if kind != "partial-ranking":
        if value is None or kind == "single-label":
            return value and str(value)
        return list(dict.fromkeys(map(str, value if isinstance(value, list) else [value])))
    blocks: dict[int, list[str]] = {}
    for place, item in enumerate(value if isinstance(value, list) else [], start=1):
        rank = item.get("rank", place) if isinstance(item, dict) else place
        said = str(item["value"] if isinstance(item, dict) else item)
        if isinstance(rank, JsonNumber):
            blocks.setdefault(rank.whole or 0, []).append(said)
        elif rank is not None:
            blocks[place] = [said]
    return [blocks[rank] for rank in sorted(blocks)]


def _scores(said: Said) -> Iterator[tuple[str, str | None]]:
    """Yield the labels of a suggestion, each with its score: one for all, or one each."""
    labels = said.value if isinstance(said.value, list) else [said.value]
    each = isinstance(said.value, list) and isinstance(said.score, list)
    scores = said.score if each and isinstance(said.score, list) else [said.score] * len(labels)
    if len(scores) != len(labels):
        raise refused(
            "scores-unlike",
            f" {said.place}: the suggestion has not as many scores as labels",
            "one score for all labels, or one each",
            f"{several(len(labels), 'label')}, {several(len(scores), 'score')}",
            "mend that record, or export again",
            place=said.place,
        )
    for label, number in zip(labels, scores, strict=True):
        # What is no number is shown as it stands, and refused with its example.
        yield str(label), None if number is None else json_shown(number)
