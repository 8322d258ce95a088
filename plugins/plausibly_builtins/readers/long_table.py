"""Long tables: one row per answer, with columns example, annotator and label or a platform's.

Tables that plausibly wrote itself have one row per label of an answer.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TypeAlias, TypeVar

import attrs

from plausibly.plugin import AnnotationTable, InputError, Reader, counted, listed, quoted, several
from plausibly.plugin.readers import (
    Response,
    TextTable,
    check_named,
    columns_hint,
    first_row,
    is_annotation_file,
    parse_json,
    read_table,
    states,
    table_from_codes,
)
from plausibly_builtins.readers import base

T = TypeVar("T")
_PresetName: TypeAlias = Literal["crowd-kit", "toloka", "mturk", "figure-eight"]
_NEEDED = ("example", "annotator", "label")
_ROLES = (*_NEEDED, "weight", "time", "state")
_WRITTEN = frozenset({"response", "block", "weight", "response_weight", "state", "about"})
"""Columns of the files that plausibly writes, which say more than who gave which label."""
_TASK_ANSWERS = "taskAnswers"
_NO_ANSWER = (":confidence", "_gold", "_gold_reason")
_UNIX_TIME = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,9})?")
_NAMED = re.compile(r"[A-Z][a-z]{2} ([A-Z][a-z]{2} [0-9]{1,2} [0-9:]{8}) ([A-Z]{3}) ([0-9]{4})")
_NUMBER = re.compile(r"[0-9]{1,15}(\.[0-9]{1,15})?")


@attrs.frozen(kw_only=True)
class Platform:
    """Column names of a platform, prefixes of others, and formats of states and times."""

    columns: Mapping[str, str] = attrs.field(factory=dict)
    states: Mapping[str, str] = attrs.field(factory=dict)
    answers: str = ""
    golden: str = ""
    separator: str | None = None
    months_first: bool = False


_PLAIN = Platform()
_ACCEPTED = dict.fromkeys(("approved", "submitted"), states.ANSWERED)
_PLATFORMS = {
    "toloka": Platform(
        columns={
            "example": "ASSIGNMENT:task_id",
            "annotator": "ASSIGNMENT:worker_id",
            "time": "ASSIGNMENT:submitted",
            "state": "ASSIGNMENT:status",
        },
        states={
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
    "mturk": Platform(
        columns={
            "example": "HITId",
            "annotator": "WorkerId",
            "time": "SubmitTime",
            "state": "AssignmentStatus",
        },
        states={**_ACCEPTED, "rejected": states.REJECTED},
        answers="Answer.",
    ),
    "figure-eight": Platform(
        columns={
            "example": "_unit_id",
            "annotator": "_worker_id",
            "time": "_created_at",
            "state": "_tainted",
        },
        states={"false": states.ANSWERED, "true": states.REJECTED},
        answers="Answer.",
        golden="_golden",
        separator="\n",
        months_first=True,
    ),
}


@attrs.frozen(kw_only=True)
class Columns:
    """The column of each role in a table of votes, and how its cells are read."""

    called: Mapping[str, str]
    platform: Platform = _PLAIN
    golden: tuple[str, ...] = ()
    question: str | None = None

    @property
    def is_json(self) -> bool:
        return self.platform is not _PLAIN and self.called["label"].endswith(_TASK_ANSWERS)


@attrs.frozen(kw_only=True)
class LongTable(base.TableExport):
    """Read CSV, TSV or Parquet with one row per vote: task, worker and label.

    Every value is kept as the text that was written; an empty label cell is a skip, an empty worker
    cell an unknown annotator. Other columns are not read.

    Attributes
    ----------
    header : bool or None
        Whether the first row names the columns; None looks whether the needed names are there.
    columns : mapping of str to str, or None
        The file's names for ``task``, ``worker`` and ``label``, where they differ, and for
        ``weight``, ``time`` and ``state``; positions from ``"1"`` where there is no header.
    kind : {"single-label", "label-set"} or None
        ``"label-set"``: all rows of one worker about one task are one set, unless a cell holds the
        set. None: label sets where cells name several labels.
    missing : tuple of str
        Labels that mean "no answer", besides the empty cell.
    delimiter : str or None
        ``","``, ``";"`` or a tab; None finds out.
    preset : {"crowd-kit", "toloka", "mturk", "figure-eight"} or None
        The platform that named the columns; None finds out.
    answer : str or None
        The column of the answers, or the question in ``Answer.taskAnswers``.
    separator : str or None
        What stands between the labels of a cell: answers are then label sets.
    golden : {"count", "drop"} or None
        Votes on tasks with a known answer; None counts them and warns.
    """

    header: bool | None = None
    columns: Mapping[str, str] | None = None
    kind: base.Kind | None = None
    missing: tuple[str, ...] = ()
    delimiter: str | None = None
    preset: _PresetName | None = None
    answer: str | None = attrs.field(default=None)
    separator: str | None = attrs.field(default=None, validator=base.NOT_EMPTY)
    golden: Literal["count", "drop"] | None = None

    @answer.validator
    def _one_answer(self, _: object, value: str | None) -> None:
        label = (self.columns or {}).get("label")
        if value is not None and label is not None and not label.endswith(_TASK_ANSWERS):
            msg = f'"{value}" and columns, which calls the label "{label}", name the answers twice'
            raise ValueError(msg)

    @separator.validator
    def _sets(self, _: object, value: str | None) -> None:
        if value is not None and self.kind == "single-label":
            raise ValueError("cells with several labels are no answers of the kind single-label")

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether the needed columns are there by name, or by the positions of `columns`."""
        first = first_row(path, head, self.delimiter)
        if not first:
            return False
        if self._names_columns(first) if self.header is None else self.header:
            if self.preset in (None, "crowd-kit") and self._has_usual(first):
                return True
            platform = self._platform(first)
            return platform is not None and self.preset in (None, platform)
        mapped = self.columns or {}
        return all(name.isdecimal() and 0 < int(name) <= len(first) for name in mapped.values())

    def read(self, path: Path, labels: base.Labels) -> AnnotationTable:
        table = read_table(
            path,
            role="annotations",
            header=self._names_columns if self.header is None else self.header,
            delimiter=self.delimiter,
            repeats=True,
        )
        return self.from_table(table, labels)

    def table_content(self, table: TextTable, labels: base.Labels) -> AnnotationTable:
        columns = self._columns(table)
        offered = table.offered.get(columns.called["label"])
        if labels is None and offered is not None:  # a categorical column
            labels = [text for text in offered if text and text not in self.missing]
        plain = self._plain(table, columns, labels)
        if plain is not None:
            return plain
        try:
            return self._gathered(table, columns, labels)
        except InputError as error:
            if error.name == "response-twice" and self.kind is None and self.separator is None:
                error.hint += '; kind="label-set", if they are one answer'
            raise

    def _columns(self, table: TextTable) -> Columns:
        mapped = self.columns or {}
        for role in mapped:
            if role not in _ROLES:
                what, hint = f": columns names {quoted(role)}", "map example, annotator or label"
                raise base.unfit(what, listed(_ROLES, most=6), listed(mapped), hint)
        platform = self.preset or (self._platform(table.header) if table.named else None)
        if platform is None or platform == "crowd-kit":
            columns = Columns(called=self._usual(table.header, named=table.named))
        else:
            columns = _platform_columns(table, platform, mapped, self.answer)
        names = [*columns.called.values(), *columns.golden]
        absent = [role for role, name in columns.called.items() if name not in table.header]
        if absent or table.nested:
            hint = "name a table of votes; one label per task is the truth, or a summary"
            if len(table.header) >= len(_NEEDED):
                cells = zip(*(column[:20] for column in table.columns), strict=False)
                rows = [table.header, *cells]
                hint = columns_hint(rows, absent if table.named else _NEEDED)
            table.need(names, hint=hint)
        if not len(table):
            what, found = " names no label", "a header and no rows"
            raise base.refused("annotations-empty", what, "one row per vote", found)
        if self.golden is not None and not columns.golden:
            expected, hint = "GOLDEN:… of Toloka, or Figure Eight's _golden", "leave golden out"
            raise base.refused("columns-missing", " has no known answers", expected, "none", hint)
        return columns

    def _usual(self, header: Sequence[str], *, named: bool = True) -> dict[str, str]:
        """Return the column of each role: by `columns`, else by its usual name or position."""
        mapped = self.columns or {}
        usual = dict(zip(_NEEDED, _NEEDED if named or mapped else ("1", "2", "3"), strict=True))
        more = _WRITTEN.intersection(header).difference(mapped.values())
        if more or ("example" not in header and "task" in header):
            usual["example"] = "task"
        workers = [name for name in ("worker", "performer") if name in header]
        if "annotator" not in header and len(workers) == 1:
            usual["annotator"] = workers[0]
        if self.answer is not None:
            usual["label"] = self.answer
        columns = {**usual, **mapped}
        return {role: columns[role] for role in _ROLES if role in columns}

    def _has_usual(self, header: Sequence[str]) -> bool:
        return {*self._usual(header).values()} <= {*header}

    def _platform(self, header: Sequence[str]) -> str | None:
        """Return the platform whose columns are unmistakably there, unless the usual ones are."""
        mapped = self.columns or {}
        if self._has_usual(header) and not {*_NEEDED} <= {*mapped}:
            return None
        platforms: list[str] = []
        for name, of in _PLATFORMS.items():
            # Of Toloka's columns the worker's is enough; the task may be named by an input.
            marks = ("annotator",) if name == "toloka" else ("annotator", "example")
            answered = "label" in mapped or name == "figure-eight" or _starting(of.answers, header)
            platforms += [name] if answered and {of.columns[m] for m in marks} <= {*header} else []
        return platforms[0] if len(platforms) == 1 else None

    def _gathered(self, table: TextTable, columns: Columns, labels: base.Labels) -> AnnotationTable:
        called, size = columns.called, len(table)
        task, worker = (table.column(called[role]) for role in ("example", "annotator"))
        words = {**{word: word for word in states.STATES}, **columns.platform.states}
        known = {"": states.ANSWERED, **words}
        state, weight, when = [states.ANSWERED] * size, [1.0] * size, [""] * size
        if "state" in called:
            expected, name = listed(words, most=16), called["state"]
            state = _read(table, name, "state", lambda cell: known.get(cell.casefold()), expected)
        if "weight" in called:
            expected = "a number above 0, such as 1 or 0.5"
            weight = _read(
                *(table, called["weight"], "weight"),
                lambda cell: float(cell) or None if _NUMBER.fullmatch(cell) else None,
                expected,
            )
        time: list[float | None] = [None] * size
        if "time" in called:
            # Only the latest answer needs the times; whether each row has one is for the hint.
            when = table.column(called["time"])
            time = [0.0 if cell else None for cell in when]
            time = _times(table, columns) if self.duplicates == "latest" else time
        check_named(table, called["example"], "example")
        dropped = self._golden(table, columns, task)
        used = [row for row in range(size) if row not in dropped]
        separator = columns.platform.separator if self.separator is None else self.separator
        separator = None if self.kind == "single-label" else separator
        named, choices = _answers(table, columns, separator, self.missing)
        sets = self.separator is not None or any(len(named[row] or ()) > 1 for row in used)
        kind = self.kind or ("label-set" if sets else "single-label")
        if labels is None:
            every = Counter(label for row in used for label in named[row] or ())
            base.warn_missing_words(table.source, every)
        merged = self.kind == "label-set" and separator is None and not columns.is_json
        groups: dict[tuple[object, ...], list[int]] = {}
        for row in used:
            # Rows of unknown workers cannot be put together: each is an answer of its own.
            own = -1 if merged and worker[row] else row
            key = (task[row], worker[row], state[row], weight[row], when[row], own)
            groups.setdefault(key, []).append(row)
        responses: list[Response] = []
        for first, *others in groups.values():
            cells, of = [named[row] for row in (first, *others)], state[first]
            is_answer = any(cell is not None for cell in cells)
            answer = list(dict.fromkeys(label for cell in cells for label in cell or ()))
            if not is_answer and of == states.ANSWERED:
                of = states.SKIPPED  # an empty cell is no answer, not an answer of no label
            responses.append(
                Response(
                    example=task[first],
                    annotator=worker[first] or None,
                    answer=answer if is_answer and (answer or kind != "single-label") else None,
                    state=of,
                    weight=weight[first],
                    time=time[first],
                    place=f"{table.unit} {counted(table.lines[first])}",
                )
            )
        return self.gathered(
            kind,
            responses,
            labels,
            source=table.source,
            offered=choices,
            left_out={"votes on tasks with a known answer": len(dropped)},
        )

    def _golden(self, table: TextTable, columns: Columns, task: Sequence[str]) -> set[int]:
        """Return the rows of tasks with a known answer that do not count."""
        cells = ((row, c) for name in columns.golden for row, c in enumerate(table.column(name)))
        known = sorted({row for row, cell in cells if cell.casefold() not in ("", "false")})
        if known and self.golden is None:
            tasks = several(len({task[row] for row in known}), "task")
            votes = f"{several(len(known), 'vote')}, {table.places(known)}"
            what, expected = f": the answer to {tasks} is known ({votes})", "tasks without one"
            hint = base.as_argument("long-table", golden="drop") + ', or "count"'
            base.warn_of(table.source, "answers-known", what, expected, "each vote counts", hint)
        return set(known if self.golden == "drop" else ())

    def _plain(
        self, table: TextTable, columns: Columns, labels: base.Labels
    ) -> AnnotationTable | None:
        """Return the table, fast, where rows hold task, worker and label only; else None."""
        options = (self.states, self.none_of_these, self.separator, self.kind == "label-set")
        plain = columns.platform is _PLAIN and set(columns.called) == {*_NEEDED}
        if not plain or self.duplicates != "error" or any(options):
            return None
        task, worker, label = (table.coded(columns.called[role]) for role in _NEEDED)
        skipped = {"", *self.missing}
        odd = "" in task or "" in worker or (labels is None and base.MISSING_WORDS & {*label.names})
        if odd or skipped.issuperset(label.names):
            return None
        try:
            return table_from_codes(
                "single-label",
                task,
                worker,
                label,
                labels,
                lambda text: () if text in skipped else ((str(text), 1, 1.0),),
            )
        except InputError:
            return None  # raised again with the line

    def _names_columns(self, first: tuple[str, ...]) -> bool:
        if self.preset or self._has_usual(first) or self._platform(first):
            return True
        # Positions are meant only where every column has one.
        mapped = self.columns or {}
        return not all(mapped.get(role, role).isdecimal() for role in {*_NEEDED, *mapped})


