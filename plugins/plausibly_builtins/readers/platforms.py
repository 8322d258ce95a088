"""Crowd platforms: how they call the columns of their tables, and write states, times, answers."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import attrs

from plausibly.plugin import InputError, listed, near, quoted
from plausibly.plugin.readers import TextTable, parse_json, states
from plausibly_builtins.readers.base import (
    LONG,
    TASK_ANSWERS,
    VOTE,
    Columns,
    as_argument,
    choose,
    columns_missing,
    form_labels,
    from_iso,
    refused,
    row_refused,
    short,
)

_NO_ANSWER = (":confidence", "_gold", "_gold_reason")
_UNIX_TIME = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,9})?")
_NAMED = re.compile(r"[A-Z][a-z]{2} ([A-Z][a-z]{2} [0-9]{1,2} [0-9:]{8}) ([A-Z]{3}) ([0-9]{4})")
_NUMBER = re.compile(r"[0-9]{1,15}(\.[0-9]{1,15})?")


@attrs.frozen(kw_only=True)
class _Platform:
    """Columns of a platform, and the states in them in small letters."""

    columns: Mapping[str, str]
    words: Mapping[str, str]
    answers: str
    golden: str = ""


def _roles(task: str, worker: str, time: str, state: str, start: str = "") -> dict[str, str]:
    names = {"task": task, "worker": worker, "time": time, "state": state}
    return {role: f"{start}{name}" for role, name in names.items()}


_ACCEPTED = dict.fromkeys(("approved", "submitted"), states.ANSWERED)
PLATFORMS: Mapping[str, _Platform] = {
    "toloka": _Platform(
        columns=_roles("task_id", "worker_id", "submitted", "status", start="ASSIGNMENT:"),
        words={
            **_ACCEPTED,
            "accepted": states.ANSWERED,
            "rejected": states.REJECTED,
            "skipped": states.SKIPPED,
            "active": states.UNFINISHED,
            "expired": states.UNFINISHED,
        },
        answers="OUTPUT:",
        golden="GOLDEN:",
    ),
    "mturk": _Platform(
        columns=_roles("HITId", "WorkerId", "SubmitTime", "AssignmentStatus"),
        words={**_ACCEPTED, "rejected": states.REJECTED},
        answers="Answer.",
    ),
    "figure-eight": _Platform(
        columns=_roles("_unit_id", "_worker_id", "_created_at", "_tainted"),
        words={"false": states.ANSWERED, "true": states.REJECTED},
        answers="Answer.",
        golden="_golden",
    ),
}


def platform_of(header: Sequence[str], mapped: Mapping[str, str]) -> str | None:
    """Return the platform whose columns are unmistakably there; None where none or several are."""
    found: list[str] = []
    for name, of in PLATFORMS.items():
        # Of Toloka's columns the worker's is enough; the task may be named by an input.
        marks = [of.columns[role] for role in ("worker", "task")[: 1 if name == "toloka" else 2]]
        answered = "label" in mapped or name == "figure-eight" or _starting(of.answers, header)
        if answered and all(mark in header for mark in marks):
            found.append(name)
    return found[0] if len(found) == 1 else None


def _starting(start: str, header: Sequence[str]) -> list[str]:
    return [name for name in header if name.startswith(start) and len(name) > len(start)]


def columns_of(
    table: TextTable, name: str, mapped: Mapping[str, str], answer: str | None
) -> Columns:
    """Return which column of a table of a platform holds what."""
    of, header = PLATFORMS[name], table.header if table.named else ()
    found = {role: n for role, n in of.columns.items() if role in VOTE or n in header}
    inputs = _starting("INPUT:", header)
    if name == "toloka" and found["task"] not in header and len(inputs) == 1:
        found["task"] = inputs[0]
    label, question = _answers(table, name, answer, mapped.get("label"))
    golden = _starting(of.golden, header) if name == "toloka" else [of.golden]
    return Columns(
        called={**found, **mapped, "label": label},
        words={**{word: word for word in states.STATES}, **of.words},
        golden=tuple(n for n in golden if n and n in header),
        separator="\n" if name == "figure-eight" else None,
        json=label.endswith(TASK_ANSWERS),
        question=question,
        months_first=name == "figure-eight",
    )


def _answers(
    table: TextTable, name: str, answer: str | None, mapped: str | None
) -> tuple[str, str | None]:
    """Return the column of the answers, and the question in it."""
    preset, header = PLATFORMS[name], table.header
    if mapped is not None:
        return mapped, answer
    whole = f"{preset.answers}{TASK_ANSWERS}"
    if answer is not None:
        fit = [n for n in (f"{preset.answers}{answer}", answer) if n in header]
        if not fit and whole in header:
            return whole, answer
        return fit[0] if fit else f"{preset.answers}{answer}", None
    found = _starting(preset.answers, header)
    if name == "figure-eight" and not found:
        others = [n for n in header if not n.startswith("_") and not n.endswith(_NO_ANSWER)]
        found = [n for n in others if f"{n}_gold" in header] or others
    if not found:
        do = as_argument("crowd-table", answer="COLUMN")
        expected = f"one as {name} writes it, such as {preset.answers}NAME"
        raise columns_missing(table, "answers", expected, do)
    names = ("answer-unclear", "answer-unclear")
    return choose(("crowd-table", "answer"), "columns", found, None, names), None


# ---- cells


@attrs.frozen(kw_only=True)
class Answers:
    """The labels that each row names, and whether it has no answer, not even the empty set."""

    labels: list[list[str]]
    nothing: list[bool]
    offered: list[str] | None = None


def answers_of(
    table: TextTable, columns: Columns, separator: str | None, missing: Sequence[str]
) -> Answers:
    cells = table.column(columns.called["label"])
    skipped = {"", *missing}
    if columns.json:
        return _from_json(table, cells, columns.question, skipped)
    labels: list[list[str]] = []
    for cell in cells:
        parts = [cell] if separator is None else cell.split(separator)
        if separator == "\n":
            parts = [part.removesuffix("\r") for part in parts]
        named = (part for part in dict.fromkeys(parts) if part not in skipped)
        labels.append([part for part in named if not part.isspace()])
    return Answers(labels=labels, nothing=[not named for named in labels])


def _from_json(
    table: TextTable, cells: Sequence[str], question: str | None, skipped: set[str]
) -> Answers:
    answers = [_questions(table, row, cell) if cell else {} for row, cell in enumerate(cells)]
    known = sorted({name for answer in answers for name in answer})
    if question is not None and question not in known:
        got = f"questions {listed(map(quoted, known))}" if known else "no question"
        what, expected = f" has no answer to {short(question)}", "a column, or a question in one"
        raise refused("columns-missing", what, expected, got, "name one that is there")
    if question is None and known:
        names = ("answer-unclear", "answer-unclear")
        question = choose(("crowd-table", "answer"), "questions", known, None, names)
    found = Answers(labels=[], nothing=[])
    choices: list[tuple[str, ...]] = []
    for row, answer in enumerate(answers):
        value = None if question is None else answer.get(question)
        named: list[str] | None = []
        if isinstance(value, bool):
            named = ["true" if value else "false"]
        elif value is not None:
            named = form_labels({"labels": value} if isinstance(value, list) else value)
        if named is None:
            raise _unreadable(table, row, value)
        labels = [label for label in dict.fromkeys(named) if label not in skipped]
        found.labels.append(labels)
        found.nothing.append(value is None or (bool(named) and not labels) or value == "")
        if isinstance(value, dict) and all(isinstance(chosen, bool) for chosen in value.values()):
            choices.append(tuple(label for label in value if label not in skipped))
    if choices and len(choices) == len(answers) - sum(found.nothing):
        alike = len(set(choices)) == 1
        offered = list(choices[0]) if alike else sorted(set().union(*choices))
        return attrs.evolve(found, offered=offered)
    return found


def _questions(table: TextTable, row: int, cell: str) -> dict[str, object]:
    """Return the answers in a cell by their question."""
    value = parse_json(cell, table.whose, table.lines[row], "the answers as JSON", "cell")
    found: dict[str, object] = {}
    for part in value if isinstance(value, list) else [value]:
        if not isinstance(part, dict) or found.keys() & part.keys():
            raise _unreadable(table, row, part)
        found |= part
    return found


def _unreadable(table: TextTable, row: int, value: object) -> InputError:
    expected = '{"QUESTION": {"label": "A"}}, or {"QUESTION": {"A": true, "B": false}}'
    do = "name another question or column as answer; fix it otherwise"
    what, got = " has an answer that names no label", short(repr(value))
    return row_refused(table, row, "answer-unreadable", what, expected, got, do)


def _seconds(text: str, months_first: bool) -> tuple[str, float]:
    """Return in which way a time is written, and its seconds; ValueError where in none."""
    if _UNIX_TIME.fullmatch(text):
        return "a number", float(text)
    if named := _NAMED.fullmatch(text):
        time = datetime.strptime(f"{named[1]} {named[3]}", "%b %d %H:%M:%S %Y")
        found = from_iso(f"{time} {named[2]}")
    elif months_first and "/" in text:
        found = datetime.strptime(text, "%m/%d/%Y %H:%M:%S")
    else:
        found = from_iso(text)
    if found.tzinfo is None:
        return "without a zone", found.replace(tzinfo=UTC).timestamp()
    return "with a zone", found.timestamp()


def times_of(table: TextTable, columns: Columns) -> list[float | None]:
    """Return the time of each row, in seconds; None where the cell is empty."""
    found: list[float | None] = []
    first: tuple[str, int] | None = None
    for row, text in enumerate(table.column(columns.called["time"])):
        if not text:
            found.append(None)
            continue
        try:
            way, time = _seconds(text, columns.months_first)
        except (ValueError, OverflowError):
            what = f" has the time {short(text)}"
            expected = "a number, 2018-01-24T09:51:16, or Wed Jan 24 09:51:16 PST 2018"
            do = "write all times in one of these ways"
            raise row_refused(
                table, row, "time-unreadable", what, expected, "neither", do
            ) from None
        first = first or (way, row)
        if way != first[0]:
            expected = f"as in {table.unit} {table.lines[first[1]]}: {first[0]}"
            what, do = f" has a time that is {way}", "write all times in one way"
            raise row_refused(table, row, "times-unlike", what, expected, short(text), do)
        found.append(time)
    return found


def states_of(table: TextTable, columns: Columns) -> list[str]:
    if "state" not in columns.called:
        return [states.ANSWERED] * len(table)
    words = {"": states.ANSWERED, **columns.words}
    found: list[str] = []
    for row, cell in enumerate(table.column(columns.called["state"])):
        state = words.get(cell.casefold())
        if state is None:
            meant = near(cell, columns.words) if len(cell) <= LONG else None
            do = f"did you mean {meant}? fix it" if meant else "fix it, or leave it empty"
            what, expected = f" has the state {short(cell)}", listed(columns.words, most=16)
            raise row_refused(table, row, "state-unknown", what, expected, "another word", do)
        found.append(state)
    return found


def weights_of(table: TextTable, columns: Columns) -> list[float]:
    """Return how many times each row counts."""
    if "weight" not in columns.called:
        return [1.0] * len(table)
    found: list[float] = []
    for row, cell in enumerate(table.column(columns.called["weight"])):
        weight = float(cell) if _NUMBER.fullmatch(cell) else 0.0
        if not 0 < weight < math.inf:
            what, expected = f" has the weight {short(cell)}", "a number above 0, such as 1 or 0.5"
            got, do = short(cell) if cell else "an empty cell", "fix it, or remove the row"
            raise row_refused(table, row, "weight-unreadable", what, expected, got, do)
        found.append(weight)
    return found
