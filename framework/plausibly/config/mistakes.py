"""Mistakes in tables of parameters: each with its path, all of them at once."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from numbers import Real

import attrs

from plausibly.errors import ComponentError, InputError, MissingExtra


@attrs.frozen
class Mistake:
    """One thing that is wrong in a table.

    Attributes
    ----------
    path : str
        Where: ``inner.draws``, ``many[1].by``; empty for the table itself.
    text : str
        What is wrong, in one line.
    do : str
        What to write instead, where that is known.
    unknown : str
        The key, where the mistake is a key that the component does not have.
    """

    path: str
    text: str
    do: str = ""
    unknown: str = ""

    def below(self, key: str | int) -> Mistake:
        """Return the mistake as seen from one level further out."""
        head = f"[{key}]" if isinstance(key, int) else key
        dot = "." if self.path and not self.path.startswith("[") else ""
        return attrs.evolve(self, path=f"{head}{dot}{self.path}")

    def __str__(self) -> str:
        return f"{self.path}: {self.text}" if self.path else self.text


class Mistakes(Exception):
    """All mistakes of one table; becomes a `ComponentError` where the component is known."""

    def __init__(self, mistakes: Iterable[Mistake]) -> None:
        self.mistakes = tuple(mistakes)
        super().__init__("; ".join(str(mistake) for mistake in self.mistakes))


class ParameterError(ComponentError):
    """Parameters that a component does not take; `mistakes` holds each of them."""

    mistakes: tuple[Mistake, ...] = ()


class Wrong(ValueError):
    """A value of another type than the parameter has.

    Attributes
    ----------
    expected : str
        What the parameter takes.
    instead : object or None
        The value that was probably meant.
    """

    def __init__(self, expected: str, value: object, instead: object = None) -> None:
        super().__init__(f"expected {expected}, got {said(value)}")
        self.expected = expected
        self.instead = instead


def said(value: object) -> str:
    """Return a value as a message shows it."""
    if isinstance(value, str):
        return f'the text "{value}"'
    if value is None or isinstance(value, Real):
        return written(value)
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, list | tuple):
        return "a list"
    return f"an object of type {type(value).__name__}"


def written(value: object) -> str:
    """Return a plain value as it is typed in a study file."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(written(item) for item in value)}]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return str(value).lower() if isinstance(value, bool) else str(value)


def unknown_key(key: object, known: Iterable[str]) -> Mistake:
    """Return the mistake of a key that is none of `known`, with the likely one."""
    names = list(known)
    close = get_close_matches(str(key), names, n=1)
    if close:
        text = f'no such parameter; did you mean "{close[0]}"?'
        return Mistake(str(key), text, f"write {close[0]}", str(key))
    those = f"it has {', '.join(names)}" if names else "it has none"
    return Mistake(str(key), f"no such parameter; {those}", f"leave {key} out", str(key))


def mistakes_in(error: Exception, *, name: str = "") -> list[Mistake]:
    """Return what an error of the converter, or of a component's own checks, says.

    Parameters
    ----------
    error : Exception
        What was raised.
    name : str
        The parameter that was read, where it is one.

    Raises
    ------
    MissingExtra
        Where that is what went wrong: it is no mistake in the table.
    """
    if isinstance(error, MissingExtra):
        raise error
    if isinstance(error, Mistakes | ParameterError):
        return list(error.mistakes)
    if isinstance(error, Wrong):
        instead = error.instead
        return [
            Mistake(
                "", str(error), f"write {name} = {written(instead)}" if instead is not None else ""
            )
        ]
    if isinstance(error, InputError):
        expectation = f"; expected {error.expected}" if error.expected else ""
        got = f"; got {error.got}" if error.got else ""
        return [Mistake("", f"{error.what}{expectation}{got}", error.do)]
    # attrs' own validators put the attribute and the value behind their text.
    text = error.args[0] if error.args and isinstance(error.args[0], str) else str(error)
    return [Mistake("", text or type(error).__name__)]


def parameter_error(whose: str, mistakes: Iterable[Mistake]) -> ParameterError:
    """Return the error ``component-parameter`` about all mistakes in one component's table."""
    those = tuple(mistakes)
    first = those[0]
    if len(those) == 1:
        where = f", {first.path}" if first.path else ""
        what, got = f"{whose}{where}: {first.text}", ""
    else:
        paths = ", ".join(m.path or "the table" for m in those)
        what = f"{whose}: {len(those)} mistakes in its parameters ({paths})"
        got = "; ".join(str(m) for m in those)
    error = ParameterError(
        "component-parameter",
        what,
        got=got,
        do="; ".join(dict.fromkeys(m.do for m in those if m.do)),
        whose=whose,
        details={"mistakes": [{"path": m.path, "text": m.text, "do": m.do} for m in those]},
    )
    error.mistakes = those
    return error
