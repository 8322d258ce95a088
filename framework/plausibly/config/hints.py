"""Hints of messages, written as arguments or flags, in the form of the interface in use.

In Python a hint is shown as it is written: ``labels="labels.txt"``. A command shows the flag, or
``--set`` where it has none, and a study the key of its file.
"""

from __future__ import annotations

import ast
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
    "duplicates": ("annotations.duplicates", "text"),
    "states": ("annotations.states", "pairs"),
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

# Arguments with flags of some commands, and no key of a file.
_WITHOUT_KEY = ("path", "n", "order", "reference", "splits", "within")
# Calls stay as they are; the comma after an argument is none between flags.
_ARGUMENT = re.compile(
    rf"[\w.]+\([^()]*\)|(?P<beside>(?<=[\]}}\"'0-9e]), )?(?<![\w.(\"])"
    rf"(?P<name>{'|'.join((*_WITHOUT_KEY, *(key.replace('-', '_') for key in KEYS)))})="
    r"(?P<value>\"(?:[^\"\\]|\\.)*\"|'[^']*'|\{[^{}.][^{}]*\}|\[[\"'\d][^\[\]]*\]|True"
    r"|\d+(?:\.\d+)?)"
)
_VALUE = r"\"[^\"]*\"|'[^']*'|[^\s,;()\"'-][^\s;()]*"
_FLAG = re.compile(
    rf"(?P<command>plausibly [^;]*)|--(?P<flag>{'|'.join(KEYS)})\b"
    rf"(?:[ ](?P<value>{_VALUE}))?(?P<python>[ ]\(\w+=[^()]*\))?"
)

Written = Callable[[str, Form, str, bool], str]
"""Writes a key, the form of its value, the value, and whether the last key was beside it."""


def in_flags(do: str, flags: Collection[str] = ()) -> str:
    """Return a hint with a flag in place of each argument of Python that a command may have."""

    def flag(found: re.Match[str]) -> str:
        name = found["name"]
        if name is None:
            return found[0]
        value: object = ast.literal_eval(found["value"])
        key = name.replace("_", "-")
        form = KEYS[key][1] if key in KEYS else ""
        option = "-o" if name == "path" else f"--{key}"
        if name == "responses" and "--answers" in flags:
            option = "--answers"
        # A key that holds one number is another one than an argument that takes several.
        several = form == "number" and isinstance(value, list)
        if name != "path" and option not in flags and (not form or several):
            return found[0]
        if isinstance(value, dict) and form != "pairs":
            text = f"'{{{value_text(value)[2:-2]}}}'"
        else:
            if isinstance(value, dict):
                value = [f"{key}={one}" for key, one in value.items()]
            text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
            text = f'"{text}"' if not text or re.search(r"[\s;()]", text) else text
        return f"{' ' * bool(found['beside'])}{option}{'' if value is True else f' {text}'}"

    return _ARGUMENT.sub(flag, do)


def as_keys(do: str) -> str:
    """Return a hint with keys of a settings file instead of arguments and flags."""

    def write(path: str, form: Form, value: str, beside: bool) -> str:
        table, _, key = path.partition(".")
        pair = f"{key} = {_toml(value, form)}" if value or form == "switch" else key
        return f", {pair}" if beside else f"[{table}] {pair}"

    return _rewritten(in_flags(do), write)


def as_options(do: str, flags: Collection[str], command: str = "") -> str:
    """Return a hint with flags, and ``--set`` for each that a command does not have."""

    def write(path: str, form: Form, value: str, beside: bool) -> str:
        text = "true" if form == "switch" else value or "VALUE"
        if form == "pairs" and value:
            # Spaces inside quotation marks are part of a name.
            text = re.sub(r"(\"[^\"]*\")| ", r"\1", _toml(value, form))
        if form == "text":
            text = text.strip('"')
        option = f"{path.format(command=command)}={text}"
        shown = f"'{option}'" if re.search(r"[\s{\"]", option) else option
        return f"{' ' * beside}--set {shown}"

    return _rewritten(in_flags(do, flags), write, flags)


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
