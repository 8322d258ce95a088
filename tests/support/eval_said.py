"""Files of what is refused or printed: a call, or a command, in a line after ``$``, then its words.

The file of ``test_NAME.py`` is ``said/NAME.txt`` beside it.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import cli_world
import plausibly
from plausibly import annotators, evaluation
from plausibly.errors import InputError

NAMES = {**vars(annotators), **vars(evaluation), "np": np, "xr": xr, "plausibly": plausibly}


def said(test: str) -> pytest.MarkDecorator:
    """Return the calls and texts of the file of a test, as its parameters."""
    path = Path(test)
    file = path.parent / "said" / f"{path.stem.removeprefix('test_')}.txt"
    _, *blocks = re.split(r"^\$ ", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
    pairs = [block.rstrip("\n").split("\n", 1) for block in blocks]
    return pytest.mark.parametrize(("call", "text"), pairs, ids=[call for call, _ in pairs])


def check_refused(call: str, text: str, names: dict[str, object]) -> None:
    """Assert that a call is refused in these words."""
    with pytest.raises(InputError) as refused:
        eval(call, {**NAMES, **names})  # a line of a file of ours
    assert str(refused.value) == text


def check_printed(call: str, text: str) -> None:
    """Assert that a command prints these words, and that what it refuses is an error."""
    ran = cli_world.run(*shlex.split(call.removeprefix("plausibly ")))
    told, nothing = f"{text}\n", ""
    refused = text.startswith("error ")
    expected = (2, nothing, told) if refused else (0, told, nothing)
    assert (ran.code, ran.out, ran.err) == expected
    assert max(map(len, text.splitlines())) <= 80
