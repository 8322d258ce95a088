"""Hints of messages, written with flags, in the form of the interface in use."""

from __future__ import annotations

import contextlib
import re
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Literal

from plausibly.config.document import key_text, value_text
from plausibly.errors import InputError, PlausiblyWarning

Form = Literal["text", "number", "switch", "list", "pairs"]

KEYS: Mapping[str, tuple[str, Form]] = {
    "reader": ("annotations.reader", "text"),
    "columns": ("annotations.columns", "pairs"),
    "kind": ("annotations.kind", "text"),
    "missing": ("annotations.missing", "list"),
    "unanswered": ("annotations.unanswered", "text"),
    "aggregator": ("annotations.aggregator", "text"),
    "labels": ("labels.path", "text"),
    "strip": ("labels.strip", "switch"),
    "rename": ("labels.rename", "pairs"),
    "examples": ("examples.path", "text"),
    "only-common": ("examples.only_common", "switch"),
    "example": ("predictions.example", "text"),
    "variable": ("predictions.variable", "text"),
    "view": ("predictions.augmentation", "text"),
    "scale": ("predictions.scale", "text"),
    "normalise": ("predictions.normalise", "switch"),
    "bad-rows": ("predictions.bad_rows", "text"),
    "allow-no-guarantee": ("method.allow_no_guarantee", "switch"),
    "by": ("evaluation.by", "list"),
    "true": ("evaluation.true_label", "text"),
    "ties": ("evaluation.ties", "text"),
    "at-least": ("evaluation.at_least", "number"),
    "risk": ("evaluation.risk", "text"),
    "draws": ("method.calibrator.draws", "number"),
    "chunks": ("compute.chunks", "text"),
    "delta": ("plan.delta", "number"),
    "responses": ("plan.answers", "number"),
    "resamples": ("{command}.resamples", "number"),
    "depth": ("agreement.depth", "number"),
    "thumbnail": ("report.thumbnail", "text"),
    "words": ("report.words", "pairs"),
}
"""Key and form of the value of each flag that a hint may name."""

ARGUMENTS: Mapping[str, str] = {
    **{name: name for name in ("by", "delta", "depth", "draws", "missing", "n", "order")},
    **{name: name for name in ("reference", "resamples", "splits", "within")},
    "at_least": "at-least",
    "responses": "answers",
}
"""Flag of each argument of Python that a hint may name."""

_ARGUMENT = re.compile(
    rf"(?<![\w.(])(?P<name>{'|'.join(ARGUMENTS)})="
    r"(?P<value>\[[\"'\d][^\]]*\]|\"[^\"]*\"|'[^']*'|\d[\d.]*\d|\d)"
)
_VALUE = r"\"[^\"]*\"|'[^']*'|[^\s,;()\"'-][^\s;()]*"
_FLAG = re.compile(
    rf"(?P<command>plausibly [^;]*)|--(?P<flag>{'|'.join(KEYS)})\b"
    rf"(?:[ ](?P<value>{_VALUE}))?(?P<python>[ ]\(\w+=[^()]*\))?"
)

Written = Callable[[str, Form, str, bool], str]
"""Writes a key, the form of its value, the value, and whether the last key was beside it."""


def _with_flags(do: str, flags: Collection[str]) -> str:
    """Return a hint with flags instead of arguments of Python, where there are such flags."""

    def write(found: re.Match[str]) -> str:
        flag = ARGUMENTS[found["name"]]
        form = KEYS[flag][1] if flag in KEYS else ""
        # A key that holds one number is another one than an argument that takes several.
        several = form == "number" and found["value"].startswith("[")
        if f"--{flag}" not in flags and (not form or several):
            return found[0]
        items = (item.strip(" \"'") for item in found["value"].strip("[]").split(","))
        value = ",".join(items)
        return f"--{flag} {value_text(value) if re.search('[^0-9A-Za-z_.,-]', value) else value}"

    return _ARGUMENT.sub(write, do)


def as_keys(do: str) -> str:
    """Return a hint with keys of a settings file instead of flags and arguments."""

    def write(path: str, form: Form, value: str, beside: bool) -> str:
        table, _, key = path.partition(".")
        pair = f"{key} = {_toml(value, form)}" if value or form == "switch" else key
        return f", {pair}" if beside else f"[{table}] {pair}"

    return _rewritten(_with_flags(do, ()), write)


def as_options(do: str, flags: Collection[str], command: str = "") -> str:
    """Return a hint with flags, or ``--set`` for each flag that a command does not have."""

    def write(path: str, form: Form, value: str, beside: bool) -> str:
        text = "true" if form == "switch" else value or "VALUE"
        if form == "pairs" and value:
            text = _toml(value, form).replace(" ", "")
        if form == "text":
            text = text.strip('"')
        option = f"{path.format(command=command)}={text}"
        shown = f"'{option}'" if re.search(r"[\s{\"]", option) else option
        return f"{' ' * beside}--set {shown}"

    return _rewritten(_with_flags(do, flags), write, flags)


def _rewritten(do: str, write: Written, flags: Collection[str] = ()) -> str:
    parts: list[str] = []
    at, last = 0, ""
    for found in _FLAG.finditer(do):
        if found["command"] or f"--{found['flag']}" in flags:
            continue
        path, form = KEYS[found["flag"]]
        value, end = found["value"] or "", found.end()
        if form == "switch":
            end = found.end("flag") if value else end
            value = ""
        rest = value.rstrip(",")
        if rest != value:
            end = found.end("value") - (len(value) - len(rest))
        between = do[at : found.start()]
        home = path.partition(".")[0]
        beside = between == " " and home == last
        parts += ["" if beside else between, write(path, form, rest, beside)]
        at, last = end, home
    return "".join([*parts, do[at:]])


def _toml(value: str, form: Form) -> str:
    if form == "switch":
        return "true"
    if form == "number":
        return value
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
def in_words_of_the_file() -> Iterator[None]:
    """Write the hints of errors and warnings of this block with keys instead of flags."""
    heard: list[warnings.WarningMessage] = []
    try:
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always", PlausiblyWarning)
            yield
    except InputError as error:
        error.do = as_keys(error.do)
        raise
    finally:
        for one in heard:
            if isinstance(one.message, PlausiblyWarning):
                one.message.do = as_keys(one.message.do)
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
