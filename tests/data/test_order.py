"""Responses are sorted by example, annotator and answer; names have one index."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, strategies as st

from plausibly.data.names import text_array, text_index
from plausibly.data.records import in_order

CODES = st.integers(0, 30) | st.integers(2**40, 2**40 + 30)  # three of these do not fit in 63 bits


@given(st.lists(st.tuples(*[CODES] * 3), max_size=60), st.randoms(use_true_random=False))
def test_codes_in_order(rows: list[tuple[int, int, int]], random: Random) -> None:
    random.shuffle(rows)
    found = in_order(*(np.array([row[k] for row in rows], np.int64) for k in range(3)))
    assert list(zip(*(column.tolist() for column in found), strict=True)) == sorted(rows)


@pytest.mark.parametrize(
    "texts", [["a", "bcd"], [], [""], ["é😀", "7"], ["\ud800", "x"], ["a\0b"]], ids=repr
)
def test_an_index_is_that_of_the_text_array(texts: list[str]) -> None:
    plain = xr.Dataset(coords={"example": ("example", text_array(texts))})
    index = text_index(texts, "example")
    found = xr.Dataset(coords=xr.Coordinates(index.create_variables(), {"example": index}))
    assert found.identical(plain)
    assert found["example"].dtype == plain["example"].dtype
    assert found["example"].values.dtype == plain["example"].values.dtype
    assert found.indexes["example"].dtype == plain.indexes["example"].dtype
    assert found.indexes["example"].equals(plain.indexes["example"])