# ---- columns of platforms


def _starting(start: str, header: Sequence[str]) -> list[str]:
    return [name for name in header if name.startswith(start) and len(name) > len(start)]


def _platform_columns(
    table: TextTable, name: str, mapped: Mapping[str, str], answer: str | None
) -> Columns:
    of, header = _PLATFORMS[name], table.header if table.named else ()
    called = {role: n for role, n in of.columns.items() if role in _NEEDED or n in header}
    inputs = _starting("INPUT:", header)
    if name == "toloka" and called["example"] not in header and len(inputs) == 1:
        called["example"] = inputs[0]
    golden = _starting(of.golden, header) if name == "toloka" else [of.golden]
    whole, question = f"{of.answers}{_TASK_ANSWERS}", None
    if "label" in mapped:
        label, question = mapped["label"], answer
    elif answer is not None:
        fit = [n for n in (f"{of.answers}{answer}", answer) if n in table.header]
        label = fit[0] if fit else f"{of.answers}{answer}"
        if not fit and whole in table.header:
            label, question = whole, answer
    else:
        candidates = _starting(of.answers, table.header)
        if name == "figure-eight" and not candidates:
            others = [n for n in table.header if n[:1] != "_" and not n.endswith(_NO_ANSWER)]
            candidates = [n for n in others if f"{n}_gold" in table.header] or others
        if not candidates:
            hint = base.as_argument("long-table", answer="COLUMN")
            raise base.columns_missing(table, "answers", f"one such as {of.answers}NAME", hint)
        label = base.choose("long-table", "answer", "columns", candidates, None)
    return Columns(
        called={**called, **mapped, "label": label},
        platform=of,
        golden=tuple(n for n in golden if n and n in header),
        question=question,
    )


