"""What people type as the value of an option: components, maps, lists and shares."""

from __future__ import annotations

import contextlib
import errno
import os
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from plausibly.atomic import unwritable
from plausibly.errors import InputError


def component(text: str | None, flag: str) -> str | dict[str, object] | None:
    """Return a component as its name, or as the table that an inline TOML table stands for."""
    if text is None or not text.lstrip().startswith("{"):
        return text
    return _table(text, flag, do=f"""{flag} '{{name = "NAME", parameter = 0.5}}'""")


def mapping(text: str | None, flag: str, example: str) -> dict[str, str] | None:
    """Return what ``a=b,c=d`` or an inline TOML table says."""
    if text is None:
        return None
    if text.lstrip().startswith("{"):
        table = _table(text, flag, do=f"{flag} {example}")
        return {key: str(value) for key, value in table.items()}
    found: dict[str, str] = {}
    for part in text.split(","):
        key, equals, value = part.partition("=")
        if not (key and equals and value):
            raise _malformed(flag, text, f"{example}", f"no NAME=NAME in {_quoted(part)}", example)
        found[key] = value
    return found


def renames(texts: Sequence[str] | None) -> dict[str, str]:
    """Return new names of labels by their old ones; each text is ``OLD=NEW``, blanks kept."""
    flag, example = "--rename", '"old name=new name"'
    found: dict[str, str] = {}
    for text in texts or ():
        if text.lstrip().startswith("{"):
            table = _table(text, flag, do=f"""{flag} '{{"a=b" = "c"}}'""")
            found |= {key: str(value) for key, value in table.items()}
            continue
        old, equals, new = text.partition("=")
        if not (old and equals and new):
            raise _malformed(flag, text, "OLD=NEW", _quoted(text), example)
        found[old] = new
    return found


def texts(given: Sequence[str] | None) -> tuple[str, ...]:
    """Return the texts of a repeatable option, each of which may hold several, with commas."""
    return tuple(part for text in given or () for part in text.split(","))


def share(text: str | None, flag: str) -> float | None:
    """Return a share of 0 to 1."""
    if text is None:
        return None
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        meant = f"{value / 100:g}" if 1 < value <= 100 else "0.89"
        raise InputError(
            "share-range",
            f"{flag} {text} is not a share",
            expected="a number from 0 to 1",
            got=text,
            do=f"{flag} {meant}",
            whose=flag,
        )
    return value


def outputs(path: Path, inputs: Mapping[str, Path | None]) -> Path:
    """Return the output, which must have a name, and be none of the files that are read."""
    try:
        if path.name in ("", ".."):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            path.lstat()
    except (OSError, ValueError) as reason:  # no name, one that is too long, or with a NUL
        raise unwritable(path, reason) from reason
    for flag, other in inputs.items():
        if other is not None and path.resolve() == other.resolve():
            raise InputError(
                "output-is-input",
                f"-o {path} would overwrite what {flag} reads",
                expected="another file",
                got=str(path),
                do="-o elsewhere",
                whose=str(path),
            )
    return path


def _table(text: str, flag: str, *, do: str) -> dict[str, object]:
    try:
        document = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError as error:
        # The position in the line counts the text that stands before what was typed.
        reason = str(error).partition(" (at")[0].lower()
        raise _malformed(flag, text, "an inline TOML table", reason, do, whole=True) from error
    table = document.pop("value")
    if document:  # lines behind the table
        raise _malformed(flag, text, "an inline TOML table", _quoted(text), do, whole=True)
    return {str(key): value for key, value in table.items()}


def _malformed(
    flag: str, text: str, expected: str, got: str, example: str, *, whole: bool = False
) -> InputError:
    return InputError(
        "option-malformed",
        f"{flag} {text} cannot be read",
        expected=expected,
        got=got,
        do=example if whole else f"{flag} {example}",
        whose=flag,
    )


def _quoted(text: str) -> str:
    return f'"{text}"'
