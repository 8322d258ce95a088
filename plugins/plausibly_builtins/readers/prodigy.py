"""Prodigy: JSON Lines with one answer a line, to binary questions or choices."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, NoReturn, TypeAlias

import attrs
import xarray as xr

from plausibly.plugin import (
    AnnotationTable,
    Duplicates,
    InputError,
    JsonNumber,
    NamedPrediction,
    Response,
    ResponseOptions,
    counted,
    from_named,
    json_head,
    json_shown,
    listed,
    quoted,
)
from plausibly_builtins.readers._columns import objects
from plausibly_builtins.readers._exports import short

Kind: TypeAlias = Literal["single-label", "label-set"]
Line: TypeAlias = Mapping[str, object]

_ACCEPT, _REJECT, _IGNORE = "accept", "reject", "ignore"
_ANSWERS = (_ACCEPT, _REJECT, _IGNORE)
_CHOICE = "choice"
_BINARY = "classification"
_HASHES = {_BINARY: "_task_hash", _CHOICE: "_input_hash"}
_OWN = ("_input_hash", "_task_hash", "_view_id")
_TIME_STAMP = re.compile(r"(?:.*-)?\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d", re.DOTALL)
_VERSIONS = "versions that a review lists"


@attrs.frozen(kw_only=True)
class Prodigy(ResponseOptions):
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
    duplicates: Duplicates = attrs.field(
        default="latest",
        validator=attrs.validators.in_(("error", "latest", "all", "fractional")),
        metadata={
            "help": "Several answers of one annotator to one example: the latest by its time, an "
            "error, all of them, or all of them with one vote together."
        },
    )

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether the first line is an answer with a hash or view of Prodigy."""
        values = json_head(head)
        first = values[0] if values else None
        return (
            isinstance(first, dict)
            and first.get("answer") in _ANSWERS
            and any(key in first for key in _OWN)
        )

    def read(self, path: Path, labels: Sequence[str] | None) -> AnnotationTable:
        """Return the annotation table in the file."""
        lines = objects(path)
        view = _view(path, lines)
        offered = self._offered(path, view, lines)
        answers = [_answer(path, number, line, view) for number, line in lines]
        kind = self._kind(path, view, lines, answers)
        responses = [
            Response(
                example=self._example(path, number, line, view),
                annotator=_annotator(path, number, line),
                answer=answer[0] if kind == "single-label" and len(answer) == 1 else answer,
                state="answered" if _counts(line, view) else "skipped",
                time=_time(path, number, line),
                place=f"line {counted(number)}",
            )
            for (number, line), answer in zip(lines, answers, strict=True)
        ]
        versions = [line.get("versions") for _, line in lines]
        return self.gathered(
            kind,
            responses,
            labels,
            whose=path.name,
            offered=offered,
            left_out={_VERSIONS: sum(len(v) for v in versions if isinstance(v, list))},
        )

    def predictions(
        self, path: Path, labels: Sequence[str] | None, model: str | None
    ) -> xr.DataArray:
        """Return the scores of the model in the loop, (example, label)."""
        lines = objects(path)
        view = _view(path, lines)
        offered = self._offered(path, view, lines)
        found: dict[str, NamedPrediction] = {}
        for number, line in lines:
            name = self._example(path, number, line, view)
            said = _option_scores(line) if view == _CHOICE else _scores(line)
            # An example that several were asked about stands in several lines, scored once.
            place = f"line {counted(number)}"
            found.setdefault(
                name, NamedPrediction(example=name, model="", scores=said, place=place)
            )
        return from_named(
            found.values(), labels or offered, whose=path.name, model=model, examples=list(found)
        )

    def _offered(self, path: Path, view: str, lines: Sequence[tuple[int, Line]]) -> list[str]:
        """Return the labels that could be named, in order of appearance."""
        if view == _CHOICE:
            ids = [name for number, line in lines for name in _options(path, number, line)]
            return list(dict.fromkeys(ids))
        asked = sorted({str(line["label"]) for _, line in lines})
        if self.example is not None and len(asked) > 1:
            raise InputError(
                "labels-several",
                f"{path.name} asks about {len(asked)} labels",
                expected=f"one label, where {quoted(self.example)} names the examples",
                got=listed(map(short, asked)),
                do="leave example out: then each example with a label is a question of its own",
                whose=path.name,
            )
        return [_ACCEPT, _REJECT]

    def _example(self, path: Path, number: int, line: Line, view: str) -> str:
        key = self.example if self.example is not None else _HASHES[view]
        value = line.get(key)
        if isinstance(value, str) and value:
            return str(value)
        raise InputError(
            "example-unnamed",
            f"{path.name} line {counted(number)} names no example",
            expected=f"text or a number as {quoted(key)}",
            got=json_shown(value) if key in line else "no such key",
            do='--reader \'{name = "prodigy", example = "KEY"}\' with a key that names them',
            whose=path.name,
            details={"line": number},
        )

    def _kind(
        self,
        path: Path,
        view: str,
        lines: Sequence[tuple[int, Line]],
        answers: Sequence[Sequence[str]],
    ) -> str:
        several = any(len(answer) > 1 for answer in answers)
        if view == _BINARY and self.kind == "label-set":
            raise InputError(
                "kind-unfit",
                f"{path.name} holds answers to binary questions",
                expected="choices, where the answers are label sets",
                got="accept, reject and ignore",
                do="leave kind out",
                whose=path.name,
            )
        if view == _BINARY or self.kind is not None:
            return self.kind or "single-label"
        configs = [line.get("config") for _, line in lines]
        styles = {c.get("choice_style") for c in configs if isinstance(c, dict)}
        if several or "multiple" in styles:
            return "label-set"
        if styles == {"single"}:
            return "single-label"
        raise InputError(
            "kind-unclear",
            f"{path.name} does not say whether several options could be chosen",
            expected="an answer with two options, or the kind of the answers",
            got="at most one option in each answer",
            do='--reader \'{name = "prodigy", kind = "single-label"}\', or "label-set"',
            whose=path.name,
        )


