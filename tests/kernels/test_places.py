"""Sums and counts by place: those of plain loops, to the last bit, whatever the rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from plausibly.kernels import blocks
from plausibly.kernels.places import Rule, by_places
from plausibly.kernels.types import Floats
from scores_oracles import uneven_rows

SHAPES = st.tuples(st.integers(1, 5), st.integers(1, 40))
ENTRIES = [0.0, -0.0, 0.125, 0.25, 0.5, 1.0, float("inf")]
ROWS = arrays(np.float32, SHAPES, elements=st.sampled_from([*ENTRIES, 2**-149])) | arrays(
    np.float64, SHAPES, elements=st.sampled_from([*ENTRIES, 5e-324, 0.1, 1 / 3])
)


RULES: dict[str, Rule] = {
    "below": lambda found, _: found.below,
    "tied": lambda found, _: found.tied,
    "rank": lambda found, _: found.rank.astype(np.float64),
    "above": lambda found, _: found.above.astype(np.float64),
    "largest": lambda found, _: found.largest,
}


def by_loops(name: str, row: list[float]) -> list[float]:
    """Return what a rule says of each label of an example; sums run from the least."""
    if any(value != value for value in row):
        return [float("nan")] * len(row)
    found = []
    for one in row:
        below = 0.0
        for other in sorted(row):
            below += other if other < one else 0.0
        found.append(
            {
                "below": below,
                "tied": row.count(one) * one,
                "rank": float(sum(other >= one for other in row)),
                "above": float(sum(other > one for other in row)),
                "largest": max(row),
            }[name]
        )
    return found


def wanted(name: str, rows: Floats) -> Floats:
    found: NDArray[np.float64] = np.array([by_loops(name, row) for row in rows.tolist()])
    return found.astype(rows.dtype)


@pytest.mark.parametrize("name", ["below", "tied", "rank", "above"])
@given(rows=ROWS)
@settings(max_examples=50, deadline=None)
def test_rows_with_ties_zeros_and_infinities(name: str, rows: Floats) -> None:
    assert by_places(rows, None, RULES[name]).tobytes() == wanted(name, rows).tobytes()


@pytest.mark.parametrize("labels", [1, 2, 10, 32, 33, 70])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", RULES)
def test_few_and_many_labels(
    name: str,
    dtype: type[np.float32] | type[np.float64],
    labels: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In blocks that end amid the rows, some of which have ties, no number or a zero's sign."""
    monkeypatch.setattr(blocks, "_CELLS", 9 * labels)
    rows, _ = uneven_rows(40, labels, 5, dtype)
    rows[3] = rows[3, 0]
    rows[11, -1] = np.nan
    rows.flags.writeable = False
    signed = np.where(rows < 0.01, dtype(-0.0), rows)
    for some in (rows, signed, np.asfortranarray(rows)[::-1]):
        found = by_places(some, None, RULES[name])
        np.testing.assert_array_equal(found, wanted(name, some))
        assert found.dtype == dtype
