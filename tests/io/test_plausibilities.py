"""Plausibilities to a file and back, to the last bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings, strategies as st

from io_files import refusal, result_or_refusal, said, written
from plausibly.data.names import is_blank
from plausibly.io.plausibilities import read_plausibilities, write_plausibilities

ENDINGS = (".csv", ".npz", ".nc")

# Names as people write them, and worse: quotes, line ends, our own column names.
names = st.one_of(
    st.text(
        st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=6
    ),
    st.sampled_from(
        ["example", "denominator", "label", "None", "007", "a,b", 'say "x"', "a\r", "\n"]
    ),
)


@st.composite
def plausibilities(draw: st.DrawFn) -> xr.DataArray:
    labels = draw(st.lists(names, min_size=1, max_size=4, unique=True))
    # An example whose name nobody can see has none, and its row is refused.
    seen = names.filter(lambda name: not is_blank(name))
    examples = draw(st.lists(seen, min_size=1, max_size=4, unique=True))
    size = (len(examples), len(labels))
    counts = np.array(
        draw(
            st.lists(st.integers(0, 10**6), min_size=size[0] * size[1], max_size=size[0] * size[1])
        )
    ).reshape(size)
    counts[:, 0] += 1
    totals = counts.sum(axis=1)
    dtype = draw(st.sampled_from([np.float64, np.float32]))
    array = xr.DataArray(
        (counts / totals[:, None]).astype(dtype),
        dims=("example", "label"),
        coords={"example": examples, "label": labels},
        name="plausibilities",
        attrs=draw(st.sampled_from([{}, {"left_out": '{"bad rows": 2}'}])),
    )
    if draw(st.booleans()):
        array = array.assign_coords(denominator=("example", totals))
    return array


@pytest.mark.parametrize("ending", ENDINGS)
@given(lam=plausibilities())
@settings(max_examples=40)
def test_everything_comes_back(
    tmp_path_factory: pytest.TempPathFactory, ending: str, lam: xr.DataArray
) -> None:
    path = tmp_path_factory.mktemp("lam") / f"lam{ending}"
    before = lam.copy(deep=True)
    write_plausibilities(lam, path)
    xr.testing.assert_identical(lam, before)
    read = read_plausibilities(path)
    xr.testing.assert_identical(read, lam.drop_attrs() if ending == ".csv" else lam)
    assert np.array_equal(read.values, lam.values)
    if ending != ".csv":  # a text file has no types
        assert read.dtype == lam.dtype


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("total", [2**31 - 1, 2**31, 2**53 + 1, 2**63 - 1])
def test_large_totals_are_exact(tmp_path: Path, ending: str, total: int) -> None:
    lam = xr.DataArray(
        [[1.0, 0.0], [0.0, 1.0]],
        dims=("example", "label"),
        coords={"example": ["a", "b"], "label": ["x", "y"], "denominator": ("example", [total, 1])},
    )
    path = tmp_path / f"lam{ending}"
    write_plausibilities(lam, path)
    assert read_plausibilities(path)["denominator"].values.tolist() == [total, 1]


def test_other_coordinates_stay_in_netcdf(tmp_path: Path) -> None:
    lam = xr.DataArray(
        [[1.0, 0.0]],
        dims=("example", "label"),
        coords={"example": ["a"], "label": ["x", "y"], "site": ("example", ["n"])},
    )
    write_plausibilities(lam.transpose("label", "example"), tmp_path / "lam.nc")
    assert read_plausibilities(tmp_path / "lam.nc")["site"].values.tolist() == ["n"]


def test_a_file_of_somebody_else(tmp_path: Path) -> None:
    path = written(tmp_path, "lam.csv", "example,denominator,x,y\na,2,0.5,0.5\nb,,1,0\n")
    assert said(lambda: read_plausibilities(path)) == (
        "error denominator-unfit: lam.csv: denominator is not one total an example "
        'expected whole numbers, one a row; got "" do mend denominator, or leave it out'
    )
    path = written(tmp_path, "lam.csv", "example,x,y\na,0.5,0.6\n")
    assert refusal(lambda: read_plausibilities(path)).name == "plausibilities-do-not-sum"
    path = written(tmp_path, "lam.csv", "example,x,x\na,0.5,0.5\n")
    assert refusal(lambda: read_plausibilities(path)).name == "columns-repeat"
    path = written(tmp_path, "lam.csv", "example,denominator,x,x\na,2,0.5,0.5\n")
    assert refusal(lambda: read_plausibilities(path)).name == "columns-repeat"
    path = written(tmp_path, "lam.csv", "example,denominator\na,2\n")
    assert refusal(lambda: read_plausibilities(path)).name == "plausibilities-empty"


@pytest.mark.parametrize("total", ["-2", "2.0", str(2**63), "2" * 5_000])
def test_totals_that_are_none(tmp_path: Path, total: str) -> None:
    path = written(tmp_path, "lam.csv", f"example,denominator,x,y\na,{total},0.5,0.5\n")
    assert refusal(lambda: read_plausibilities(path)).name == "denominator-unfit"


def test_npz_files_of_somebody_else(tmp_path: Path) -> None:
    np.savez(
        tmp_path / "lam.npz", plausibilities=np.eye(2), labels=["x", "y"], attributes="no JSON"
    )
    assert read_plausibilities(tmp_path / "lam.npz")["example"].values.tolist() == ["0", "1"]
    np.savez(
        tmp_path / "lam.npz", plausibilities=np.eye(2), labels=["x", "y"], denominator=[0.5, 1]
    )
    assert (
        refusal(lambda: read_plausibilities(tmp_path / "lam.npz")).got == "shape (2,), type float64"
    )


def test_endings_that_say_no_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lam = xr.DataArray(
        [[1.0]], dims=("example", "label"), coords={"example": ["a"], "label": ["x"]}
    )
    assert said(lambda: write_plausibilities(lam, "lam.txt")) == (
        "error ending-unknown: cannot tell the format of lam.txt "
        "expected .csv or .parquet or .npz or .nc; got .txt do -o lam.csv"
    )
    assert refusal(lambda: write_plausibilities(lam, "lam")).got == "no ending"


@pytest.mark.parametrize("ending", ENDINGS)
@given(data=st.data())
@settings(max_examples=30)
def test_damaged_files_are_refused_by_name(
    tmp_path_factory: pytest.TempPathFactory, ending: str, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    lam = data.draw(plausibilities())
    write_plausibilities(lam, folder / f"lam{ending}")
    content = bytearray((folder / f"lam{ending}").read_bytes())
    for _ in range(data.draw(st.integers(0, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = written(
        folder, f"cut{ending}", bytes(content[: data.draw(st.integers(0, len(content)))])
    )
    result_or_refusal(lambda: read_plausibilities(path), path.name)
