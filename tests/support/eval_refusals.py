"""Files of what is refused: a call in a line after ``$``, and below it what it says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import plausibly
from plausibly import annotators, evaluation
from plausibly.errors import InputError

NAMES = {**vars(annotators), **vars(evaluation), "np": np, "xr": xr, "plausibly": plausibly}


def refusals(test: str) -> pytest.MarkDecorator:
    """Return the calls and texts of a test, from the file of its name in the folder ``refused``."""
    path = Path(test)
    file = path.parent / "refused" / f"{path.stem.removeprefix('test_')}.txt"
    blocks = file.read_text(encoding="utf-8").rstrip("\n").split("\n\n")
    pairs = [block.removeprefix("$ ").split("\n", 1) for block in blocks]
    return pytest.mark.parametrize(("call", "text"), pairs, ids=[call for call, _ in pairs])


def check(call: str, text: str, names: dict[str, object]) -> None:
    """Assert that a call is refused in these words."""
    with pytest.raises(InputError) as refused:
        eval(call, {**NAMES, **names})  # a line of a file of ours
    assert str(refused.value) == text
