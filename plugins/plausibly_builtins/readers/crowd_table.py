"""Crowd tables: one row per vote, with the columns task, worker and label."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta, timezone
from itertools import zip_longest
from pathlib import Path
from typing import Literal, TypeAlias

import attrs

from plausibly.plugin import (
    AnnotationTable,
    InputError,
    JsonNumber,
    Response,
    ResponseOptions,
    TextTable,
    columns_hint,
    counted,
    first_row,
    listed,
    near,
    parse_json,
    quoted,
    read_table,
    several,
    states,
    table_from_codes,
    warn,
)
from plausibly_builtins.readers._exports import LIKE_MISSING, short, warn_like_missing


@attrs.frozen(kw_only=True)
class Said:
    """What the cells say.

    Attributes
    ----------
    labels : list of list of str
        The labels that each row names, each once.
    nothing : list of bool
        Whether a row has no answer at all, which is less than one with no label.
    offered : list of str or None
        The labels from which all could choose.
    """

    labels: list[list[str]]
    nothing: list[bool]
    offered: list[str] | None = None


def said(table: TextTable, columns: Columns, separator: str | None, missing: Sequence[str]) -> Said:
    """Return the labels in each row."""
    cells = table.column(columns.label)
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
    return Said(labels=labels, nothing=[not named for named in labels])


def _from_json(
    table: TextTable, cells: Sequence[str], question: str | None, skipped: set[str]
) -> Said:
    answers = [_questions(table, row, cell) if cell else {} for row, cell in enumerate(cells)]
    asked = list(dict.fromkeys(name for answer in answers for name in answer))
    if question is None and len(asked) > 1:
        raise InputError(
            "answer-unclear",
            f"{table.whose} answers {len(asked)} questions in one cell",
            expected="the name of one",
            got=listed(map(quoted, sorted(asked))),
            do=f'--reader \'{{name = "crowd-table", answer = "{min(asked)}"}}\'',
            whose=table.whose,
            details={"questions": sorted(asked)},
        )
    if question is not None and question not in asked:
        raise InputError(
            "columns-missing",
            f"{table.whose} has no answer to {short(question)}",
            expected="a column, or a question in one",
            got=f"questions {listed(map(quoted, sorted(asked)))}" if asked else "no question",
            do="name one that is there",
            whose=table.whose,
        )
    labels: list[list[str]] = []
    nothing: list[bool] = []
    choices: list[tuple[str, ...]] = []
    for row, answer in enumerate(answers):
        value = answer.get(asked[0] if question is None else question) if asked else None
        named = [] if value is None else _labels(table, row, value)
        labels.append([label for label in dict.fromkeys(named) if label not in skipped])
        nothing.append(value is None or (bool(named) and not labels[-1]) or value == "")
        if isinstance(value, dict) and _of_choices(value):
            choices.append(tuple(label for label in value if label not in skipped))
    offered = None
    if choices and len(choices) == len(answers) - sum(nothing):
        alike = len(set(choices)) == 1
        offered = list(choices[0]) if alike else sorted({n for some in choices for n in some})
    return Said(labels=labels, nothing=nothing, offered=offered)


def _of_choices(value: dict[str, object]) -> bool:
    """Return whether a value says of each label whether it was chosen."""
    return bool(value) and all(isinstance(chosen, bool) for chosen in value.values())


def _questions(table: TextTable, row: int, cell: str) -> dict[str, object]:
    """Return the answers in a cell by their question."""
    value = parse_json(cell, table.whose, table.lines[row], "the answers as JSON", "cell")
    found: dict[str, object] = {}
    for part in value if isinstance(value, list) else [value]:
        if not isinstance(part, dict):
            raise _unreadable(table, row, part)
        if found.keys() & part.keys():
            raise _unreadable(table, row, part)
        found |= part
    return found


def _labels(table: TextTable, row: int, value: object) -> list[str]:
    if isinstance(value, dict) and _of_choices(value):
        return [name for name, chosen in value.items() if chosen]
    if isinstance(value, dict) and len(value) == 1 and value.keys() <= {"label", "labels"}:
        (value,) = value.values()
    if isinstance(value, bool):
        return ["true" if value else "false"]
    if value == "":
        return []
    if isinstance(value, (str, JsonNumber)):
        return [str(value)]
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return [str(one) for one in value]
    raise _unreadable(table, row, value)


def _unreadable(table: TextTable, row: int, value: object) -> InputError:
    return InputError(
        "answer-unreadable",
        f"{table.place(row)} has an answer that names no label",
        expected='{"QUESTION": {"label": "A"}}, or {"QUESTION": {"A": true, "B": false}}',
        got=short(repr(value)),
        do="answer = ... names another question or column; mend it otherwise",
        whose=table.whose,
        details={"line": table.lines[row]},
    )


_LONG = 200  # longer names are no slips of the pen, and dear to compare


def no_votes(table: TextTable, got: str) -> InputError:
    """Return the error about a table without a vote."""
    return InputError(
        "annotations-empty",
        f"{table.whose} names no label",
        expected="one row a vote",
        got=got,
        do="write it again, or name another file",
        whose=table.whose,
    )


def check_tasks(table: TextTable, task: Sequence[str]) -> None:
    """Raise ``example-unnamed`` where a row names no task."""
    unnamed = [row for row, name in enumerate(task) if not name]
    if unnamed:
        raise InputError(
            "example-unnamed",
            f"{table.whose} names no task in {table.places(unnamed)}",
            expected="the name of a task",
            got="an empty cell",
            do="name it, or remove the row",
            whose=table.whose,
            details={"lines": [table.lines[row] for row in unnamed]},
        )


def check_declared(
    table: TextTable,
    worker: Sequence[str],
    named: Sequence[Sequence[str]],
    labels: Sequence[str],
    rows: Sequence[int],
) -> None:
    """Raise ``label-unknown`` where one of the rows names a label that is not declared."""
    known = set(labels)
    outside = Counter(label for row in rows for label in named[row] if label not in known)
    if not outside:
        return
    row, said = next((row, n) for row in rows for n in named[row] if n in outside)
    meant = near(said, labels) if len(said) <= _LONG else None
    if said in LIKE_MISSING:
        do = f'--missing {said}, if it means "no answer"'
    elif meant:
        do = f"did you mean {quoted(meant)}? mend it, or declare it in --labels"
    else:
        do = "mend it, or declare it in --labels"
    raise InputError(
        "label-unknown",
        f"{table.place(row)}, {worker[row] or 'an unknown annotator'} says {short(said)}",
        expected=f"one of {several(len(labels), 'declared label')}",
        got=f"{several(len(outside), 'label')} outside ({several(sum(outside.values()), 'vote')})",
        do=do,
        whose=table.whose,
        details={"labels": dict(outside), "line": table.lines[row]},
    )


def check_once(table: TextTable, answers: Sequence[Response], do: str) -> None:
    """Raise ``response-twice`` where a worker answers a task again."""
    pairs = Counter((r.example, r.annotator) for r in answers if r.annotator is not None)
    if max(pairs.values(), default=1) == 1:
        return
    again: dict[str, list[str]] = {}
    for (about, who), count in pairs.items():
        if count > 1:
            again.setdefault(str(who), []).append(about)
    first = next(iter(again))
    others = len(again) - 1
    raise InputError(
        "response-twice",
        f"{table.whose}: {first} answered {several(len(again[first]), 'task')} again "
        f"({listed(again[first])})",
        expected="one response an annotator and task",
        got=f"up to {counted(max(pairs.values()))}"
        + (f", also by {several(others, 'other')}" if others else ""),
        do=do,
        whose=table.whose,
        details={"annotators": again},
    )


PresetName: TypeAlias = Literal["crowd-kit", "toloka", "mturk", "figure-eight"]
PRESETS = ("crowd-kit", "toloka", "mturk", "figure-eight")
NEEDED = ("task", "worker", "label")
OPTIONAL = ("weight", "time", "state")

_TASK_ANSWERS = "taskAnswers"
_WORKERS = ("worker", "performer", "annotator")
_NO_ANSWER = (":confidence", "_gold", "_gold_reason")


@attrs.frozen(kw_only=True)
class Columns:
    """Where what stands in a crowd table.

    Attributes
    ----------
    task, worker, label : str
        The columns of every vote.
    weight, time, state : str or None
        Those that a vote may have besides.
    words : mapping of str to str
        State of each word in the column of states, in small letters.
    golden : tuple of str
        Columns that are filled where the answer to a task is known.
    separator : str or None
        What stands between the labels of a cell, where the platform says so.
    json : bool
        Whether the cells of the labels hold JSON, and `question` which part is meant.
    months_first : bool
        Whether 7/12/2014 is in July.
    """

    task: str
    worker: str
    label: str
    weight: str | None = None
    time: str | None = None
    state: str | None = None
    words: Mapping[str, str] = attrs.field(factory=lambda: {word: word for word in states.STATES})
    golden: tuple[str, ...] = ()
    separator: str | None = None
    json: bool = False
    question: str | None = None
    months_first: bool = False

    def called(self) -> dict[str, str]:
        """Return the columns by what they hold."""
        found = {role: getattr(self, role) for role in (*NEEDED, *OPTIONAL)}
        return {role: name for role, name in found.items() if name is not None}


@attrs.frozen(kw_only=True)
class _Preset:
    task: str
    worker: str
    time: str
    state: str
    words: Mapping[str, str]
    answers: str = ""
    golden: str = ""


_PLATFORMS: Mapping[str, _Preset] = {
    "toloka": _Preset(
        task="ASSIGNMENT:task_id",
        worker="ASSIGNMENT:worker_id",
        time="ASSIGNMENT:submitted",
        state="ASSIGNMENT:status",
        words={
            "accepted": states.ANSWERED,
            "approved": states.ANSWERED,
            "submitted": states.ANSWERED,
            "rejected": states.REJECTED,
            "skipped": states.SKIPPED,
            "active": states.UNFINISHED,
            "expired": states.UNFINISHED,
        },
        answers="OUTPUT:",
        golden="GOLDEN:",
    ),
    "mturk": _Preset(
        task="HITId",
        worker="WorkerId",
        time="SubmitTime",
        state="AssignmentStatus",
        words={
            "approved": states.ANSWERED,
            "submitted": states.ANSWERED,
            "rejected": states.REJECTED,
        },
        answers="Answer.",
    ),
    "figure-eight": _Preset(
        task="_unit_id",
        worker="_worker_id",
        time="_created_at",
        state="_tainted",
        words={"false": states.ANSWERED, "true": states.REJECTED},
        answers="Answer.",
        golden="_golden",
    ),
}


def recognised(header: Sequence[str], given: Mapping[str, str]) -> str | None:
    """Return the preset whose columns are unmistakably there; None where none or several are."""
    if all(given.get(role, role) in header for role in NEEDED) and not set(given) >= {*NEEDED}:
        return None
    found = [name for name in _PLATFORMS if _is_of(name, header, given)]
    if not found and len(_worker_of(header)) == 1:
        others = [given.get(role, role) for role in ("task", "label")]
        found = ["crowd-kit"] * ("worker" not in given and all(name in header for name in others))
    return found[0] if len(found) == 1 else None


def _is_of(name: str, header: Sequence[str], given: Mapping[str, str]) -> bool:
    preset = _PLATFORMS[name]
    # Of Toloka's columns the worker's is enough; a task may be told by an input.
    marks = (preset.worker,) if name == "toloka" else (preset.worker, preset.task)
    if not all(mark in header for mark in marks):
        return False
    return "label" in given or name == "figure-eight" or bool(_starting(preset.answers, header))


def _worker_of(header: Sequence[str]) -> list[str]:
    return [name for name in _WORKERS if name in header]


def _starting(start: str, header: Sequence[str]) -> list[str]:
    return [name for name in header if name.startswith(start) and len(name) > len(start)]


def check_given(whose: str, given: Mapping[str, str]) -> None:
    """Raise ``columns-unknown`` where a column is named that no crowd table has."""
    known = (*NEEDED, *OPTIONAL)
    unknown = [role for role in given if role not in known]
    if unknown:
        meant = near(unknown[0], known)
        raise InputError(
            "columns-unknown",
            f"{whose}: a crowd table has no {quoted(unknown[0])}",
            expected="task, worker and label, and where it has them weight, time and state",
            got=listed(given),
            do=f"did you mean {meant}?" if meant else "map task, worker or label",
            whose=whose,
        )


def columns_of(
    table: TextTable, preset: str | None, given: Mapping[str, str], answer: str | None
) -> Columns:
    """Return where what stands in a table."""
    check_given(table.whose, given)
    header = table.header if table.named else ()
    name = preset or recognised(header, given)
    of = _PLATFORMS.get(name or "")
    if of is None:
        start = dict(zip(NEEDED, NEEDED if table.named or given else ("1", "2", "3"), strict=True))
        workers = _worker_of(header)
        if name == "crowd-kit" and workers:
            start["worker"] = workers[0]
        if answer is not None:
            start["label"] = answer
        return _columns({**start, **given})
    found = {"task": of.task, "worker": of.worker}
    found |= {role: n for role, n in (("time", of.time), ("state", of.state)) if n in header}
    inputs = _starting("INPUT:", header)
    if name == "toloka" and of.task not in header and len(inputs) == 1:
        found["task"] = inputs[0]
    found |= given
    label, question = _answers(table, str(name), answer, given.get("label"))
    golden = [n for n in header if of.golden and n.startswith(of.golden)]
    return attrs.evolve(
        _columns({**found, "label": label}),
        words={**{word: word for word in states.STATES}, **of.words},
        golden=tuple(n for n in golden if name == "toloka" or n == of.golden),
        separator="\n" if name == "figure-eight" else None,
        json=label.endswith(_TASK_ANSWERS),
        question=question,
        months_first=name == "figure-eight",
    )


def _columns(found: Mapping[str, str]) -> Columns:
    return Columns(
        task=found["task"],
        worker=found["worker"],
        label=found["label"],
        weight=found.get("weight"),
        time=found.get("time"),
        state=found.get("state"),
    )


def _answers(
    table: TextTable, name: str, answer: str | None, given: str | None
) -> tuple[str, str | None]:
    """Return the column of the answers, and the question in it."""
    preset, header = _PLATFORMS[name], table.header
    if given is not None:
        return given, answer
    whole = f"{preset.answers}{_TASK_ANSWERS}"
    if answer is not None:
        fit = [n for n in (f"{preset.answers}{answer}", answer) if n in header]
        if fit:
            return fit[0], None
        return (whole, answer) if whole in header else (f"{preset.answers}{answer}", None)
    found = _starting(preset.answers, header)
    if name == "figure-eight" and not found:
        others = [n for n in header if not n.startswith("_") and not n.endswith(_NO_ANSWER)]
        found = [n for n in others if f"{n}_gold" in header] or others
    if not found:
        what = f"starts with {quoted(preset.answers)}" if name != "figure-eight" else "may do so"
        raise InputError(
            "columns-missing",
            f"{table.whose} has no column of answers",
            expected=f"one that {what}, as {name} writes it",
            got=listed(header),
            do='--reader \'{name = "crowd-table", answer = "COLUMN"}\'',
            whose=table.whose,
            details={"seen": list(header)},
        )
    if len(found) > 1:
        raise InputError(
            "answer-unclear",
            f"{table.whose} has {len(found)} columns that may hold the answers",
            expected="the name of one",
            got=listed(map(quoted, found)),
            do=f'--reader \'{{name = "crowd-table", answer = "{found[0]}"}}\'',
            whose=table.whose,
            details={"columns": found},
        )
    return found[0], None


_UNIX_TIME = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,9})?")
_NAMED = re.compile(r"[A-Z][a-z]{2} ([A-Z][a-z]{2} [0-9]{1,2} [0-9:]{8}) ([A-Z]{3}) ([0-9]{4})")
# By the name of the zone alone: what the platform's own server writes.
_HOURS = {"UTC": 0, "GMT": 0, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5}
_HOURS |= {"MST": -7, "MDT": -6, "PST": -8, "PDT": -7}


def from_iso(text: str) -> datetime:
    """Return a time as ISO 8601 has it, or with a zone by its name; ValueError if it is neither."""
    said, _, zone = text.rpartition(" ")
    if zone not in _HOURS:
        return datetime.fromisoformat(text)
    return datetime.fromisoformat(said).replace(tzinfo=timezone(timedelta(hours=_HOURS[zone])))


def _read(text: str, months_first: bool) -> tuple[str, float]:
    """Return in which way a time is told, and what can be compared; ValueError where in none."""
    if _UNIX_TIME.fullmatch(text):
        return "a number", float(text)
    named = _NAMED.fullmatch(text)
    if named:
        if named[2] not in _HOURS:
            raise ValueError(text)
        zone = timezone(timedelta(hours=_HOURS[named[2]]))
        found = datetime.strptime(f"{named[1]} {named[3]}", "%b %d %H:%M:%S %Y")
        return "with a zone", found.replace(tzinfo=zone).timestamp()
    if months_first and "/" in text:
        found = datetime.strptime(text, "%m/%d/%Y %H:%M:%S")
    else:
        found = from_iso(text)
    if found.tzinfo is None:
        return "without a zone", found.replace(tzinfo=UTC).timestamp()
    return "with a zone", found.timestamp()


def times(table: TextTable, column: Sequence[str], *, months_first: bool) -> list[float | None]:
    """Return the time of each row, in seconds; None where the cell is empty."""
    found: list[float | None] = []
    first: tuple[str, int] | None = None
    for row, text in enumerate(column):
        if not text:
            found.append(None)
            continue
        try:
            way, time = _read(text, months_first)
        except (ValueError, OverflowError):
            raise InputError(
                "time-unreadable",
                f"{table.place(row)} has the time {short(text)}",
                expected="a number, 2018-01-24T09:51:16, or Wed Jan 24 09:51:16 PST 2018",
                got="neither",
                do="write all times in one of these ways",
                whose=table.whose,
                details={"line": table.lines[row]},
            ) from None
        first = first or (way, row)
        if way != first[0]:
            raise InputError(
                "times-unlike",
                f"{table.place(row)} has a time that is {way}",
                expected=f"as in {table.unit} {table.lines[first[1]]}: {first[0]}",
                got=short(text),
                do="write all times in one way",
                whose=table.whose,
                details={"line": table.lines[row]},
            )
        found.append(time)
    return found


_NUMBER = re.compile(r"[0-9]{1,15}(\.[0-9]{1,15})?")


@attrs.frozen(kw_only=True)
class Rows:
    """What stands in the rows besides the answer.

    Attributes
    ----------
    task, worker : list of str
        As written.
    state : list of str
        State of each row, as far as the file says it.
    weight : list of float
        How many times each counts.
    time : list of float or None
        When each was given, where that is asked.
    when : list of str
        The same, as written.
    golden : list of bool
        Whether the answer to the task is known.
    """

    task: list[str]
    worker: list[str]
    state: list[str]
    weight: list[float]
    time: list[float | None]
    when: list[str]
    golden: list[bool]


def rows_of(table: TextTable, columns: Columns, *, timed: bool) -> Rows:
    """Return what stands in the rows; times are read only where `timed`."""
    size = len(table)
    when = [""] * size if columns.time is None else table.column(columns.time)
    golden = [False] * size
    for name in columns.golden:
        cells = table.column(name)
        golden = [
            g or cell.casefold() not in ("", "false") for g, cell in zip(golden, cells, strict=True)
        ]
    return Rows(
        task=table.column(columns.task),
        worker=table.column(columns.worker),
        state=_states(table, columns),
        weight=_weights(table, columns),
        time=times(table, when, months_first=columns.months_first) if timed else [None] * size,
        when=when,
        golden=golden,
    )


def _states(table: TextTable, columns: Columns) -> list[str]:
    if columns.state is None:
        return [states.ANSWERED] * len(table)
    cells = table.column(columns.state)
    words = {"": states.ANSWERED, **columns.words}
    found = {cell: words.get(cell.casefold()) for cell in dict.fromkeys(cells)}
    for row, cell in enumerate(cells):
        if found[cell] is None:
            meant = near(cell, columns.words) if len(cell) <= 200 else None
            raise InputError(
                "state-unknown",
                f"{table.place(row)} has the state {short(cell)}",
                expected=listed(columns.words, most=16),
                got="another word",
                do=f"did you mean {meant}? mend it" if meant else "mend it, or leave it empty",
                whose=table.whose,
                details={"line": table.lines[row]},
            )
    return [found[cell] or states.ANSWERED for cell in cells]


def _weights(table: TextTable, columns: Columns) -> list[float]:
    if columns.weight is None:
        return [1.0] * len(table)
    found: list[float] = []
    for row, cell in enumerate(table.column(columns.weight)):
        good = (
            _NUMBER.fullmatch(cell) is not None and math.isfinite(float(cell)) and float(cell) > 0
        )
        if not good:
            raise InputError(
                "weight-unreadable",
                f"{table.place(row)} has the weight {short(cell)}",
                expected="a number above 0, such as 1 or 0.5",
                got="an empty cell" if not cell else short(cell),
                do="mend it, or leave out rows that do not count",
                whose=table.whose,
                details={"line": table.lines[row]},
            )
        found.append(float(cell))
    return found


def responses_of(
    table: TextTable, rows: Rows, said: Said, used: Sequence[int], *, kind: str, merged: bool
) -> list[Response]:
    """Return one response a row, or where `merged` one of all rows of a worker about a task."""
    groups: dict[tuple[object, ...], list[int]] = {}
    for row in used:
        # Rows of unknown workers cannot be put together: each is an answer of its own.
        own = -1 if merged and rows.worker[row] else row
        key = (rows.task[row], rows.worker[row], rows.state[row], rows.weight[row], rows.when[row])
        groups.setdefault((*key, own), []).append(row)
    return [_response(table, rows, said, group, kind) for group in groups.values()]


def _response(
    table: TextTable, rows: Rows, said: Said, group: Sequence[int], kind: str
) -> Response:
    first = group[0]
    named = list(dict.fromkeys(label for row in group for label in said.labels[row]))
    state = rows.state[first]
    nothing = all(said.nothing[row] for row in group)
    answer: object = named
    if kind == "single-label":
        answer = named[0] if len(named) == 1 else named or None
    if nothing:
        answer = None
        # An empty cell is no answer, which is not an answer of no label.
        state = states.SKIPPED if state == states.ANSWERED else state
    return Response(
        example=rows.task[first],
        annotator=rows.worker[first] or None,
        answer=answer,
        state=state,
        weight=rows.weight[first],
        time=rows.time[first],
        place=f"{table.unit} {counted(table.lines[first])}",
    )


_OPTIONAL = attrs.validators.optional


def _one_answer(instance: CrowdTable, _: object, value: str | None) -> None:
    label = (instance.columns or {}).get("label")
    if value is not None and label is not None and not label.endswith("taskAnswers"):
        msg = f'"{value}" and columns, which calls the label "{label}", name the answers twice'
        raise ValueError(msg)


def _sets(instance: CrowdTable, _: object, value: str | None) -> None:
    if value is not None and instance.kind == "single-label":
        msg = "cells with several labels are no answers of the kind single-label"
        raise ValueError(msg)


@attrs.frozen(kw_only=True)
class CrowdTable(ResponseOptions):
    """Read CSV, TSV or Parquet with one row a vote: who said what of which task.

    Every value is kept as the text that was written; an empty label cell is a skip, an empty worker
    cell an unknown annotator. Other columns are not read.

    Attributes
    ----------
    header : bool or None
        Whether the first row names the columns; None looks whether the needed names are there.
    columns : mapping of str to str, or None
        The file's names for ``task``, ``worker`` and ``label``, where they differ; positions from
        ``"1"`` where there is no header (default: in this order). A file may also have ``weight``
        (how many times a vote counts), ``time`` (for ``duplicates = "latest"``) and ``state``
        (``rejected``, ``skipped``, …).
    kind : {"single-label", "label-set"} or None
        ``"label-set"``: all rows of one worker about one task are one set, unless a cell holds the
        set. None: label sets where cells name several labels.
    missing : tuple of str
        Labels that mean "no answer", besides the empty cell.
    delimiter : str or None
        ``","``, ``";"`` or a tab; None finds out.
    preset : {"crowd-kit", "toloka", "mturk", "figure-eight"} or None
        The platform that named the columns; None tells by them.
    answer : str or None
        The column of the answers, with or without ``OUTPUT:`` or ``Answer.``, or the question in
        ``Answer.taskAnswers``.
    separator : str or None
        What stands between the labels of a cell: answers are then label sets.
    golden : {"count", "drop"} or None
        What to do with votes on tasks of which the platform knows the answer; None counts them and
        warns.
    """

    header: bool | None = None
    columns: Mapping[str, str] | None = None
    kind: Literal["single-label", "label-set"] | None = None
    missing: tuple[str, ...] = ()
    delimiter: str | None = None
    preset: PresetName | None = attrs.field(
        default=None, validator=_OPTIONAL(attrs.validators.in_(PRESETS))
    )
    answer: str | None = attrs.field(default=None, validator=_one_answer)
    separator: str | None = attrs.field(
        default=None, validator=[_OPTIONAL(attrs.validators.min_len(1)), _sets]
    )
    golden: Literal["count", "drop"] | None = None

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether the needed columns are there by name, or by the positions given."""
        first = first_row(path, head, self.delimiter)
        if not first:
            return False
        given = self._given
        named = self._names_columns(first) if self.header is None else self.header
        if named:
            wanted = recognised(first, given)
            if self.preset is not None:
                return wanted == self.preset
            return wanted is not None or self._has_plain(first)
        width = len(first)
        return all(name.isdecimal() and 0 < int(name) <= width for name in given.values())

    def read(self, path: Path, labels: Sequence[str] | None) -> AnnotationTable:
        """Return the annotation table in the file."""
        return self.from_table(self._table(path), labels)

    def from_table(self, table: TextTable, labels: Sequence[str] | None) -> AnnotationTable:
        """Return the annotation table of columns of text; see `read`."""
        table = table.seen()
        columns = columns_of(table, self.preset, self._given, self.answer)
        called = columns.called()
        absent = [role for role, name in called.items() if name not in table.header]
        do = self._hint(table, absent, {*called.values()})
        table.need([*called.values(), *columns.golden], do=do)
        if not len(table):
            raise no_votes(table, "a header and no rows")
        self._check_golden(table, columns)
        if labels is None and columns.label in table.offered:
            offered = table.offered[columns.label]
            labels = [text for text in offered if text and text not in self.missing]
        plain = self._plain(table, columns, labels)
        if plain is not None:
            return plain
        rows = rows_of(table, columns, timed=self.duplicates == "latest")
        check_tasks(table, rows.task)
        used = self._without_golden(table, rows)
        separator = columns.separator if self.separator is None else self.separator
        if self.kind == "single-label":
            separator = None
        found = said(table, columns, separator, self.missing)
        kind = self._kind(found, used)
        if labels is None:
            names = Counter(label for row in used for label in found.labels[row])
            warn_like_missing(table.whose, names)
        else:
            counting = [row for row in used if self._counts(rows.state[row], kind)]
            check_declared(table, rows.worker, found.labels, labels, counting)
        self._check_any(table, found, used, labels)
        merged = self.kind == "label-set" and separator is None and not columns.json
        responses = responses_of(table, rows, found, used, kind=kind, merged=merged)
        if self.duplicates == "error":
            self._check_once(table, responses, kind, timed=columns.time is not None)
        return self.gathered(
            kind,
            responses,
            labels,
            whose=table.whose,
            offered=found.offered,
            left_out={"votes on tasks with a known answer": len(table) - len(used)},
        )

    def _plain(
        self, table: TextTable, columns: Columns, labels: Sequence[str] | None
    ) -> AnnotationTable | None:
        """Return the annotation table where there is nothing to be told; else None."""
        if self._needs_settling or set(columns.called()) != {*NEEDED} or columns.golden:
            return None
        if columns.json or columns.separator is not None:
            return None
        task, worker, label = (table.coded(columns.called()[role]) for role in NEEDED)
        said = {"", *self.missing}
        told = "" in task or "" in worker or (labels is None and LIKE_MISSING & {*label.names})
        if told or said.issuperset(label.names):
            return None
        try:
            return table_from_codes(
                "single-label",
                task,
                worker,
                label,
                labels,
                lambda text: () if text in said else ((str(text), 1, 1.0),),
            )
        except InputError:
            return None  # said again with the line

    @property
    def _needs_settling(self) -> bool:
        """Whether an answer can be more than the label in its cell, or a row less than one."""
        options = (self.states, self.none_of_these, self.separator, self.kind == "label-set")
        return self.duplicates != "error" or any(options)

    @property
    def _given(self) -> dict[str, str]:
        return dict(self.columns or {})

    def _table(self, path: Path) -> TextTable:
        return read_table(
            path,
            role="annotations",
            header=self._names_columns if self.header is None else self.header,
            delimiter=self.delimiter,
            repeats=True,
        )

    def _has_plain(self, first: Sequence[str]) -> bool:
        wanted = {role: role for role in NEEDED} | self._given
        if self.answer is not None:
            wanted["label"] = self.answer
        return all(name in first for name in wanted.values())

    def _names_columns(self, first: tuple[str, ...]) -> bool:
        if self.preset or self._has_plain(first) or recognised(first, self._given):
            return True
        # Positions are meant only where every column is given as one.
        wanted = {role: role for role in NEEDED} | self._given
        return not all(name.isdecimal() for name in wanted.values())

    def _hint(self, table: TextTable, absent: Sequence[str], taken: set[str]) -> str:
        if len(table.header) < len(NEEDED):
            return "name a table of votes; one label a task is the truth, or a summary"
        # A column of lists has no texts, and cannot be one of them.
        taken = taken | {*table.nested}
        columns = (column[:20] or [""] for column in table.columns)
        rows = [table.header, *zip_longest(*columns, fillvalue="")]
        if not table.named:
            return columns_hint(rows, NEEDED)
        free = [at for at, name in enumerate(table.header) if name not in taken]
        return columns_hint([[row[at] for at in free] for row in rows], absent)

    def _kind(self, found: Said, used: Sequence[int]) -> str:
        if self.kind is not None:
            return self.kind
        sets = self.separator is not None or any(len(found.labels[row]) > 1 for row in used)
        return "label-set" if sets else "single-label"

    def _counts(self, state: str, kind: str) -> bool:
        return states.policy(state, kind, self.states) == states.COUNT

    def _check_any(
        self, table: TextTable, found: Said, used: Sequence[int], labels: Sequence[str] | None
    ) -> None:
        stands = any(policy.startswith(states.AS_LABEL) for policy in self.states.values())
        named = labels is not None or found.offered is not None or stands
        if not named and not any(found.labels[row] for row in used):
            raise no_votes(table, f"{several(len(used), 'empty answer')} and no declared labels")

    def _check_once(
        self, table: TextTable, responses: Sequence[Response], kind: str, *, timed: bool
    ) -> None:
        every = self._as_typed('duplicates = "all"')
        latest = "latest, " if timed else ""
        do = f"keep one of them, or {every} (or {latest}fractional, first, last)"
        if self.kind != "label-set" and kind == "single-label":
            do += "; --kind label-set, if they are one answer"
        counting = [r for r in responses if r.answer and self._counts(r.state, kind)]
        check_once(table, counting, do)

    def _check_golden(self, table: TextTable, columns: Columns) -> None:
        if self.golden is not None and not columns.golden:
            raise InputError(
                "columns-missing",
                f"{table.whose} does not say of which tasks the answer is known",
                expected="GOLDEN:… as Toloka writes it, or _golden as Figure Eight does",
                got=f"{several(len(table.header), 'column')}",
                do="leave out golden, or name the preset",
                whose=table.whose,
            )

    def _without_golden(self, table: TextTable, rows: Rows) -> list[int]:
        """Return the rows without those on known tasks, where they are dropped."""
        if self.golden == "drop":
            return [row for row, known in enumerate(rows.golden) if not known]
        known = [row for row, known in enumerate(rows.golden) if known]
        if known and self.golden is None:
            tasks = len({rows.task[row] for row in known})
            warn(
                "answers-known",
                f"{table.whose}: the answer to {several(tasks, 'task')} is known "
                f"({several(len(known), 'vote')}, {table.places(known)})",
                expected="tasks of which only the annotators tell; these check the workers",
                got="each vote counts",
                do=self._as_typed('golden = "drop"') + ', or golden = "count"',
                whose=table.whose,
                stacklevel=6,
            )
        return list(range(len(table)))
