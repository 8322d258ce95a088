"""The threshold of scores alone: that of a calibration, and that of a sort at an exact rank."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays

import plausibly
from plausibly.kernels.types import Floats
from refusals import refused, warned
from tables import labelled

# Most ranks are those of large alphas.
pytestmark = pytest.mark.filterwarnings("ignore:warning alpha-large")

EDGES = [0.0, -0.0, np.inf, -np.inf, 1.0, -1.0, 1e-45, -1e-45, 2**-126, -(2**-126)]
NUMBERS = st.sampled_from([np.float32, np.float64]).flatmap(
    lambda dtype: arrays(
        dtype,
        st.integers(1, 60),
        elements=st.sampled_from([float(np.float32(edge)) for edge in EDGES])
        | st.floats(allow_nan=False, width=32),
    )
)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("draws", [1, 2, 5])
def test_it_is_the_least_score_with_a_larger_p_value(draws: int, dtype: type[np.float32]) -> None:
    pool = np.random.default_rng(draws).random((draws, 97)).astype(dtype)
    pool = np.round(pool, 2) if draws == 2 else pool
    for alpha in ("0.05", "0.1", "0.37"):
        total = draws * 98
        least = min(s for s in pool.ravel() if (np.sum(pool <= s) + draws) / total > float(alpha))
        threshold = plausibly.score_threshold(pool, alpha)
        assert (threshold, threshold.dtype) == (least, pool.dtype)


def test_the_rank_is_that_of_the_decimal() -> None:
    # As doubles, 0.29 * 100 is less than 29.
    assert plausibly.score_threshold(np.arange(1.0, 100.0), 0.29) == 29
    assert plausibly.score_threshold(np.arange(1.0, 10.0), 1 - 0.9) == 1


@given(NUMBERS, st.integers(1, 60))
@settings(max_examples=80, deadline=None)
def test_it_is_what_a_sort_finds(scores: Floats, rank: int) -> None:
    rank = min(rank, len(scores))
    kept = scores.copy()
    threshold = plausibly.score_threshold(scores, Fraction(rank, len(scores) + 1))
    assert threshold.tobytes() == (np.sort(scores)[rank - 1] + scores.dtype.type(0)).tobytes()
    assert threshold.dtype == scores.dtype
    assert scores.tobytes() == kept.tobytes()


def test_it_is_the_threshold_of_the_voted_calibration() -> None:
    generator = np.random.default_rng(1)
    values = generator.dirichlet(np.ones(4), 60)
    answers = labelled(generator.dirichlet(np.ones(4), 60))
    predictor = plausibly.calibrate(labelled(values), answers, calibrator="majority-vote")
    voted = values[np.arange(60), answers.values.argmax(axis=1)]
    assert plausibly.score_threshold(voted, 0.1) == predictor.threshold(0.1)


def test_too_few_examples_are_warned_of() -> None:
    pieces = ("every set contains all labels at alpha 0.1", "annotate 1 more")
    with warned("guarantee-vacuous", *pieces):
        threshold = plausibly.score_threshold(np.ones(8, dtype=np.float32), 0.1)
    assert threshold == -np.inf
    assert threshold.dtype == np.float32


CHUNKS = xr.DataArray(np.ones(20)).chunk(5)


@pytest.mark.parametrize(
    ("scores", "piece"),
    [
        (np.ones((2, 2, 2)), ""),
        (np.ones(0), ""),
        (np.ones(3, dtype=np.int64), ""),
        (np.array([1.0, np.nan]), ""),
        ([1.0, 2.0], "numpy.asarray(scores)"),
        (CHUNKS, "numpy.asarray(scores)"),
        (CHUNKS.data, "scores.compute()"),
    ],
)
def test_what_cannot_be_compared_is_refused(scores: Floats, piece: str) -> None:
    with refused("scores-malformed", "scores cannot be compared", piece):
        plausibly.score_threshold(scores, 0.4)
