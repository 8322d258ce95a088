"""What readers of exports without votes share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from plausibly.plugin import InputError

_LOOK = 65_536

CONSOLIDATED: Final = "consolidated"
"""Annotator of what several people said together, or nobody knows who."""


def one_or_all(kind: str, labels: Sequence[str]) -> object:
    """Return labels as an answer of a kind: the label where one alone can be said."""
    return labels[0] if kind == "single-label" and len(labels) == 1 else list(labels)


def files_below(folder: Path, pattern: str) -> list[Path]:
    """Return the files below a folder, in the order of their names, hidden ones left out."""
    found = (path for path in folder.rglob(pattern) if path.is_file())
    inside = ((path.relative_to(folder).parts, path) for path in found)
    return [path for parts, path in sorted(inside) if not any(p.startswith(".") for p in parts)]


def first_bytes(folder: Path, pattern: str) -> bytes:
    """Return the start of the first file below a folder, for readers asked if they recognise it."""
    try:
        for file in files_below(folder, pattern)[:1]:
            with file.open("rb") as stream:
                return stream.read(_LOOK)
    except OSError:
        pass  # what cannot be read is not recognised
    return b""


@contextmanager
def within(folder: Path, file: Path) -> Iterator[None]:
    """Let errors that begin with the name of a file say in which folder it is."""
    try:
        yield
    except InputError as error:
        if error.what.startswith(file.name):
            around = (folder.name, *file.relative_to(folder).parts[:-1])
            error.what = f"{'/'.join(around)}/{error.what}"
        raise
