"""Rows of few labels: columns give what rows give."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays

from plausibly.kernels import blocks
from plausibly.kernels.blocks import largest
from plausibly.kernels.types import Floats

ENTRIES = st.sampled_from([0.0, 5e-324, 0.1, 0.25, 0.5, 1.0, float("inf")])
ROWS = st.sampled_from([np.float32, np.float64]).flatmap(
    lambda dtype: (
        arrays(dtype, st.tuples(st.integers(1, 5), st.integers(1, 33)), elements=ENTRIES)
        if dtype is np.float64
        else arrays(
            dtype,
            st.tuples(st.integers(1, 5), st.integers(1, 33)),
            elements=st.sampled_from([0.0, 0.125, 0.25, 0.5, 1.0]),
        )
    )
)


@given(ROWS)
@settings(max_examples=50, deadline=None)
def test_the_largest_of_each_row(rows: Floats) -> None:
    assert largest(rows).tobytes() == rows.max(axis=1).tobytes()
    assert largest(rows[:0]).shape == (0,)


@given(ROWS)
@settings(max_examples=50, deadline=None)
def test_largest_entries_in_threads(rows: Floats) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "_WORTH", 1)
        patch.setattr(blocks, "cores", lambda: 3)
        assert largest(rows).tobytes() == rows.max(axis=1).tobytes()
