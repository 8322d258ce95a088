"""Argilla: records with responses to questions, nested, flat, or of version 1."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Final, Literal, TypeAlias

import attrs

from plausibly.plugin import AnnotationTable, counted, listed, quoted, several
from plausibly.plugin.readers import (
    JsonNumber,
    NamedPrediction,
    Response,
    json_shown,
    states,
)
from plausibly_builtins.readers import base

AnswerKind: TypeAlias = Literal["single-label", "label-set", "partial-ranking"]

_SHAPE: Final = base.Shape("record-unlike")
_STATES: Final = {
    "submitted": states.ANSWERED,
    "draft": states.UNFINISHED,
    "discarded": states.SKIPPED,
}
_PENDING = "pending"
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
class Answer:
    """An annotator's or a model's answer to a question; what the file does not say is None."""

    place: str
    value: object
    user: str | None = None
    status: object = None
    score: object = None
    agent: object = None

    @property
    def state(self) -> str | None:
        """State of the response; None where it is still to come."""
        if self.status == _PENDING:
            return None
        if self.status is not None and str(self.status) not in _STATES:
            expected = listed((*_STATES, _PENDING), most=len(_STATES) + 1)
            raise base.Shape("status-unknown").refused(self.place, expected, self.status)
        state = states.ANSWERED if self.status is None else _STATES[str(self.status)]
        return states.SKIPPED if state == states.ANSWERED and self.value is None else state

    @property
    def form(self) -> str | None:
        value = self.value
        if value is None or value == []:
            return None
        if isinstance(value, str):
            return "label"
        if isinstance(value, list) and all(isinstance(item, str) and item for item in value):
            return "list"
        if isinstance(value, list) and _is_ranked(value):
            return "ranks"
        expected = "a label, a number, a list of labels, or labels with ranks from 1"
        hint = "choose a question about labels; spans and tables are not read"
        raise base.Shape("answer-unfit", hint).refused(self.place, expected, value)

    def as_kind(self, kind: str) -> list[str] | list[list[str]]:
        """Return the value as its kind of answer reads it; the rank null is no rank."""
        value = [] if self.value is None else self.value
        items = value if isinstance(value, list) else [value]
        if kind != "partial-ranking":
            return list(dict.fromkeys(map(str, items)))
        blocks: dict[int, list[str]] = {}
        for place, item in enumerate(items, start=1):
            label, rank = item, place
            if isinstance(item, dict):
                label, rank = item["value"], item.get("rank", place)
            if isinstance(rank, JsonNumber):
                blocks.setdefault(rank.whole or 0, []).append(str(label))
            elif rank is not None:
                blocks[place] = [str(label)]
        return [blocks[rank] for rank in sorted(blocks)]

    def scores(self) -> Iterator[tuple[str, str | None]]:
        """Yield the labels of a suggestion, each with its score: one for all, or one each."""
        labels = self.value if isinstance(self.value, list) else [self.value]
        scores = self.score
        if not isinstance(scores, list) or not isinstance(self.value, list):
            scores = [scores] * len(labels)
        if len(scores) != len(labels):
            got = f"{several(len(labels), 'label')}, {several(len(scores), 'score')}"
            expected = "one score for all labels of a suggestion, or one each"
            raise base.Shape("scores-unlike").refused(self.place, expected, scores, got)
        for label, number in zip(labels, scores, strict=True):
            # What is no number is shown as it stands, and refused with its example.
            yield str(label), None if number is None else json_shown(number)


def _is_ranked(items: Sequence[object]) -> bool:
    """Return whether all items are labels with ranks, or all labels in order."""
    entries = list(map(base.entry_of, items))
    ranks = [entry["rank"] for entry in entries if "rank" in entry]
    whole = (
        rank is None or (isinstance(rank, JsonNumber) and (rank.whole or 0) > 0) for rank in ranks
    )
    names = [entry.get("value") for entry in entries]
    named = all(isinstance(name, str) and name for name in names)
    return named and len(ranks) in (0, len(items)) and all(whole)


@attrs.frozen(kw_only=True)
class Record:
    """A record, in any of the forms: responses and suggestions by question.

    `others` are responses of version 1 to other questions: they skip a question.
    """

    place: str
    fields: base.Entry
    responses: Mapping[str, Sequence[base.Entry]]
    suggestions: Mapping[str, Sequence[base.Entry]]
    others: Sequence[base.Entry] = ()

    def answers(self, question: str) -> Iterator[Answer]:
        for at, entry in enumerate(self.responses.get(question, self.others), start=1):
            key = "user_id" if entry.get("user_id") is not None else "user"
            user, value, status = (entry.get(name) for name in (key, "value", "status"))
            if user is not None and not isinstance(user, str):
                raise _SHAPE.refused(self.place, f"the name of a user as {quoted(key)}", user)
            # None is what version 2 writes for a response without user.
            who = str(user) if user and user != "None" else None
            place = f"{self.place} response {counted(at)}"
            yield Answer(place=place, value=value, user=who, status=status)

    def suggested(self, question: str) -> Iterator[Answer]:
        for entry in self.suggestions.get(question, ()):
            value, score, agent = (entry.get(key) for key in ("value", "score", "agent"))
            if value is not None:
                yield Answer(place=self.place, value=value, score=score, agent=agent)


def _record(place: str, fields: base.Entry, columns: Set[str]) -> Record:
    """Return a record; `columns` are the keys of all records of a flat file, else empty."""
    responses: dict[str, Sequence[base.Entry]] = {}
    suggestions: dict[str, Sequence[base.Entry]] = {}
    if columns:
        for name in _stems(fields, _RESPONSES):
            responses[name] = _from_columns(place, fields, name, columns)
        for name in _stems(fields, _SUGGESTION):
            ends = {"value": _SUGGESTION, "score": _SCORE, "agent": _AGENT}
            suggestions[name] = [{key: fields.get(name + end) for key, end in ends.items()}]
        return Record(place=place, fields=fields, responses=responses, suggestions=suggestions)
    answered, suggested = fields.get("responses"), fields.get("suggestions")
    expected = "a list of responses or suggestions"
    if isinstance(suggested, dict):
        for name, value in suggested.items():
            suggestions[name] = _SHAPE.objects([value or {}], place, expected)
    else:
        for one in _SHAPE.objects(suggested, place, expected):
            name = str(one.get("question_name"))
            suggestions[name] = [*suggestions.get(name, ()), one]
    others: Sequence[base.Entry] = ()
    if isinstance(answered, dict):
        for name, value in answered.items():
            responses[name] = _SHAPE.objects(value, place, expected)
    else:
        others = _SHAPE.objects(answered, place, expected)
        values = [{} if one.get("values") is None else one["values"] for one in others]
        every = [_SHAPE.as_object(one, place, 'an object "values" in a response') for one in values]
        for name in dict.fromkeys(name for one in every for name in one):
            found = [one.get(name) for one in every]
            found = [value.get("value") if isinstance(value, dict) else value for value in found]
            pairs = zip(others, found, strict=True)
            responses[name] = [{**one, "value": value} for one, value in pairs]
        others = [{**one, "value": None} for one in others]
    parts = {"responses": responses, "suggestions": suggestions}
    return Record(place=place, fields=fields, others=others, **parts)


def _from_columns(
    place: str, fields: base.Entry, question: str, columns: Set[str]
) -> list[base.Entry]:
    """Return the responses in the three lists of a flat record, which go together."""

    def cells(end: str, size: int) -> Sequence[object]:
        name = question + end
        found = _SHAPE.as_list(fields.get(name), place, f"a list as {quoted(name)}")
        return found if name in columns else [None] * size

    values = cells(_RESPONSES, 0)
    users, statuses = (cells(end, len(values)) for end in (_USERS, _STATUS))
    if not len(values) == len(users) == len(statuses):
        what = f" {place}: the lists of {quoted(question)} are not equally long"
        expected = "a user and a status for each response"
        got = f"{several(len(values), 'response')}, {several(len(users), 'user')}, "
        got += f"{counted(len(statuses))} status{'' if len(statuses) == 1 else 'es'}"
        raise base.refused("responses-unlike", what, expected, got, place=place, question=question)
    every = zip(values, users, statuses, strict=True)
    return [{"value": value, "user_id": user, "status": status} for value, user, status in every]


def _stems(fields: base.Entry, end: str) -> list[str]:
    return [key.removesuffix(end) for key in fields if key.endswith(end) and key != end]


def _is_record(entry: object) -> bool:
    fields = base.entry_of(entry)
    marks = [question + _USERS for question in _stems(fields, _RESPONSES)]
    marks += [question + _AGENT for question in _stems(fields, _SUGGESTION)]
    if marks:
        return any(mark in fields for mark in marks)
    return (
        isinstance(fields.get("fields"), dict)
        and isinstance(fields.get("responses"), (dict, list))
        and any(key in fields for key in ("suggestions", "metadata", "vectors"))
    )


def _load(path: Path) -> list[Record]:
    found = _SHAPE.entries(path, "a list of records, or one per line")
    columns = {key for _, fields in found for key in fields}
    flat = any(_stems(fields, end) for _, fields in found for end in (_RESPONSES, _SUGGESTION))
    if not flat and not columns & {"responses", "suggestions"}:
        what, seen = " holds no responses of Argilla", sorted(columns)
        expected = '"responses" in the records, or "QUESTION.responses" in flat ones'
        got = listed(map(base.short, seen)) or several(len(found), "record")
        raise base.refused("argilla-shape", what, expected, got, seen=seen)
    return [_record(place, fields, columns if flat else set()) for place, fields in found]


def _named(entry: base.Entry, key: str) -> object:
    """Return what stands under a key of a record, of its metadata or of its fields."""
    parts = (entry, base.entry_of(entry.get("metadata")), base.entry_of(entry.get("fields")))
    return next((part[key] for part in parts if part.get(key) is not None), None)


@attrs.frozen(kw_only=True)
class Argilla(base.Scored, base.Export):
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
        What answers are. It is needed where they are lists of labels, since the export writes sets
        and rankings alike.
    example : str or None
        Key of a record, its metadata or its fields that names the examples; None takes ``id``,
        ``external_id`` or ``_server_id``.
    """

    question: str | None = None
    kind: AnswerKind | None = None
    example: str | None = None

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether records with responses or suggestions of Argilla come first."""
        return any(map(_is_record, base.first_entries(head)))

    def content(self, path: Path, labels: base.Labels) -> AnnotationTable:
        records = _load(path)
        questions = sorted({name for one in records for name in one.responses})
        suggested = any(one.suggestions for one in records)
        if not questions and (self.question is None or suggested):
            tasks = several(len(records), "record")
            raise base.only_predictions("argilla", tasks, predicted=suggested)
        question = self._question(questions)
        names = self._names(path.name, records)
        found = [
            (name, answer, state)
            for name, record in zip(names, records, strict=True)
            for answer in record.answers(question)
            if (state := answer.state) is not None
        ]
        kind = self._kind(question, [answer for _, answer, _ in found])
        places = [answer.place for _, answer, _ in found if answer.status is None]
        if places:
            what = f" has no status of {several(len(places), 'response')} ({listed(places)})"
            expected = "submitted, draft or discarded"
            hint = "export flat records, which have it: dataset.records.to_list(flatten=True)"
            got = "no status: each counts, also what may be a draft or discarded"
            base.warn_of(path.name, "status-missing", what, expected, got, hint)
        responses = [
            Response(
                example=name,
                annotator=answer.user,
                answer=None if state == states.SKIPPED else answer.as_kind(kind),
                state=state,
                place=answer.place,
            )
            for name, answer, state in found
        ]
        return self.gathered(kind, responses, labels, source=path.name, examples=names)

    def scored(self, path: Path) -> base.Scores:
        records = _load(path)
        names = self._names(path.name, records)
        questions = sorted({name for one in records for name in one.suggestions})
        question = self._question(questions) if questions else ""
        found = [
            (name, answer)
            for name, record in zip(names, records, strict=True)
            for answer in record.suggested(question)
        ]
        if self._kind(question, [answer for _, answer in found]) == "partial-ranking":
            raise base.predictions_ranked(f"suggestions to {quoted(question)}")
        predictions = [
            NamedPrediction(
                example=name,
                model=base.text_of(answer.agent) or "",
                scores=tuple(answer.scores()),
                place=answer.place,
            )
            for name, answer in found
        ]
        return predictions, names, ()

    def _question(self, questions: Sequence[str]) -> str:
        if self.question is not None and not questions:
            return self.question
        names = ("questions-several", "question-unknown")
        return base.choose(("argilla", "question"), "questions", questions, self.question, names)

    def _names(self, source: str, records: Sequence[Record]) -> list[str]:
        key, entries = self.example, [(record.place, record.fields) for record in records]
        if key is not None:
            entries = [(place, {key: _named(fields, key)}) for place, fields in entries]
        return base.example_names(source, "argilla", entries, key, _USUAL_NAMES)

    def _kind(self, question: str, answers: Sequence[Answer]) -> str:
        """Return the kind of the answers: what their form says, or the user."""
        first: dict[str, str] = {}
        for answer in answers:
            if form := answer.form:
                first.setdefault(form, answer.place)
        empty = [answer.place for answer in answers if answer.value == []]
        if empty and "ranks" not in first:
            first.setdefault("list", empty[0])
        of = f": answers to {quoted(question)} are"
        if "label" in first and len(first) > 1:
            got = listed(f"{_FORMS[form][0]} ({place})" for form, place in first.items())
            hint = "put the records of one form into a file of their own"
            raise base.refused("answers-mixed", f"{of} of two forms", "one form", got, hint)
        form = "ranks" if "ranks" in first else next(iter(first), None)
        if form is None:
            return self.kind or "single-label"
        called, kinds = _FORMS[form]
        got = f"{called}, first {first[form]}"
        if self.kind is not None and self.kind not in kinds:
            hint = base.as_argument("argilla", kind=kinds[0]) + ", or leave kind out"
            raise base.refused("kind-unfit", f"{of} {called}", f"kind {self.kind}", got, hint)
        if self.kind is None and form == "list":
            hint = base.as_argument("argilla", question=question, kind="label-set")
            hint += ', or "partial-ranking"'
            expected = "the kind: the export writes both as lists"
            raise base.refused("kind-unclear", f"{of} either sets or rankings", expected, got, hint)
        return self.kind or kinds[0]
