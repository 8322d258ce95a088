"""Helpers that several readers share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal

from plausibly.plugin import InputError, counted, listed, quoted, several, warn

_MOST_SHOWN = 60


def short(name: str) -> str:
    """Return a name between quotation marks, cut where it is too long for a message."""
    return quoted(name if len(name) <= _MOST_SHOWN else f"{name[: _MOST_SHOWN - 1]}…")


def check_names(whose: str, names: Sequence[str], noun: Literal["example", "label"]) -> None:
    """Raise an error unless every name is there once, and can be one."""
    again = [name for name, count in Counter(names).items() if count > 1]
    if again:
        places = [place for place, name in enumerate(names, start=1) if name == again[0]]
        raise InputError(
            f"{noun}-twice",
            f"{whose} names the {noun} {short(again[0])} twice",
            expected="each name once",
            got=f"at places {counted(places[0])} and {counted(places[1])}"
            + (f", and {several(len(again) - 1, 'other name')} again" if again[1:] else ""),
            do="keep one, or give them names of their own",
            whose=whose,
            details={f"{noun}s": again},
        )
    unfit = [place for place, name in enumerate(names, start=1) if not name or "\0" in name]
    if unfit:
        raise InputError(
            f"{noun}-unnamed",
            f"{whose} has {several(len(unfit), noun)} without a usable name",
            expected="text with at least one character, and no NUL",
            got=f"none at place {counted(unfit[0])}",
            do=f"name each {noun}",
            whose=whose,
        )


LIKE_MISSING = frozenset(
    {"NA", "N/A", "#N/A", "<NA>", "nan", "NaN", "NAN", "None", "NONE", "null", "NULL", "NaT"}
)
"""What programs write where there is nothing."""


def warn_like_missing(
    whose: str, said: Mapping[str, int], *, also: Set[str] = frozenset(), stacklevel: int = 6
) -> None:
    """Warn of labels that may be no labels."""
    seen = {text: count for text, count in said.items() if text in LIKE_MISSING | also}
    if not seen:
        return
    total = sum(seen.values())
    warn(
        "labels-like-missing",
        f"{whose}: {several(total, 'label')} {listed(quoted(text) for text in seen)} "
        f"{'is' if total == 1 else 'are'} kept as text",
        expected='a label name (text stays as written); is it "no answer"?',
        do=f"--missing {','.join(seen)}, if it is",
        whose=whose,
        details={"labels": seen},
        stacklevel=stacklevel,
    )


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
