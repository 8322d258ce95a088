"""What to do, in words of the study file: each argument of a message is a key."""

from __future__ import annotations

import re
import tomllib
import warnings

import attrs
import pytest

from plausibly.config.hints import as_keys, in_words_of_the_file
from plausibly.config.settings import Settings
from plausibly.errors import InputError, PlausiblyWarning, warn

SAID = {
    'strip=True, or rename={"melanoma ": "melanoma"}': "[labels] strip = true, or [labels] "
    'rename = { "melanoma " = "melanoma" }',
    "fix the names, or only_common=True, which keeps 2,888": "fix the names, or "
    "[examples] only_common = true, which keeps 2,888",
    "at_least=10, or fewer coordinates": "[evaluation] at_least = 10, or fewer coordinates",
    'unanswered="drop"': '[annotations] unanswered = "drop"',
    'scale="logit", if they are': '[predictions] scale = "logit", if they are',
    'bad_rows="drop"': '[predictions] bad_rows = "drop"',
    'normalise=True, or scale="any"': "[predictions] normalise = true, or "
    '[predictions] scale = "any"',
    'reader="long-table", columns={"example": "item", "annotator": "rater"}': "[annotations] "
    "reader = "
    '"long-table", columns = { example = "item", annotator = "rater" }',
    'columns={"example": "my item"}, with the positions': "[annotations] columns = "
    '{ example = "my item" }, with the positions',
    'example="case id", if that column names the examples': '[predictions] example = "case id", '
    "if that column names the examples",
    'labels="labels.txt" (one name per line)': '[labels] path = "labels.txt" (one name per line)',
    "declare them: labels=[...]": "declare them: labels=[...]",
    'missing=["NA", "nan"], if it is': '[annotations] missing = ["NA", "nan"], if it is',
    'kind="label-set", if they are one answer': '[annotations] kind = "label-set", if they are one '
    "answer",
    'reader={"name": "counts", "ignore": "x"}': '[annotations] reader = { name = "counts", '
    'ignore = "x" }',
    'variable="probs"': '[predictions] variable = "probs"',
    'plausibly plugins list --kind reader; name one: reader="NAME"': "plausibly plugins list "
    '--kind reader; name one: [annotations] reader = "NAME"',
    'by="site", or ties="any"': '[evaluation] by = ["site"], or [evaluation] ties = "any"',
    "fix that line": "fix that line",
    "-o elsewhere; the old sets.csv is as it was": "-o elsewhere; the old sets.csv is as it was",
}


@pytest.mark.parametrize("hint", SAID)
def test_arguments_become_keys(hint: str) -> None:
    assert as_keys(hint) == SAID[hint]


@pytest.mark.parametrize("hint", SAID)
def test_what_is_said_can_be_typed(hint: str) -> None:
    fields = {field.name for field in attrs.fields(Settings)}
    for table, pairs in re.findall(
        r"\[(\w+)\] (\w+ = .+?)(?:, or |, if|, which|, with|$)", SAID[hint]
    ):
        assert table in fields
        lines = pairs.partition(" (one")[0].replace(", columns", "\ncolumns")
        assert tomllib.loads(lines)


def reading(*, fails: bool) -> None:
    """Warn twice, and fail where that is asked for."""
    with in_words_of_the_file():
        warn("labels-like-missing", "12 labels", hint='missing="NA", if it is')
        warnings.warn("another", UserWarning, stacklevel=1)
        if fails:
            raise InputError("example-unanswered", "37 examples", hint='unanswered="drop"')


def test_errors_of_a_block_speak_of_keys_and_hide_no_warning() -> None:
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        with pytest.raises(InputError) as caught:
            reading(fails=True)
    assert caught.value.hint == '[annotations] unanswered = "drop"'
    assert isinstance(heard[0].message, PlausiblyWarning)
    assert heard[0].message.hint == '[annotations] missing = ["NA"], if it is'
    assert len(heard) == 2
