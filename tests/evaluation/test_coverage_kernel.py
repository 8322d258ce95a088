"""Coverage kernels against fractions, golden values and their own blocks."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from plausibly.kernels import blocks, coverage
from plausibly.kernels.coverage import TIES

from . import studies as oracle

TABLES = st.integers(1, 6).flatmap(
    lambda labels: st.lists(
        st.tuples(
            st.lists(st.integers(0, 3), min_size=labels, max_size=labels).filter(any),
            st.lists(st.booleans(), min_size=labels, max_size=labels),
            st.floats(0, 1, exclude_max=True),
        ),
        min_size=1,
        max_size=8,
    )
)


@settings(max_examples=50)
@given(TABLES, st.sampled_from([np.float32, np.float64]))
def test_every_row_is_what_fractions_say(
    rows: list[tuple[list[int], list[bool], float]], dtype: type[np.float32 | np.float64]
) -> None:
    counts = np.array([row[0] for row in rows], dtype=dtype)
    lam = counts / counts.sum(axis=1, keepdims=True)
    sets = np.array([row[1] for row in rows])
    uniform = np.array([row[2] for row in rows])
    measured = coverage.aggregated(sets, lam)
    for place, (inside, row) in enumerate(zip(sets.tolist(), lam.tolist(), strict=True)):
        exact = min(oracle.aggregated(inside, row), Fraction(1))
        assert abs(Fraction(float(measured[place])) - exact) <= Fraction(len(row), 2**53)
        assert coverage.sizes(sets)[place] == sum(inside)
        assert coverage.tie_counts(lam)[place] == len(oracle.tied_labels(row))
        for ties in TIES:
            got = coverage.majority_vote(sets, lam, ties, uniform if ties == "random" else None)[
                place
            ]
            assert got == float(oracle.majority_vote(inside, row, ties, float(uniform[place]))), (
                ties
            )


@pytest.mark.parametrize("labels", [3, 8, 100, 419])
def test_a_row_alone_is_the_row_in_a_batch(labels: int) -> None:
    rng = np.random.default_rng(labels)
    rows = 3 * blocks._CELLS // labels // 2  # more than one block, and a part of one
    lam = rng.dirichlet(np.ones(labels), size=rows)
    sets = rng.random(lam.shape) < rng.choice([0.02, 0.2, 0.9], (rows, 1))
    batch = coverage.aggregated(sets, lam)
    strided = coverage.aggregated(np.asfortranarray(sets), np.asfortranarray(lam))
    assert np.array_equal(batch, strided)
    for row in [0, rows // 2, rows - 1]:
        alone = slice(row, row + 1)
        assert coverage.aggregated(sets[alone], lam[alone]) == batch[row]
        for ties in ("first", "fractional"):
            one = coverage.majority_vote(sets[alone], lam[alone], ties)
            assert one == coverage.majority_vote(sets, lam, ties)[row]
    assert np.array_equal(coverage.sizes(sets), sets.sum(axis=1))
