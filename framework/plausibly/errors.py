"""Errors and warnings, with one common format.

Each message has a name (an anchor in the docs and a key in ``--json``), a first line that says what
is wrong and where, what was expected, what was found, and a hint: one change that can be typed.
"""

from __future__ import annotations

import sys
import textwrap
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Mapping
from types import FrameType
from typing import Literal

Severity = Literal["error", "warning"]

EXIT_OURS = 1
EXIT_INPUT = 2
EXIT_CHECK = 3
EXIT_INTERRUPTED = 130

_OURS = {"plausibly", "plausibly_builtins"}


def counted(number: int) -> str:
    """Return a count with thousands separated."""
    return f"{number:,}"


def an(noun: str) -> str:
    """Return a noun with its article: ``an ndarray``."""
    return f"an {noun}" if noun.startswith((*"aeioAEIO", "nd")) else f"a {noun}"


def listed(items: Iterable[object], *, most: int = 3) -> str:
    """Return up to `most` items, and the count of all of them where there are more."""
    texts = [str(item) for item in items]
    shown = ", ".join(texts[:most])
    return shown if len(texts) <= most else f"{shown}, … ({counted(len(texts))} in all)"


SLASHES = "write the path with / for each backslash, or between single quotation marks"
"""Hint where TOML read a backslash of a path as the start of an escape."""

_JOINERS = "\u200c\u200d"  # part of words of several languages, and of emoji


def visible(text: str) -> str:
    """Return text for a terminal: what would steer it, or cannot be seen, as an escape.

    Controls but for the line feed, marks of direction, invisible characters, halves of characters.
    """
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    return "".join(
        letter.encode("unicode_escape").decode()
        if letter != "\n"
        and letter not in _JOINERS
        and unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp")
        else letter
        for letter in text
    )


class _Message(Exception):
    """The fields that errors and warnings share."""

    severity: Severity = "error"

    def __init__(
        self,
        name: str,
        what: str,
        *,
        expected: str = "",
        found: str = "",
        hint: str = "",
        source: str = "",
        details: Mapping[str, object] | None = None,
    ) -> None:
        self.name = name
        self.what = what
        # A message is printed whatever it is about: a wrong argument may be no text.
        self.expected, self.found, self.hint = str(expected), str(found), str(hint)
        self.source = source
        self.details: dict[str, object] = dict(details or {})
        super().__init__(name, what)

    def __str__(self) -> str:
        return render(self)

    def __reduce__(self) -> tuple[Callable[..., _Message], tuple[object, ...]]:
        return _rebuild, (type(self), self.fields())

    def fields(self) -> dict[str, object]:
        """Return the message as plain data, as ``--json`` prints it."""
        return {
            "name": self.name,
            "what": self.what,
            "source": self.source,
            "expected": self.expected,
            "found": self.found,
            "hint": self.hint,
            "details": self.details,
        }


def _rebuild(cls: type[_Message], fields: dict[str, object]) -> _Message:
    return cls(**fields)  # type: ignore[arg-type]  # the fields come from the message itself


class InputError(_Message, ValueError):
    """Input that cannot be used as it is.

    Attributes
    ----------
    name : str
        Short name of the message, stable between versions, such as ``"labels-differ"``.
    what : str
        One sentence: what is wrong, and where.
    source : str
        The file, component or table at fault, if there is one.
    expected, found, hint : str
        What was expected, what was found instead, and one change that can be typed.
    details : dict
        The same facts as data: names of examples, labels, rows.
    """

    exit_code = EXIT_INPUT


class ComponentError(InputError):
    """A component that is unknown, cannot be loaded, or does not satisfy its Protocol."""


class IncompatibleComponents(InputError):
    """Components that work alone but not together."""


class MissingExtra(InputError, ImportError):  # type: ignore[misc]  # both name `name`, a str
    """A feature whose optional dependency is not installed."""


class PlausiblyWarning(_Message, UserWarning):
    """A result that stands, with something the user should know about it.

    The attributes are those of `InputError`.
    """

    severity: Severity = "warning"


def warn(
    name: str,
    what: str,
    *,
    expected: str = "",
    found: str = "",
    hint: str = "",
    source: str = "",
    details: Mapping[str, object] | None = None,
) -> None:
    """Issue a `PlausiblyWarning` of the line that called plausibly."""
    issue(
        PlausiblyWarning(
            name, what, expected=expected, found=found, hint=hint, source=source, details=details
        )
    )


def issue(message: PlausiblyWarning) -> None:
    """Issue a warning of the line that called plausibly, through plugins too."""
    depth = outermost = 0
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        depth += 1
        if str(frame.f_globals.get("__name__")).partition(".")[0] in _OURS:
            outermost = depth
        frame = frame.f_back
    warnings.warn(message, stacklevel=outermost + 1)


def render(message: _Message, *, width: int = 80) -> str:
    """Return the message as text, wrapped to `width` columns; names in it are `visible`.

    Parameters
    ----------
    message : InputError or PlausiblyWarning
        What to show.
    width : int
        Columns to wrap to; the hanging indent keeps the fields apart.
    """
    lines = textwrap.wrap(
        visible(f"{message.severity} {message.name}: {message.what}"),
        width,
        subsequent_indent="  ",
        break_on_hyphens=False,
        break_long_words=False,
    )
    fields = {"expected": message.expected, "found": message.found, "hint": message.hint}
    for title, text in fields.items():
        if text:
            lines += textwrap.wrap(
                visible(text),
                width,
                initial_indent=f"  {title:<10}",
                subsequent_indent=" " * 12,
                break_on_hyphens=False,
                break_long_words=False,
            )
    return "\n".join(lines)
