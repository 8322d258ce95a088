"""JSON and JSON Lines, strictly: nothing is lost.

RFC 8259 leaves open what a key that stands twice means, and Python's own reader takes words that
are no JSON and rounds numbers. Here a repeated key, ``NaN``, ``Infinity``, half a surrogate pair
and values nested beyond reason are errors; a number keeps the text in which it was written, so that
the id 12345678901234567890 and the label 1.0 stay what they are.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import NoReturn

from plausibly.errors import InputError, counted
from plausibly.io import files

DEEPEST = 100
"""How deep values may be nested: readers walk them, and no export comes near it."""

_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"|[\[\]{},:]|[^\s\[\]{},:"]++', re.DOTALL)
_HALF = re.compile(r"\\u[dD][89a-fA-F]")


class JsonNumber(str):
    """A number, as the text in which it was written; equal to that text."""

    __slots__ = ()

    @property
    def whole(self) -> int | None:
        """The integer, where it was written as one of at most 18 digits."""
        return int(self) if len(self) <= 18 and self.lstrip("-").isdigit() else None

    @property
    def value(self) -> float:
        """The nearest float; infinite beyond their range."""
        return float(self)


class _Refused(Exception):
    """Refusal of the strict parser: what is wrong, what is expected, and what was found."""


def _constant(word: str) -> NoReturn:
    raise _Refused(f"holds {word}", "a number, or null", word)


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) < len(pairs):
        ((key, count),) = Counter(key for key, _ in pairs).most_common(1)
        what = f"names the key {json_shown(key)} again in one object"
        raise _Refused(what, "each key once", f"{counted(count)} times")
    return value


_LENIENT = json.JSONDecoder(parse_int=JsonNumber, parse_float=JsonNumber)
_STRICT = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_int=JsonNumber,
    parse_float=JsonNumber,
    parse_constant=_constant,
)


def read_json(
    path: Path | str,
    role: str = "annotations",
    *,
    expected: str = "JSON",
    source: str | None = None,
) -> object:
    """Return the value in a JSON file: dict, list, text, `JsonNumber`, True, False or None.

    Parameters
    ----------
    path, role
        The file, UTF-8 with or without byte order mark, and what messages call its purpose.
    expected : str
        What it should hold, for the message about a file that is no JSON.
    source : str, optional
        What messages call it, such as ``folder/file``; else by its name.

    Raises
    ------
    InputError
        ``file-empty``; ``json-broken``, also for a key that is there twice, NaN, half a character,
        and values that are nested too deep; and what `decode` says.
    """
    source = source or Path(path).name
    # Line ends are no part of a JSON text.
    text = files.read_text(path, role, source=source, expected=expected)
    return parse_json(text, source, 1, expected)


def read_json_lines(
    path: Path | str,
    role: str = "annotations",
    *,
    expected: str = "one JSON value per line",
    source: str | None = None,
) -> list[tuple[int, object]]:
    """Return the value on each line of a JSON Lines file with its line, counted from 1.

    Empty lines are passed over. Parameters and errors are those of `read_json`.
    """
    source = source or Path(path).name
    lines = files.read_text(path, role, source=source, expected=expected).split("\n")
    return [
        (number, parse_json(line, source, number, expected))
        for number, line in enumerate(lines, start=1)
        if line.strip(" \t")
    ]


def parse_json(text: str, source: str, line: int, expected: str = "JSON") -> object:
    """Return the value in a JSON text that starts on a line of a file; errors as in `read_json`."""
    # The strict parser does not know the line of what it refuses, unless there is but one.
    place = "" if "\n" in text.strip("\n") else f" line {counted(line)}"
    details, hint = dict[str, object](), "fix it, or write it again"
    try:
        value: object = _STRICT.decode(text)
        if _HALF.search(text):
            json.dumps(value, ensure_ascii=False).encode()
        if _too_deep(value):
            raise RecursionError
        return value
    except json.JSONDecodeError as reason:
        at = line + reason.lineno - 1
        place, details = f" line {counted(at)}", {"line": at, "column": reason.colno}
        what, found, hint = "is no JSON", reason.msg, "copy it again, or write it again"
        if not text[reason.pos :].strip() or reason.msg.startswith("Unterminated string"):
            what = f"ends early, in column {counted(reason.colno)}"
            found = f"{shortened(text.rstrip().rpartition(chr(10))[2].strip())} at the end"
    except _Refused as reason:
        what, expected, found = reason.args
    except UnicodeEncodeError as reason:
        what, expected = "holds half a character", "both halves of a surrogate pair"
        found = f"{reason.object[reason.start]!a}"
    except RecursionError:
        what, expected = "is nested too deep", f"at most {DEEPEST} levels of lists and objects"
        found = "more"
    raise InputError(
        "json-broken",
        f"{source}{place} {what}",
        expected=expected,
        found=found,
        hint=hint,
        source=source,
        details=details,
    )


def _too_deep(value: object) -> bool:
    level = [value] if isinstance(value, (dict, list)) else []
    for _ in range(DEEPEST):
        inside = (node.values() if isinstance(node, dict) else node for node in level)
        level = [node for values in inside for node in values if isinstance(node, (dict, list))]
    return bool(level)


def json_head(head: bytes) -> list[object]:
    """Return the JSON values at the start of a file, for readers that recognise it by `head`.

    A JSON file has one, a JSON Lines file one per line. The last may be cut off: then it holds the
    entries that are there, and null under a key without value. What is no JSON gives no value.
    """
    text = head.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "ignore").strip()
    if "\0" in text or not text.startswith(("{", "[")):
        return []
    values: list[object] = []
    while text:
        try:
            value, end = _LENIENT.raw_decode(text)
        except RecursionError:
            return values
        except ValueError:
            return [*values, *_cut_off(text)]
        values.append(value)
        text = text[end:].lstrip()
    return values


def _cut_off(text: str) -> list[object]:
    """Return the value that a JSON text begins, closed after the last entry that is whole."""
    ends: list[tuple[int, str]] = []
    closing = ""
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token in ("[", "{"):
            closing = ("]" if token == "[" else "}") + closing
        elif token in ("]", "}"):
            closing = closing[1:]
        if token in tuple("[]{},:"):
            end = match.start() if token == "," else match.end()
            ends.append((end, "null" * (token == ":") + closing))
    broken = len(text)
    for end, closing in reversed(ends):
        if end <= broken:
            try:
                return [_LENIENT.decode(text[:end] + closing)]
            except json.JSONDecodeError as reason:
                broken = reason.pos
            except RecursionError:
                break
    return []


def json_shown(value: object) -> str:
    """Return a value as JSON for a message, cut after 40 characters."""
    return shortened(_dumped(value))


def shortened(text: str, most: int = 40) -> str:
    """Return the start of a text for a message."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _dumped(value: object) -> str:
    if isinstance(value, JsonNumber):
        return str(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_dumped(key)}: {_dumped(value[key])}" for key in value) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_dumped, value)) + "]"
    return json.dumps(value, ensure_ascii=False)
