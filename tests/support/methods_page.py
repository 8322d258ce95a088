"""Pages whose blocks of Python run, one after the other, and print what the page shows."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)


def run_page(page: Path) -> list[tuple[str, str]]:
    """Return what each block of Python printed, and what the page shows behind it.

    A block of text shows the output of the block of Python before it; no other blocks are there.

    Raises
    ------
    ValueError
        Where a block is neither.
    """
    found: list[tuple[str, str]] = []
    names: dict[str, object] = {}
    for language, body in _FENCE.findall(page.read_text(encoding="utf-8")):
        if language == "python":
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(body, f"{page.name}", "exec"), names)
            found.append((printed.getvalue(), ""))
        elif language == "text" and found and not found[-1][1]:
            found[-1] = (found[-1][0], body)
        else:
            msg = f"{page.name}: a block of {language or 'nothing'} that shows no output"
            raise ValueError(msg)
    return found


def tables(page: Path) -> list[list[list[str]]]:
    """Return the cells of each table of a page, row by row, without the line below the head."""
    found: list[list[list[str]]] = [[]]
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("|"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if not set("".join(cells)) <= set("-: "):
                found[-1].append(cells)
        elif found[-1]:
            found.append([])
    return [table for table in found if table]
