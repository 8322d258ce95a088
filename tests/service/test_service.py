"""Plain rows get what labelled predictions get, to the bit, and need neither xarray nor pandas."""

from __future__ import annotations

import functools
import subprocess
import sys
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import plausibly
from calibrators_labelled import CALIBRATORS, Table, plausibilities, predictions
from plausibly.calibration.alphas import AlphaLike
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.errors import IncompatibleComponents, PlausiblyWarning
from plausibly.protocols import COMBINER, SCORE
from plausibly.registry import default
from refusals import refused
from tables import labelled

N = 40
ALPHAS = ("0.05", "0.3", "0.6")
DRAWS: Table = {"name": "monte-carlo", "draws": 4}
ALL: dict[str, Table] = {
    **{name: {"name": name} for name in ("expected", "majority-vote")},
    **CALIBRATORS,
}
SCORES = sorted(entry.name for entry in default().entries(SCORE))
COMBINERS = sorted(entry.name for entry in default().entries(COMBINER))


def rows(
    count: int, *, prefix: str = "case", seed: int = 0, dtype: str = "float64"
) -> xr.DataArray:
    """Return probabilities with ties, under names, and with all that a calibrator may read."""
    few = predictions(count, prefix=prefix, seed=seed)
    few.attrs = {}
    shares = few / few.sum("label")
    shares = shares.assign_coords(order=("label", np.roll(np.arange(shares.sizes["label"]), 1)))
    return shares.astype(dtype).assign_attrs(scale="probability")


def calibrated(
    *,
    score: str | Table = "probability",
    combiner: str | Table = "average",
    calibrator: Table = DRAWS,
    dtype: str = "float64",
) -> ConformalPredictor:
    """Return a predictor, with or without a guarantee."""
    return plausibly.calibrate(
        rows(N, dtype=dtype),
        plausibilities(N),
        score=score,
        combiner=combiner,
        calibrator=calibrator,
        allow_no_guarantee=True,
    )


DTYPES = ("float32", "float64")
pytestmark = pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")


@pytest.fixture(scope="module")
def new() -> xr.DataArray:
    return rows(12, prefix="new", seed=4)


def compare(predictor: ConformalPredictor, test: xr.DataArray, folder: Path) -> None:
    """Compare plain rows with labelled ones, asked of the predictor and of its file."""
    file = folder / "p.nc"
    predictor.save(file)
    values = test.values.astype(predictor.pools.dtype)
    before = values.copy()
    values.flags.writeable = False
    p = predictor.p_values(test).values if predictor.has_p_values else None
    every = predictor.predict(test, ALPHAS).transpose("alpha", ...).values
    for item in (predictor, plausibly.load_predictor(file, array_only=True)):
        if p is not None:
            result = item.p_values_array(values)
            assert result.dtype == np.float64
            np.testing.assert_array_equal(result, p)
            np.testing.assert_array_equal(np.stack([item.p_values_array(row) for row in values]), p)
        for alpha, sets in zip(ALPHAS, every, strict=True):
            kept = item.predict_array(values, alpha)
            assert kept.dtype == np.bool_
            np.testing.assert_array_equal(kept, sets)
            for row, expected in zip(values, sets, strict=True):
                np.testing.assert_array_equal(item.predict_array(row, alpha), expected)
    np.testing.assert_array_equal(values, before)


MADE: dict[str, dict[str, Any]] = {  # Any: names and tables of components
    **{f"score {name}": {"score": name} for name in SCORES},
    **{f"combiner {name}": {"combiner": name} for name in COMBINERS},
    **{f"calibrator {name}": {"calibrator": table} for name, table in ALL.items()},
}


