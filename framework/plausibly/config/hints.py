"""Hints of messages, written as arguments of Python, in the form of the interface in use.

In Python a hint is shown as it is written: ``labels="labels.txt"``. A command shows the flag, or
``--set`` where it has none, and a study the key of its file.
"""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Callable, Collection, Iterator, Mapping

from plausibly.config.document import value_text
from plausibly.errors import InputError
from plausibly.registry.mistakes import written

_NAMED_ALIKE = {
    "annotations": "reader columns kind missing duplicates states unanswered aggregator",
    "labels": "strip rename",
    "examples": "only_common",
    "predictions": "example variable augmentation scale normalise bad_rows",
    "method": "allow_no_guarantee combiner",
    "evaluation": "by ties at_least risk",
    "compute": "chunks",
    "plan": "delta",
    "agreement": "depth",
    "report": "thumbnail words",
}
KEYS: Mapping[str, str] = {
    **{name: f"{table}.{name}" for table, names in _NAMED_ALIKE.items() for name in names.split()},
    "labels": "labels.path",
    "examples": "examples.path",
    "true_label": "evaluation.true_label",
    "draws": "method.calibrator.draws",
    "responses": "plan.answers",
    "resamples": "{command}.resamples",
}
"""Key of each argument that a hint may name."""

_PAIRS = ("columns", "states", "rename", "words")
_LISTS = ("missing", "by")

# Arguments with flags of some commands, and no key of a file.
_WITHOUT_KEY = ["alpha", "confidence", "path", "n", "order", "reference", "splits", "within"]
# Calls stay as they are; the comma after an argument is none between flags.
_ARGUMENT = re.compile(
    rf"[\w.]+\([^()]*\)|(?P<beside>(?<=[\]}}\"'0-9e]), )?(?<![\w.(\"])"
    rf"(?P<name>{'|'.join((*_WITHOUT_KEY, *KEYS))})="
    r"(?P<value>\"(?:[^\"\\]|\\.)*\"|'[^']*'|\{[^{}.](?:[^{}]|\{[^{}]*\})*\}|\[[\"'\d][^\[\]]*\]|True"
    r"|\d+(?:\.\d+)?)"
)


_COORDINATE = re.compile(r"^[\w.]*assign_coords(\(\.\.\.\))?, or .*(table of examples|column)$")
"""Hint of functions where examples lack a coordinate: commands read it from a table."""


def _rewritten(hint: str, write: Callable[[str, object, bool], str | None]) -> str:
    """Return a hint with each argument as `write` puts it, from name, value, and whether beside."""

    def replace(match: re.Match[str]) -> str:
        if match["name"] is None:
            return match[0]
        new = write(match["name"], ast.literal_eval(match["value"]), bool(match["beside"]))
        return match[0] if new is None else new

    return _ARGUMENT.sub(replace, hint)


def as_keys(hint: str) -> str:
    def write(name: str, value: object, beside: bool) -> str | None:
        if name not in KEYS:
            return None
        table, _, key = KEYS[name].partition(".")
        if name in _LISTS and isinstance(value, str):
            value = value.split(",")
        return f"{', ' * beside}[{table}] {key} = {value_text(value)}"

    return _rewritten(hint, write)


def as_options(hint: str, flags: Collection[str], command: str = "") -> str:
    hint = _COORDINATE.sub("--examples examples.csv with such a column", hint)

    def write(name: str, value: object, beside: bool) -> str | None:
        if name == "path" and command == "example":  # whose folder is no flag
            return f"plausibly example {value}"
        option = "-o" if name == "path" else f"--{name.replace('_', '-')}"
        if name == "responses" and "--answers" in flags:
            option = "--answers"
        is_flag = name == "path" or option in flags
        # A key that holds one number is another one than an argument that takes several.
        several = isinstance(value, list) and name not in _LISTS
        if not is_flag and (several or name not in KEYS):
            return None
        text = str(value)
        if isinstance(value, dict) and name in _PAIRS:
            text = ",".join(f"{key}={item}" for key, item in value.items())
        elif isinstance(value, dict) or value is True:
            text = written(value)
        elif isinstance(value, list):
            text = ",".join(map(str, value))
        if not is_flag:
            option, text = "--set", f"{KEYS[name].format(command=command)}={text}"
        if not text or re.search(r"[\s;(){}\"]", text):
            text = f"'{text}'" if '"' in text else f'"{text}"'
        return f"{' ' * beside}{option}{'' if is_flag and value is True else f' {text}'}"

    return _rewritten(hint, write)


@contextlib.contextmanager
def in_words_of_the_file() -> Iterator[None]:
    """Write the hint of an error of this block with keys of the file."""
    try:
        yield
    except InputError as error:
        error.hint = as_keys(error.hint)
        raise
