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
)
from plausibly_builtins.readers._columns import check_named
from plausibly_builtins.readers._exports import (
    HOURS,
    LIKE_MISSING,
    about,
    as_typed,
    from_iso,
    refused,
    short,
    told,
    warn_like_missing,
)

NEEDED = ("task", "worker", "label")
_ROLES = (*NEEDED, "weight", "time", "state")
_TASK_ANSWERS = "taskAnswers"
_WORKERS = ("worker", "performer", "annotator")
_NO_ANSWER = (":confidence", "_gold", "_gold_reason")
_LONG = 200  # longer names are no slips of the pen, and dear to compare
_UNIX_TIME = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,9})?")
_NAMED = re.compile(r"[A-Z][a-z]{2} ([A-Z][a-z]{2} [0-9]{1,2} [0-9:]{8}) ([A-Z]{3}) ([0-9]{4})")
_NUMBER = re.compile(r"[0-9]{1,15}(\.[0-9]{1,15})?")


@attrs.frozen(kw_only=True)
class _Platform:
    """How a platform calls its columns, and the states in them in small letters."""

    columns: Mapping[str, str]
    words: Mapping[str, str]
    answers: str
    golden: str = ""


_PLATFORMS: Mapping[str, _Platform] = {
    "toloka": _Platform(
        columns={
            "task": "ASSIGNMENT:task_id",
            "worker": "ASSIGNMENT:worker_id",
            "time": "ASSIGNMENT:submitted",
            "state": "ASSIGNMENT:status",
        },
        words={
            **dict.fromkeys(("accepted", "approved", "submitted"), states.ANSWERED),
            "rejected": states.REJECTED,
            "skipped": states.SKIPPED,
            **dict.fromkeys(("active", "expired"), states.UNFINISHED),
        },
        answers="OUTPUT:",
        golden="GOLDEN:",
    ),
    "mturk": _Platform(
        columns={
            "task": "HITId",
            "worker": "WorkerId",
            "time": "SubmitTime",
            "state": "AssignmentStatus",
        },
        words={
            **dict.fromkeys(("approved", "submitted"), states.ANSWERED),
            "rejected": states.REJECTED,
        },
        answers="Answer.",
    ),
    "figure-eight": _Platform(
        columns={
            "task": "_unit_id",
            "worker": "_worker_id",
            "time": "_created_at",
            "state": "_tainted",
        },
        words={"false": states.ANSWERED, "true": states.REJECTED},
        answers="Answer.",
        golden="_golden",
    ),
}


@attrs.frozen(kw_only=True)
class Columns:
    """The column of each role, and how cells are read: words of states, JSON, times."""

    called: Mapping[str, str]
    words: Mapping[str, str] = attrs.field(factory=lambda: {word: word for word in states.STATES})
    golden: tuple[str, ...] = ()
    separator: str | None = None
    json: bool = False
    question: str | None = None
    months_first: bool = False


def _row_refused(
    table: TextTable, row: int, name: str, what: str, expected: str, got: str, do: str
) -> InputError:
    where = table.place(row).removeprefix(table.whose)
    return refused(name, f"{where}{what}", expected, got, do, line=table.lines[row])


def recognised(header: Sequence[str], given: Mapping[str, str]) -> str | None:
    """Return the preset whose columns are unmistakably there; None where none or several are."""
    if all(given.get(role, role) in header for role in NEEDED) and not set(given) >= {*NEEDED}:
        return None
    found: list[str] = []
    for name, of in _PLATFORMS.items():
        # Of Toloka's columns the worker's is enough; a task may be told by an input.
        marks = [of.columns[role] for role in ("worker", "task")[: 1 if name == "toloka" else 2]]
        answered = "label" in given or name == "figure-eight" or _starting(of.answers, header)
        if answered and all(mark in header for mark in marks):
            found.append(name)
    if not found and sum(name in header for name in _WORKERS) == 1:
        others = [given.get(role, role) for role in ("task", "label")]
        found = ["crowd-kit"] * ("worker" not in given and all(name in header for name in others))
    return found[0] if len(found) == 1 else None


def _starting(start: str, header: Sequence[str]) -> list[str]:
    return [name for name in header if name.startswith(start) and len(name) > len(start)]


