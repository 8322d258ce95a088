"""Nothing is read before it is needed, no more than a chunk at a time; bad chunks are named."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import attrs
import dask
import dask.array as da
import numpy as np
import pytest
import xarray as xr
from dask.local import get_sync

import plausibly
from memory import MIB, at_most
from plausibly.io import read_predictions
from plausibly.kernels.types import Floats
from plausibly.plugin import CalibrationData, CalibrationScores, Keys
from refusals import refused
from tables import labelled, world

CAL, ANSWERS = world(12)
NEW, NEW_ANSWERS = world(12, seed=2, start=100)


PREDICTOR = plausibly.calibrate(CAL, ANSWERS)
SETS = PREDICTOR.predict(NEW, 0.3)


def test_attributes_and_guarantees_are_there_before_the_numbers() -> None:
    def fail(block: Floats) -> Floats:
        if block.size:
            raise RuntimeError("computed")
        return block

    lazy = NEW.chunk(example=5)
    broken = xr.apply_ufunc(fail, lazy, dask="parallelized", output_dtypes=[lazy.dtype])
    sets = PREDICTOR.predict(broken, 0.3)
    assert sets.attrs == SETS.attrs
    assert json.loads(sets.attrs["guarantees"])
    assert (sets.dims, sets.dtype, sets.name) == (SETS.dims, SETS.dtype, SETS.name)
    assert PREDICTOR.p_values(broken).dtype == np.float64
    with pytest.raises(RuntimeError, match="computed"):
        sets.compute()


@attrs.frozen
class _Greedy:
    """A calibrator that reads the scores of every label."""

    def calibrate(self, data: CalibrationData, keys: Keys) -> CalibrationScores:
        return CalibrationScores(scores=data.scores.max(axis=1)[None])


def changed(array: xr.DataArray, place: tuple[int, ...], value: float) -> xr.DataArray:
    array = array.copy()
    array[place] = value
    return array


VIEWS = xr.concat([CAL, CAL], dim="augmentation").assign_coords(augmentation=["a", "b"])
SPLIT = ("label-axis-split", "into 4 chunks", 'hint predictions.chunk({"label": -1})')
SPLIT_NEW = NEW.chunk(example=5, label=1)
NAN = changed(NEW, (6, 2), np.nan).chunk(example=5)
DOUBLED = changed(CAL, (11, 0), 2.0).chunk(example=5)
DOUBLED_ANSWERS = changed(ANSWERS, (4, 0), 2.0).chunk(example=4)
DOUBLED_NEW = changed(NEW_ANSWERS, (6, 0), 2.0)
CALIBRATE = partial(plausibly.calibrate, CAL.chunk(example=5), ANSWERS)
AUGMENTED = partial(plausibly.calibrate, VIEWS.chunk(example=5), ANSWERS)
BY_FOUR, AT_ONCE = DOUBLED_NEW.chunk(example=4), DOUBLED_NEW.chunk(example=12)
SUM = "rows-do-not-sum"
REFUSED: list[tuple[Callable[[], object], tuple[str, ...]]] = [
    (lambda: PREDICTOR.predict(SPLIT_NEW, 0.3), SPLIT),
    (lambda: PREDICTOR.p_values(SPLIT_NEW), SPLIT),
    (lambda: plausibly.calibrate(CAL.chunk(label=1), ANSWERS), SPLIT),
    (lambda: AUGMENTED(calibrator="augmentation"), ("chunks-unfit", "found augmentation,")),
    (lambda: CALIBRATE(calibrator=_Greedy()), ("scores-in-chunks", "hint predictions.load()")),
    (
        lambda: PREDICTOR.predict(NAN, 0.3).compute(),
        ("numbers-not-finite", "predictions, case 105 to case 109: 1 of 5 rows hold NaN"),
    ),
    (
        lambda: plausibly.calibrate(DOUBLED, ANSWERS),
        (SUM, "predictions, case 10 to case 11: 1 of 2"),
    ),
    (lambda: plausibly.calibrate(CAL, DOUBLED_ANSWERS), (SUM, "ities, case 4 to case 7: 1 of")),
    (lambda: plausibly.evaluate(SETS, BY_FOUR), (SUM, "ities, case 104 to case 107: 1 of")),
    (lambda: plausibly.evaluate(SETS, AT_ONCE), (SUM, "plausibilities: 1 of")),
]


@pytest.mark.parametrize(("call", "pieces"), REFUSED)
def test_what_cannot_be_computed_in_chunks_is_refused(
    call: Callable[[], object], pieces: tuple[str, ...]
) -> None:
    with refused(*pieces):
        call()


def test_no_array_larger_than_a_chunk() -> None:
    n, labels, size = 3000, 2000, 100
    zeros = da.zeros((n, labels), np.float32, chunks=(size, -1))
    texts = [f"l{place}" for place in range(labels)]
    lazy = labelled(zeros + np.float32(1 / labels), "e", texts)
    answers = plausibly.to_sparse(
        xr.DataArray(np.eye(labels)[np.arange(n) % labels], dims=lazy.dims, coords=lazy.coords)
    )

    def run(rows: slice) -> None:
        model, votes = lazy[rows], answers.isel(example=rows)
        predictor = plausibly.calibrate(model, votes)
        new = [f"t{name}" for name in model.example.values]
        sets = predictor.predict(model.assign_coords(example=new), 0.1)
        plausibly.evaluate(sets, votes.assign_coords(example=new))

    with dask.config.set(scheduler="synchronous"):
        run(slice(2 * size))  # modules that are imported on the way are no arrays
        with at_most(n * labels * 4 / 2 / MIB):
            run(slice(None))


@pytest.mark.parametrize("score", ["probability", "margin", {"name": "aps", "randomised": True}])
def test_a_chunk_is_scored_in_the_room_of_a_few_rows(score: str) -> None:
    n, labels = 12_000, 400
    values = np.random.default_rng(1).random((n, labels), dtype=np.float32)
    values /= values.sum(axis=1, keepdims=True)
    model = labelled(values, "e", [f"l{place}" for place in range(labels)])
    votes = xr.DataArray(np.arange(n)[:, None] % labels == np.arange(labels), model.coords)
    answers = plausibly.to_sparse(votes.astype(np.float32))
    with dask.config.set(scheduler="synchronous"):
        for rows in (slice(100), slice(None)):  # modules that are imported first are no arrays
            lazy, part = model[rows].chunk(example=-1), answers.isel(example=rows)
            with at_most(values.nbytes / 2 / MIB):
                plausibly.calibrate(lazy, part, score=score)


def test_tasks_do_not_grow_with_the_number_of_chunks(tmp_path: Path) -> None:
    cloudpickle = import_module("cloudpickle")
    sizes: list[list[int]] = []

    def scheduler(graph: Any, keys: Any, **options: object) -> object:  # Any: without hints
        tasks = dict(graph.__dask_graph__())
        # The largest is what all chunks share, and travels once.
        sizes[-1].append(sorted(len(cloudpickle.dumps(task)) for task in tasks.values())[-2])
        return get_sync(tasks, keys, **options)

    for n in (200, 2000):
        names = [f"e{place:06d}" for place in range(n)]
        whole, answers = (array.assign_coords(example=names) for array in world(n))
        encoding = {"p": {"chunks": (50, whole.sizes["label"])}}
        path = tmp_path / f"{n}.zarr"
        dataset = whole.to_dataset(name="p").drop_vars("patient")
        dataset.to_zarr(path, encoding=encoding, zarr_format=2)
        model = read_predictions(path, chunks=50)
        sizes.append([])
        with dask.config.set(scheduler=scheduler):
            predictor = plausibly.calibrate(model, answers, calibrator="monte-carlo")
            new = [f"t{name[1:]}" for name in model["example"].values]
            predictor.predict(model.assign_coords(example=new), 0.3).compute()
    few, large = sizes
    assert len(few) == len(large) > 1
    assert all(size <= least + 64 for least, size in zip(few, large, strict=True)), sizes
