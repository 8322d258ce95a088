"""Calibration, prediction and evaluation in chunks: the bits of memory, however chunks are cut."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from threading import Lock

import dask
import numpy as np
import pytest
import xarray as xr

import plausibly
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.evaluation.intervals import IntervalMethod
from plausibly.kernels.coverage import Ties
from plausibly.kernels.types import Bools, Floats
from refusals import refused
from tables import LABELS, world

pytestmark = pytest.mark.filterwarnings("ignore::plausibly.PlausiblyWarning")

CAL, ANSWERS = world(12)
NEW, NEW_ANSWERS = world(12, seed=2, start=100)
ORDER = np.random.default_rng(3).permutation(12)
ALPHAS = [0.2, 0.3]


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture(scope="module")
def sets() -> xr.DataArray:
    return plausibly.calibrate(CAL, ANSWERS).predict(NEW, ALPHAS)


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


def test_each_chunk_is_read_once(sets: xr.DataArray) -> None:
    whole = plausibly.evaluate(sets, NEW_ANSWERS, by="patient")
    answers = Reads(NEW_ANSWERS, 4)
    for inputs, parts in ((NEW_ANSWERS, 0), (plausibly.to_sparse(NEW_ANSWERS), 0), (answers, 3)):
        inside = Reads(sets, 5)
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
    sets: xr.DataArray, cut: tuple[int, ...], interval: IntervalMethod, ties: Ties
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
    whole = measure(sets, NEW_ANSWERS).data
    for answers in (moved.chunk(example=cut), sparse, sparse.chunk(example=4)):
        assert measure(sets, answers).data.identical(whole)
        assert measure(sets.chunk(example=5, alpha=1), answers).data.identical(whole)
    item, narrow = sets.isel(alpha=1), NEW_ANSWERS.astype(np.float32)
    whole = measure(item, narrow).data
    for answers in (narrow, narrow.chunk(example=7)):
        assert measure(item.chunk(example=cut), answers).data.identical(whole)


def test_mistakes_in_names_are_refused_before_reading(sets: xr.DataArray) -> None:
    inside, answers = Reads(sets, 5), Reads(NEW_ANSWERS, 4)
    gnu = answers.array.assign_coords(label=[*LABELS[:3], "gnu"])
    evaluate = partial(plausibly.evaluate, inside.array)
    calls: list[tuple[Callable[[], object], tuple[str, ...]]] = [
        (
            lambda: plausibly.evaluate(sets.chunk(label=2), NEW_ANSWERS),
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
