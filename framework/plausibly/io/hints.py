"""Which of a file's columns could be which: the hint in messages, never a decision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_WORDS: Mapping[str, tuple[str, ...]] = {
    "worker": ("worker", "annotator", "rater", "performer", "user", "reader", "coder", "who"),
    "label": ("label", "answer", "response", "class", "category", "output", "dx", "vote", "value"),
    "task": ("task", "item", "example", "case", "image", "question", "unit", "hit", "object", "id"),
}
NEEDED = ("task", "worker", "label")
"""Columns of a crowd table, in its order."""


def guessed(header: Sequence[str], roles: Sequence[str] = NEEDED) -> dict[str, str]:
    """Return the column of each role whose name says so.

    Parameters
    ----------
    header : sequence of str
        Columns that the file has.
    roles : sequence of str
        Those of ``task``, ``worker`` and ``label`` to look for; the others are there by name.
    """
    taken = {name for name in header if name in NEEDED and name not in roles}
    found: dict[str, str] = {}
    for role, words in _WORDS.items():
        if role not in roles:
            continue
        fit = (n for word in words for n in header if n not in taken and word in n.casefold())
        name = next(fit, None)
        if name is not None:
            found[role] = name
            taken.add(name)
    return found


def has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first rows of a file may start with names: none is repeated below."""
    if not rows:
        return False
    return not any(first in column for first, *column in zip(*rows, strict=False))


def columns_hint(rows: Sequence[Sequence[str]], roles: Sequence[str] = NEEDED) -> str:
    """Return what to type so that the columns of a crowd table are found.

    Parameters
    ----------
    rows : sequence of sequence of str
        The first rows of the file.
    roles : sequence of str
        Those of ``task``, ``worker`` and ``label`` that are not there by name.

    Returns
    -------
    str
        ``--columns task=item,worker=rater,label=answer``: names that look right, else those that
        are left, in order; positions where the first row is no header.
    """
    if not has_header(rows):
        return "--columns task=1,worker=2,label=3, with the positions of this file"
    header = rows[0]
    found = guessed(header, roles)
    there = {*found.values(), *(name for name in header if name in NEEDED and name not in roles)}
    left = [name for name in header if name not in there]
    for role in roles:
        if role not in found:
            found[role] = left.pop(0) if left else f"{role.upper()}_COLUMN"
    pairs = ",".join(f"{role}={found[role]}" for role in roles)
    return f'--columns "{pairs}"' if " " in pairs else f"--columns {pairs}"
