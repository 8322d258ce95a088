"""What a table of ours says of itself inside the table: a column of CSV, metadata of Parquet.

Rows cannot say everything. The last column of a CSV, ``about``, holds the JSON text that says the
rest, in as many cells as it takes: no cell is longer than a spreadsheet keeps, and each has its
number, since rows may be sorted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

COLUMN = "about"

_LENGTH = 30_000  # a cell of a spreadsheet holds 32,767 characters
_PART = re.compile(r"([1-9][0-9]{0,8})/([1-9][0-9]{0,8}) (.*)", re.DOTALL)
_OPENS = re.compile(r"1/[1-9][0-9]{0,8} \{")


def cells(text: str) -> list[str]:
    """Return the text in cells, each with its number: ``1/2 {...``."""
    count = -(-len(text) // _LENGTH)
    return [
        f"{part + 1}/{count} {text[part * _LENGTH : (part + 1) * _LENGTH]}" for part in range(count)
    ]


def joined(column: Sequence[str]) -> str | None:
    """Return the text in the cells of a column, in any order; None unless it is whole."""
    found: dict[int, str] = {}
    counts = set()
    for cell in column:
        if cell:
            part = _PART.fullmatch(cell)
            if part is None:
                return None
            found[int(part[1])] = part[3]
            counts.add(int(part[2]))
    whole = len(counts) == 1 and sorted(found) == list(range(1, max(counts) + 1))
    return "".join(found[number] for number in sorted(found)) if whole else None


def opens(cell: str) -> bool:
    """Return whether a cell is the first one of such a text."""
    return _OPENS.match(cell) is not None


def begins(head: bytes, names: Sequence[str]) -> bool:
    """Return whether the first line of a text table begins with these columns.

    Parameters
    ----------
    head : bytes
        The first bytes of the file.
    names : sequence of str
        Plain words.
    """
    words = [f'(?:{name}|"{name}")' for name in names]
    first = head.removeprefix(b"\xef\xbb\xbf")[:400].decode("utf-8", "replace")
    return any(re.match(f"{mark.join(words)}(?:[{mark}\r\n]|$)", first) for mark in ",;\t")
