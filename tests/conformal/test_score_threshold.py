"""The threshold of scores alone: that of a calibration, and that of a sort at an exact rank."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays

import plausibly
from plausibly.errors import PlausiblyWarning
from plausibly.kernels.types import Floats
from refusals import refused
from tables import labelled

# Most ranks are those of alphas that hardly anybody wants.
pytestmark = pytest.mark.filterwarnings("ignore:warning alpha-large")

EDGES = [0.0, -0.0, np.inf, -np.inf, 1.0, -1.0, 1e-45, -1e-45, 2**-126, -(2**-126)]
NUMBERS = st.sampled_from([np.float32, np.float64]).flatmap(
    lambda dtype: arrays(
        dtype,
        st.integers(1, 60),
        elements=st.sampled_from([float(np.float32(one)) for one in EDGES])
        | st.floats(allow_nan=False, width=32),
    )
)


def at_rank(scores: Floats, rank: int) -> np.floating[Any]:  # Any: that of the scores
    """Return the threshold at the alpha whose rank among the scores is this one."""
    draws = 1 if scores.ndim == 1 else len(scores)
    alpha = Fraction(rank + draws - 1, draws * (scores.shape[-1] + 1))
    return plausibly.score_threshold(scores, alpha)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("draws", [1, 2, 5])
def test_it_is_the_least_score_with_a_larger_p_value(draws: int, dtype: type[np.float32]) -> None:
    pool = np.random.default_rng(draws).random((draws, 97)).astype(dtype)
    pool = np.round(pool, 2) if draws == 2 else pool
    for alpha in ("0.05", "0.1", "0.37"):
        total = draws * 98
        least = min(s for s in pool.ravel() if (np.sum(pool <= s) + draws) / total > float(alpha))
        found = plausibly.score_threshold(pool, alpha)
        assert (found, found.dtype) == (least, pool.dtype)


def test_the_rank_is_that_of_the_decimal() -> None:
    # As doubles, 0.29 * 100 is less than 29.
    assert plausibly.score_threshold(np.arange(1.0, 100.0), 0.29) == 29
    assert plausibly.score_threshold(np.arange(1.0, 10.0), 1 - 0.9) == 1


@given(NUMBERS, st.integers(1, 60))
@settings(max_examples=80, deadline=None)
def test_it_is_what_a_sort_finds(scores: Floats, rank: int) -> None:
    rank = min(rank, len(scores))
    kept = scores.copy()
    found = at_rank(scores, rank)
    assert found.tobytes() == (np.sort(scores)[rank - 1] + scores.dtype.type(0)).tobytes()
    assert found.dtype == scores.dtype
    assert scores.tobytes() == kept.tobytes()


def test_it_is_the_threshold_of_the_voted_calibration() -> None:
    generator = np.random.default_rng(1)
    values = generator.dirichlet(np.ones(4), 60)
    lam = labelled(generator.dirichlet(np.ones(4), 60))
    predictor = plausibly.calibrate(labelled(values), lam, calibrator="majority-vote")
    voted = values[np.arange(60), lam.values.argmax(axis=1)]
    assert plausibly.score_threshold(voted, 0.1) == predictor.threshold(0.1)


def test_too_few_examples_are_said() -> None:
    with pytest.warns(PlausiblyWarning, match="every set contains all labels at alpha 0.1") as said:
        found = plausibly.score_threshold(np.ones(8, dtype=np.float32), 0.1)
    assert found == -np.inf
    assert found.dtype == np.float32
    assert "annotate 1 more" in str(said[0].message)


@pytest.mark.parametrize(
    "scores", [np.ones((2, 2, 2)), np.ones(0), np.ones(3, dtype=np.int64), np.array([1.0, np.nan])]
)
def test_what_cannot_be_compared(scores: Floats) -> None:
    with refused("scores-malformed", "scores cannot be compared"):
        plausibly.score_threshold(scores, 0.4)


def test_other_arrays_are_refused_with_the_way_to_one_of_numpy() -> None:
    chunks = xr.DataArray(np.ones(20)).chunk(5)
    for scores in (chunks.data, chunks, [1.0, 2.0]):
        with refused("scores-malformed", "scores cannot be compared", "numpy.asarray(scores)"):
            plausibly.score_threshold(scores, 0.4)  # type: ignore[arg-type]  # what types forbid
    with refused("scores-malformed", "dask.array", "scores.compute()"):
        plausibly.score_threshold(chunks.data, 0.4)
    assert plausibly.score_threshold(chunks.data.compute(), 0.4) == 1
