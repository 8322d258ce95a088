"""Mistakes in tables of parameters: each with its path, all of them at once."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from difflib import get_close_matches
from numbers import Real

import attrs

from plausibly.errors import ComponentError, InputError, MissingExtra

_ALSO_CALLED = {"repeats": "count", "n_repeats": "count", "n_splits": "count"}
"""Keys as other libraries call them, with ours."""

_OF_ATTRS = re.compile(r"'\w+' (?P<rule>must be .+): (?P<value>.+)")


@attrs.frozen
class Mistake:
    path: str
    text: str
    key: str = ""
    value: str = ""
    advice: str = ""
    unknown: bool = False
    expected: str = ""
    found: str = ""

    def below(self, key: str | int) -> Mistake:
        """Return the mistake as seen from one level further out."""
        fix = joined(key, self.key) if self.value else ""
        return attrs.evolve(self, path=joined(key, self.path), key=fix)

    @property
    def hint(self) -> str:
        return f"write {self.key} = {self.value}" if self.key else self.advice

    def __str__(self) -> str:
        return f"{self.path}: {self.text}" if self.path else self.text


def joined(key: str | int, path: str) -> str:
    """Return the path that leads through `key` to `path`."""
    head = f"[{key}]" if isinstance(key, int) else key
    return f"{head}{path}" if not path or path.startswith("[") else f"{head}.{path}"


class Mistakes(Exception):
    """All mistakes of one table; becomes a `ParameterError` where the component is known."""

    def __init__(self, mistakes: Iterable[Mistake]) -> None:
        self.mistakes = tuple(mistakes)
        super().__init__("; ".join(str(mistake) for mistake in self.mistakes))


class ParameterError(ComponentError):
    """Parameters that a component does not take: ``component-parameter``."""

    @classmethod
    def about(cls, source: str, mistakes: Iterable[Mistake], takes: str = "") -> ParameterError:
        every = tuple(mistakes)
        if len(every) == 1:
            where = f", {every[0].path}" if every[0].path else ""
            what, found, takes = f"{source}{where}: {every[0].text}", "", ""
        else:
            what = f"{source}: {len(every)} mistakes in its parameters"
            found = " ".join(f"({number}) {mistake}" for number, mistake in enumerate(every, 1))
        return cls(
            "component-parameter",
            what,
            expected=takes,
            found=found,
            hint="; ".join(dict.fromkeys(mistake.hint for mistake in every if mistake.hint)),
            source=source,
            details={"mistakes": [attrs.asdict(mistake) for mistake in every]},
        )

    @property
    def mistakes(self) -> tuple[Mistake, ...]:
        recorded = self.details["mistakes"]
        return tuple(Mistake(**m) for m in recorded) if isinstance(recorded, list) else ()


class Wrong(ValueError):
    def __init__(self, expected: str, value: object, instead: object = None) -> None:
        self.expected, self.found, self.instead = expected, described(value), instead
        super().__init__(f"expected {expected}, found {self.found}")


def described(value: object) -> str:
    if isinstance(value, str):
        return f'the text "{value}"'
    if value is None:
        return "None"
    if isinstance(value, Real | Decimal):
        return written(value)
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}"
    return f"an object of type {type(value).__name__}"


def written(value: object) -> str:
    """Return a plain value as TOML writes it in one line; there is no word for nothing."""
    if value is None:
        return "none"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key} = {written(item)}' for key, item in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(written(item) for item in value)}]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return str(value).lower() if isinstance(value, bool) else str(value)


def unknown_key(
    key: object, value: object, known: Iterable[str], *, noun: str = "parameter"
) -> Mistake:
    """Return the mistake of a key that is none of `known`, with the likely one."""
    names = list(known)
    name, text = str(key), f"no such {noun}; "
    also = [ours for ours in names if ours == _ALSO_CALLED.get(name)]
    if close := get_close_matches(name, names, n=1) or also:
        meant = close[0]
        text += f'did you mean "{meant}"?'
        return Mistake(name, text, meant, written(value), unknown=True, expected=meant, found=name)
    text += f"it has {', '.join(names)}" if names else "it has none"
    return Mistake(name, text, advice=f"leave {key} out", unknown=True)


def mistakes_in(error: BaseException) -> list[Mistake]:
    """Return what an error of the converter, or of a component's own checks, says."""
    if isinstance(error, MissingExtra):
        raise error
    if isinstance(error, Mistakes | ParameterError):
        return list(error.mistakes)
    if isinstance(error, Wrong):
        instead = "" if error.instead is None else written(error.instead)
        return [Mistake("", str(error), value=instead, expected=error.expected, found=error.found)]
    if isinstance(error, InputError):
        text, suggestion = error.what, error.details.get("suggestion")
        if error.name != "component-unknown":
            text += f"; expected {error.expected}" * bool(error.expected)
            text += f"; found {error.found}" * bool(error.found)
        elif suggestion:
            text += f'; did you mean "{suggestion}"?'
        elif error.found:
            text += f"; {error.found}"
        every = "all: " if error.hint.startswith("plausibly plugins list") else ""
        return [Mistake("", text, advice=f"{every}{error.hint}")]
    # attrs' own validators put the attribute and the value behind their text.
    text = error.args[0] if error.args and isinstance(error.args[0], str) else str(error)
    rule = _OF_ATTRS.fullmatch(text)
    text = f"{rule['rule']}, found {rule['value']}" if rule else text
    if not isinstance(error, Exception):  # an exit code alone says nothing
        text = f"{type(error).__name__} {text}"
    return [Mistake("", text or type(error).__name__)]
