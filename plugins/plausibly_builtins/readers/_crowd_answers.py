"""The labels that cells of a crowd table name."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from plausibly.plugin import InputError, JsonNumber, TextTable, listed, parse_json, quoted
from plausibly_builtins.readers._crowd_presets import Columns
from plausibly_builtins.readers._names import short


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
    """Return the labels in each row.

    Parameters
    ----------
    table : TextTable
        The file.
    columns : Columns
        Where what stands.
    separator : str or None
        What stands between the labels of a cell; None: a cell is one label.
    missing : sequence of str
        Labels that mean "no answer".

    Raises
    ------
    InputError
        ``answer-unclear`` where a cell answers several questions, ``answer-unreadable``, and those
        of `plausibly.plugin.parse_json`.
    """
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