# ---- cells


Answers: TypeAlias = tuple[list[list[str] | None], list[str] | None]
"""The labels that each row names, None without an answer, and all labels that are offered."""


def _answers(
    table: TextTable, columns: Columns, separator: str | None, missing: Sequence[str]
) -> Answers:
    cells = table.column(columns.called["label"])
    skipped = {"", *missing}
    if columns.is_json:
        return _from_json(table, cells, columns.question, skipped)
    labels: list[list[str] | None] = []
    for cell in cells:
        parts = [cell] if separator is None else cell.split(separator)
        if separator == "\n":
            parts = [part.removesuffix("\r") for part in parts]
        named = (part for part in dict.fromkeys(parts) if part not in skipped)
        labels.append([part for part in named if not part.isspace()] or None)
    return labels, None


def _from_json(
    table: TextTable, cells: Sequence[str], question: str | None, skipped: set[str]
) -> Answers:
    answers: list[dict[str, object]] = []
    for row, cell in enumerate(cells):
        every: dict[str, object] = {}
        line = table.lines[row]
        whole = parse_json(cell, table.source, line, "the answers as JSON") if cell else []
        for part in whole if isinstance(whole, list) else [whole]:
            if not isinstance(part, dict) or every.keys() & part.keys():
                raise _unreadable(table, row, part)
            every |= part
        answers.append(every)
    known = sorted({name for answer in answers for name in answer})
    if question is not None or known:
        question = base.choose("long-table", "answer", "questions", known, question)
    labels: list[list[str] | None] = []
    choices: list[tuple[str, ...]] = []
    for row, answer in enumerate(answers):
        value = None if question is None else answer.get(question)
        if value is None or value == "":
            labels.append(None)
            continue
        named: list[str] | None = ["true" if value else "false"]
        if not isinstance(value, bool):
            named = base.form_labels({"labels": value} if isinstance(value, list) else value)
        if named is None:
            raise _unreadable(table, row, value)
        counting = [label for label in dict.fromkeys(named) if label not in skipped]
        labels.append(None if named and not counting else counting)
        if isinstance(value, dict) and all(isinstance(chosen, bool) for chosen in value.values()):
            choices.append(tuple(label for label in value if label not in skipped))
    if not choices or len(choices) != len(labels) - labels.count(None):
        return labels, None
    return labels, list(choices[0]) if len(set(choices)) == 1 else sorted(set().union(*choices))


