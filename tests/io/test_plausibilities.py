"""Plausibilities to a file and back, to the last bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings, strategies as st

from io_plausibilities import EXACT, plausibilities, same
from plausibly.data.plausibilities import to_sparse
from plausibly.io.plausibilities import Form, read_plausibilities, write_plausibilities

ENDINGS = (".csv", ".npz", ".nc")


@pytest.mark.parametrize(("ending", "form"), EXACT)
@given(lam=plausibilities())
@settings(max_examples=25)
def test_everything_comes_back(folder: Path, ending: str, form: Form, lam: xr.DataArray) -> None:
    path = folder / f"lam{ending}"
    before = lam.copy(deep=True)
    write_plausibilities(lam, path, form=form)
    xr.testing.assert_identical(lam, before)
    same(read_plausibilities(path), lam)


@given(lam=plausibilities(plain=True), dtype=st.sampled_from([np.float64, np.float32]))
@settings(max_examples=50)
def test_values_and_names_come_back_from_a_wide_csv(
    folder: Path, lam: xr.DataArray, dtype: type[np.floating]
) -> None:
    path = folder / "lam.csv"
    write_plausibilities(lam.astype(dtype), path)
    found = read_plausibilities(path)
    # A text file has no types.
    same(found.astype(dtype) if dtype == np.float32 else found, lam.astype(dtype))
    assert np.array_equal(found.values, lam.values.astype(dtype))


@pytest.mark.parametrize(("ending", "form"), EXACT)
@given(lam=plausibilities(draws=False))
@settings(max_examples=15)
def test_sparse_ones_come_back(folder: Path, ending: str, form: Form, lam: xr.DataArray) -> None:
    path = folder / f"lam{ending}"
    sparse = to_sparse(lam)
    write_plausibilities(sparse, path, form=form)
    found = read_plausibilities(path, sparse=True)
    xr.testing.assert_identical(found, sparse)
    for name, item in sparse.variables.items():
        assert found[name].dtype == item.dtype, name
        assert found[name].values.tobytes() == item.values.tobytes(), name
    same(read_plausibilities(path), lam)


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("total", [2**31 - 1, 2**31, 2**53 + 1, 2**63 - 1])
def test_large_totals_are_exact(tmp_path: Path, ending: str, total: int) -> None:
    lam = xr.DataArray(
        [[1.0, 0.0], [0.0, 1.0]],
        dims=("example", "label"),
        coords={"example": ["a", "b"], "label": ["x", "y"], "denominator": ("example", [total, 1])},
    )
    path = tmp_path / f"lam{ending}"
    write_plausibilities(lam.transpose("label", "example"), path)
    assert read_plausibilities(path)["denominator"].values.tolist() == [total, 1]


def test_a_long_table_of_version_1() -> None:
    path = Path(__file__).parent / "files" / "plausibilities_1.csv"
    wanted = xr.DataArray(
        np.array([[0.5, 0, 0.5], [0, 1, 0]], np.float32),
        dims=("example", "label"),
        coords={"example": ["007", "b"], "label": ["x", "y", "z"]},
        name="plausibilities",
        attrs={"left_out": "{}"},
    )
    same(read_plausibilities(path), wanted)


def test_arrays_that_numpy_and_xarray_write(tmp_path: Path) -> None:
    lam = xr.DataArray(
        [[0.5, 0.5]],
        dims=("example", "label"),
        coords={"example": ["a"], "label": ["x", "y"], "denominator": ("example", [2])},
        name="plausibilities",
        attrs={"joint": "dawid-skene"},
    )
    values, labels, path = lam.values, ["x", "y"], tmp_path / "lam.npz"
    np.savez(path, plausibilities=values, labels=labels, denominator=[2], examples=["a"])
    same(read_plausibilities(tmp_path / "lam.npz"), lam.drop_attrs())
    np.savez(path, plausibilities=values, labels=labels, denominator=[2], attributes="no JSON")
    assert read_plausibilities(tmp_path / "lam.npz")["example"].values.tolist() == ["0"]
    lam.to_dataset().to_netcdf(tmp_path / "lam.nc", engine="scipy", format="NETCDF3_64BIT")
    same(read_plausibilities(tmp_path / "lam.nc"), lam)
