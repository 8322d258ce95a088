"""Files of calls: a call, or a command, in a line after ``$``, and below it what comes of it.

The file of ``test_NAME.py`` is ``calls/NAME.txt`` beside it. An error or a warning has its name and
what was found, or … for anything, in the first line; each line below is a piece of the message.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import CodeType

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import cli_world
import plausibly
from plausibly import annotators, evaluation, plugin
from plausibly.errors import InputError, PlausiblyWarning
from refusals import missing

LIBRARIES = {
    "Decimal": Decimal,
    "Fraction": Fraction,
    "Path": Path,
    "math": math,
    "np": np,
    "pd": pd,
    "xr": xr,
    "plausibly": plausibly,
    "date": date,
    "datetime": datetime,
}
OFFERED = {
    name: getattr(package, name) for package in (plugin, evaluation) for name in dir(package)
}
NAMES = {**vars(annotators), **OFFERED, **LIBRARIES}


def each_call(
    test: str, names: dict[str, object], *fixtures: str
) -> Callable[[pytest.FixtureRequest, str, str], None]:
    """Return a test of each call beside a test module, with the names of it and these fixtures."""
    path = Path(test)
    file = path.parent / "calls" / f"{path.stem.removeprefix('test_')}.txt"
    _, *blocks = re.split(r"^\$ ", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
    pairs = [block.rstrip("\n").split("\n", 1) for block in blocks]

    @pytest.mark.parametrize(("call", "text"), pairs, ids=[call for call, _ in pairs])
    def check(request: pytest.FixtureRequest, call: str, text: str) -> None:
        every = {**NAMES, **names} | {name: request.getfixturevalue(name) for name in fixtures}
        if call.startswith("plausibly "):
            check_printed(call, text)
        else:
            check_call(compile(call, test, "eval"), text, every, test)

    return check


def check_call(run: CodeType, text: str, names: dict[str, object], file: str) -> None:
    """Check that a call is refused or warns by a name, with what it found, or prints a text."""
    kind, *pieces = text.split("\n") if text.startswith(("error ", "warning ")) else [""]
    if kind.startswith("error "):
        with pytest.raises(InputError) as refused:
            eval(run, names)
        message: InputError | PlausiblyWarning = refused.value
    elif kind:
        with pytest.warns(PlausiblyWarning) as recorded:
            eval(run, names)
        assert [item.filename for item in recorded] == [file]
        assert isinstance(recorded[0].message, PlausiblyWarning)
        message = recorded[0].message
    else:
        assert str(eval(run, names)) == text
        return
    named, _, found = kind.partition(": ")
    assert f"{kind.partition(' ')[0]} {message.name}" == named
    assert found in ("…", message.found)
    assert not missing(message, tuple(pieces))


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
