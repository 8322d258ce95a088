"""Hulls along ordered labels: of sets, of numbers, and of numbers on any scale."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from ordinal_oracles import filled
from plausibly.kernels.hull import hull
from plausibly.kernels.types import Floats, Ints


@given(bits=st.lists(st.lists(st.booleans(), min_size=6, max_size=6), min_size=1, max_size=5))
def test_the_hull_of_sets_fills_their_holes(bits: list[list[bool]]) -> None:
    sets = np.array(bits)
    assert hull(sets).dtype == np.bool_
    np.testing.assert_array_equal(hull(sets), filled(sets))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_at_every_threshold_it_is_the_hull_of_the_set(dtype: type) -> None:
    values: Floats | Ints = np.random.default_rng(0).integers(-4, 5, (40, 7)).astype(dtype)
    found = hull(values)
    assert found.dtype == dtype
    assert (found >= values).all()
    np.testing.assert_array_equal(hull(found), found)
    for tau in np.unique(values):
        np.testing.assert_array_equal(found >= tau, filled(values >= tau))


def test_stacks_and_rows_without_a_label() -> None:
    values = np.random.default_rng(1).random((3, 4, 5))
    np.testing.assert_array_equal(hull(values)[1, 2], hull(values[1, 2]))
    assert hull(values[..., :0]).shape == (3, 4, 0)
    lowest = np.array([0.5, -np.inf, 0.25, -np.inf])
    assert hull(lowest).tolist() == [0.5, 0.25, 0.25, -np.inf]
