"""Kernels over slots: the bits of the dense array, whatever ties, zeros and order there are."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, strategies as st

from plausibly.kernels import coverage, draws
from plausibly.kernels.sparse import Dense
from plausibly.kernels.types import Floats

WEIGHTS = np.array([0.1, 0.1, 0.3, 0.7, 1e-30])


@st.composite
def rows(draw: st.DrawFn) -> Floats:
    """Return an array (example, label) whose rows have something, with ties and zeros."""
    shape = (draw(st.integers(1, 40)), draw(st.sampled_from([1, 2, 7, 33, 150, 1000])))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    share = draw(st.sampled_from([0.01, 0.3, 1.0]))
    values = rng.choice(WEIGHTS, shape) if draw(st.booleans()) else rng.random(shape)
    values = np.where(rng.random(shape) < share, values, 0)
    values[values.max(axis=1) == 0, -1] = 1
    # Sums above 1 count as 1, and would all be alike.
    values /= values.sum(axis=1, keepdims=True)
    result: Floats = values.astype(draw(st.sampled_from([np.float32, np.float64])))
    return result


@given(rows(), st.integers(0, 2**32 - 1))
def test_sparse_kernels_give_the_bits_of_the_dense_array(values: Floats, seed: int) -> None:
    rng = np.random.default_rng(seed)
    sparse = Dense(values).above_zero()
    assert sparse.dense().tobytes() == values.tobytes()
    assert sparse.shape == values.shape
    np.testing.assert_array_equal(sparse.filled, np.count_nonzero(values, axis=1))
    uniforms = rng.random((len(values), 7))
    uniforms[:, 0], uniforms[:, 1] = 0, np.nextafter(1, 0)
    labels = draws.draw_labels(values, uniforms)
    np.testing.assert_array_equal(draws.draw_labels(sparse, uniforms), labels)
    assert (values[np.arange(len(values)), labels] > 0).all()
    sets = rng.random(values.shape) < 0.7
    dense = coverage.aggregated(sets, values)
    assert coverage.aggregated(sets, sparse).tobytes() == dense.tobytes()
    for policy in coverage.TIES:
        uniform = rng.random(len(values)) if policy == "random" else None
        expected = coverage.majority_vote(sets, values, policy, uniform)
        assert coverage.majority_vote(sets, sparse, policy, uniform).tobytes() == expected.tobytes()
    every = np.arange(len(values))
    pairs = zip(sparse.by_label(every), Dense(values).by_label(every), strict=True)
    assert all(mine.tobytes() == theirs.tobytes() for mine, theirs in pairs)
    np.testing.assert_array_equal(coverage.tie_counts(sparse), coverage.tie_counts(values))


def test_sums_are_those_of_real_numbers() -> None:
    terms = np.random.default_rng(0).random((5, 20_000)) / 20_000
    sums = [math.fsum(row) for row in terms.tolist()]
    np.testing.assert_allclose(coverage.row_sums(terms), sums, rtol=0, atol=1e-13)


@given(rows(), st.integers(0, 2**32 - 1))
def test_labels_in_another_order(values: Floats, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(values.shape[1])
    turned = np.ascontiguousarray(values[:, order])
    sparse, expected = Dense(values).above_zero().ordered(order), Dense(turned).above_zero()
    assert Dense(values).ordered(order).dense().tobytes() == turned.tobytes()
    np.testing.assert_array_equal(sparse.label, expected.label)
    np.testing.assert_array_equal(sparse.weight, expected.weight)
