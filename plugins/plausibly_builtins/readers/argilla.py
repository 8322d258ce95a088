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
    warn,
)
from plausibly_builtins.readers._columns import objects
from plausibly_builtins.readers._exports import short

Form: TypeAlias = Literal["label", "list", "ranks"]

_STATES: Final = {"submitted": "answered", "draft": "unfinished", "discarded": "skipped"}
_NOT_THERE = "pending"
_FITS: Final[dict[Form, tuple[str, ...]]] = {
    "label": ("single-label", "label-set"),
    "list": ("label-set", "partial-ranking"),
    "ranks": ("partial-ranking",),
}
_CALLED: Final[dict[Form, str]] = {
    "label": "single labels",
    "list": "lists of labels",
    "ranks": "labels with ranks",
}


def kind_of(path: Path, question: str, given: Sequence[Given | Suggested], kind: str | None) -> str:
    """Return the kind of the answers: what their form says, or the user."""
    first: dict[Form, str] = {}
    for said in given:
        form = _form(path, said)
        if form is not None:
            first.setdefault(form, said.place)
    empty = [said.place for said in given if said.value == []]
    if empty and "ranks" not in first:
        first.setdefault("list", empty[0])
    if "label" in first and len(first) > 1:
        raise InputError(
            "answers-mixed",
            f"{path.name}: answers to {quoted(question)} are of two forms",
            expected="labels, or lists of labels",
            got=listed(f"{_CALLED[form]} ({place})" for form, place in first.items()),
            do="mend the records of one form, or put them into a file of their own",
            whose=path.name,
        )
    form = "ranks" if "ranks" in first else next(iter(first), None)
    if form is None:
        return kind or "single-label"
    if kind is not None and kind not in _FITS[form]:
        raise InputError(
            "kind-unfit",
            f"{path.name}: answers to {quoted(question)} are {_CALLED[form]}",
            expected=f"answers of kind {kind}",
            got=f"{_CALLED[form]}, first {first[form]}",
            do=f"kind = {quoted(_FITS[form][0])}, or leave kind out",
            whose=path.name,
        )
    if kind is None and form == "list":
        raise InputError(
            "kind-unclear",
            f"{path.name} does not say whether answers to {quoted(question)} are sets or rankings",
            expected="the kind of the answers: the export writes both as lists",
            got=f"lists of labels, first {first[form]}",
            do=f'--reader \'{{name = "argilla", question = {quoted(question)}, '
            'kind = "label-set"}\', or "partial-ranking"',
            whose=path.name,
        )
    return kind or _FITS[form][0]


def state_of(path: Path, said: Given) -> str | None:
    """Return the state of a response; None for somebody who has yet to answer."""
    status = said.status
    if status == _NOT_THERE:
        return None
    if status is not None and (not isinstance(status, str) or status not in _STATES):
        raise InputError(
            "status-unknown",
            f"{path.name} {said.place} has a status that is none",
            expected=listed((*_STATES, _NOT_THERE), most=len(_STATES) + 1),
            got=json_shown(status),
            do="mend that record, or export again",
            whose=path.name,
            details={"place": said.place},
        )
    state = "answered" if status is None else _STATES[status]
    return "skipped" if state == "answered" and said.value is None else state


