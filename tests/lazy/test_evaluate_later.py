"""Evaluation of sets or plausibilities in chunks: nothing is read before it is asked for."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Lock
from typing import Any

import dask
import dask.base
import numpy as np
import pytest
import xarray as xr

import plausibly
from lazy_world import LABELS, plausibilities, predictions
from plausibly.data.names import is_lazy
from plausibly.errors import InputError
from plausibly.evaluation.describe import as_json, describe, verdict
from plausibly.evaluation.evaluate import Evaluation
from plausibly.evaluation.intervals import IntervalMethod
from plausibly.kernels.coverage import Ties
from plausibly.kernels.types import Bools, Floats
from refusals import refused

CAL, NEW = predictions(), predictions(seed=2, prefix="t")
LAM = plausibilities(NEW)
compute: Any = dask.base.compute  # Any: Dask says nothing of what it takes and returns
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


def test_nothing_is_read_before_it_is_asked_for_and_each_chunk_once(sets: xr.DataArray) -> None:
    whole = plausibly.evaluate(sets, LAM, by="site")
    for lam, parts in ((LAM, 0), (plausibly.pack(LAM), 0), (LAM, 3)):
        seen, said = Reads(sets, 5), Reads(LAM, 4)
        given = said.array if parts else lam
        found = plausibly.evaluate(seen.array, given, by="site")
        assert isinstance(found, Evaluation)
        assert is_lazy(found)
        lazy = {name for name, one in found.data_vars.items() if one.chunks is not None}
        assert "aggregated_coverage_mean" in lazy
        assert found["aggregated_coverage"].chunksizes["example"] == (5, 5, 2)
        assert int(found["n"]) == 12
        assert "Not measured yet: compute() or load() reads each chunk once." in repr(found)
        assert "not measured yet: compute() or load() reads" in found._repr_html_()
        assert (seen.count, said.count) == (0, 0)
        done = found.compute()
        assert (seen.count, said.count) == (3, parts)
        assert done.identical(whole)
        assert "easured yet" not in repr(done) + done._repr_html_()
        assert found.load() is found
        assert found.identical(whole)


def test_one_figure_and_one_example(sets: xr.DataArray) -> None:
    seen, whole = Reads(sets, 5), plausibly.evaluate(sets, LAM)
    found = plausibly.evaluate(seen.array, LAM)
    mean = float(found["aggregated_coverage_mean"][1])
    assert mean == float(whole["aggregated_coverage_mean"][1])
    assert seen.count == 3
    one = found["set_size"].sel(example="t7")
    assert one.dtype == np.int64
    assert one.values.tolist() == whole["set_size"].sel(example="t7").values.tolist()
    assert seen.count == 4


@pytest.mark.parametrize(
    "shown",
    [
        describe,
        verdict,
        as_json,
        lambda found: str(found.plausibly.worst(3)),
        lambda found: repr(found.isel(alpha=0).load().attrs),
    ],
)
def test_whatever_shows_it_reads_each_chunk_once(
    sets: xr.DataArray, shown: Callable[[xr.Dataset], object]
) -> None:
    seen, said = Reads(sets, 5), Reads(LAM, 4)
    found = plausibly.evaluate(seen.array, said.array)
    assert shown(found) == shown(plausibly.evaluate(sets, LAM))
    assert (seen.count, said.count) == (3, 3)


def test_dask_computes_several_at_once(sets: xr.DataArray) -> None:
    seen, said = Reads(sets, 5), Reads(LAM, 4)
    ties: tuple[Ties, ...] = ("first", "all")
    several = [plausibly.evaluate(seen.array, said.array, ties=one) for one in ties]
    found = compute(*several)
    assert (seen.count, said.count) == (3, 3)
    for one, policy in zip(found, ties, strict=True):
        assert one.identical(plausibly.evaluate(sets, LAM, ties=policy))


@pytest.mark.parametrize(
    ("cut", "interval"), [((5, 7), "betting"), ((3, 0, 9), "auto"), ((1,) * 12, "t")]
)
def test_bits_in_any_chunks(
    sets: xr.DataArray, cut: tuple[int, ...], interval: IntervalMethod
) -> None:
    order = np.random.default_rng(4).permutation(12)
    moved = LAM.isel(example=order, label=[2, 0, 3, 1]).transpose("label", "example")
    known = xr.DataArray(list(LABELS) * 3, dims="example", coords={"example": NEW["example"]})

    def measured(inside: xr.DataArray, lam: xr.DataArray) -> Evaluation:
        return plausibly.evaluate(
            inside, lam, ties="random", true=known, by="site", cluster="site", interval=interval
        ).load()

    whole = measured(sets, LAM)
    assert measured(sets, moved.chunk(example=cut)).identical(whole)
    assert measured(sets.chunk(example=5, alpha=1), moved.chunk(example=cut)).identical(whole)
    one, narrow = sets.isel(alpha=1), LAM.astype(np.float32)
    whole = measured(one, narrow)
    assert measured(one.chunk(example=cut), narrow).identical(whole)
    assert measured(one.chunk(example=cut), narrow.chunk(example=7)).identical(whole)


def test_only_common_examples_and_promised_shares() -> None:
    made = plausibly.calibrate(
        CAL, plausibilities(CAL), calibrator={"name": "mass-coverage", "leave_out": 0.4}
    )
    sets = made.predict(NEW, ALPHAS)
    sets = sets.isel(example=slice(2, None))
    whole = plausibly.evaluate(sets, LAM[:9], only_common=True)
    assert "mass_coverage_mean" in whole
    cut = sets.chunk(example=4)
    found = plausibly.evaluate(cut, LAM[:9].chunk(example=2), only_common=True)
    assert json.loads(found.attrs["left_out"])
    assert found.compute().identical(whole)


def test_what_is_known_without_numbers_is_refused_at_once(sets: xr.DataArray) -> None:
    seen, said = Reads(sets, 5), Reads(LAM, 4)
    with refused("label-axis-split", "got 2 + 2", 'do sets.chunk({"label": -1})'):
        plausibly.evaluate(sets.chunk(label=2), LAM)
    with pytest.raises(InputError, match="plausibilities: the Dask array cuts"):
        plausibly.evaluate(seen.array, LAM.chunk(label=2))
    with pytest.raises(InputError, match="examples-differ: plausibilities lack 1 example"):
        plausibly.evaluate(seen.array, said.array[1:])
    with refused("labels-differ"):
        plausibly.evaluate(seen.array, said.array.assign_coords(label=[*LABELS[:3], "gnu"]))
    with refused("coordinate-missing"):
        plausibly.evaluate(seen.array, said.array, by="place")
    named = seen.array.assign_coords(set_size=("example", ["a", "b"] * 6))
    with refused("coordinate-reserved"):
        plausibly.evaluate(named, said.array, by="set_size")
    named = seen.array.assign_coords(share_empty=("example", ["a", "b"] * 6))
    with refused("coordinate-reserved"):
        plausibly.evaluate(named, said.array, by="share_empty")
    assert (seen.count, said.count) == (0, 0)


def test_a_bad_row_is_named_with_its_chunk_when_it_is_read(sets: xr.DataArray) -> None:
    bad = LAM.copy()
    bad[6] *= 2
    for cut, where in ((4, "plausibilities, t4 to t7"), (12, "plausibilities")):
        found = plausibly.evaluate(sets, bad.chunk(example=cut))
        with pytest.raises(InputError, match=f"plausibilities-do-not-sum: {where}: 1 of"):
            found.load()
        assert is_lazy(found)


def test_it_is_written_in_one_pass(sets: xr.DataArray, tmp_path: Path) -> None:
    whole = plausibly.evaluate(sets, LAM)
    for name in ("evaluation.nc", "evaluation.zarr"):
        seen, said, path = Reads(sets, 5), Reads(LAM, 4), tmp_path / name
        found = plausibly.evaluate(seen.array, said.array)
        if name.endswith("nc"):
            found.to_netcdf(path)
            read = xr.open_dataset(path)
        else:
            found.to_zarr(path, zarr_format=2)
            read = xr.open_zarr(path, zarr_format=2)
        assert (seen.count, said.count) == (3, 3)
        assert float(read["tied_share"]) == whole.attrs["tied_share"]
        assert (read["set_size_low"].values == whole["set_size_low"].values).all()
        read.close()
