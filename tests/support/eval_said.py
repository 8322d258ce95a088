"""Files of what is said: a call, or a command, in a line after ``$``, and below it the words.

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
from plausibly.errors import InputError, PlausiblyWarning

NAMES = {**vars(annotators), **vars(evaluation), "np": np, "xr": xr, "plausibly": plausibly}


def said(test: str) -> pytest.MarkDecorator:
    """Return the calls and texts of the file of a test, as its parameters."""
    path = Path(test)
    file = path.parent / "said" / f"{path.stem.removeprefix('test_')}.txt"
    _, *blocks = re.split(r"^\$ ", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
    pairs = [block.rstrip("\n").split("\n", 1) for block in blocks]
    return pytest.mark.parametrize(("call", "text"), pairs, ids=[call for call, _ in pairs])


def check(call: str, text: str, names: dict[str, object]) -> None:
    """Assert that a call is refused, warns (on its line), or answers in these words."""
    if call.startswith("plausibly "):
        check_printed(call, text)
        return
    file, kind = str(names["__file__"]), text.partition(" ")[0]
    run = compile(call, file, "eval")  # a line of a file of ours
    if kind == "error":
        with pytest.raises(InputError) as refused:
            eval(run, {**NAMES, **names})
        assert str(refused.value) == text
    elif kind == "warning":
        with pytest.warns(PlausiblyWarning) as heard:
            eval(run, {**NAMES, **names})
        assert [(one.filename, str(one.message)) for one in heard] == [(file, text)]
    else:
        assert eval(run, {**NAMES, **names}) == text


def check_printed(call: str, text: str) -> None:
    """Assert that a command prints these words, or refuses in them."""
    ran = cli_world.run(*shlex.split(call.removeprefix("plausibly ")))
    told, nothing = f"{text}\n", ""
    refused = text.startswith("error ")
    expected = (2, nothing, told) if refused else (0, told, nothing)
    assert (ran.code, ran.out, ran.err) == expected
    assert max(map(len, text.splitlines())) <= 80