def columns_of(
    table: TextTable, preset: str | None, given: Mapping[str, str], answer: str | None
) -> Columns:
    """Return where what stands in a table."""
    unknown = [role for role in given if role not in _ROLES]
    if unknown:
        meant = near(unknown[0], _ROLES)
        raise refused(
            "columns-unknown",
            f": a crowd table has no {quoted(unknown[0])}",
            "task, worker and label, and where it has them weight, time and state",
            listed(given),
            f"did you mean {meant}?" if meant else "map task, worker or label",
        )
    header = table.header if table.named else ()
    name = preset or recognised(header, given)
    of = _PLATFORMS.get(name or "")
    if of is None:
        plain = NEEDED if table.named or given else ("1", "2", "3")
        found = dict(zip(NEEDED, plain, strict=True))
        if name == "crowd-kit":
            found["worker"] = next((one for one in _WORKERS if one in header), found["worker"])
        if answer is not None:
            found["label"] = answer
        return Columns(called=_in_order({**found, **given}))
    found = {role: n for role, n in of.columns.items() if role in NEEDED or n in header}
    inputs = _starting("INPUT:", header)
    if name == "toloka" and found["task"] not in header and len(inputs) == 1:
        found["task"] = inputs[0]
    label, question = _answers(table, str(name), answer, given.get("label"))
    golden = [n for n in header if of.golden and n.startswith(of.golden)]
    return Columns(
        called=_in_order({**found, **given, "label": label}),
        words={**{word: word for word in states.STATES}, **of.words},
        golden=tuple(n for n in golden if name == "toloka" or n == of.golden),
        separator="\n" if name == "figure-eight" else None,
        json=label.endswith(_TASK_ANSWERS),
        question=question,
        months_first=name == "figure-eight",
    )


def _in_order(found: Mapping[str, str]) -> dict[str, str]:
    return {role: found[role] for role in _ROLES if role in found}


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
        raise refused(
            "columns-missing",
            " has no column of answers",
            f"one that {what}, as {name} writes it",
            listed(header),
            as_typed("crowd-table", 'answer = "COLUMN"'),
            seen=list(header),
        )
    if len(found) > 1:
        raise refused(
            "answer-unclear",
            f" has {len(found)} columns that may hold the answers",
            "the name of one",
            listed(map(quoted, found)),
            as_typed("crowd-table", f'answer = "{found[0]}"'),
            columns=found,
        )
    return found[0], None


@attrs.frozen(kw_only=True)
class Said:
    """The labels that each row names, and whether it has no answer at all, not even no label."""

    labels: list[list[str]]
    nothing: list[bool]
    offered: list[str] | None = None


def said(table: TextTable, columns: Columns, separator: str | None, missing: Sequence[str]) -> Said:
    """Return the labels in each row."""
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
    return Said(labels=labels, nothing=[not named for named in labels])


