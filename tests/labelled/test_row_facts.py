"""Facts about rows are those of numpy, whatever the blocks, the threads and the odd entries."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from plausibly.kernels import threads
from plausibly.labelled import row_facts as module
from plausibly.labelled.row_facts import off_whole, row_facts

SHAPES = st.tuples(st.integers(1, 9), st.integers(1, 4)) | st.tuples(
    st.integers(1, 3), st.integers(1, 6), st.integers(1, 3)
)
FLOATS = st.floats(-4, 4) | st.sampled_from([np.nan, np.inf, -np.inf])
SMALL = pytest.mark.parametrize("cells", [1, 3, 1 << 16])


@SMALL
@given(data=st.data())
def test_extremes_and_sums(cells: int, data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from([np.float64, np.float32]))
    values = data.draw(arrays.arrays(np.float64, SHAPES, elements=FLOATS)).astype(dtype)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_CELLS", cells)
        patch.setattr(module, "_WORTH", cells)
        patch.setattr(threads, "cores", lambda: 3)
        found = row_facts(values)
    with np.errstate(invalid="ignore"):
        sums = values.sum(axis=-1, dtype=np.float64)
    np.testing.assert_array_equal(found.least, values.min())
    np.testing.assert_array_equal(found.most, values.max())
    np.testing.assert_array_equal(found.sums, sums)


@SMALL
@given(data=st.data())
def test_rows_that_are_off_whole_numbers(cells: int, data: st.DataObject) -> None:
    shape = data.draw(SHAPES)
    total = data.draw(arrays.arrays(np.int64, shape[-2], elements=st.integers(1, 7)))
    counts = data.draw(arrays.arrays(np.int64, shape, elements=st.integers(0, 7)))
    off = data.draw(arrays.arrays(np.float64, shape, elements=st.sampled_from([0, 0, 0.1, 0.4])))
    values = (counts + off) / total[:, None]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_CELLS", cells)
        patch.setattr(module, "_WORTH", cells)
        patch.setattr(threads, "cores", lambda: 3)
        found = off_whole(values, total, 1e-6)
    np.testing.assert_array_equal(found > 1e-6, off.max(axis=-1) > 0)
    np.testing.assert_allclose(found[found > 1e-6], off.max(axis=-1)[found > 1e-6], atol=1e-9)
