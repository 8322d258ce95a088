"""Hints of messages, written as arguments of Python, in the form of the interface in use.

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

from plausibly.config.document import value_text
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
    "only_common": ("examples.only_common", "switch"),
    "example": ("predictions.example", "text"),
    "variable": ("predictions.variable", "text"),
    "view": ("predictions.augmentation", "text"),
    "scale": ("predictions.scale", "text"),
    "normalise": ("predictions.normalise", "switch"),
    "bad_rows": ("predictions.bad_rows", "text"),
    "allow_no_guarantee": ("method.allow_no_guarantee", "switch"),
    "by": ("evaluation.by", "list"),
    "true": ("evaluation.true_label", "text"),
    "ties": ("evaluation.ties", "text"),
    "at_least": ("evaluation.at_least", "number"),
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
"""Key of each argument that a hint may name, and the form of its value."""

# Arguments with flags of some commands, and no key of a file.
_WITHOUT_KEY = ("alpha", "path", "n", "order", "reference", "splits", "within")
# Calls stay as they are; the comma after an argument is none between flags.
_ARGUMENT = re.compile(
    rf"[\w.]+\([^()]*\)|(?P<beside>(?<=[\]}}\"'0-9e]), )?(?<![\w.(\"])"
    rf"(?P<name>{'|'.join((*_WITHOUT_KEY, *KEYS))})="
    r"(?P<value>\"(?:[^\"\\]|\\.)*\"|'[^']*'|\{[^{}.](?:[^{}]|\{[^{}]*\})*\}|\[[\"'\d][^\[\]]*\]|True"
    r"|\d+(?:\.\d+)?)"
)


def _rewritten(do: str, write: Callable[[str, object, bool], str | None]) -> str:
    """Return a hint with each argument as `write` puts it, from name, value, and whether beside."""

    def one(found: re.Match[str]) -> str:
        if found["name"] is None:
            return found[0]
        written = write(found["name"], ast.literal_eval(found["value"]), bool(found["beside"]))
        return found[0] if written is None else written

    return _ARGUMENT.sub(one, do)


def as_keys(do: str) -> str:
    """Return a hint with keys of a settings file instead of arguments."""
    last = ""

    def write(name: str, value: object, beside: bool) -> str | None:
        nonlocal last
        if name not in KEYS:
            return None
        path, form = KEYS[name]
        table, _, key = path.partition(".")
        beside, last = beside and table == last, table
        if form == "list" and isinstance(value, str):
            value = value.split(",")
        pair = f"{key} = {value_text(value)}"
        return f", {pair}" if beside else f"[{table}] {pair}"

    return _rewritten(do, write)


def as_options(do: str, flags: Collection[str], command: str = "") -> str:
    """Return a hint with flags, and ``--set`` for what the command has no flag for."""

    def write(name: str, value: object, beside: bool) -> str | None:
        option = "-o" if name == "path" else f"--{name.replace('_', '-')}"
        if name == "responses" and "--answers" in flags:
            option = "--answers"
        path, form = KEYS.get(name, ("", None))
        if name == "path" or option in flags:
            text = "" if value is True else f" {_argument(value, form)}"
            return f"{' ' * beside}{option}{text}"
        # A key that holds one number is another one than an argument that takes several.
        if form is None or (form == "number" and isinstance(value, list)):
            return None
        plain = isinstance(value, dict) or value is True
        text = value_text(value) if plain else _listed(value)
        setting = f"{path.format(command=command)}={_tight(text) if form == 'pairs' else text}"
        shown = f"'{setting}'" if re.search(r"[\s{\"]", setting) else setting
        return f"{' ' * beside}--set {shown}"

    return _rewritten(do, write)


def _argument(value: object, form: Form | None) -> str:
    if isinstance(value, dict) and form != "pairs":
        return f"'{{{value_text(value)[2:-2]}}}'"
    text = _listed([f"{a}={b}" for a, b in value.items()] if isinstance(value, dict) else value)
    return f'"{text}"' if not text or re.search(r"[\s;()]", text) else text


def _listed(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def _tight(table: str) -> str:
    """Return a TOML table without the spaces outside of its texts."""
    return re.sub(r"(\"[^\"]*\")| ", r"\1", table)


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
