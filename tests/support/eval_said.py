"""Files of calls: a call, or a command, in a line after ``$``, and below it what comes of it.

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

LIBRARIES = {"np": np, "xr": xr, "plausibly": plausibly}
OFFERED = {name: getattr(evaluation, name) for name in dir(evaluation)}
NAMES = {**vars(annotators), **OFFERED, **LIBRARIES}


def said(test: str) -> pytest.MarkDecorator:
    """Return the calls and texts of the file of a test, as its parameters."""
    path = Path(test)
    file = path.parent / "said" / f"{path.stem.removeprefix('test_')}.txt"
    _, *blocks = re.split(r"^\$ ", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
    pairs = [block.rstrip("\n").split("\n", 1) for block in blocks]
    return pytest.mark.parametrize(("call", "text"), pairs, ids=[call for call, _ in pairs])


def check(call: str, text: str, names: dict[str, object]) -> None:
    """Assert that a call is refused or warns by a name, with what it found, or prints a text."""
    if call.startswith("plausibly "):
        check_printed(call, text)
        return
    file, kind = str(names["__file__"]), text.partition(" ")[0]
    run = compile(call, file, "eval")  # a line of a file of ours
    if kind == "error":
        with pytest.raises(InputError) as refused:
            eval(run, {**NAMES, **names})
        assert brief("error", refused.value.name, refused.value.found) == text
    elif kind == "warning":
        with pytest.warns(PlausiblyWarning) as recorded:
            eval(run, {**NAMES, **names})
        assert [item.filename for item in recorded] == [file]
        assert isinstance(recorded[0].message, PlausiblyWarning)
        assert brief("warning", recorded[0].message.name, recorded[0].message.found) == text
    else:
        assert str(eval(run, {**NAMES, **names})) == text


def brief(kind: str, name: str, result: str) -> str:
    return f"{kind} {name}: {result}" if result else f"{kind} {name}"


def check_printed(call: str, text: str) -> None:
    """Assert that a command prints these words, or refuses by this name."""
    ran = cli_world.run(*shlex.split(call.removeprefix("plausibly ")))
    if text.startswith("error "):
        name, _, result = text.partition(": ")
        assert (ran.code, ran.out) == (2, "")
        assert ran.err.startswith(f"{name}:")
        assert result in " ".join(ran.err.split())
    else:
        assert (ran.code, ran.out, ran.err) == (0, f"{text}\n", "")
    assert max(map(len, (ran.out or ran.err).splitlines())) <= 80
