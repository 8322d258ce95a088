"""Every format of plausibilities and draws keeps what the page says that it keeps."""

from __future__ import annotations

import pytest
import xarray as xr
from hypothesis import given, settings

from io_plausibilities import EXACT, plausibilities, same
from plausibly.data.plausibilities import pack
from plausibly.io.plausibilities import Form, read_plausibilities, write_plausibilities

LAM = xr.DataArray(
    [[0.5, 0.0, 0.5], [0.0, 1.0, 0.0]],
    dims=("example", "label"),
    coords={"example": ["007", "a b"], "label": ["x", "y", "z"]},
    name="plausibilities",
)


@pytest.mark.parametrize(("ending", "form"), EXACT)
@given(lam=plausibilities())
@settings(max_examples=25)
def test_everything_comes_back(
    tmp_path_factory: pytest.TempPathFactory, ending: str, form: Form, lam: xr.DataArray
) -> None:
    path = tmp_path_factory.mktemp("lam") / f"lam{ending}"
    before = lam.copy(deep=True)
    write_plausibilities(lam, path, form=form)
    xr.testing.assert_identical(lam, before)
    same(read_plausibilities(path), lam)


@given(lam=plausibilities(draws=True, plain=True))
@settings(max_examples=25)
def test_draws_come_back_from_a_wide_csv(
    tmp_path_factory: pytest.TempPathFactory, lam: xr.DataArray
) -> None:
    path = tmp_path_factory.mktemp("lam") / "lam.csv"
    write_plausibilities(lam, path)
    same(read_plausibilities(path), lam)


@pytest.mark.parametrize(("ending", "form"), EXACT)
@given(lam=plausibilities(draws=False))
@settings(max_examples=15)
def test_packed_ones_come_back(
    tmp_path_factory: pytest.TempPathFactory, ending: str, form: Form, lam: xr.DataArray
) -> None:
    path = tmp_path_factory.mktemp("lam") / f"lam{ending}"
    packed = pack(lam)
    write_plausibilities(packed, path, form=form)
    found = read_plausibilities(path, packed=True)
    xr.testing.assert_identical(found, packed)
    for name, item in packed.variables.items():
        assert found[name].dtype == item.dtype, name
        assert found[name].values.tobytes() == item.values.tobytes(), name
    same(read_plausibilities(path), lam)
