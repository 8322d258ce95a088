"""Crowd tables: one row a vote, with the columns task, worker and label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import attrs

from plausibly.plugin import (
    AnnotationTable,
    InputError,
    TextTable,
    columns_hint,
    counted,
    first_row,
    listed,
    near,
    quoted,
    read_table,
    several,
    table_from_codes,
    table_from_records,
    warn,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plausibly.plugin import Record

_ROLES = ("task", "worker", "label")
_LIKE_MISSING = frozenset(
    {"NA", "N/A", "#N/A", "<NA>", "nan", "NaN", "NAN", "None", "NONE", "null", "NULL", "NaT"}
)


@attrs.frozen(kw_only=True)
class CrowdTable:
    """Read CSV, TSV or Parquet with one row a vote: who said what of which task.

    Every value is kept as the text that was written; an empty label cell is a skip, an empty worker
    cell an unknown annotator. Other columns are not read.

    Attributes
    ----------
    header : bool or None
        Whether the first row names the columns; None looks whether the needed names are there.
    columns : mapping of str to str, or None
        The file's names for ``task``, ``worker`` and ``label``, where they differ; positions from
        ``"1"`` where there is no header (default: in this order).
    kind : {"single-label", "label-set"}
        ``"label-set"``: all rows of one worker about one task are one set.
    missing : tuple of str
        Labels that mean "no answer", besides the empty cell.
    delimiter : str or None
        ``","``, ``";"`` or a tab; None finds out.
    """

    header: bool | None = None
    columns: Mapping[str, str] | None = None
    kind: Literal["single-label", "label-set"] = "single-label"
    missing: tuple[str, ...] = ()
    delimiter: str | None = None

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether the needed columns are there by name, or by the positions given."""
        first = first_row(path, head, self.delimiter)
        if not first:
            return False
        named = self._names_columns(first) if self.header is None else self.header
        given = dict(self.columns or {})
        if named:
            return all(given.get(role, role) in first for role in _ROLES)
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
            ``columns-missing``, ``columns-unknown``, ``example-unnamed``, ``label-unknown`` with
            the line, ``response-twice``, and those of `plausibly.plugin.read_table`.

        Warns
        -----
        PlausiblyWarning
            ``labels-like-missing``, ``annotators-unnamed``.
        """
        return self.from_table(self._table(path), labels)

    def from_table(self, table: TextTable, labels: Sequence[str] | None) -> AnnotationTable:
        """Return the annotation table of columns of text; see `read`."""
        columns = self._columns(table)
        absent = [role for role in _ROLES if columns[role] not in table.header]
        table.need(columns.values(), do=self._hint(table, absent))
        if not len(table):
            raise _nothing(table, "a header and no rows")
        if labels is None and columns["label"] in table.offered:
            offered = table.offered[columns["label"]]
            labels = [text for text in offered if text and text not in self.missing]
        plain = self._plain(table, columns, labels)
        if plain is not None:
            return plain
        task, worker, label = (table.column(columns[role]) for role in _ROLES)
        _check_tasks(table, task)
        skipped = {"", *self.missing}
        self._warn_like_missing(table, label, labels)
        if labels is not None:
            _check_declared(table, worker, label, labels, skipped)
        elif skipped.issuperset(label):
            raise _nothing(table, f"{several(len(table), 'empty answer')} and no declared labels")
        if "" in worker:
            _warn_unnamed(table, worker)
        if self.kind == "label-set":
            return _sets(task, worker, label, labels, skipped)
        _check_once(table, task, worker)
        records: Iterable[Record] = zip(task, (who or None for who in worker), label, strict=True)
        return table_from_records(
            "single-label",
            records,
            labels,
            lambda said: () if said in skipped else ((str(said), 1, 1.0),),
        )

    def _plain(
        self, table: TextTable, columns: Mapping[str, str], labels: Sequence[str] | None
    ) -> AnnotationTable | None:
        """Return the annotation table where there is nothing to be told; else None.

        Each different text is looked at once, not each row: a million rows are read in about the
        time in which they are split into columns.
        """
        task, worker, label = (table.coded(columns[role]) for role in _ROLES)
        said = {"", *self.missing}
        told = "" in task or "" in worker or (labels is None and _LIKE_MISSING & {*label.names})
        if self.kind != "single-label" or told or said.issuperset(label.names):
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

    def _table(self, path: Path) -> TextTable:
        return read_table(
            path,
            role="annotations",
            header=self._names_columns if self.header is None else self.header,
            delimiter=self.delimiter,
            repeats=True,
        )

    def _names_columns(self, first: tuple[str, ...]) -> bool:
        wanted = [(self.columns or {}).get(role, role) for role in _ROLES]
        if all(name in first for name in wanted):
            return True
        # Positions are meant only where every column is given as one.
        return not all(name.isdecimal() for name in wanted)

    def _columns(self, table: TextTable) -> dict[str, str]:
        given = dict(self.columns or {})
        unknown = [role for role in given if role not in _ROLES]
        if unknown:
            meant = near(unknown[0], _ROLES)
            raise InputError(
                "columns-unknown",
                f"{table.whose}: a crowd table has no {quoted(unknown[0])}",
                expected="task, worker and label",
                got=listed(given),
                do=f"did you mean {meant}?" if meant else "map task, worker or label",
                whose=table.whose,
            )
        if not table.named and not given:
            return dict(zip(_ROLES, ("1", "2", "3"), strict=True))
        return {role: given.get(role, role) for role in _ROLES}

    def _hint(self, table: TextTable, absent: Sequence[str]) -> str:
        rows = [table.header, *zip(*(column[:20] for column in table.columns), strict=True)]
        return columns_hint(rows, absent if table.named else _ROLES)

    def _warn_like_missing(
        self, table: TextTable, label: Sequence[str], labels: Sequence[str] | None
    ) -> None:
        doubtful = (set(label) & _LIKE_MISSING).difference(self.missing)
        if not doubtful or labels is not None:
            return
        seen = Counter(text for text in label if text in doubtful)
        shown = listed(quoted(text) for text in seen)
        total = sum(seen.values())
        warn(
            "labels-like-missing",
            f"{table.whose}: {several(total, 'label')} {shown} "
            f"{'is' if total == 1 else 'are'} kept as text",
            expected='a label name (text stays as written); is it "no answer"?',
            do=f"--missing {','.join(seen)}, if it is",
            whose=table.whose,
            details={"labels": dict(seen)},
            stacklevel=5,
        )


def _nothing(table: TextTable, got: str) -> InputError:
    return InputError(
        "annotations-empty",
        f"{table.whose} names no label",
        expected="one row a vote",
        got=got,
        do="write it again, or name another file",
        whose=table.whose,
    )


def _check_tasks(table: TextTable, task: Sequence[str]) -> None:
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


def _check_declared(
    table: TextTable,
    worker: Sequence[str],
    label: Sequence[str],
    labels: Sequence[str],
    skipped: set[str],
) -> None:
    known = {*labels, *skipped}
    outside = Counter(label)
    for name in known:
        outside.pop(name, None)
    if not outside:
        return
    row = next(row for row, name in enumerate(label) if name in outside)
    said = label[row]
    meant = near(said, labels)
    if said in _LIKE_MISSING:
        do = f'--missing {said}, if it means "no answer"'
    elif meant:
        do = f"did you mean {quoted(meant)}? mend it, or declare it in --labels"
    else:
        do = "mend it, or declare it in --labels"
    raise InputError(
        "label-unknown",
        f"{table.place(row)}, {worker[row] or 'an unknown annotator'} says {quoted(said)}",
        expected=f"one of {several(len(labels), 'declared label')}",
        got=f"{several(len(outside), 'label')} outside ({several(sum(outside.values()), 'vote')})",
        do=do,
        whose=table.whose,
        details={"labels": dict(outside), "line": table.lines[row]},
    )


def _warn_unnamed(table: TextTable, worker: Sequence[str]) -> None:
    unnamed = [row for row, name in enumerate(worker) if not name]
    warn(
        "annotators-unnamed",
        f"{table.whose}: {several(len(unnamed), 'answer')} without a worker "
        f"({table.places(unnamed)})",
        expected="who said it; each is kept as the answer of an unknown annotator",
        do="name the workers, if one of them may have answered a task again",
        whose=table.whose,
        stacklevel=5,
    )


def _check_once(table: TextTable, task: Sequence[str], worker: Sequence[str]) -> None:
    if len(set(zip(task, worker, strict=True))) == len(task):
        return
    pairs = Counter(pair for pair in zip(task, worker, strict=True) if pair[1])
    if max(pairs.values(), default=1) == 1:
        return
    again: dict[str, list[str]] = {}
    for (about, who), count in pairs.items():
        if count > 1:
            again.setdefault(who, []).append(about)
    first = next(iter(again))
    others = len(again) - 1
    raise InputError(
        "response-twice",
        f"{table.whose}: {first} answered {several(len(again[first]), 'task')} again "
        f"({listed(again[first])})",
        expected="one response an annotator and task",
        got=f"up to {counted(max(pairs.values()))}"
        + (f", also by {several(others, 'other')}" if others else ""),
        do="keep one of them; --kind label-set, if they are one answer",
        whose=table.whose,
        details={"annotators": again},
    )


def _sets(
    task: Sequence[str],
    worker: Sequence[str],
    label: Sequence[str],
    labels: Sequence[str] | None,
    skipped: set[str],
) -> AnnotationTable:
    """Return the table in which all rows of one worker and task are one set of labels."""
    answers: dict[tuple[str, str, int], set[str]] = {}
    for row, (about, who, said) in enumerate(zip(task, worker, label, strict=True)):
        # Rows of unknown workers cannot be put together: each is a set of its own.
        named = answers.setdefault((about, who, -1 if who else row), set())
        if said not in skipped:
            named.add(said)
    records: Iterable[Record] = (
        (about, who or None, frozenset(named)) for (about, who, _), named in answers.items()
    )
    return table_from_records("label-set", records, labels, _mentions)


def _mentions(answer: object) -> tuple[tuple[str, int, float], ...]:
    return tuple((name, 1, 1.0) for name in answer) if isinstance(answer, frozenset) else ()
