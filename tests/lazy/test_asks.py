"""What travels to a chunk says the same in few bytes, however many chunks there are."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from plausibly.lazy.chunks import Chunk
from plausibly.lazy.rows import Named
from plausibly.lazy.scores import Ask

NAMES = ["a", "", " b ", "ä", "\ud800", "x" * 40]


@pytest.mark.parametrize("examples", [1, 256, 257, 65_536, 65_537])
@pytest.mark.parametrize("labels", [1, 256, 257, 65_537])
def test_the_last_places_arrive(examples: int, labels: int) -> None:
    row, label = np.array([0, examples - 1]), np.array([labels - 1, 0])
    ask = Ask.of(Named(b"e", "predictions"), row, label, (examples, labels))
    came: Ask = pickle.loads(pickle.dumps(ask))  # of this test
    assert came.row.tolist() == row.tolist()
    assert came.label.tolist() == label.tolist()
    assert came.row.itemsize == (1 if examples <= 256 else 2 if examples <= 65_536 else 4)


def test_names_arrive_as_they_are() -> None:
    assert Named.of(NAMES, Chunk(0, 0, len(NAMES)), "predictions").texts == NAMES
    some: Named = pickle.loads(pickle.dumps(Named.of(NAMES, Chunk(1, 3, 5), "p")))  # of this test
    assert some.texts == ["ä", "\ud800"]
    assert some.whose == "p, ä to \ud800"
