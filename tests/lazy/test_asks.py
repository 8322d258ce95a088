"""What travels to a chunk says the same in few bytes, however many chunks there are."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import xarray as xr

from plausibly.conformal.chunked import Ask
from plausibly.conformal.chunks import Chunk
from plausibly.conformal.predictor import Named
from plausibly.data.names import names_of
from plausibly.kernels.random import Names, hash_names

NAMES = ["a", "", " b ", "ä", "\ud800", "x" * 40]


@pytest.mark.parametrize("examples", [1, 256, 257, 65_536, 65_537])
@pytest.mark.parametrize("labels", [1, 256, 257, 65_537])
def test_the_last_places_arrive(examples: int, labels: int) -> None:
    row, label = np.array([examples - 1, 0, examples - 1]), np.array([labels - 1, 0, 0])
    ask = Ask.of(Named(b"e", "predictions"), row, label, (examples, labels))
    came: Ask = pickle.loads(pickle.dumps(ask))  # of this test
    assert came.rows(examples).tolist() == row.tolist()
    assert came.label.tolist() == label.tolist()
    least = 1 if examples <= 256 else 2 if examples <= 65_536 else 4
    assert came.rows(examples).itemsize == least


def test_places_of_all_examples_in_turn_do_not_travel() -> None:
    for row, travels in (
        ([0, 1, 2, 0, 1, 2], False),
        ([], False),
        ([0, 1, 2, 0, 1], True),
        ([0, 2, 1, 0, 1, 2], True),
    ):
        places = np.array(row, dtype=np.intp)
        ask = Ask.of(Named(b"a\0b\0c", "predictions"), places, np.zeros_like(places), (3, 1))
        assert (ask.some is not None) == travels
        assert ask.rows(3).tolist() == row


def test_names_arrive_as_they_are() -> None:
    assert Named.of(Names(NAMES), Chunk(0, 0, len(NAMES)), "predictions").texts == NAMES
    some: Named = pickle.loads(
        pickle.dumps(Named.of(Names(NAMES), Chunk(1, 3, 5), "p"))
    )  # of this test
    assert some.texts == ["ä", "\ud800"]
    assert some.whose == "p, ä to \ud800"
    assert some.hashes.tolist() == hash_names(["ä", "\ud800"]).tolist()


@pytest.mark.parametrize("start", [0, 3])
def test_names_that_an_index_keeps_as_bytes_arrive_as_they_are(start: int) -> None:
    texts = [f"{'ä€𝄞x'[place % 4]}{place}" for place in range(2000)]
    array = xr.DataArray(np.zeros(2000), dims="example", coords={"example": texts})[start:]
    examples = names_of(array, "example")
    named = [Named.of(examples, Chunk(0, first, first + 1), "p") for first in (0, 5)]
    assert [one.texts for one in named] == [[texts[start]], [texts[start + 5]]]
    some = Named.of(examples, Chunk(1, 4, 1500), "p")
    assert some.texts == texts[start + 4 : start + 1500]
    assert some.whose == f"p, {texts[start + 4]} to {texts[start + 1499]}"
    assert examples.hashes.tolist() == hash_names(texts[start:]).tolist()
