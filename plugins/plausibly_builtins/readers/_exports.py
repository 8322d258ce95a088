"""What readers share: refusals, names, times, labels that may be none, files of a folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Final

import attrs

from plausibly.plugin import InputError, listed, quoted, several, warn

_MOST_SHOWN = 60
_FILE = "\0"  # whose fault it is, until the file is named

CONSOLIDATED: Final = "consolidated"
"""Annotator of what several people said together, or nobody knows who."""

LIKE_MISSING = frozenset(
    {"NA", "N/A", "#N/A", "<NA>", "nan", "NaN", "NAN", "None", "NONE", "null", "NULL", "NaT"}
)
"""What programs write where there is nothing."""

LATEST_HELP: Final = {
    "help": "Several answers of one annotator to one example: the latest by its time, an error, "
    "all of them, or all of them with one vote together."
}
LATEST_OR: Final = attrs.validators.in_(("error", "latest", "all", "fractional"))
"""Of the option `duplicates`, where the file says when each answer was given."""

HOURS = {"UTC": 0, "GMT": 0, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5}
HOURS |= {"MST": -7, "MDT": -6, "PST": -8, "PDT": -7}
"""Zones by their name alone: what a platform's own server writes."""


def refused(
    name: str, what: str, expected: str, got: str, do: str, **details: object
) -> InputError:
    """Return the error about the file that `about` names; `what` goes on after its name."""
    return InputError(name, what, expected=expected, got=got, do=do, whose=_FILE, details=details)


@contextmanager
def about(whose: str) -> Iterator[None]:
    """Say of what is refused inside which file it is about."""
    try:
        yield
    except InputError as error:
        if error.whose == _FILE:
            error.what, error.whose = f"{whose}{error.what}", whose
        raise


@contextmanager
def at(place: str) -> Iterator[None]:
    """Say of what is refused inside where in the file it is."""
    try:
        yield
    except InputError as error:
        if error.whose == _FILE:
            error.what = f" {place}{error.what}"
            if "place" in error.details:
                error.details["place"] = place
        raise


def told(
    whose: str,
    name: str,
    what: str,
    expected: str,
    got: str,
    do: str,
    *,
    stacklevel: int = 6,
    details: Mapping[str, object] | None = None,
) -> None:
    """Warn of a file; `what` goes on after its name."""
    warn(
        name,
        f"{whose}{what}",
        expected=expected,
        got=got,
        do=do,
        whose=whose,
        details=details,
        stacklevel=stacklevel + 1,
    )


def as_typed(reader: str, option: str) -> str:
    """Return an option of a reader as the command line takes it."""
    return f"--reader '{{name = \"{reader}\", {option}}}'"


def short(name: str) -> str:
    """Return a name between quotation marks, cut where it is too long for a message."""
    return quoted(name if len(name) <= _MOST_SHOWN else f"{name[: _MOST_SHOWN - 1]}…")


def text_of(value: object) -> str | None:
    """Return a name or id of JSON as text, exactly as written; None where there is none."""
    return str(value) if isinstance(value, str) and value else None


def warn_like_missing(whose: str, said: Mapping[str, int], also: Set[str] = frozenset()) -> None:
    """Warn of labels that may be no labels."""
    seen = {text: count for text, count in said.items() if text in LIKE_MISSING | also}
    if not seen:
        return
    total = sum(seen.values())
    told(
        whose,
        "labels-like-missing",
        f": {several(total, 'label')} {listed(map(quoted, seen))} "
        f"{'is' if total == 1 else 'are'} kept as text",
        'a label name (text stays as written); is it "no answer"?',
        "",
        f"--missing {','.join(seen)}, if it is",
        details={"labels": seen},
    )


def from_iso(text: str) -> datetime:
    """Return a time as ISO 8601 has it, or with a zone by its name; ValueError if it is neither."""
    said, _, zone = text.rpartition(" ")
    if zone not in HOURS:
        return datetime.fromisoformat(text)
    return datetime.fromisoformat(said).replace(tzinfo=timezone(timedelta(hours=HOURS[zone])))


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
                return stream.read(65_536)
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
