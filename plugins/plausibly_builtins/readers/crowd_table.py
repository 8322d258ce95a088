"""Crowd tables: one row a vote, with the columns task, worker and label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Literal

import attrs

from plausibly.plugin import (
    AnnotationTable,
    InputError,
    Response,
    ResponseOptions,
    TextTable,
    columns_hint,
    first_row,
    read_table,
    several,
    states,
    table_from_codes,
    warn,
)
from plausibly_builtins.readers._crowd_answers import Said, said
from plausibly_builtins.readers._crowd_checks import (
    check_declared,
    check_once,
    check_tasks,
    no_votes,
)
from plausibly_builtins.readers._crowd_presets import (
    NEEDED,
    PRESETS,
    Columns,
    PresetName,
    columns_of,
    recognised,
)
from plausibly_builtins.readers._crowd_rows import Rows, responses_of, rows_of
from plausibly_builtins.readers._like_missing import LIKE_MISSING, warn_like_missing

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
        """Return the annotation table in the file.

        Parameters
        ----------
        path : Path
            The file.
        labels : sequence of str or None
            The declared labels.

        Raises
        ------
        InputError
            ``columns-missing``, ``columns-unknown``, ``answer-unclear``, ``answer-unreadable``,
            ``example-unnamed``, ``label-unknown`` with the line, ``response-twice``,
            ``state-unknown``, ``weight-unreadable``, ``time-unreadable``, ``times-unlike``, and
            those of `plausibly.plugin.read_table`.

        Warns
        -----
        PlausiblyWarning
            ``labels-like-missing``, ``annotators-unnamed``, ``answers-known``.
        """
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
        """Return the annotation table where there is nothing to be told; else None.

        Each different text is looked at once, not each row: a million rows are read in about the
        time in which they are split into columns.
        """
        if self._needs_settling or set(columns.called()) != {*NEEDED} or columns.golden:
            return None
        if columns.json or columns.separator is not None:
            return None
        task, worker, label = table.votes(*(columns.called()[role] for role in NEEDED))
        said = {"", *self.missing}
        told = task.has_empty or "" in worker or (labels is None and LIKE_MISSING & {*label.names})
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
