"""Tables of pages."""

from __future__ import annotations

from pathlib import Path


def tables(page: Path) -> list[list[list[str]]]:
    """Return the cells of each table of a page, row by row, without the line below the head."""
    result: list[list[list[str]]] = [[]]
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("|"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if not set("".join(cells)) <= set("-: "):
                result[-1].append(cells)
        elif result[-1]:
            result.append([])
    return [table for table in result if table]
