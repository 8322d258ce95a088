"""Evaluation of sets or plausibilities in chunks: each is read once, with the same bits."""

from __future__ import annotations

import json
from collections.abc import Iterator
from threading import Lock

import dask
import dask.base
import numpy as np
import pytest
import xarray as xr

import plausibly
from lazy_world import LABELS, plausibilities, predictions
from plausibly.errors import InputError
from plausibly.evaluation.evaluate import Evaluation
from plausibly.evaluation.intervals import IntervalMethod
from plausibly.kernels.coverage import Ties
from plausibly.kernels.types import Bools, Floats
from refusals import refused

CAL, NEW = predictions(), predictions(seed=2, prefix="t")
LAM = plausibilities(NEW)
ALPHAS = [0.2, 0.3]


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture(scope="module")
def sets() -> xr.DataArray:
    return plausibly.calibrate(CAL, plausibilities(CAL)).predict(NEW, ALPHAS)


class Reads:
    """An array in chunks, and how many chunks with examples were read of it."""

    def __init__(self, array: xr.DataArray, cut: int) -> None:
        self.count, self._lock = 0, Lock()

        def seen(block: Floats | Bools) -> Floats | Bools:
            with self._lock:
                self.count += bool(block.size)
            return block

        lazy = array.chunk(example=cut)
        self.array: xr.DataArray = lazy.copy(
            data=lazy.data.map_blocks(seen, dtype=lazy.dtype, meta=lazy.data._meta)
        )


def test_each_chunk_is_read_once(sets: xr.DataArray) -> None:
    whole = plausibly.evaluate(sets, LAM, by="site").data
    for lam, parts in ((LAM, 0), (plausibly.to_sparse(LAM), 0), (LAM, 3)):
        seen, answers = Reads(sets, 5), Reads(LAM, 4)
        found = plausibly.evaluate(seen.array, answers.array if parts else lam, by="site")
        assert (seen.count, answers.count) == (3, parts)
        assert found.data.identical(whole)
        assert found.verdict() == Evaluation(whole).verdict()


@pytest.mark.parametrize(
    ("cut", "interval", "ties"),
    [
        ((5, 7), "betting", "random"),
        ((3, 0, 9), "auto", "first"),
        ((1,) * 12, "t", "fractional"),
        ((12,), "auto", "any"),
        ((4, 8), "auto", "all"),
    ],
)
def test_bits_in_any_chunks(
    sets: xr.DataArray, cut: tuple[int, ...], interval: IntervalMethod, ties: Ties
) -> None:
    order = np.random.default_rng(4).permutation(12)
    moved = LAM.isel(example=order, label=[2, 0, 3, 1]).transpose("label", "example")
    sparse = plausibly.to_sparse(moved)
    known = xr.DataArray(list(LABELS) * 3, dims="example", coords={"example": NEW["example"]})

    def measured(inside: xr.DataArray, lam: xr.DataArray | xr.Dataset) -> xr.Dataset:
        return plausibly.evaluate(
            inside,
            lam,
            ties=ties,
            true_label=known,
            by="site",
            cluster="site",
            interval=interval,
        ).data

    whole = measured(sets, LAM)
    for lam in (moved.chunk(example=cut), sparse, sparse.chunk(example=4)):
        assert measured(sets, lam).identical(whole)
        assert measured(sets.chunk(example=5, alpha=1), lam).identical(whole)
    one, narrow = sets.isel(alpha=1), LAM.astype(np.float32)
    whole = measured(one, narrow)
    assert measured(one.chunk(example=cut), narrow).identical(whole)
    assert measured(one.chunk(example=cut), narrow.chunk(example=7)).identical(whole)


def test_only_common_examples_and_guaranteed_shares() -> None:
    made = plausibly.calibrate(
        CAL, plausibilities(CAL), calibrator={"name": "mass-coverage", "leave_out": 0.4}
    )
    sets = made.predict(NEW, ALPHAS)
    sets = sets.isel(example=slice(2, None))
    whole = plausibly.evaluate(sets, LAM[:9], only_common=True).data
    assert "mass_coverage_mean" in whole
    cut = sets.chunk(example=4)
    found = plausibly.evaluate(cut, LAM[:9].chunk(example=2), only_common=True).data
    assert json.loads(found.attrs["left_out"])
    assert found.identical(whole)


def test_what_is_known_without_numbers_is_refused_before_reading(sets: xr.DataArray) -> None:
    seen, said = Reads(sets, 5), Reads(LAM, 4)
    with refused("label-axis-split", "found 2 + 2", 'hint sets.chunk({"label": -1})'):
        plausibly.evaluate(sets.chunk(label=2), LAM)
    with pytest.raises(InputError, match="plausibilities: the Dask array cuts"):
        plausibly.evaluate(seen.array, LAM.chunk(label=2))
    with pytest.raises(InputError, match="examples-differ: plausibilities lack 1 example"):
        plausibly.evaluate(seen.array, said.array[1:])
    with refused("labels-differ"):
        plausibly.evaluate(seen.array, said.array.assign_coords(label=[*LABELS[:3], "gnu"]))
    with refused("coordinate-missing"):
        plausibly.evaluate(seen.array, said.array, by="place")
    assert (seen.count, said.count) == (0, 0)


def test_a_bad_row_is_named_with_its_chunk_when_it_is_read(sets: xr.DataArray) -> None:
    bad = LAM.copy()
    bad[6] *= 2
    for cut, where in ((4, "plausibilities, t4 to t7"), (12, "plausibilities")):
        with pytest.raises(InputError, match=f"rows-do-not-sum: {where}: 1 of"):
            plausibly.evaluate(sets, bad.chunk(example=cut))