def _form(path: Path, said: Given | Suggested) -> Form | None:
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
    raise InputError(
        "answer-unfit",
        f"{path.name} {said.place} names no label",
        expected="a label, a number, a list of labels, or labels with ranks from 1",
        got=json_shown(value),
        do='question = "..." with a question about labels; spans and tables are not read',
        whose=path.name,
        details={"place": said.place},
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


def answer_of(kind: str, value: object) -> object:
    """Return a value as its kind of answer reads it."""
    if value is None:
        return None
    if kind == "partial-ranking":
        return _blocks(value) if isinstance(value, list) else None
    if kind == "label-set":
        items = value if isinstance(value, list) else [value]
        return list(dict.fromkeys(map(str, items)))
    return str(value)


def _blocks(items: Sequence[object]) -> list[list[str]]:
    """Return the labels of a ranking by rank; what has the rank null is not ranked."""
    blocks: dict[int, list[str]] = {}
    for place, item in enumerate(items, start=1):
        if not isinstance(item, dict):
            blocks[place] = [str(item)]
        elif "rank" not in item:
            blocks[place] = [str(item["value"])]
        elif isinstance(item["rank"], JsonNumber):
            blocks.setdefault(item["rank"].whole or 0, []).append(str(item["value"]))
    return [blocks[rank] for rank in sorted(blocks)]


def scores_of(path: Path, said: Suggested) -> Iterator[tuple[str, str | None]]:
    """Yield the labels of a suggestion, each with its score: one for all, or one each."""
    several_labels = isinstance(said.value, list)
    labels = said.value if isinstance(said.value, list) else [said.value]
    score = said.score
    scores = score if several_labels and isinstance(score, list) else [score] * len(labels)
    if len(scores) != len(labels):
        raise InputError(
            "scores-unlike",
            f"{path.name} {said.place}: the suggestion has not as many scores as labels",
            expected="one score for all labels, or one each",
            got=f"{several(len(labels), 'label')}, {several(len(scores), 'score')}",
            do="mend that record, or export again",
            whose=path.name,
            details={"place": said.place},
        )
    for label, number in zip(labels, scores, strict=True):
        # What is no number is shown as it stands, and refused with its example.
        yield str(label), None if number is None else json_shown(number)


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
    """Return the records of a JSON or JSON Lines file."""
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


Kind: TypeAlias = Literal["single-label", "label-set", "partial-ranking"]


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
        return has_records(head)

    def read(self, path: Path, labels: Sequence[str] | None) -> AnnotationTable:
        """Return the annotation table in the file."""
        records = load(path)
        asked = _once(name for record in records for name in record.questions())
        suggested = any(record.suggested() for record in records)
        question = self._question(path, asked, suggested=suggested)
        names = self._names(path, records)
        given = [
            (name, said, state)
            for name, record in zip(names, records, strict=True)
            for said in record.responses(question)
            if (state := state_of(path, said)) is not None
        ]
        kind = kind_of(path, question, [said for _, said, _ in given], self.kind)
        _warn_status(path, [said.place for _, said, _ in given if said.status is None])
        responses = [
            Response(
                example=name,
                annotator=said.user,
                answer=None if state == "skipped" else answer_of(kind, said.value),
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
        records = load(path)
        names = self._names(path, records)
        asked = _once(name for record in records for name in record.suggested())
        question = self._question(path, asked, suggested=None) if asked else ""
        found = [
            (name, said)
            for name, record in zip(names, records, strict=True)
            for said in record.suggestions(question)
            if said.value is not None
        ]
        kind = kind_of(path, question, [said for _, said in found], self.kind)
        if kind == "partial-ranking":
            raise InputError(
                "predictions-ranked",
                f"{path.name}: suggestions to {quoted(question)} are rankings",
                expected="labels with scores",
                got="labels in order",
                do='question = "..." with a question about labels',
                whose=path.name,
            )
        return from_named(
            [
                NamedPrediction(
                    example=name,
                    model=str(said.agent) if isinstance(said.agent, str) else "",
                    scores=tuple(scores_of(path, said)),
                    place=said.place,
                )
                for name, said in found
            ],
            labels,
            whose=path.name,
            model=model,
            examples=names,
        )

    def _question(self, path: Path, asked: Sequence[str], *, suggested: bool | None) -> str:
        """Return the question that is meant; suggested None: the suggestions are read."""
        if not asked and (self.question is None or suggested):
            raise InputError(
                "annotations-empty",
                f"{path.name} holds no response",
                expected="records that somebody answered",
                got="suggestions only" if suggested else "records without responses",
                do='plausibly.read_predictions(path, reader="argilla") reads what models suggested'
                if suggested
                else "export again when records are answered",
                whose=path.name,
            )
        if self.question in asked or (self.question is not None and not asked):
            return self.question or ""
        if self.question is None and len(asked) == 1:
            return asked[0]
        noun = "question" if suggested is not None else "suggested question"
        meant = near(self.question, asked) if self.question is not None else None
        raise InputError(
            "questions-several" if self.question is None else "question-unknown",
            f"{path.name} has {several(len(asked), noun)}"
            if self.question is None
            else f"{path.name} has no {noun} called {short(self.question)}",
            expected="the question whose answers are meant",
            got=listed(map(short, asked)),
            do=f"--reader '{{name = \"argilla\", question = {quoted(meant or asked[0])}}}'"
            + (", or another of them" if len(asked) > 1 else ""),
            whose=path.name,
            details={"questions": list(asked)},
        )

    def _names(self, path: Path, records: Sequence[Record]) -> list[str]:
        """Return the name of the example of each record."""
        if self.example is not None:
            found = {self.example: [record.named(self.example) for record in records]}
        else:
            every = {key: [record.fields.get(key) for record in records] for key in USUAL_NAMES}
            found = {key: values for key, values in every.items() if any(values)}
        if not found:
            _warn_numbered(path, len(records))
            return [str(place) for place in range(len(records))]
        for values in found.values():
            if all(isinstance(value, str) and value for value in values):
                return list(map(str, values))
        key, values = next(iter(found.items()))
        record, value = next(
            (record, value)
            for record, value in zip(records, values, strict=True)
            if not isinstance(value, str) or not value
        )
        raise InputError(
            "example-unnamed",
            f"{path.name} {record.place} names no example",
            expected=f"text or a number as {quoted(key)}",
            got=json_shown(value) if value is not None else "no such key, or null",
            do='--reader \'{name = "argilla", example = "KEY"}\' with a key that names them',
            whose=path.name,
            details={"place": record.place},
        )


def _once(names: Iterable[str]) -> list[str]:
    return sorted(set(names))


def _warn_status(path: Path, places: Sequence[str]) -> None:
    if places:
        warn(
            "status-missing",
            f"{path.name} does not say whether {several(len(places), 'response')} "
            f"{'was' if len(places) == 1 else 'were'} submitted ({listed(places)})",
            expected="submitted, draft or discarded",
            got="no status: each counts, also what may be a draft or discarded",
            do="export flat records, which have it: dataset.records.to_list(flatten=True)",
            whose=path.name,
            stacklevel=6,
        )


def _warn_numbered(path: Path, number: int) -> None:
    warn(
        "examples-numbered",
        f"{path.name}: no record has an id; examples are called by their place, from 0",
        expected="a name that stays when records come or go",
        got=f"{several(number, 'record')} without id",
        do='example = "..." with a key that names them',
        whose=path.name,
        stacklevel=6,
    )
