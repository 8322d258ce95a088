"""Prodigy: JSON Lines with one answer per line, to binary questions or choices."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import attrs

from plausibly.plugin import AnnotationTable, InputError, counted, listed, quoted
from plausibly.plugin.readers import JsonNumber, NamedPrediction, Response, json_shown, states
from plausibly_builtins.readers import base

_ACCEPT, _REJECT = "accept", "reject"
_ANSWERS = (_ACCEPT, _REJECT, "ignore")
_CHOICE = "choice"
_BINARY = "classification"
_HASHES = {_BINARY: "_task_hash", _CHOICE: "_input_hash"}
_OWN = ("_input_hash", "_task_hash", "_view_id")
_TIME_STAMP = re.compile(r"(?:.*-)?\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d", re.DOTALL)


@attrs.frozen
class Line:
    """A line of the file: an answer to a question."""

    number: int
    fields: base.Entry

    @property
    def place(self) -> str:
        return f"line {counted(self.number)}"

    def _unfit(self, key: str, expected: str) -> InputError:
        return base.unlike(self.number, f"{quoted(key)}: {expected}", self.fields.get(key))

    def view(self) -> str:
        view = self.fields.get("_view_id")
        if view is None or view == _BINARY:
            spans = "spans" if self.fields.get("spans") else _BINARY
            view = _CHOICE if "options" in self.fields else spans
        lacks = view == _BINARY and not isinstance(self.fields.get("label"), str)
        if not isinstance(view, str) or view not in _HASHES or lacks:
            expected = 'the view choice with "options", or classification with "label"'
            found = f"the view {json_shown(view)}" + " without label" * (view == _BINARY)
            raise base.unlike(self.number, expected, found=found)
        return view

    def options(self) -> list[str]:
        options = base.items_of(self.fields.get("options"))
        ids = [base.entry_of(option).get("id") for option in options]
        if not ids or not all(isinstance(name, str) and name for name in ids):
            raise self._unfit("options", 'options with ids: [{"id": "cat"}]')
        return [str(name) for name in ids]

    def answer(self, view: str) -> list[str] | None:
        """Return the labels that it names; None where it is ignored, or a choice rejected."""
        answer = self.fields.get("answer")
        if answer not in _ANSWERS:
            raise self._unfit("answer", listed(_ANSWERS))
        if view == _BINARY and answer in (_ACCEPT, _REJECT):
            return [str(answer)]
        if answer != _ACCEPT:
            return None
        chosen, options = self.fields.get("accept"), self.options()
        if not isinstance(chosen, list) or not all(name in options for name in chosen):
            raise self._unfit("accept", f"ids among {listed(map(base.short, options))}")
        return list(dict.fromkeys(map(str, chosen)))

    def response(self, example: str, answer: list[str] | None) -> Response:
        # A session that is named by its start does not tell who answered.
        key = "_session_id" if self.fields.get("_annotator_id") is None else "_annotator_id"
        name, time = self.fields.get(key), self.fields.get("_timestamp")
        if name is not None and not isinstance(name, str):
            raise self._unfit(key, "the name of a session")
        if time is not None and not isinstance(time, JsonNumber):
            raise self._unfit("_timestamp", "seconds")
        return Response(
            example=example,
            annotator=str(name) if name and not _TIME_STAMP.fullmatch(name) else None,
            answer=answer or [],
            state=states.SKIPPED if answer is None else states.ANSWERED,
            time=None if time is None else time.value,
            place=self.place,
        )

    def scores(self, view: str) -> tuple[tuple[str, float], ...]:
        if view == _CHOICE:
            options = map(base.entry_of, base.items_of(self.fields.get("options")))
            scored = ((str(option["id"]), option.get("score")) for option in options)
            return tuple((n, score.value) for n, score in scored if isinstance(score, JsonNumber))
        score = self.fields.get("score", base.entry_of(self.fields.get("meta")).get("score"))
        if not isinstance(score, JsonNumber) or not 0 <= score.value <= 1:
            return ()
        return ((_ACCEPT, score.value), (_REJECT, 1 - score.value))


@attrs.frozen(kw_only=True)
class Prodigy(base.Scored, base.TimedExport):
    """Read the JSON Lines export of Prodigy: binary questions, or choices.

    A binary question is an example with a label: ``accept`` and ``reject`` are the labels of the
    table, and each ``_task_hash`` is an example. A choice names option ids, and each
    ``_input_hash`` is an example. What is ignored, or rejected in a choice, is a skip.

    Attributes
    ----------
    example : str or None
        Key that names the examples; None takes the hash.
    kind : {"single-label", "label-set"} or None
        What choices are; None where an answer with two options, or the style of choice that
        stands in the file, settles it.
    """

    example: str | None = None
    kind: base.Kind | None = None

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether the first line is an answer with a hash or view of Prodigy."""
        first = base.entry_of(next(iter(base.first_entries(head)), None))
        return first.get("answer") in _ANSWERS and any(key in first for key in _OWN)

    def content(self, path: Path, labels: base.Labels) -> AnnotationTable:
        lines, view, offered = self._lines(path)
        answers = [line.answer(view) for _, line in lines]
        answered = zip(lines, answers, strict=True)
        versions = sum(len(base.items_of(line.fields.get("versions"))) for _, line in lines)
        return self.gathered(
            self._kind(view, [line for _, line in lines], answers),
            [line.response(name, answer) for (name, line), answer in answered],
            labels,
            source=path.name,
            offered=offered,
            left_out={"versions that a review lists": versions},
        )

    def scored(self, path: Path) -> base.Scores:
        lines, view, offered = self._lines(path)
        predictions: dict[str, NamedPrediction] = {}
        for name, line in lines:
            scores = line.scores(view)
            scored = NamedPrediction(example=name, model="", scores=scores, place=line.place)
            # An example with several annotators stands in several lines, scored once.
            predictions.setdefault(name, scored)
        return predictions.values(), predictions, offered

    def _lines(self, path: Path) -> tuple[list[tuple[str, Line]], str, list[str]]:
        """Return the lines by example, the view of all, and the labels that could be named."""
        lines = [Line(number, fields) for number, fields in base.lines_of(path)]
        first: dict[str, str] = {}
        for line in lines:
            first.setdefault(line.view(), line.place)
        if len(first) > 1:
            found = listed(f"{view} in {place}" for view, place in first.items())
            raise base.unlike("as a whole", "answers of one view", found=found)
        (view,) = first
        offered = [_ACCEPT, _REJECT]
        if view == _CHOICE:
            offered = list(dict.fromkeys(name for line in lines for name in line.options()))
        questions = sorted({str(line.fields.get("label")) for line in lines})
        if view == _BINARY and self.example is not None and len(questions) > 1:
            what, found = " asks about several labels", listed(map(base.short, questions))
            raise base.unfit(what, "one label, where example is named", found)
        key = _HASHES[view] if self.example is None else self.example
        placed = [(line.place, line.fields) for line in lines]
        names = base.example_names(path.name, "prodigy", placed, key, ())
        return list(zip(names, lines, strict=True)), view, offered

    def _kind(self, view: str, lines: Sequence[Line], answers: Sequence[list[str] | None]) -> str:
        if view == _BINARY and self.kind == "label-set":
            what, found = " holds answers to binary questions", "accept, reject and ignore"
            raise base.unfit(what, "choices, for label sets", found)
        if view == _BINARY or self.kind is not None:
            return self.kind or "single-label"
        configs = [base.entry_of(line.fields.get("config")) for line in lines]
        styles = [config.get("choice_style") for config in configs if config]
        if any(len(answer or []) > 1 for answer in answers) or "multiple" in styles:
            return "label-set"
        if styles and all(style == "single" for style in styles):
            return "single-label"
        what, found = " does not say whether several options could be chosen", "one in each answer"
        expected, more = "the kind of the answers", ', or "label-set"'
        raise base.needed("prodigy", what, expected, found, more, kind="single-label")
