"""Guesses of what the columns of a file hold: for hints in messages, never for a decision."""

from __future__ import annotations

import re
from collections.abc import Sequence

_WORDS = {
    "annotator": "annotator worker rater performer user reader coder who",
    "label": "label answer response class category output dx vote value grade rating",
    "example": "example task item case image question unit hit object id",
}
NEEDED = ("example", "annotator", "label")
"""Columns of a long table, in its order."""

NUMBER = re.compile(r"[+-]?([0-9]+([.,][0-9]*)?|[.,][0-9]+)([eE][+-]?[0-9]+)?")
_WHOLE = re.compile(r"-?[0-9]+(\.0+)?")
_NAMES = re.compile(
    r"(.*[_ .-])?(task|example|item|image|img|id|uid|case|file|filename|path|question|unit|object|"
    r"sample|scan|subject|patient|study|name|text|sentence|document|url)s?",
    re.IGNORECASE,
)


def guessed(header: Sequence[str], roles: Sequence[str] = NEEDED) -> dict[str, str]:
    """Return the column of each role, by its name."""
    free = [name for name in header if name not in NEEDED or name in roles]
    columns: dict[str, str] = {}
    for role in (role for role in _WORDS if role in roles):
        for word in _WORDS[role].split():
            # At the start of a word: "id" is in "confidence", and "value" in "evaluator".
            fit = [name for name in free if re.search(f"(?<![a-z]){word}", name.casefold())]
            if fit:
                columns[role] = fit[0]
                free = [name for name in free if name != fit[0]]
                break
    return columns


def names_examples(name: str, cells: Sequence[str]) -> bool:
    """Return whether a column names examples: by its own name, or each cell is another word."""
    words = bool(cells) and len(set(cells)) == len(cells) and not any(map(NUMBER.fullmatch, cells))
    return bool(_NAMES.fullmatch(name)) or (words and all(cells))


NUMBERS, WORDS = "numbers", "names of labels"


def holds(rows: Sequence[Sequence[str]]) -> str | None:
    """Return whether the rows below the first are numbers by label, or names: None if neither."""
    columns = list(zip(*rows[1:], strict=False))
    words = sum(not all(map(NUMBER.fullmatch, column)) for column in columns)
    if words > 1:
        return WORDS
    return NUMBERS if len(columns) - words > 1 else None


def columns_hint(rows: Sequence[Sequence[str]], roles: Sequence[str] = NEEDED) -> str:
    """Return what to type so that a long table has its columns, by the first rows of a file.

    `roles` are those of ``example``, ``annotator`` and ``label`` that are not there by name. A hint
    such as ``columns={"example": "item", "annotator": "rater", "label": "answer"}`` has names that
    look right, and the last one that is left; ``LABEL_COLUMN`` where nothing tells; positions where
    the first row is no header.
    """
    # A name of a column is not repeated below.
    if not rows or any(first in column for first, *column in zip(*rows, strict=False)):
        columns = 'columns={"example": "1", "annotator": "2", "label": "3"}'
        return f"{columns}, with the positions of this file"
    header = rows[0]
    by_role = guessed(header, roles)
    there = {*by_role.values(), *(name for name in header if name in NEEDED and name not in roles)}
    left = [at for at, name in enumerate(header) if name not in there]
    open_roles = [role for role in roles if role not in by_role]
    if len(left) == len(open_roles) == 1:
        cells = [row[left[0]] for row in rows[1:]]
        if not any(NUMBER.fullmatch(cell) and not _WHOLE.fullmatch(cell) for cell in cells):
            by_role[open_roles[0]] = header[left[0]]
    column_of = {role: by_role.get(role, f"{role.upper()}_COLUMN") for role in roles}
    pairs = (f'"{role}": "{column}"' for role, column in column_of.items())
    return f"columns={{{', '.join(pairs)}}}"
