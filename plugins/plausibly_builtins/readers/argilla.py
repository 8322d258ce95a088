"""Argilla: records with responses to questions, nested, flat, or of version 1."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal

import attrs

from plausibly.plugin import AnnotationTable, counted, listed, quoted, several
from plausibly.plugin.readers import JsonNumber, NamedPrediction, Response, json_shown, states
from plausibly_builtins.readers import base

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
        state = states.ANSWERED if self.status is None else _STATES.get(str(self.status))
        if state is None:
            raise base.unlike(self.place, listed((*_STATES, _PENDING), most=4), self.status)
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
        raise base.unlike(self.place, expected, value, hint=hint)

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
                rank = rank.whole or 0
            if rank is not None:
                blocks.setdefault(rank, []).append(str(label))
        return [blocks[rank] for rank in sorted(blocks)]

    def scores(self) -> Iterator[tuple[str, str | None]]:
        """Yield the labels of a suggestion, each with its score: one for all, or one each."""
        labels, scores = self.value if isinstance(self.value, list) else [self.value], self.score
        if not isinstance(scores, list) or not isinstance(self.value, list):
            scores = [scores] * len(labels)
        if len(scores) != len(labels):
            expected = "one score for all labels of a suggestion, or one each"
            raise base.unlike(self.place, expected, scores)
        for label, number in zip(labels, scores, strict=True):
            # What is no number is shown as it stands, and refused with its example.
            yield str(label), None if number is None else json_shown(number)


def _is_ranked(items: Sequence[object]) -> bool:
    """Return whether all items are labels with ranks, or all labels in order."""
    entries = list(map(base.entry_of, items))
    ranks = [entry["rank"] for entry in entries if "rank" in entry]
    whole = (r is None or (isinstance(r, JsonNumber) and (r.whole or 0) > 0) for r in ranks)
    names = (entry.get("value") for entry in entries)
    named = all(isinstance(name, str) and name for name in names)
    return named and len(ranks) in (0, len(items)) and all(whole)


@attrs.frozen(kw_only=True)
class Record:
    """A record, in any of the forms: responses and suggestions by question."""

    place: str
    fields: base.Entry
    responses: Mapping[str, Sequence[base.Entry]]
    suggestions: Mapping[str, Sequence[base.Entry]]

    def answers(self, question: str) -> Iterator[Answer]:
        for at, entry in enumerate(self.responses.get(question, ()), start=1):
            key = "user_id" if entry.get("user_id") is not None else "user"
            user, value, status = (entry.get(name) for name in (key, "value", "status"))
            if user is not None and not isinstance(user, str):
                raise base.unlike(self.place, f"the name of a user as {quoted(key)}", user)
            # None is what version 2 writes for a response without user.
            who = str(user) if user and user != "None" else None
            place = f"{self.place} response {counted(at)}"
            yield Answer(place=place, value=value, user=who, status=status)

    def suggested(self, question: str) -> Iterator[Answer]:
        for entry in self.suggestions.get(question, ()):
            value, score, agent = (entry.get(key) for key in ("value", "score", "agent"))
            if value is not None:
                yield Answer(place=self.place, value=value, score=score, agent=agent)


def _flat(place: str, fields: base.Entry, columns: set[str]) -> Record:
    """Return a flat record; `columns` are the keys of all records."""
    responses: dict[str, Sequence[base.Entry]] = {}
    for question in _stems(fields, _RESPONSES):
        lists: list[Sequence[object]] = []
        for end in (_RESPONSES, _USERS, _STATUS):
            name = question + end
            column = base.as_list(fields.get(name), place, f"a list as {quoted(name)}")
            lists.append(column if name in columns else [None] * len(lists[0]))
        if len(set(map(len, lists))) > 1:
            expected = f"as many users and statuses as responses to {quoted(question)}"
            raise base.unlike(place, expected, found=f"{listed(map(len, lists))} in each list")
        every = zip(*lists, strict=True)
        responses[question] = [{"value": v, "user_id": u, "status": s} for v, u, s in every]
    ends = {"value": _SUGGESTION, "score": _SCORE, "agent": _AGENT}
    suggestions = {
        name: [{key: fields.get(name + end) for key, end in ends.items()}]
        for name in _stems(fields, _SUGGESTION)
    }
    return Record(place=place, fields=fields, responses=responses, suggestions=suggestions)


def _nested(place: str, fields: base.Entry, questions: set[str]) -> Record:
    """Return a nested record; `questions` are those of version 1, which has values by question."""
    answered, suggested = fields.get("responses"), fields.get("suggestions")
    expected = "a list of responses or suggestions"
    if isinstance(suggested, dict):
        by_name = base.objects([value or {} for value in suggested.values()], place, expected)
        pairs = zip(suggested, by_name, strict=True)
        suggested = [{**entry, "question_name": name} for name, entry in pairs]
    suggestions: dict[str, list[base.Entry]] = {}
    for entry in base.objects(suggested, place, expected):
        suggestions.setdefault(str(entry.get("question_name")), []).append(entry)
    responses: dict[str, list[base.Entry]] = {}
    if isinstance(answered, dict):
        for name, entries in answered.items():
            responses[name] = list(base.objects(entries, place, expected))
    else:
        for entry in base.objects(answered, place, expected):
            values = {} if entry.get("values") is None else entry["values"]
            values = base.as_object(values, place, 'an object "values" in a response')
            for name in questions:
                value = values.get(name)
                value = value.get("value") if isinstance(value, dict) else value
                responses.setdefault(name, []).append({**entry, "value": value})
    return Record(place=place, fields=fields, responses=responses, suggestions=suggestions)


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
    entries = base.entries(path, "a list of records, or one per line")
    columns = {key for _, fields in entries for key in fields}
    if any(_stems(fields, end) for _, fields in entries for end in (_RESPONSES, _SUGGESTION)):
        return [_flat(place, fields, columns) for place, fields in entries]
    if columns & {"responses", "suggestions"}:
        voters = [v for _, fields in entries for v in base.items_of(fields.get("responses"))]
        values = [base.entry_of(base.entry_of(voter).get("values")) for voter in voters]
        questions = set().union(*values)
        return [_nested(place, fields, questions) for place, fields in entries]
    expected = '"responses" in the records, or "QUESTION.responses" in flat ones'
    found = listed(map(base.short, sorted(columns))) or several(len(entries), "record")
    raise base.unlike("as a whole", expected, found=found)


@attrs.frozen(kw_only=True)
class Argilla(base.Scored, base.Export):
    """Read records of Argilla: nested or flat ones of version 2, or those of version 1.

    One question gives the answers. What is discarded is skipped, a draft is unfinished, and what is
    pending has not been answered. Suggestions are what `predictions` gives.

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
    kind: Literal["single-label", "label-set", "partial-ranking"] | None = None
    example: str | None = None

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether records with responses or suggestions of Argilla come first."""
        return any(map(_is_record, base.first_entries(head)))

    def content(self, path: Path, labels: base.Labels) -> AnnotationTable:
        records = _load(path)
        questions = sorted(set().union(*(record.responses for record in records)))
        suggested = any(record.suggestions for record in records)
        if not questions and (self.question is None or suggested):
            raise base.only_predictions("argilla", predicted=suggested)
        question = self._question(questions) if questions else str(self.question)
        names = self._names(path.name, records)
        answered = [
            (name, answer, state)
            for name, record in zip(names, records, strict=True)
            for answer in record.answers(question)
            if (state := answer.state) is not None
        ]
        kind = self._kind(question, [answer for _, answer, _ in answered])
        places = [answer.place for _, answer, _ in answered if answer.status is None]
        if places:
            what = f" has no status of {several(len(places), 'response')} ({listed(places)})"
            hint = "export flat records, which have it: dataset.records.to_list(flatten=True)"
            expected, found = "submitted, draft or discarded", "no status: each counts, also drafts"
            base.warn_of(path.name, "status-missing", what, expected, found, hint)
        responses = [
            Response(
                example=name,
                annotator=answer.user,
                answer=None if state == states.SKIPPED else answer.as_kind(kind),
                state=state,
                place=answer.place,
            )
            for name, answer, state in answered
        ]
        return self.gathered(kind, responses, labels, source=path.name, examples=names)

    def scored(self, path: Path) -> base.Scores:
        records = _load(path)
        names = self._names(path.name, records)
        questions = sorted({name for record in records for name in record.suggestions})
        question = self._question(questions) if questions else ""
        suggestions = [
            (name, answer)
            for name, record in zip(names, records, strict=True)
            for answer in record.suggested(question)
        ]
        if self._kind(question, [answer for _, answer in suggestions]) == "partial-ranking":
            raise base.predictions_ranked(f"suggestions to {quoted(question)}")
        predictions = [
            NamedPrediction(
                example=name,
                model=base.text_of(answer.agent) or "",
                scores=tuple(answer.scores()),
                place=answer.place,
            )
            for name, answer in suggestions
        ]
        return predictions, names, ()

    def _question(self, questions: Sequence[str]) -> str:
        return base.choose("argilla", "question", "questions", questions, self.question)

    def _names(self, source: str, records: Sequence[Record]) -> list[str]:
        """Return the names of examples: a key of records, of their metadata or their fields."""
        entries: list[base.PlacedEntry] = []
        for record in records:
            parts = [base.entry_of(record.fields.get(key)) for key in ("metadata", "fields")]
            values = (part.get(str(self.example)) for part in (record.fields, *parts))
            name = next((value for value in values if value is not None), None)
            fields = record.fields if self.example is None else {self.example: name}
            entries.append((record.place, fields))
        return base.example_names(source, "argilla", entries, self.example, _USUAL_NAMES)

    def _kind(self, question: str, answers: Sequence[Answer]) -> str:
        """Return the kind of the answers: what their form says, or the user."""
        first: dict[str, str] = {}
        for answer in answers:
            if form := answer.form:
                first.setdefault(form, answer.place)
        empty = [answer.place for answer in answers if answer.value == []]
        if empty and "ranks" not in first:
            first.setdefault("list", empty[0])
        found = listed(f"{_FORMS[form][0]} ({place})" for form, place in first.items())
        if "label" in first and len(first) > 1:
            expected = f"one form of answers to {quoted(question)}"
            raise base.unlike("as a whole", expected, found=found)
        form = "ranks" if "ranks" in first else next(iter(first), None)
        if form is None:
            return self.kind or "single-label"
        kinds = _FORMS[form][1]
        if self.kind is not None and self.kind not in kinds:
            raise base.unfit(f": kind {self.kind}", f"kind {' or '.join(kinds)}", found)
        if self.kind is None and form == "list":
            what = f": answers to {quoted(question)} are either sets or rankings"
            expected, more = "the kind: both are written as lists", ', or "partial-ranking"'
            options = {"question": question, "kind": "label-set"}
            raise base.needed("argilla", what, expected, found, more, **options)
        return self.kind or kinds[0]
