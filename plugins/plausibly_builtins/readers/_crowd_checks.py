"""What is refused in a crowd table, with the line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from plausibly.plugin import InputError, Response, TextTable, counted, listed, near, quoted, several
from plausibly_builtins.readers._like_missing import LIKE_MISSING
from plausibly_builtins.readers._names import short

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
    """Raise ``response-twice`` where a worker answers a task again.

    Parameters
    ----------
    table : TextTable
        The file.
    answers : sequence of Response
        Those that count.
    do : str
        What the user can type.
    """
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
