"""Tables of pages."""

from __future__ import annotations

from pathlib import Path


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
