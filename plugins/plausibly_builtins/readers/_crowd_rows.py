"""The votes of a crowd table, each with its state, weight, time and line."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import attrs

from plausibly.plugin import InputError, Response, TextTable, counted, listed, near, states
from plausibly_builtins.readers._crowd_answers import Said
from plausibly_builtins.readers._crowd_presets import Columns
from plausibly_builtins.readers._crowd_times import times
from plausibly_builtins.readers._names import short

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
    """Return what stands in the rows; times are read only where `timed`.

    Raises
    ------
    InputError
        ``state-unknown``, ``weight-unreadable``, and those of `times`.
    """
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
