"""Messages that say what to type speak of flags; in a study file the same is a key."""

from __future__ import annotations

import contextlib
import re
import warnings
from collections.abc import Iterator, Mapping
from typing import Literal

from plausibly.config.document import key_text, value_text
from plausibly.errors import InputError, PlausiblyWarning

Form = Literal["text", "switch", "list", "pairs"]

_KEYS: Mapping[str, tuple[str, str, Form]] = {
    "reader": ("annotations", "reader", "text"),
    "columns": ("annotations", "columns", "pairs"),
    "kind": ("annotations", "kind", "text"),
    "missing": ("annotations", "missing", "list"),
    "unanswered": ("annotations", "unanswered", "text"),
    "aggregator": ("aggregator", "name", "text"),
    "labels": ("labels", "path", "text"),
    "examples": ("examples", "path", "text"),
    "only-common": ("examples", "only_common", "switch"),
    "example": ("predictions", "example", "text"),
    "variable": ("predictions", "variable", "text"),
    "view": ("predictions", "view", "text"),
    "scale": ("predictions", "scale", "text"),
    "normalise": ("predictions", "normalise", "switch"),
    "bad-rows": ("predictions", "bad_rows", "text"),
    "by": ("evaluation", "by", "list"),
    "true": ("evaluation", "true", "text"),
    "ties": ("evaluation", "ties", "text"),
    "strip": ("", "strip", "switch"),
    "rename": ("", "rename", "pairs"),
}
"""Table, key and form of the value of each flag; no table: that of the file at fault."""

_VALUE = r"\"[^\"]*\"|'[^']*'|[^\s,;()\"'-][^\s;()]*"
_FLAG = re.compile(
    rf"(?P<command>plausibly [^;]*)|--(?P<flag>{'|'.join(_KEYS)})\b"
    rf"(?:[ ](?P<value>{_VALUE}))?(?:[ ]\(\w+=[^()]*\))?"
)
_SWITCH = {flag for flag, (_, _, form) in _KEYS.items() if form == "switch"}


def as_keys(do: str, table: str) -> str:
    """Return what to do, with keys of a study file instead of flags.

    Parameters
    ----------
    do : str
        As a message says it, such as ``--unanswered drop (unanswered="drop")``.
    table : str
        Table of the file at fault, for flags that mean any file.
    """
    parts: list[str] = []
    at, last = 0, ""
    for found in _FLAG.finditer(do):
        if found["command"]:
            continue
        home, key, form = _KEYS[found["flag"]]
        home = home or table
        value, end = found["value"] or "", found.end()
        if form == "switch":
            end = found.end("flag") if value else end
            value = ""
        rest = value.rstrip(",")
        if rest != value:
            end = found.end("value") - (len(value) - len(rest))
        between = do[at : found.start()]
        pair = f"{key} = {_written(rest, form)}" if rest or form == "switch" else key
        beside = between == " " and home == last
        parts += [", " if beside else between, pair if beside else f"[{home}] {pair}"]
        at, last = end, home
    return "".join([*parts, do[at:]])


def _written(value: str, form: Form) -> str:
    if form == "switch":
        return "true"
    if value[:1] in "\"'" and value[-1:] == value[:1]:
        value = value[1:-1]
    if value.startswith("{"):
        return value
    if form == "list":
        return value_text(value.split(","))
    if form == "pairs":
        pairs = (pair.partition("=") for pair in value.split(","))
        return f"{{ {', '.join(f'{key_text(a)} = {value_text(b)}' for a, _, b in pairs)} }}"
    return value_text(value)


@contextlib.contextmanager
def in_words_of_the_file(table: str) -> Iterator[None]:
    """Say what goes wrong in this block, and what is warned of, with keys instead of flags.

    Parameters
    ----------
    table : str
        Of the file that is read.
    """
    heard: list[warnings.WarningMessage] = []
    try:
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always", PlausiblyWarning)
            yield
    except InputError as error:
        error.do = as_keys(error.do, table)
        raise
    finally:
        for one in heard:
            if isinstance(one.message, PlausiblyWarning):
                one.message.do = as_keys(one.message.do, table)
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
