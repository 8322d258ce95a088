"""The threshold of scores alone is that of a calibration: in memory, from bits, from chunks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import xarray as xr

import plausibly
from plausibly.arrays import Floats
from plausibly.conformal import score_threshold as module
from plausibly.errors import InputError, PlausiblyWarning

if TYPE_CHECKING:
    import dask.array


def scores(draws: int, examples: int, dtype: type[np.float32]) -> Floats:
    found = np.random.default_rng(draws).random((draws, examples)).astype(dtype)
    return np.round(found, 2) if draws == 2 else found


def in_chunks(values: Floats, chunks: tuple[int, ...]) -> dask.array.Array:
    named = xr.DataArray(values)
    found: dask.array.Array = named.chunk(dict(zip(named.dims, chunks, strict=True))).data
    return found


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("draws", [1, 2, 5])
def test_three_ways_and_the_equation(
    draws: int, dtype: type[np.float32], monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = scores(draws, 97, dtype)
    kept = pool.copy()
    for alpha in ("0.05", "0.1", "0.37"):
        total = draws * 98
        least = min(s for s in pool.ravel() if (np.sum(pool <= s) + draws) / total > float(alpha))
        found = plausibly.score_threshold(pool, alpha)
        assert (found, found.dtype) == (least, pool.dtype)
        with monkeypatch.context() as patched:
            patched.setattr(module, "_FEW", 1)
            assert plausibly.score_threshold(pool, alpha) == least
        for chunks in ((1, 10), (draws, 97), (2, 33)):
            assert plausibly.score_threshold(in_chunks(pool, chunks), alpha) == least
    assert np.array_equal(pool, kept)


def test_it_is_the_threshold_of_the_voted_calibration() -> None:
    generator = np.random.default_rng(1)
    values = generator.dirichlet(np.ones(4), 60)
    coords = {"example": [f"case {place}" for place in range(60)], "label": list("abcd")}
    model = xr.DataArray(values, coords, ("example", "label"))
    lam = xr.DataArray(generator.dirichlet(np.ones(4), 60), coords, ("example", "label"))
    predictor = plausibly.calibrate(model, lam, calibrator="voted")
    voted = values[np.arange(60), lam.values.argmax(axis=1)]
    assert plausibly.score_threshold(voted, 0.1) == predictor.threshold(0.1)


def test_too_few_examples_are_said() -> None:
    with pytest.warns(PlausiblyWarning, match="every set is every label at alpha 0.1") as said:
        assert plausibly.score_threshold(np.ones(8), 0.1) == -np.inf
    assert "annotate 1 more" in str(said[0].message)


@pytest.mark.parametrize(
    "given", [np.ones((2, 2, 2)), np.ones(0), np.ones(3, dtype=np.int64), np.array([1.0, np.nan])]
)
def test_what_cannot_be_compared(given: Floats) -> None:
    with pytest.raises(InputError, match="scores cannot be compared") as refused:
        plausibly.score_threshold(given, 0.4)
    assert refused.value.name == "scores-malformed"


def test_nan_in_a_chunk() -> None:
    given = in_chunks(np.array([1.0, 2.0, np.nan]), (1,))
    with pytest.raises(InputError, match="scores cannot be compared"):
        plausibly.score_threshold(given, 0.4)