def _view(path: Path, lines: Sequence[tuple[int, Line]]) -> str:
    """Return the view of all lines: choices, or binary questions."""
    first: dict[str, int] = {}
    for number, line in lines:
        found = line.get("_view_id")
        if found is None or found == _BINARY:
            found = _CHOICE if "options" in line else "spans" if line.get("spans") else _BINARY
        if found not in _HASHES or (found == _BINARY and not isinstance(line.get("label"), str)):
            raise InputError(
                "view-unfit",
                f"{path.name} line {counted(number)} is no choice and no question about a label",
                expected='"options", or "label" as text, in the view choice or classification',
                got=f"the view {json_shown(found)}" + (" without label" * (found == _BINARY)),
                do="export the answers of such a view only",
                whose=path.name,
                details={"line": number},
            )
        first.setdefault(str(found), number)
    if len(first) > 1:
        raise InputError(
            "views-several",
            f"{path.name} holds answers of two views",
            expected="choices, or questions about a label",
            got=listed(f"{view} in line {counted(number)}" for view, number in first.items()),
            do="put each into a file of its own",
            whose=path.name,
        )
    return next(iter(first))


def _unfit(path: Path, number: int, key: str, expected: str, value: object) -> NoReturn:
    raise InputError(
        "answer-unfit",
        f"{path.name} line {counted(number)} holds no answer as {quoted(key)}",
        expected=expected,
        got=json_shown(value),
        do="mend that line, or export again",
        whose=path.name,
        details={"line": number},
    )


def _options(path: Path, number: int, line: Line) -> list[str]:
    options = line.get("options")
    ids = [o.get("id") if isinstance(o, dict) else None for o in _listed(options)]
    if not ids or not all(isinstance(name, str) and name for name in ids):
        _unfit(path, number, "options", 'options with ids: [{"id": "cat"}]', options)
    return [str(name) for name in ids]


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _counts(line: Line, view: str) -> bool:
    """Return whether the answer names labels: not where it was ignored, or a choice rejected."""
    return line["answer"] == _ACCEPT or (line["answer"] == _REJECT and view == _BINARY)


def _answer(path: Path, number: int, line: Line, view: str) -> list[str]:
    """Return the labels that an answer names."""
    answer = line.get("answer")
    if answer not in _ANSWERS:
        _unfit(path, number, "answer", listed(_ANSWERS), answer)
    if not _counts(line, view):
        return []
    if view == _BINARY:
        return [str(answer)]
    chosen = line.get("accept")
    options = _options(path, number, line)
    if not isinstance(chosen, list) or not all(name in options for name in chosen):
        _unfit(path, number, "accept", f"ids among {listed(map(short, options))}", chosen)
    return list(dict.fromkeys(map(str, chosen)))


def _scores(line: Line) -> tuple[tuple[str, float], ...]:
    meta = line.get("meta")
    score = line.get("score", meta.get("score") if isinstance(meta, dict) else None)
    if not isinstance(score, JsonNumber) or not 0 <= score.value <= 1:
        return ()
    return ((_ACCEPT, score.value), (_REJECT, 1 - score.value))


def _option_scores(line: Line) -> tuple[tuple[str, float], ...]:
    return tuple(
        (str(option["id"]), option["score"].value)
        for option in _listed(line.get("options"))
        if isinstance(option, dict) and isinstance(option.get("score"), JsonNumber)
    )


def _annotator(path: Path, number: int, line: Line) -> str | None:
    key = "_annotator_id" if line.get("_annotator_id") is not None else "_session_id"
    name = line.get(key)
    if name is not None and not isinstance(name, str):
        _unfit(path, number, key, "the name of a session", name)
    return str(name) if name and not _TIME_STAMP.fullmatch(name) else None


def _time(path: Path, number: int, line: Line) -> float | None:
    time = line.get("_timestamp")
    if time is not None and not isinstance(time, JsonNumber):
        _unfit(path, number, "_timestamp", "seconds", time)
    return None if time is None else time.value
