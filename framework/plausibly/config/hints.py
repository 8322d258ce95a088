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

from plausibly.config.document import value_text
from plausibly.errors import InputError, PlausiblyWarning

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
_WITHOUT_KEY = ("alpha", "path", "n", "order", "reference", "splits", "within")
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
        written = write(match["name"], ast.literal_eval(match["value"]), bool(match["beside"]))
        return match[0] if written is None else written

    return _ARGUMENT.sub(replace, hint)


def as_keys(hint: str) -> str:
    last = ""

    def write(name: str, value: object, beside: bool) -> str | None:
        nonlocal last
        if name not in KEYS:
            return None
        table, _, key = KEYS[name].partition(".")
        beside, last = beside and table == last, table
        if name in _LISTS and isinstance(value, str):
            value = value.split(",")
        pair = f"{key} = {value_text(value)}"
        return f", {pair}" if beside else f"[{table}] {pair}"

    return _rewritten(hint, write)


def as_options(hint: str, flags: Collection[str], command: str = "") -> str:
    hint = _COORDINATE.sub("--examples examples.csv with such a column", hint)

    def write(name: str, value: object, beside: bool) -> str | None:
        option = "-o" if name == "path" else f"--{name.replace('_', '-')}"
        if name == "responses" and "--answers" in flags:
            option = "--answers"
        if name == "path" or option in flags:
            text = "" if value is True else f" {_argument(name, value)}"
            return f"{' ' * beside}{option}{text}"
        # A key that holds one number is another one than an argument that takes several.
        several = isinstance(value, list) and name not in _LISTS
        if name not in KEYS or several:
            return None
        plain = isinstance(value, dict) or value is True
        text = value_text(value) if plain else _listed(value)
        path = KEYS[name].format(command=command)
        if name in _PAIRS:  # without the spaces outside of its texts
            text = re.sub(r"(\"[^\"]*\")| ", r"\1", text)
        setting = f"{path}={text}"
        shown = f"'{setting}'" if re.search(r"[\s{\"]", setting) else setting
        return f"{' ' * beside}--set {shown}"

    return _rewritten(hint, write)


def _argument(name: str, value: object) -> str:
    if isinstance(value, dict) and name not in _PAIRS:
        return f"'{{{value_text(value)[2:-2]}}}'"
    text = _listed([f"{a}={b}" for a, b in value.items()] if isinstance(value, dict) else value)
    return f'"{text}"' if not text or re.search(r"[\s;()]", text) else text


def _listed(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


@contextlib.contextmanager
def in_words_of_the_file() -> Iterator[None]:
    """Write the hints of errors and warnings of this block with keys instead of flags."""
    recorded: list[warnings.WarningMessage] = []
    try:
        with warnings.catch_warnings(record=True) as recorded:
            warnings.simplefilter("always", PlausiblyWarning)
            yield
    except InputError as error:
        error.hint = as_keys(error.hint)
        raise
    finally:
        for warning in recorded:
            if isinstance(warning.message, PlausiblyWarning):
                warning.message.hint = as_keys(warning.message.hint)
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