def _from_json(
    table: TextTable, cells: Sequence[str], question: str | None, skipped: set[str]
) -> Said:
    answers = [_questions(table, row, cell) if cell else {} for row, cell in enumerate(cells)]
    asked = list(dict.fromkeys(name for answer in answers for name in answer))
    if question is None and len(asked) > 1:
        raise refused(
            "answer-unclear",
            f" answers {len(asked)} questions in one cell",
            "the name of one",
            listed(map(quoted, sorted(asked))),
            as_typed("crowd-table", f'answer = "{min(asked)}"'),
            questions=sorted(asked),
        )
    if question is not None and question not in asked:
        raise refused(
            "columns-missing",
            f" has no answer to {short(question)}",
            "a column, or a question in one",
            f"questions {listed(map(quoted, sorted(asked)))}" if asked else "no question",
            "name one that is there",
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
        offered = list(choices[0]) if alike else sorted(set().union(*choices))
    return Said(labels=labels, nothing=nothing, offered=offered)


def _of_choices(value: dict[str, object]) -> bool:
    """Return whether a value says of each label whether it was chosen."""
    return bool(value) and all(isinstance(chosen, bool) for chosen in value.values())


def _questions(table: TextTable, row: int, cell: str) -> dict[str, object]:
    """Return the answers in a cell by their question."""
    value = parse_json(cell, table.whose, table.lines[row], "the answers as JSON", "cell")
    found: dict[str, object] = {}
    for part in value if isinstance(value, list) else [value]:
        if not isinstance(part, dict) or found.keys() & part.keys():
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
    if isinstance(value, str):
        return [str(value)] if value else []
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return [str(one) for one in value]
    raise _unreadable(table, row, value)


def _unreadable(table: TextTable, row: int, value: object) -> InputError:
    return _row_refused(
        table,
        row,
        "answer-unreadable",
        " has an answer that names no label",
        '{"QUESTION": {"label": "A"}}, or {"QUESTION": {"A": true, "B": false}}',
        short(repr(value)),
        "answer = ... names another question or column; mend it otherwise",
    )


def _seconds(text: str, months_first: bool) -> tuple[str, float]:
    """Return in which way a time is told, and what can be compared; ValueError where in none."""
    if _UNIX_TIME.fullmatch(text):
        return "a number", float(text)
    if named := _NAMED.fullmatch(text):
        if named[2] not in HOURS:
            raise ValueError(text)
        found = datetime.strptime(f"{named[1]} {named[3]}", "%b %d %H:%M:%S %Y")
        found = found.replace(tzinfo=timezone(timedelta(hours=HOURS[named[2]])))
    elif months_first and "/" in text:
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
            way, time = _seconds(text, months_first)
        except (ValueError, OverflowError):
            raise _row_refused(
                table,
                row,
                "time-unreadable",
                f" has the time {short(text)}",
                "a number, 2018-01-24T09:51:16, or Wed Jan 24 09:51:16 PST 2018",
                "neither",
                "write all times in one of these ways",
            ) from None
        first = first or (way, row)
        if way != first[0]:
            raise _row_refused(
                table,
                row,
                "times-unlike",
                f" has a time that is {way}",
                f"as in {table.unit} {table.lines[first[1]]}: {first[0]}",
                short(text),
                "write all times in one way",
            )
        found.append(time)
    return found


@attrs.frozen(kw_only=True)
class Rows:
    """What stands in the rows besides the answer; `known` are those whose answer is known."""

    task: list[str]
    worker: list[str]
    state: list[str]
    weight: list[float]
    time: list[float | None]
    when: list[str]
    known: list[int]


def rows_of(table: TextTable, columns: Columns, *, timed: bool) -> Rows:
    """Return what stands in the rows; times are read only where `timed`."""
    size, called = len(table), columns.called
    when = table.column(called["time"]) if "time" in called else [""] * size
    known = {
        row
        for name in columns.golden
        for row, cell in enumerate(table.column(name))
        if cell.casefold() not in ("", "false")
    }
    return Rows(
        task=table.column(called["task"]),
        worker=table.column(called["worker"]),
        state=_states(table, columns) if "state" in called else [states.ANSWERED] * size,
        weight=_weights(table, called["weight"]) if "weight" in called else [1.0] * size,
        time=times(table, when, months_first=columns.months_first) if timed else [None] * size,
        when=when,
        known=sorted(known),
    )


def _states(table: TextTable, columns: Columns) -> list[str]:
    words = {"": states.ANSWERED, **columns.words}
    found: list[str] = []
    for row, cell in enumerate(table.column(columns.called["state"])):
        state = words.get(cell.casefold())
        if state is None:
            meant = near(cell, columns.words) if len(cell) <= _LONG else None
            raise _row_refused(
                table,
                row,
                "state-unknown",
                f" has the state {short(cell)}",
                listed(columns.words, most=16),
                "another word",
                f"did you mean {meant}? mend it" if meant else "mend it, or leave it empty",
            )
        found.append(state)
    return found


def _weights(table: TextTable, column: str) -> list[float]:
    found: list[float] = []
    for row, cell in enumerate(table.column(column)):
        weight = float(cell) if _NUMBER.fullmatch(cell) else 0.0
        if not 0 < weight < math.inf:
            raise _row_refused(
                table,
                row,
                "weight-unreadable",
                f" has the weight {short(cell)}",
                "a number above 0, such as 1 or 0.5",
                "an empty cell" if not cell else short(cell),
                "mend it, or leave out rows that do not count",
            )
        found.append(weight)
    return found


def _response(
    table: TextTable, rows: Rows, said: Said, group: Sequence[int], kind: str
) -> Response:
    """Return the response in some rows of one worker about one task."""
    first = group[0]
    named = list(dict.fromkeys(label for row in group for label in said.labels[row]))
    state = rows.state[first]
    answer: object = named
    if kind == "single-label":
        answer = named[0] if len(named) == 1 else named or None
    if all(said.nothing[row] for row in group):
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


PresetName: TypeAlias = Literal["crowd-kit", "toloka", "mturk", "figure-eight"]
_OPTIONAL = attrs.validators.optional


def _one_answer(instance: CrowdTable, _: object, value: str | None) -> None:
    label = (instance.columns or {}).get("label")
    if value is not None and label is not None and not label.endswith(_TASK_ANSWERS):
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
        default=None, validator=_OPTIONAL(attrs.validators.in_(("crowd-kit", *_PLATFORMS)))
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
        if self._names_columns(first) if self.header is None else self.header:
            wanted = recognised(first, self.columns or {})
            if self.preset is not None:
                return wanted == self.preset
            return wanted is not None or self._has_plain(first)
        places = (self.columns or {}).values()
        return all(name.isdecimal() and 0 < int(name) <= len(first) for name in places)

    def read(self, path: Path, labels: Sequence[str] | None) -> AnnotationTable:
        """Return the annotation table in the file."""
        table = read_table(
            path,
            role="annotations",
            header=self._names_columns if self.header is None else self.header,
            delimiter=self.delimiter,
            repeats=True,
        )
        return self.from_table(table, labels)

    def from_table(self, table: TextTable, labels: Sequence[str] | None) -> AnnotationTable:
        """Return the annotation table of columns of text; see `read`."""
        table = table.seen()
        with about(table.whose):
            columns = columns_of(table, self.preset, self.columns or {}, self.answer)
            called = columns.called
            absent = [role for role, name in called.items() if name not in table.header]
            do = self._hint(table, absent, {*called.values()})
            table.need([*called.values(), *columns.golden], do=do)
            if not len(table):
                raise _no_votes(table, "a header and no rows")
            if self.golden is not None and not columns.golden:
                raise refused(
                    "columns-missing",
                    " does not say of which tasks the answer is known",
                    "GOLDEN:… as Toloka writes it, or _golden as Figure Eight does",
                    f"{several(len(table.header), 'column')}",
                    "leave out golden, or name the preset",
                )
            if labels is None and called["label"] in table.offered:
                offered = table.offered[called["label"]]
                labels = [text for text in offered if text and text not in self.missing]
            plain = self._plain(table, columns, labels)
            if plain is not None:
                return plain
            rows = rows_of(table, columns, timed=self.duplicates == "latest")
            check_named(table, rows.task, "task", "name it, or remove the row")
            if rows.known and self.golden is None:
                tasks = several(len({rows.task[row] for row in rows.known}), "task")
                told(
                    table.whose,
                    "answers-known",
                    f": the answer to {tasks} is known "
                    f"({several(len(rows.known), 'vote')}, {table.places(rows.known)})",
                    "tasks of which only the annotators tell; these check the workers",
                    "each vote counts",
                    self._as_typed('golden = "drop"') + ', or golden = "count"',
                    stacklevel=5,
                )
            dropped = set(rows.known if self.golden == "drop" else ())
            used = [row for row in range(len(table)) if row not in dropped]
            separator = columns.separator if self.separator is None else self.separator
            if self.kind == "single-label":
                separator = None
            found = said(table, columns, separator, self.missing)
            sets = self.separator is not None or any(len(found.labels[row]) > 1 for row in used)
            kind = self.kind or ("label-set" if sets else "single-label")
            if labels is None:
                names = Counter(label for row in used for label in found.labels[row])
                warn_like_missing(table.whose, names)
            else:
                counting = [row for row in used if self._counts(rows.state[row], kind)]
                _check_declared(table, rows.worker, found.labels, labels, counting)
            stands = any(policy.startswith(states.AS_LABEL) for policy in self.states.values())
            named = labels is not None or found.offered is not None or stands
            if not named and not any(found.labels[row] for row in used):
                got = f"{several(len(used), 'empty answer')} and no declared labels"
                raise _no_votes(table, got)
            merged = self.kind == "label-set" and separator is None and not columns.json
            groups: dict[tuple[object, ...], list[int]] = {}
            for row in used:
                key = (rows.task[row], rows.worker[row], rows.state[row], rows.weight[row])
                # Rows of unknown workers cannot be put together: each is an answer of its own.
                own = -1 if merged and rows.worker[row] else row
                groups.setdefault((*key, rows.when[row], own), []).append(row)
            responses = [_response(table, rows, found, group, kind) for group in groups.values()]
            if self.duplicates == "error":
                self._check_once(table, responses, kind, timed="time" in called)
            return self.gathered(
                kind,
                responses,
                labels,
                whose=table.whose,
                offered=found.offered,
                left_out={"votes on tasks with a known answer": len(dropped)},
            )

    def _plain(
        self, table: TextTable, columns: Columns, labels: Sequence[str] | None
    ) -> AnnotationTable | None:
        """Return the annotation table where there is nothing to be told; else None."""
        options = (self.states, self.none_of_these, self.separator, self.kind == "label-set")
        if self.duplicates != "error" or any(options) or set(columns.called) != {*NEEDED}:
            return None
        if columns.golden or columns.json or columns.separator is not None:
            return None
        task, worker, label = (table.coded(columns.called[role]) for role in NEEDED)
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

    def _wanted(self) -> dict[str, str]:
        return {role: role for role in NEEDED} | dict(self.columns or {})

    def _has_plain(self, first: Sequence[str]) -> bool:
        wanted = self._wanted()
        if self.answer is not None:
            wanted["label"] = self.answer
        return all(name in first for name in wanted.values())

    def _names_columns(self, first: tuple[str, ...]) -> bool:
        if self.preset or self._has_plain(first) or recognised(first, self.columns or {}):
            return True
        # Positions are meant only where every column is given as one.
        return not all(name.isdecimal() for name in self._wanted().values())

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

    def _counts(self, state: str, kind: str) -> bool:
        return states.policy(state, kind, self.states) == states.COUNT

    def _check_once(
        self, table: TextTable, responses: Sequence[Response], kind: str, *, timed: bool
    ) -> None:
        """Raise ``response-twice`` where a worker answers a task again."""
        counting = (r for r in responses if r.answer and self._counts(r.state, kind))
        pairs = Counter((r.example, r.annotator) for r in counting if r.annotator is not None)
        again: dict[str, list[str]] = {}
        for (example, who), count in pairs.items():
            if count > 1:
                again.setdefault(str(who), []).append(example)
        if not again:
            return
        every, latest = self._as_typed('duplicates = "all"'), "latest, " if timed else ""
        do = f"keep one of them, or {every} (or {latest}fractional, first, last)"
        if self.kind != "label-set" and kind == "single-label":
            do += "; --kind label-set, if they are one answer"
        first, tasks = next(iter(again.items()))
        others = f", also by {several(len(again) - 1, 'other')}" if again.keys() > {first} else ""
        raise refused(
            "response-twice",
            f": {first} answered {several(len(tasks), 'task')} again ({listed(tasks)})",
            "one response an annotator and task",
            f"up to {counted(max(pairs.values()))}{others}",
            do,
            annotators=again,
        )


def _check_declared(
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
    do = "mend it, or declare it in --labels"
    if said in LIKE_MISSING:
        do = f'--missing {said}, if it means "no answer"'
    elif meant:
        do = f"did you mean {quoted(meant)}? {do}"
    where = table.place(row).removeprefix(table.whose)
    raise refused(
        "label-unknown",
        f"{where}, {worker[row] or 'an unknown annotator'} says {short(said)}",
        f"one of {several(len(labels), 'declared label')}",
        f"{several(len(outside), 'label')} outside ({several(sum(outside.values()), 'vote')})",
        do,
        labels=dict(outside),
        line=table.lines[row],
    )


def _no_votes(table: TextTable, got: str) -> InputError:
    return refused(
        "annotations-empty",
        " names no label",
        "one row a vote",
        got,
        "write it again, or name another file",
    )
