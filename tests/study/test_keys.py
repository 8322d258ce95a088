"""Hints in the words of the study file: each argument of a message is a key that can be typed."""

from __future__ import annotations

import re
import tomllib
import warnings

import attrs
import pytest

from plausibly.config.hints import as_keys, in_words_of_the_file
from plausibly.config.settings import Settings
from plausibly.errors import InputError, PlausiblyWarning, warn

HINTS = {
    'strip=True, or rename={"dog ": "dog"}': "[labels] strip = true, or [labels] rename = "
    '{ "dog " = "dog" }',
    "fix the names, or only_common=True, which keeps 2,888": "fix the names, or "
    "[examples] only_common = true, which keeps 2,888",
    "at_least=10, or fewer coordinates": "[evaluation] at_least = 10, or fewer coordinates",
    'unanswered="drop"': '[annotations] unanswered = "drop"',
    'normalise=True, or scale="any"': "[predictions] normalise = true, or "
    '[predictions] scale = "any"',
    'reader="long-table", columns={"example": "item", "annotator": "rater"}': "[annotations] "
    'reader = "long-table", columns = { example = "item", annotator = "rater" }',
    'columns={"example": "my item"}, with the positions': "[annotations] columns = "
    '{ example = "my item" }, with the positions',
    'example="case id", if that column names the examples': '[predictions] example = "case id", '
    "if that column names the examples",
    'labels="labels.txt" (one name per line)': '[labels] path = "labels.txt" (one name per line)',
    "declare them: labels=[...]": "declare them: labels=[...]",
    'missing=["NA", "nan"], if it is': '[annotations] missing = ["NA", "nan"], if it is',
    'reader={"name": "counts", "ignore": "x"}': '[annotations] reader = { name = "counts", '
    'ignore = "x" }',
    'plausibly plugins list --kind reader; name one: reader="NAME"': "plausibly plugins list "
    '--kind reader; name one: [annotations] reader = "NAME"',
    'by="site", or ties="any"': '[evaluation] by = ["site"], or [evaluation] ties = "any"',
    "-o elsewhere; the old sets.csv is as it was": "-o elsewhere; the old sets.csv is as it was",
}


@pytest.mark.parametrize("hint", HINTS)
def test_arguments_become_keys_that_can_be_typed(hint: str) -> None:
    assert as_keys(hint) == HINTS[hint]
    fields = {field.name for field in attrs.fields(Settings)}
    for table, pairs in re.findall(
        r"\[(\w+)\] (\w+ = .+?)(?:, or |, if|, which|, with|$)", HINTS[hint]
    ):
        assert table in fields
        assert tomllib.loads(pairs.partition(" (one")[0].replace(", columns", "\ncolumns"))


def test_errors_of_a_block_name_keys_and_hide_no_warning() -> None:
    @in_words_of_the_file()
    def reading() -> None:
        warn("labels-like-missing", "12 labels", hint='missing="NA", if it is')
        warnings.warn("another", UserWarning, stacklevel=1)
        raise InputError("example-unanswered", "37 examples", hint='unanswered="drop"')

    with warnings.catch_warnings(record=True) as recorded:
        warnings.simplefilter("always")
        with pytest.raises(InputError) as caught:
            reading()
    assert caught.value.hint == '[annotations] unanswered = "drop"'
    assert isinstance(recorded[0].message, PlausiblyWarning)
    assert recorded[0].message.hint == '[annotations] missing = ["NA"], if it is'
    assert len(recorded) == 2
