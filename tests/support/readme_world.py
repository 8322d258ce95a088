"""Parts of the README and of pages, and the files on which their commands run."""

from __future__ import annotations

import re
import shlex
from importlib.resources import files
from pathlib import Path

from plausibly.cli.example import FILES

LABELS = ("benign", "unsure", "malignant")

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(text: str, language: str) -> list[str]:
    return [body for result, body in _FENCE.findall(text) if result == language]


def indented(text: str) -> list[str]:
    """Return the indented blocks outside of fences, in order, without their indent."""
    result: list[list[str]] = [[]]
    for line in _FENCE.sub("", text).splitlines():
        if line.startswith("    "):
            result[-1].append(line[4:])
        elif result[-1]:
            result.append([])
    return ["\n".join(lines) for lines in result if lines]


def commands(text: str) -> list[list[str]]:
    """Return the words of every ``plausibly`` command that acts on files of the user."""
    lines = [line for block in indented(text) for line in block.splitlines()]
    for block in blocks(text, "console"):
        joined = block.replace("\\\n", " ")
        lines += [line.removeprefix("$ ") for line in joined.splitlines()]
    return [shlex.split(line)[1:] for line in lines if line.startswith("plausibly ")]


def tables(page: Path) -> list[list[list[str]]]:
    """Return the cells of each table of a page, row by row, without the line below the head."""
    return _tables(page.read_text(encoding="utf-8"))


def rows(text: str, first: str) -> list[list[str]]:
    """Return the cells of the table whose first heading is `first`, without the heading."""
    return next(rest for head, *rest in _tables(text) if head[0] == first)


def _tables(text: str) -> list[list[list[str]]]:
    result: list[list[list[str]]] = [[]]
    for line in text.splitlines():
        if line.startswith("|"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if not set("".join(cells)) <= set("-: "):
                result[-1].append(cells)
        elif result[-1]:
            result.append([])
    return [table for table in result if table]


def write_files(folder: Path) -> None:
    source = files("plausibly.demo") / "data" / "example"
    for name in FILES:
        (folder / name).write_bytes((source / name).read_bytes())
