"""Chunks: the bits of memory, however they are cut; nothing is read early, and little at a time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from threading import Lock
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
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.evaluation.intervals import IntervalMethod
from plausibly.io import read_predictions
from plausibly.kernels.coverage import Ties
from plausibly.kernels.types import Bools, Floats
from plausibly.plugin import CalibrationData, CalibrationScores, Keys
from refusals import refused
from tables import LABELS, labelled, world

pytestmark = pytest.mark.filterwarnings("ignore::plausibly.PlausiblyWarning")

CAL, ANSWERS = world(12)
NEW, NEW_ANSWERS = world(12, seed=2, start=100)
ORDER = np.random.default_rng(3).permutation(12)
ALPHAS = [0.2, 0.3]
PREDICTOR = plausibly.calibrate(CAL, ANSWERS)
SETS = PREDICTOR.predict(NEW, ALPHAS)


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    with dask.config.set(scheduler="synchronous"):
        yield


def assert_same(predictor: ConformalPredictor, expected: ConformalPredictor) -> None:
    assert predictor.fingerprint == expected.fingerprint
    assert predictor.reference is not None
    assert expected.reference is not None
    np.testing.assert_array_equal(predictor.reference, expected.reference)
    assert predictor.reference.dtype == expected.reference.dtype


def cuts(n: int) -> Iterator[tuple[int, ...]]:
    for size in range(1, n + 1):
        yield tuple(min(size, n - start) for start in range(0, n, size))
    for place in range(1, n):
        yield place, n - place


def test_twelve_examples_in_chunks_of_every_size_and_cut_at_every_place() -> None:
    whole = plausibly.calibrate(CAL, ANSWERS, calibrator="monte-carlo")
    measured = plausibly.evaluate(whole.predict(NEW, 0.3), NEW_ANSWERS).data
    for cut in cuts(12):
        predictor = plausibly.calibrate(CAL.chunk(example=cut), ANSWERS, calibrator="monte-carlo")
        assert_same(predictor, whole)
        lazy = predictor.predict(NEW.chunk(example=cut), 0.3)
        assert lazy.chunks is not None
        assert lazy.chunks[0] == cut
        assert plausibly.evaluate(lazy, NEW_ANSWERS).data.compute().identical(measured)


@pytest.mark.parametrize(
    ("scale", "dtype"),
    [
        ("logit", "float32"),
        ("independent", "float32"),
        ("any", "float32"),
        ("probability", "float64"),
        ("probability", "float16"),
    ],
)
def test_scales_and_types(scale: str, dtype: str) -> None:
    cal, new = (array.astype(dtype).assign_attrs(scale=scale) for array in (CAL, NEW))
    whole = plausibly.calibrate(cal, ANSWERS)
    predictor = plausibly.calibrate(cal.chunk(example=5), ANSWERS)
    assert_same(predictor, whole)
    assert predictor.predict(new.chunk(example=5), 0.3).compute().identical(whole.predict(new, 0.3))


@pytest.mark.parametrize("alpha", [0.3, ALPHAS])
def test_dims_and_rows_in_any_order(alpha: float | list[float]) -> None:
    whole = plausibly.calibrate(CAL, ANSWERS)
    for turned in (
        NEW.transpose("label", "example"),
        NEW.isel(example=ORDER),
        NEW.isel(label=[2, 0, 3, 1]),
    ):
        lazy = turned.chunk(example=5, label=-1)
        assert whole.predict(lazy, alpha).compute().identical(whole.predict(turned, alpha))
        assert whole.p_values(lazy).compute().identical(whole.p_values(turned))
    turned = CAL.isel(example=ORDER).transpose("label", "example").chunk(example=5)
    assert_same(plausibly.calibrate(turned, ANSWERS), whole)


def test_only_common_examples() -> None:
    calibrate = partial(plausibly.calibrate, only_common=True)
    whole = calibrate(CAL, ANSWERS[3:])
    for answers in (ANSWERS[3:], ANSWERS[3:].chunk(example=2)):
        assert_same(calibrate(CAL.chunk(example=5), answers), whole)
    mass = {"name": "mass-coverage", "leave_out": 0.4}
    sets = plausibly.calibrate(CAL, ANSWERS, calibrator=mass).predict(NEW, ALPHAS)[:, 2:]
    sets = sets.transpose("example", ...).isel(example=slice(2, None))
    measure = partial(plausibly.evaluate, only_common=True)
    measured = measure(sets, NEW_ANSWERS[:9]).data
    assert "mass_coverage_mean" in measured
    result = measure(sets.chunk(example=4), NEW_ANSWERS[:9].chunk(example=2)).data
    assert json.loads(result.attrs["left_out"])
    assert result.identical(measured)


@pytest.mark.parametrize("score", ["probability", {"name": "aps", "randomised": True}], ids=str)
def test_chunks_of_several_blocks_have_the_bits_of_memory(score: str | dict[str, object]) -> None:
    n = 40_000  # of four labels, more than are scored at once
    cal, answers = world(n)
    cal[3], answers[3] = [0.5, -0.0, 0.5, 0.0], [0, 1, 0, 0]
    calibrate = partial(plausibly.calibrate, calibrator="monte-carlo", score=score)
    whole, predictor = calibrate(cal, answers), calibrate(cal.chunk(example=-1), answers)
    assert_same(predictor, whole)
    new = cal.assign_coords(example=cal["example"].values[::-1]).isel(label=[2, 0, 3, 1])
    lazy = predictor.predict(new.chunk(example=-1), 0.3)
    assert lazy.compute().identical(whole.predict(new, 0.3))


# ---- evaluation


class Reads:
    """An array in chunks, and how many chunks with examples were read of it."""

    def __init__(self, array: xr.DataArray, cut: int) -> None:
        self.count, self._lock = 0, Lock()

        def read(block: Floats | Bools) -> Floats | Bools:
            with self._lock:
                self.count += bool(block.size)
            return block

        lazy = array.chunk(example=cut)
        self.array: xr.DataArray = lazy.copy(
            data=lazy.data.map_blocks(read, dtype=lazy.dtype, meta=lazy.data._meta)
        )


def test_each_chunk_is_read_once() -> None:
    whole = plausibly.evaluate(SETS, NEW_ANSWERS, by="patient")
    answers = Reads(NEW_ANSWERS, 4)
    for inputs, parts in ((NEW_ANSWERS, 0), (plausibly.to_sparse(NEW_ANSWERS), 0), (answers, 3)):
        inside = Reads(SETS, 5)
        answers.count = 0
        result = plausibly.evaluate(
            inside.array, inputs.array if isinstance(inputs, Reads) else inputs, by="patient"
        )
        assert (inside.count, answers.count) == (3, parts)
        assert result.data.identical(whole.data)
        assert result.verdict() == whole.verdict()


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
def test_bits_of_measures_in_any_chunks(
    cut: tuple[int, ...], interval: IntervalMethod, ties: Ties
) -> None:
    moved = NEW_ANSWERS.isel(example=ORDER, label=[2, 0, 3, 1]).transpose("label", "example")
    sparse = plausibly.to_sparse(moved)
    known = xr.DataArray(list(LABELS) * 3, dims="example", coords={"example": NEW["example"]})
    measure = partial(
        plausibly.evaluate,
        ties=ties,
        true_label=known,
        by="patient",
        cluster="patient",
        interval=interval,
    )
    whole = measure(SETS, NEW_ANSWERS).data
    for answers in (moved.chunk(example=cut), sparse, sparse.chunk(example=4)):
        assert measure(SETS, answers).data.identical(whole)
        assert measure(SETS.chunk(example=5, alpha=1), answers).data.identical(whole)
    item, narrow = SETS.isel(alpha=1), NEW_ANSWERS.astype(np.float32)
    whole = measure(item, narrow).data
    for answers in (narrow, narrow.chunk(example=7)):
        assert measure(item.chunk(example=cut), answers).data.identical(whole)


def test_mistakes_in_names_are_refused_before_reading() -> None:
    inside, answers = Reads(SETS, 5), Reads(NEW_ANSWERS, 4)
    gnu = answers.array.assign_coords(label=[*LABELS[:3], "gnu"])
    evaluate = partial(plausibly.evaluate, inside.array)
    calls: list[tuple[Callable[[], object], tuple[str, ...]]] = [
        (
            lambda: plausibly.evaluate(SETS.chunk(label=2), NEW_ANSWERS),
            ("label-axis-split", "into 2 chunks", 'hint sets.chunk({"label": -1})'),
        ),
        (
            partial(evaluate, NEW_ANSWERS.chunk(label=2)),
            ("label-axis-split", "plausibilities: the Dask array cuts"),
        ),
        (partial(evaluate, answers.array[1:]), ("examples-differ", "ities lack 1 example")),
        (partial(evaluate, gnu), ("labels-differ",)),
        (partial(evaluate, answers.array, by="place"), ("coordinate-missing",)),
    ]
    for call, pieces in calls:
        with refused(*pieces):
            call()
    assert (inside.count, answers.count) == (0, 0)


# ---- what is read, and when


AT_ONE = PREDICTOR.predict(NEW, 0.3)


def test_attributes_and_guarantees_are_there_before_the_numbers() -> None:
    def fail(block: Floats) -> Floats:
        if block.size:
            raise RuntimeError("computed")
        return block

    lazy = NEW.chunk(example=5)
    broken = xr.apply_ufunc(fail, lazy, dask="parallelized", output_dtypes=[lazy.dtype])
    sets = PREDICTOR.predict(broken, 0.3)
    assert sets.attrs == AT_ONE.attrs
    assert json.loads(sets.attrs["guarantees"])
    assert (sets.dims, sets.dtype, sets.name) == (AT_ONE.dims, AT_ONE.dtype, AT_ONE.name)
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
    (lambda: plausibly.evaluate(AT_ONE, BY_FOUR), (SUM, "ities, case 104 to case 107: 1 of")),
    (lambda: plausibly.evaluate(AT_ONE, AT_ONCE), (SUM, "plausibilities: 1 of")),
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
