"""Rows of few labels: a network sorts them as numpy does, and columns give what rows give."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from plausibly.arrays import Floats
from plausibly.kernels import narrow, network, threads
from plausibly.kernels.narrow import largest
from plausibly_builtins.scores.aps import Aps

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


@pytest.mark.parametrize("size", range(1, 13))
def test_a_network_that_sorts_zeros_and_ones_sorts_anything(size: int) -> None:
    rows = np.array(list(product([0.0, 1.0], repeat=size)))
    labels, ordered = network.in_order(rows)
    assert np.array_equal(ordered, np.sort(rows, axis=1))
    assert np.array_equal(np.sort(labels, axis=1), np.tile(np.arange(size), (len(rows), 1)))
    assert np.array_equal(np.take_along_axis(rows, labels.astype(np.intp), axis=1), ordered)


@pytest.mark.parametrize("size", [13, 16, 17, 24, 31, 32])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_wider_rows_are_sorted_too(size: int, dtype: type[np.float32]) -> None:
    generator = np.random.default_rng(size)
    rows = generator.random((500, size)).astype(dtype)
    rows[::7] = np.round(rows[::7], 1)
    rows[3, 2] = np.nan
    labels, ordered = network.in_order(rows)
    assert np.array_equal(ordered, np.sort(rows, axis=1), equal_nan=True)
    back = np.take_along_axis(rows, labels.astype(np.intp), axis=1)
    assert np.array_equal(back, ordered, equal_nan=True)


@given(ROWS)
@settings(max_examples=50, deadline=None)
def test_sums_before_each_place_have_the_bits_of_a_cumulative_sum(rows: Floats) -> None:
    ordered = np.sort(rows, axis=1)
    wanted = np.zeros(rows.shape)
    np.cumsum(ordered[:, :-1], axis=1, dtype=np.float64, out=wanted[:, 1:])
    assert network.sums_before(ordered).tobytes("C") == wanted.tobytes()


def test_what_the_network_cannot_order_is_left_to_numpy() -> None:
    assert network.fits(np.zeros((2, 32)))
    assert not network.fits(np.zeros((2, 33)))
    assert not network.fits(np.array([[0.5, -0.0]]))
    assert not network.fits(np.zeros((2, 3), dtype=np.float16))


@given(ROWS)
@settings(max_examples=50, deadline=None)
def test_scores_do_not_depend_on_how_rows_were_sorted(rows: Floats) -> None:
    finite = np.where(np.isfinite(rows), rows, rows.dtype.type(0.75))
    wide = np.zeros((len(rows), 40), dtype=rows.dtype)
    wide[:, : rows.shape[1]] = finite
    # Labels of nothing change no sum, and these rows are too wide for the network.
    assert np.array_equal(Aps().score(wide, None)[:, : rows.shape[1]], Aps().score(finite, None))


@given(ROWS)
@settings(max_examples=50, deadline=None)
def test_the_largest_of_each_row(rows: Floats) -> None:
    assert largest(rows).tobytes() == rows.max(axis=1).tobytes()
    assert largest(rows[:0]).shape == (0,)


@given(ROWS)
@settings(max_examples=50, deadline=None)
def test_largest_entries_in_threads(rows: Floats) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(narrow, "_WORTH", 1)
        patch.setattr(threads, "cores", lambda: 3)
        assert largest(rows).tobytes() == rows.max(axis=1).tobytes()