def _unreadable(table: TextTable, row: int, value: object) -> InputError:
    expected = '{"QUESTION": {"label": "A"}}, or {"QUESTION": {"A": true, "B": false}}'
    return base.cell_refused(table, row, "answer", expected, base.short(repr(value)))


def _read(
    table: TextTable, name: str, noun: str, read: Callable[[str], T | None], expected: str
) -> list[T]:
    """Return what a function reads in each cell of a column; it returns None to refuse one."""
    values: list[T] = []
    for row, cell in enumerate(table.column(name)):
        value = read(cell)
        if value is None:
            found = base.short(cell) if cell else "an empty cell"
            raise base.cell_refused(table, row, noun, expected, found)
        values.append(value)
    return values


def _time(text: str, months_first: bool) -> tuple[str, float | None] | None:
    """Return in which way a time is written, and its seconds; None where in none."""
    if not text:
        return "", None
    if _UNIX_TIME.fullmatch(text):
        return "a number", float(text)
    try:
        if named := _NAMED.fullmatch(text):
            time = datetime.strptime(f"{named[1]} {named[3]}", "%b %d %H:%M:%S %Y")
            moment = base.from_iso(f"{time} {named[2]}")
        elif months_first and "/" in text:
            moment = datetime.strptime(text, "%m/%d/%Y %H:%M:%S")
        else:
            moment = base.from_iso(text)
        if moment.tzinfo is None:
            return "without a zone", moment.replace(tzinfo=UTC).timestamp()
        return "with a zone", moment.timestamp()
    except (ValueError, OverflowError):
        return None


