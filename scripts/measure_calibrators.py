"""Measure what calibrators keep, and write the tables into docs/calibrators_measured.md.

Needs the folder of real data, in which each set is a folder with a file ``data.npz``::

    python scripts/measure_calibrators.py --data DIR

A mark such as ``<!-- measured: halves -->`` says which table stands below it.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from pathlib import Path

from measured.tables import FULL, TABLES, shown

PAGE = Path(__file__).resolve().parents[1] / "docs" / "calibrators_measured.md"

_MARKED = re.compile(r"(<!-- measured: (\w+) -->\n\n)((?:\|[^\n]*\n)*)\n?")


def tables_of(page: str) -> dict[str, list[list[str]]]:
    """Return the cells of each marked table of a page: the header, and rows."""
    return {
        name: [
            [cell.strip() for cell in line.strip("|").split("|")]
            for place, line in enumerate(text.splitlines())
            if place != 1
        ]
        for _, name, text in _MARKED.findall(page)
    }


def renewed(page: str, made: Mapping[str, str]) -> str:
    """Return a page with new tables below the marks of these names."""

    def table(found: re.Match[str]) -> str:
        return f"{found[1]}{made.get(found[2], found[3])}\n"

    return _MARKED.sub(table, page).rstrip("\n") + "\n"


def main() -> None:
    """Measure all tables, or those that are named, and renew the page."""
    parser = argparse.ArgumentParser(description="Measure what calibrators keep.")
    parser.add_argument("--data", type=Path, required=True, help="folder of the data sets")
    parser.add_argument("--only", nargs="*", choices=list(TABLES), help="these tables")
    asked = parser.parse_args()
    names: list[str] = asked.only or list(TABLES)
    for name in names:
        made = shown(TABLES[name](asked.data, FULL))
        print(f"{name}\n\n{made}", flush=True)
        page = renewed(PAGE.read_text(encoding="utf-8"), {name: made})
        PAGE.write_text(page, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