@functools.cache
def made(name: str, dtype: str = "float64") -> ConformalPredictor:
    return calibrated(**MADE[name], dtype=dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", MADE)
def test_plain_rows_get_what_labelled_ones_get(
    name: str, dtype: str, new: xr.DataArray, tmp_path: Path
) -> None:
    predictor = made(name, dtype)
    assert predictor.pools.dtype == dtype
    if predictor.needs_only_scores:
        compare(predictor, new, tmp_path)
        return
    predictor.save(tmp_path / "p.nc")
    for item in (predictor, plausibly.load_predictor(tmp_path / "p.nc", array_only=True)):
        for ask in (
            item.p_values_array,
            lambda values, item=item: item.predict_array(values, "0.3"),
        ):
            with refused("array-not-enough", kind=IncompatibleComponents):
                ask(new.values)


@pytest.mark.parametrize("score", ["aps", "raps"])
def test_randomised_scores_take_their_uniforms(score: str, new: xr.DataArray) -> None:
    predictor = calibrated(score={"name": score, "randomised": True})
    uniform = np.full((len(new), 1), 0.25)
    p = predictor.p_values_array(new.values, uniform=uniform)
    sets = predictor.predict_array(new.values, "0.3", uniform=uniform)
    np.testing.assert_array_equal(sets, p > 0.3)
    for place, row in enumerate(new.values):
        np.testing.assert_array_equal(predictor.p_values_array(row, uniform=uniform[:1]), p[place])
    for ask in (predictor.p_values_array, lambda v: predictor.predict_array(v, "0.3")):
        with refused("uniform-missing"):
            ask(new.values)


@pytest.fixture
def switching() -> Iterator[None]:
    """Let threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_methods_that_need_labels_name_the_call_of_plain_rows(tmp_path: Path) -> None:
    calibrated().save(tmp_path / "p.nc")
    rows = plausibly.load_predictor(tmp_path / "p.nc", array_only=True)
    for name in ("predict", "p_values", "threshold"):
        with pytest.raises(AttributeError, match=rf"use {name}_array\(.* without array_only"):
            getattr(rows, name)
    assert not hasattr(rows, "predicted")


@pytest.mark.usefixtures("switching")
@pytest.mark.parametrize(
    "table", [DRAWS, {"name": "mondrian", "by": "label", "inner": "expected"}], ids=["plain", "by"]
)
def test_threads_that_ask_a_fresh_predictor_get_one_answer(
    table: dict[str, object], new: xr.DataArray, tmp_path: Path
) -> None:
    known = calibrated(calibrator=table, combiner="average")
    alphas = [f"0.{digits}" for digits in range(10, 40)]
    sets = {alpha: known.predict(new, alpha).values for alpha in alphas}
    p = known.p_values(new).values
    known.save(tmp_path / "p.nc")
    fresh = plausibly.load_predictor(tmp_path / "p.nc", array_only=True)

    def ask(turn: int) -> bool:
        alpha = alphas[turn % len(alphas)]
        row = turn % len(new)
        with warnings.catch_warnings():
            same = np.array_equal(fresh.predict_array(new.values[row], alpha), sets[alpha][row])
        return same and np.array_equal(fresh.p_values_array(new.values), p)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(ask, range(120)))


@pytest.mark.parametrize("score", ["probability", "margin"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_bad_rows_are_refused(score: str, dtype: str, new: xr.DataArray) -> None:
    predictor = calibrated(score=score, dtype=dtype)
    values = new.values.astype(dtype)
    holed = values.copy()
    holed[3, 1] = np.nan
    asks = (predictor.p_values_array, lambda v: predictor.predict_array(v, "0.3"))
    for ask in asks:
        for bad in (values[:, :2], values[None], values[0, 0]):
            with refused("array-shape"):
                ask(bad)
        for bad, among in ((holed, 12), (holed[3], 1), (holed[::-1, ::-1][:, ::-1], 12)):
            with refused("array-nan", f"found NaN in 1 of {among} rows"):
                ask(bad)
        ask(holed[:3])
        ask(values[:0])


@pytest.mark.parametrize("dtype", DTYPES)
def test_infinite_and_huge_scores_are_compared_as_they_are(dtype: str) -> None:
    predictor = calibrated(dtype=dtype)
    most = np.finfo(dtype).max
    for row in ([np.inf, -np.inf, 0.0], [most, -most, -most], [np.inf, -np.inf, np.inf]):
        kept = predictor.predict_array(np.array(row, dtype), "0.3")
        assert kept.tolist() == [number > 0 for number in row]


def test_a_fraction_that_equals_a_float_stands_for_itself() -> None:
    predictions = labelled(np.tile(np.arange(9.0)[:, None], 2), attrs={"scale": "any"})
    shares = predictions.copy(data=np.tile([0.0, 1.0], (9, 1))).drop_attrs()
    row = np.array([0.0, -1.0])
    new = predictions.isel(example=[0]).copy(data=row[None]).assign_coords(example=["new"])
    # The p-value of 0.0 is 2/10: not above two tenths, and not told from the double next to it.
    assert Fraction(0.2) == 0.2
    alphas: list[AlphaLike] = [0.2, Fraction(0.2), "0.2"]
    for order in (alphas, alphas[::-1]):
        fresh = plausibly.calibrate(predictions, shares, calibrator="majority-vote")
        for alpha in (*order, *order):
            kept = fresh.predict_array(row, alpha)
            assert kept.tolist() == [isinstance(alpha, Fraction), False]
            np.testing.assert_array_equal(kept, fresh.predict(new, alpha).values[0])


def test_warnings_are_said_once_an_alpha() -> None:
    predictor = calibrated(calibrator={"name": "majority-vote"})
    row = np.full(3, 0.3)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", PlausiblyWarning)
        for _ in range(3):
            assert predictor.predict_array(row, "0.001").all()
    texts = [str(item.message).splitlines()[0] for item in caught]
    assert texts == ["warning guarantee-vacuous: every set contains all labels at alpha 0.001"]


SCRIPT = """
import sys, warnings
from pathlib import Path

import numpy as np
import plausibly

warnings.simplefilter("ignore")
for path in sorted(Path().glob("*.nc")):
    predictor = plausibly.load_predictor(path, array_only=True)
    print(repr(predictor), predictor.guarantee("0.3"))
    if predictor.needs_only_scores:
        predictor.predict_array(np.full((2, 3), 1 / 3), "0.3")
print({name.partition(".")[0] for name in sys.modules} & {"xarray", "pandas", "dask", "zarr"})
"""


def test_neither_xarray_nor_pandas_is_imported(tmp_path: Path) -> None:
    for name in MADE:
        made(name).save(tmp_path / f"{name}.nc")
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert ran.stdout.splitlines()[-1] == "set()"


def test_thresholds_are_not_shared_with_the_caller() -> None:
    predictor = calibrated(calibrator=DRAWS)
    row = np.array([0.2, 0.3, 0.5])
    before = predictor.predict_array(row, "0.3").tolist()
    predictor.threshold_array("0.3")[...] = np.inf
    assert predictor.predict_array(row, "0.3").tolist() == before
