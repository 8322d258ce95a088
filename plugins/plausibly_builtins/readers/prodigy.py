"""Prodigy: JSON Lines with one answer per line, to binary questions or choices."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from plausibly.plugin import InputError, counted, listed, quoted
from plausibly.plugin.readers import (
    JsonNumber,
    NamedPrediction,
    Response,
    from_named,
    json_shown,
    states,
)
from plausibly_builtins.readers.base import (
    Content,
    Entry,
    Kind,
    TimedExport,
    about,
    as_argument,
    entry_of,
    example_names,
    first_entries,
    items_of,
    line_refused,
    objects,
    refused,
    short,
)

if TYPE_CHECKING:
    import xarray as xr

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
    fields: Entry

    @property
    def place(self) -> str:
        return f"line {counted(self.number)}"

    def _unfit(self, key: str, expected: str) -> InputError:
        what, got = f" holds no answer as {quoted(key)}", json_shown(self.fields.get(key))
        return line_refused(self.number, "answer-unfit", what, expected, got, "export again")

    def view(self) -> str:
        """Return its view: a choice, or a binary question."""
        found = self.fields.get("_view_id")
        if found is None or found == _BINARY:
            spans = "spans" if self.fields.get("spans") else _BINARY
            found = _CHOICE if "options" in self.fields else spans
        lacks = found == _BINARY and not isinstance(self.fields.get("label"), str)
        if not isinstance(found, str) or found not in _HASHES or lacks:
            what = " is no choice and no question about a label"
            expected = '"options", or "label" as text, in the view choice or classification'
            got = f"the view {json_shown(found)}" + " without label" * (found == _BINARY)
            do = "export the answers of such a view only"
            raise line_refused(self.number, "view-unfit", what, expected, got, do)
        return found

    def options(self) -> list[str]:
        options = items_of(self.fields.get("options"))
        ids = [entry_of(option).get("id") for option in options]
        if not ids or not all(isinstance(name, str) and name for name in ids):
            raise self._unfit("options", 'options with ids: [{"id": "cat"}]')
        return [str(name) for name in ids]

    def answer(self, view: str) -> list[str] | None:
        """Return the labels that it names; None where it is ignored, or a choice rejected."""
        answer = self.fields.get("answer")
        if answer not in _ANSWERS:
            raise self._unfit("answer", listed(_ANSWERS))
        if answer != _ACCEPT and (answer != _REJECT or view != _BINARY):
            return None
        if view == _BINARY:
            return [str(answer)]
        chosen, options = self.fields.get("accept"), self.options()
        if not isinstance(chosen, list) or not all(name in options for name in chosen):
            raise self._unfit("accept", f"ids among {listed(map(short, options))}")
        return list(dict.fromkeys(map(str, chosen)))

    def annotator(self) -> str | None:
        """Return who answered; a session that is named by its start says nothing of that."""
        known = self.fields.get("_annotator_id") is not None
        key = "_annotator_id" if known else "_session_id"
        name = self.fields.get(key)
        if name is not None and not isinstance(name, str):
            raise self._unfit(key, "the name of a session")
        return str(name) if name and not _TIME_STAMP.fullmatch(name) else None

    def time(self) -> float | None:
        time = self.fields.get("_timestamp")
        if time is not None and not isinstance(time, JsonNumber):
            raise self._unfit("_timestamp", "seconds")
        return None if time is None else time.value

    def scores(self, view: str) -> tuple[tuple[str, float], ...]:
        if view == _CHOICE:
            return tuple(
                (str(option["id"]), option["score"].value)
                for option in items_of(self.fields.get("options"))
                if isinstance(option, dict) and isinstance(option.get("score"), JsonNumber)
            )
        meta = entry_of(self.fields.get("meta"))
        score = self.fields.get("score", meta.get("score"))
        if not isinstance(score, JsonNumber) or not 0 <= score.value <= 1:
            return ()
        return ((_ACCEPT, score.value), (_REJECT, 1 - score.value))


@attrs.frozen(kw_only=True)
class Prodigy(TimedExport):
    """Read the JSON Lines export of Prodigy: binary questions, or choices.

    A binary question is an example with a label: ``accept`` and ``reject`` are the labels of the
    table, and each ``_task_hash`` is an example. A choice names option ids, and each
    ``_input_hash`` is an example; there, who rejects the example chooses nothing, which is a skip.
    What is ignored is a skip. A session named by its start says nothing of who answered.

    Attributes
    ----------
    example : str or None
        Key that names the examples; None takes the hash.
    kind : {"single-label", "label-set"} or None
        What choices are; None where an answer with two options, or the style of choice that
        stands in the file, settles it.
    duplicates : {"latest", "error", "all", "fractional"}
        What several answers of one annotator to one example mean; ``_timestamp`` is their time.
    """

    example: str | None = None
    kind: Kind | None = None

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether the first line is an answer with a hash or view of Prodigy."""
        first = next(iter(first_entries(head)), None)
        return (
            isinstance(first, dict)
            and first.get("answer") in _ANSWERS
            and any(key in first for key in _OWN)
        )

    def content(self, path: Path, labels: Sequence[str] | None) -> Content:
        lines, view, offered = self._lines(path)
        names = self._examples(path.name, lines, view)
        answers = [line.answer(view) for line in lines]
        kind = self._kind(view, lines, [answer or [] for answer in answers])
        responses = [
            Response(
                example=name,
                annotator=line.annotator(),
                answer=answer or [],
                state=states.SKIPPED if answer is None else states.ANSWERED,
                time=line.time(),
                place=line.place,
            )
            for line, name, answer in zip(lines, names, answers, strict=True)
        ]
        versions = sum(len(items_of(line.fields.get("versions"))) for line in lines)
        return Content(
            kind=kind,
            responses=responses,
            offered=offered,
            left_out={"versions that a review lists": versions},
        )

    def predictions(
        self, path: Path, labels: Sequence[str] | None, model: str | None
    ) -> xr.DataArray:
        with about(path.name):
            lines, view, offered = self._lines(path)
            found: dict[str, NamedPrediction] = {}
            names = self._examples(path.name, lines, view)
            for line, name in zip(lines, names, strict=True):
                scores = line.scores(view)
                scored = NamedPrediction(example=name, model="", scores=scores, place=line.place)
                # An example with several annotators stands in several lines, scored once.
                found.setdefault(name, scored)
            every, source = found.values(), path.name
            return from_named(every, labels or offered, whose=source, model=model, examples=found)

    def _lines(self, path: Path) -> tuple[list[Line], str, list[str]]:
        """Return the lines, the view of all, and the labels that could be named."""
        lines = [Line(number, fields) for number, fields in objects(path)]
        first: dict[str, str] = {}
        for line in lines:
            first.setdefault(line.view(), line.place)
        if len(first) > 1:
            got = listed(f"{view} in {place}" for view, place in first.items())
            what, expected = " holds answers of two views", "choices, or questions about a label"
            raise refused("views-several", what, expected, got, "put each into a file of its own")
        if _CHOICE in first:
            return lines, _CHOICE, list(dict.fromkeys(o for line in lines for o in line.options()))
        questions = sorted({str(line.fields["label"]) for line in lines})
        if self.example is not None and len(questions) > 1:
            what = f" asks about {len(questions)} labels"
            expected = f"one label, where {quoted(self.example)} names the examples"
            do = "leave example out: then each example with a label is a question of its own"
            got = listed(map(short, questions))
            raise refused("labels-several", what, expected, got, do)
        return lines, _BINARY, [_ACCEPT, _REJECT]

    def _examples(self, source: str, lines: Sequence[Line], view: str) -> list[str]:
        key = self.example if self.example is not None else _HASHES[view]
        found = [(line.place, line.fields) for line in lines]
        return example_names(source, "prodigy", found, key, ())

    def _kind(self, view: str, lines: Sequence[Line], answers: Sequence[Sequence[str]]) -> str:
        if view == _BINARY and self.kind == "label-set":
            what, expected = " holds answers to binary questions", "choices, for label sets"
            got = "accept, reject and ignore"
            raise refused("kind-unfit", what, expected, got, "leave kind out")
        if view == _BINARY or self.kind is not None:
            return self.kind or "single-label"
        configs = [entry_of(line.fields.get("config")) for line in lines]
        styles = {config.get("choice_style") for config in configs if config}
        if any(len(answer) > 1 for answer in answers) or "multiple" in styles:
            return "label-set"
        if styles == {"single"}:
            return "single-label"
        what = " does not say whether several options could be chosen"
        expected = "an answer with two options, or the kind of the answers"
        do = as_argument("prodigy", kind="single-label") + ', or "label-set"'
        raise refused("kind-unclear", what, expected, "at most one option in each answer", do)
