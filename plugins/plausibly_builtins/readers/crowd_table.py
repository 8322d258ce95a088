"""Crowd tables: one row per vote, with the columns task, worker and label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import attrs

from plausibly.plugin import (
    AnnotationTable,
    InputError,
    counted,
    listed,
    near,
    quoted,
    several,
)
from plausibly.plugin.readers import (
    Response,
    TextTable,
    columns_hint,
    first_row,
    read_table,
    states,
    table_from_codes,
)
from plausibly_builtins.readers.base import (
    LONG,
    MISSING_WORDS,
    TASK_ANSWERS,
    VOTE,
    Columns,
    Content,
    Kind,
    TableExport,
    as_argument,
    check_named,
    refused,
    row_refused,
    short,
    warn_missing_words,
    warn_of,
)

if TYPE_CHECKING:
    from plausibly_builtins.readers.platforms import Answers

_PresetName: TypeAlias = Literal["crowd-kit", "toloka", "mturk", "figure-eight"]
_PRESETS = ("crowd-kit", "toloka", "mturk", "figure-eight")
_ROLES = (*VOTE, "weight", "time", "state")
_WRITTEN = frozenset({"response", "block", "weight", "response_weight", "state", "about"})
"""Columns of the files that plausibly writes, which say more than who gave which label."""
_OPTIONAL = attrs.validators.optional


def _one_answer(instance: CrowdTable, _: object, value: str | None) -> None:
    label = (instance.columns or {}).get("label")
    if value is not None and label is not None and not label.endswith(TASK_ANSWERS):
        msg = f'"{value}" and columns, which calls the label "{label}", name the answers twice'
        raise ValueError(msg)


def _sets(instance: CrowdTable, _: object, value: str | None) -> None:
    if value is not None and instance.kind == "single-label":
        msg = "cells with several labels are no answers of the kind single-label"
        raise ValueError(msg)


@attrs.frozen(kw_only=True)
class CrowdTable(TableExport):
    """Read CSV, TSV or Parquet with one row per vote: task, worker and label.

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
        The platform that named the columns; None finds out.
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
    kind: Kind | None = None
    missing: tuple[str, ...] = ()
    delimiter: str | None = None
    preset: _PresetName | None = attrs.field(
        default=None, validator=_OPTIONAL(attrs.validators.in_(_PRESETS))
    )
    answer: str | None = attrs.field(default=None, validator=_one_answer)
    separator: str | None = attrs.field(
        default=None, validator=[_OPTIONAL(attrs.validators.min_len(1)), _sets]
    )
    golden: Literal["count", "drop"] | None = None

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether the needed columns are there by name, or by the positions of `columns`."""
        first = first_row(path, head, self.delimiter)
        if not first:
            return False
        if self._names_columns(first) if self.header is None else self.header:
            if self.preset in (None, "crowd-kit") and self._has_usual(first):
                return True
            found = self._platform(first)
            return found is not None and self.preset in (None, found)
        mapped = self.columns or {}
        return all(name.isdecimal() and 0 < int(name) <= len(first) for name in mapped.values())

    def read(self, path: Path, labels: Sequence[str] | None) -> AnnotationTable:
        table = read_table(
            path,
            role="annotations",
            header=self._names_columns if self.header is None else self.header,
            delimiter=self.delimiter,
            repeats=True,
        )
        return self.from_table(table, labels)

    def table_content(
        self, table: TextTable, labels: Sequence[str] | None
    ) -> Content | AnnotationTable:
        columns = self._columns(table)
        offered = table.offered.get(columns.called["label"])
        if labels is None and offered is not None:  # a categorical column
            labels = [text for text in offered if text and text not in self.missing]
        plain = self._plain(table, columns, labels)
        return self._content(table, columns, labels) if plain is None else plain

    def _columns(self, table: TextTable) -> Columns:
        """Return the columns that are read, all of which are there."""
        mapped = self.columns or {}
        unknown = [role for role in mapped if role not in _ROLES]
        if unknown:
            meant = near(unknown[0], _ROLES)
            what = f": a crowd table has no {quoted(unknown[0])}"
            expected = "task, worker and label, and where it has them weight, time and state"
            do = f"did you mean {meant}?" if meant else "map task, worker or label"
            raise refused("columns-unknown", what, expected, listed(mapped), do)
        platform = self.preset or (self._platform(table.header) if table.named else None)
        columns = Columns(called=self._usual(table.header, named=table.named))
        if platform not in (None, "crowd-kit"):
            from plausibly_builtins.readers import platforms

            columns = platforms.columns_of(table, str(platform), mapped, self.answer)
        called = columns.called
        absent = [role for role, name in called.items() if name not in table.header]
        if absent or table.nested:
            names = [*called.values(), *columns.golden]
            table.need(names, do=_hint(table, absent, {*names, *table.nested}))
        if not len(table):
            raise _no_votes("a header and no rows")
        if self.golden is not None and not columns.golden:
            what = " does not say of which tasks the answer is known"
            expected = "GOLDEN:… as Toloka writes it, or _golden as Figure Eight does"
            got, do = several(len(table.header), "column"), "leave out golden, or name the preset"
            raise refused("columns-missing", what, expected, got, do)
        return columns

    def table(
        self,
        source: str,
        labels: Sequence[str] | None,
        content: Callable[[], Content | AnnotationTable],
    ) -> AnnotationTable:
        """Return the annotation table; a repeat may be a further label of the same answer."""
        try:
            return super().table(source, labels, content)
        except InputError as error:
            if error.name == "response-twice" and self.kind is None and self.separator is None:
                error.do += '; kind="label-set", if they are one answer'
            raise

    def _usual(self, header: Sequence[str], *, named: bool = True) -> dict[str, str]:
        """Return the column of each role: by `columns`, else by its usual name or position."""
        mapped = self.columns or {}
        usual = dict(zip(VOTE, VOTE if named or mapped else ("1", "2", "3"), strict=True))
        more = _WRITTEN.intersection(header).difference(mapped.values())
        if "task" not in header and "example" in header and not more:
            usual["task"] = "example"
        workers = [name for name in ("performer", "annotator") if name in header]
        if "worker" not in header and len(workers) == 1:
            usual["worker"] = workers[0]
        if self.answer is not None:
            usual["label"] = self.answer
        found = {**usual, **mapped}
        return {role: found[role] for role in _ROLES if role in found}

    def _has_usual(self, header: Sequence[str]) -> bool:
        return {*self._usual(header).values()} <= {*header}

    def _platform(self, header: Sequence[str]) -> str | None:
        """Return the platform whose columns are there; None where all have their usual names."""
        mapped = self.columns or {}
        if self._has_usual(header) and not {*VOTE} <= {*mapped}:
            return None
        from plausibly_builtins.readers import platforms

        return platforms.platform_of(header, mapped)

    def _content(self, table: TextTable, columns: Columns, labels: Sequence[str] | None) -> Content:
        from plausibly_builtins.readers import platforms

        called, size = columns.called, len(table)
        task, worker = (table.column(called[role]) for role in ("task", "worker"))
        state = platforms.states_of(table, columns)
        weight = platforms.weights_of(table, columns)
        when = table.column(called["time"]) if "time" in called else [""] * size
        # Only the latest answer needs the times; whether each row has one is for the hint.
        time = [0.0 if cell else None for cell in when]
        if "time" in called and self.duplicates == "latest":
            time = platforms.times_of(table, columns)
        check_named(table, task, "task", "name it, or remove the row")
        dropped = self._golden(table, columns, task)
        used = [row for row in range(size) if row not in dropped]
        separator = columns.separator if self.separator is None else self.separator
        if self.kind == "single-label":
            separator = None
        found = platforms.answers_of(table, columns, separator, self.missing)
        sets = self.separator is not None or any(len(found.labels[row]) > 1 for row in used)
        kind = self.kind or ("label-set" if sets else "single-label")
        if labels is None:
            names = Counter(label for row in used for label in found.labels[row])
            warn_missing_words(table.whose, names)
            stands = any(policy.startswith(states.AS_LABEL) for policy in self.states.values())
            if found.offered is None and not stands and not names:
                raise _no_votes(f"{several(len(used), 'empty answer')} and no declared labels")
        else:
            counting = [row for row in used if self._counts(state[row], kind)]
            _check_declared(table, worker, found.labels, labels, counting)
        merged = self.kind == "label-set" and separator is None and not columns.json
        groups: dict[tuple[object, ...], list[int]] = {}
        for row in used:
            # Rows of unknown workers cannot be put together: each is an answer of its own.
            own = -1 if merged and worker[row] else row
            key = (task[row], worker[row], state[row], weight[row], when[row], own)
            groups.setdefault(key, []).append(row)
        responses = []
        for group in groups.values():
            first = group[0]
            answer, of = _answer(found, group, kind, state[first])
            responses.append(
                Response(
                    example=task[first],
                    annotator=worker[first] or None,
                    answer=answer,
                    state=of,
                    weight=weight[first],
                    time=time[first],
                    place=f"{table.unit} {counted(table.lines[first])}",
                )
            )
        return Content(
            kind=kind,
            responses=responses,
            offered=found.offered if labels is None else labels,
            left_out={"votes on tasks with a known answer": len(dropped)},
        )

    def _golden(self, table: TextTable, columns: Columns, task: Sequence[str]) -> set[int]:
        """Return the rows of tasks with a known answer that do not count."""
        cells = ((row, c) for name in columns.golden for row, c in enumerate(table.column(name)))
        known = sorted({row for row, cell in cells if cell.casefold() not in ("", "false")})
        if known and self.golden is None:
            tasks = several(len({task[row] for row in known}), "task")
            votes = f"{several(len(known), 'vote')}, {table.places(known)}"
            what = f": the answer to {tasks} is known ({votes})"
            expected = "tasks without a known answer; these check the workers"
            do = as_argument("crowd-table", golden="drop") + ', or "count"'
            warn_of(table.whose, "answers-known", what, expected, "each vote counts", do)
        return set(known if self.golden == "drop" else ())

    def _plain(
        self, table: TextTable, columns: Columns, labels: Sequence[str] | None
    ) -> AnnotationTable | None:
        """Return the table, fast, where rows hold task, worker and label only; else None."""
        options = (self.states, self.none_of_these, self.separator, self.kind == "label-set")
        if self.duplicates != "error" or any(options) or set(columns.called) != {*VOTE}:
            return None
        if columns.golden or columns.json or columns.separator is not None:
            return None
        task, worker, label = (table.coded(columns.called[role]) for role in VOTE)
        skipped = {"", *self.missing}
        odd = "" in task or "" in worker or (labels is None and MISSING_WORDS & {*label.names})
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
        return not all(mapped.get(role, role).isdecimal() for role in {*VOTE, *mapped})

    def _counts(self, state: str, kind: str) -> bool:
        return states.policy(state, kind, self.states) == states.COUNT


def _answer(found: Answers, group: Sequence[int], kind: str, state: str) -> tuple[object, str]:
    """Return the answer in some rows of one worker about one task, and its state."""
    if all(found.nothing[row] for row in group):
        # An empty cell is no answer, which is not an answer of no label.
        return None, states.SKIPPED if state == states.ANSWERED else state
    named = list(dict.fromkeys(label for row in group for label in found.labels[row]))
    return (None if kind == "single-label" and not named else named), state


def _hint(table: TextTable, absent: Sequence[str], taken: set[str]) -> str:
    """Return what to type so that columns are found; `taken` cannot be among them."""
    if len(table.header) < len(VOTE):
        return "name a table of votes; one label per task is the truth, or a summary"
    columns = (column[:20] or [""] for column in table.columns)
    rows = [table.header, *zip_longest(*columns, fillvalue="")]
    if not table.named:
        return columns_hint(rows, VOTE)
    free = [at for at, name in enumerate(table.header) if name not in taken]
    return columns_hint([[row[at] for at in free] for row in rows], absent)


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
    row, label = next((row, n) for row in rows for n in named[row] if n in outside)
    meant = near(label, labels) if len(label) <= LONG else None
    do = "fix it, or declare it in labels"
    if label in MISSING_WORDS:
        do = f'missing=["{label}"], if it means "no answer"'
    elif meant:
        do = f"did you mean {quoted(meant)}? {do}"
    what = f", {worker[row] or 'an unknown annotator'} says {short(label)}"
    expected = f"one of {several(len(labels), 'declared label')}"
    votes = several(sum(outside.values()), "vote")
    got = f"{several(len(outside), 'label')} outside ({votes})"
    error = row_refused(table, row, "label-unknown", what, expected, got, do)
    error.details["labels"] = dict(outside)
    raise error


def _no_votes(got: str) -> InputError:
    do = "write it again, or name another file"
    return refused("annotations-empty", " names no label", "one row per vote", got, do)
