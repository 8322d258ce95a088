"""Errors and warnings, known by their name and by pieces of what they say."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import plausibly
from plausibly.errors import InputError, PlausiblyWarning


def missing(message: object, pieces: tuple[str, ...]) -> list[str]:
    """Return the pieces that a message lacks, however its lines are broken."""
    text = " ".join(str(message).split())
    return [piece for piece in pieces if piece not in text]


@contextmanager
def refused(
    name: str, *pieces: str, kind: type[InputError] = InputError
) -> Iterator[pytest.ExceptionInfo[InputError]]:
    """Check that an error of that name ends the block, and says these pieces."""
    with pytest.raises(kind) as caught:
        yield caught
    assert (caught.value.name, missing(caught.value, pieces)) == (name, []), caught.value


@contextmanager
def quiet() -> Iterator[None]:
    """Run without what plausibly warns of: such as an estimate that was stopped early."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlausiblyWarning)
        yield


@contextmanager
def warned(name: str, *pieces: str) -> Iterator[pytest.WarningsRecorder]:
    """Check that the block warns once, by that name and of the caller's line, with these pieces."""
    with pytest.warns(PlausiblyWarning) as caught:
        yield caught
    (item,) = (item for item in caught if isinstance(item.message, PlausiblyWarning))
    message = item.message
    assert isinstance(message, PlausiblyWarning)
    assert (message.name, missing(message, pieces)) == (name, []), message
    assert not Path(item.filename).is_relative_to(Path(plausibly.__file__).parent), item.filename