def _times(table: TextTable, columns: Columns) -> list[float | None]:
    """Return the time of each row, in seconds; None where the cell is empty."""
    expected = "a number, 2018-01-24T09:51:16, or Wed Jan 24 09:51:16 PST 2018"
    name, of = columns.called["time"], columns.platform
    times = _read(table, name, "time", lambda text: _time(text, of.months_first), expected)
    usual = next((way for way, _ in times if way), "")
    for row, (way, _) in enumerate(times):
        if way not in ("", usual):
            raise base.cell_refused(table, row, "time", f"{usual}, as above", way)
    return [seconds for _, seconds in times]


# ---- tables that plausibly wrote


@attrs.frozen(kw_only=True)
class WrittenTable(Reader):
    """Read what `plausibly.write_annotations` wrote: CSV, Parquet, npz or netCDF.

    Attributes
    ----------
    kind : str or None
        Read the rows of a CSV or Parquet file alone, as answers of this kind: where they were
        edited, or where a program took away what the file says of itself.
    """

    kind: str | None = None

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether the file is such a table."""
        return is_annotation_file(path, head)

    def read(self, path: Path, labels: base.Labels) -> AnnotationTable:
        """Return the annotation table in the file, exactly as it was."""
        from plausibly.plugin.readers import read_annotation_file  # other tables do not need it

        return read_annotation_file(path, labels, kind=self.kind)
