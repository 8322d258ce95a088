"""Nothing is read before it is asked for, and never more than a chunk at a time."""

from __future__ import annotations

import json

import attrs
import dask
import dask.array as da
import numpy as np
import pytest
import xarray as xr

import plausibly
from lazy_world import LABELS, plausibilities, predictions
from memory import MIB, at_most
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.errors import InputError, PlausiblyWarning
from plausibly.kernels.types import Floats
from plausibly.plugin import CalibrationData, CalibrationScores, Keys
from refusals import refused
from tables import labelled

CAL, NEW = predictions(), predictions(seed=2, prefix="t")
LAM = plausibilities(CAL)


@pytest.fixture(scope="module")
def predictor() -> ConformalPredictor:
    return plausibly.calibrate(CAL, LAM)


def broken(like: xr.DataArray) -> xr.DataArray:
    """Return an array that raises as soon as any of it is computed."""

    def fail(block: Floats) -> Floats:
        if block.size:
            raise RuntimeError("computed")
        return block

    lazy = like.chunk(example=5)
    found: xr.DataArray = xr.apply_ufunc(
        fail, lazy, dask="parallelized", output_dtypes=[lazy.dtype]
    )
    return found


def test_attributes_and_guarantees_are_there_before_the_numbers(
    predictor: ConformalPredictor,
) -> None:
    sets = predictor.predict(broken(NEW), 0.3)
    whole = predictor.predict(NEW, 0.3)
    assert sets.attrs == whole.attrs
    assert json.loads(sets.attrs["guarantees"])
    assert (sets.dims, sets.dtype, sets.name) == (whole.dims, whole.dtype, whole.name)
    assert predictor.p_values(broken(NEW)).dtype == np.float64
    with pytest.raises(RuntimeError, match="computed"):
        sets.compute()


def test_a_split_label_axis_is_refused(predictor: ConformalPredictor) -> None:
    split = NEW.chunk(example=5, label=1)
    for ask in (
        lambda: predictor.predict(split, 0.3),
        lambda: predictor.p_values(split),
        lambda: plausibly.calibrate(CAL.chunk(label=1), LAM),
    ):
        with refused(
            "label-axis-split", "found 1 + 1 + 1 + 1", 'hint predictions.chunk({"label": -1})'
        ):
            ask()


def test_augmentations_and_chunks_do_not_go_together() -> None:
    views = xr.concat([CAL, CAL], dim="augmentation").assign_coords(augmentation=["a", "b"])
    with refused("chunks-unfit", "found augmentation, example, label"):
        plausibly.calibrate(views.chunk(example=5), LAM, calibrator="augmentation")


def test_a_bad_row_is_named_with_its_chunk(predictor: ConformalPredictor) -> None:
    bad = NEW.copy()
    bad[6, 2] = np.nan
    with refused("numbers-not-finite", "predictions, t5 to t9, NaN in 1 row (t6)"):
        predictor.predict(bad.chunk(example=5), 0.3).compute()
    cal = CAL.copy()
    cal[11] *= 2
    with pytest.raises(InputError, match="rows-do-not-sum: predictions, e10 to e11: 1 of 2 rows"):
        plausibly.calibrate(cal.chunk(example=5), LAM)
    lam = LAM.copy()
    lam[4] *= 2
    with pytest.raises(InputError, match="do-not-sum: plausibilities, e4 to e7: 1 of 4 rows"):
        plausibly.calibrate(CAL, lam.chunk(example=4))


def test_hard_rows_are_counted_over_all_chunks() -> None:
    cal = predictions(40)
    hard = xr.zeros_like(cal)
    hard.values[np.arange(40), np.arange(40) % len(LABELS)] = 1
    with pytest.warns(PlausiblyWarning, match="predictions, all of rows are only 0 and 1"):
        plausibly.calibrate(hard.chunk(example=7), plausibilities(cal))


@attrs.frozen
class _Greedy:
    """A calibrator that reads the scores of every label."""

    def calibrate(self, data: CalibrationData, keys: Keys) -> CalibrationScores:
        return CalibrationScores(scores=data.scores.max(axis=1)[None])


def test_all_scores_at_once_are_refused() -> None:
    with refused("scores-in-chunks", "hint predictions.load(), where they fit into memory"):
        plausibly.calibrate(CAL.chunk(example=5), LAM, calibrator=_Greedy())


def test_no_array_larger_than_a_chunk() -> None:
    n, labels, size = 3000, 2000, 100
    names = [f"e{place}" for place in range(n)]
    zeros = da.zeros((n, labels), np.float32, chunks=(size, -1))
    lazy = labelled(zeros + np.float32(1 / labels), names, [f"l{place}" for place in range(labels)])
    lam = plausibly.to_sparse(
        xr.DataArray(np.eye(labels)[np.arange(n) % labels], dims=lazy.dims, coords=lazy.coords)
    )

    def studied(rows: slice) -> None:
        model, said = lazy[rows], lam.isel(example=rows)
        predictor = plausibly.calibrate(model, said)
        renamed = [f"t{name}" for name in names[rows]]
        sets = predictor.predict(model.assign_coords(example=renamed), 0.1)
        plausibly.evaluate(sets, said.assign_coords(example=renamed))

    with dask.config.set(scheduler="synchronous"):
        studied(slice(2 * size))  # modules that are imported on the way are no arrays
        with at_most(n * labels * 4 / 2 / MIB):
            studied(slice(None))
