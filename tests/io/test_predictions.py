"""Predictions from every format, and the options of reading them."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, strategies as st

import cases_net
import plausibly
from io_files import csv_text, refusal, written
from plausibly.io.datasets import write_rows

LABELS = ["melanoma", "naevus, other", 'say "x"']
VALUES = np.array([[0.5, 0.25, 0.25], [0.0, 0.125, 0.875]])
EXAMPLES = ["007", "é"]
CASES: dict[str, cases_net.Spec] = tomllib.loads(
    Path(__file__).with_name("predictions.toml").read_text("utf-8")
)


def expected(dtype: type[np.floating] = np.float64, examples: list[str] = EXAMPLES) -> xr.DataArray:
    return xr.DataArray(
        VALUES.astype(dtype),
        dims=("example", "label"),
        coords={"example": examples, "label": LABELS},
        name="predictions",
        attrs={"scale": "probability"},
    )


def table(values: np.ndarray = VALUES) -> list[list[object]]:
    pairs = zip(EXAMPLES, values.tolist(), strict=True)
    return [["example", *LABELS], *([name, *row] for name, row in pairs)]


def in_format(folder: Path, kind: str, dtype: type[np.floating]) -> Path:
    values = VALUES.astype(dtype)
    path = folder / f"p.{kind}"
    if kind == "npy":
        np.save(path, values)
    elif kind == "npz":
        np.savez(path, probs=values, class_names=LABELS, names=EXAMPLES)
    elif kind in {"csv", "tsv"}:
        written(folder, path.name, csv_text(table(values), "," if kind == "csv" else "\t"))
    elif kind == "parquet":
        write_rows(path, ["example", *LABELS], [EXAMPLES, *np.ascontiguousarray(values.T)])
    else:
        engine = "scipy" if kind == "nc" else "netcdf4"
        array = expected(dtype).transpose("label", "example").drop_attrs()
        array.to_netcdf(path, engine=engine)  # type: ignore[call-overload]  # chosen above
    return path


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["npy", "npz", "csv", "tsv", "parquet", "nc", "nc4"])
def test_every_format_gives_the_same(tmp_path: Path, kind: str, dtype: type[np.floating]) -> None:
    path = in_format(tmp_path, kind, dtype)
    if kind == "npy":
        read = plausibly.read_predictions(path, labels=LABELS, examples=EXAMPLES)
    else:
        read = plausibly.read_predictions(path)
    text = kind in {"csv", "tsv"}
    xr.testing.assert_identical(read, expected(np.float64 if text else dtype))
    assert read.dtype == (np.float64 if text else dtype)


def test_numbers_of_other_layouts(tmp_path: Path) -> None:
    """Big-endian, netCDF with 64-bit offsets, and scaled integers give the same numbers."""
    path = tmp_path / "p.npy"
    np.save(path, VALUES.astype(">f4"))
    read = plausibly.read_predictions(path, labels=LABELS, examples=EXAMPLES)
    xr.testing.assert_identical(read, expected(np.float32))
    assert read.dtype.isnative
    array = expected().drop_attrs()
    path = tmp_path / "p.nc"
    array.to_netcdf(path, "w", "NETCDF3_64BIT_DATA", engine="netcdf4")  # type: ignore[call-overload]  # xarray's hints lack it
    assert path.read_bytes()[:4] == b"CDF\x05"
    xr.testing.assert_identical(plausibly.read_predictions(path), expected())
    array.encoding = {"dtype": "u1", "scale_factor": 1 / 8, "_FillValue": 0}
    array.to_netcdf(path, engine="netcdf4")
    np.testing.assert_array_equal(plausibly.read_predictions(path).values, VALUES)


def test_names_may_come_from_files_with_coordinates(tmp_path: Path) -> None:
    np.save(tmp_path / "p.npy", VALUES)
    labels = written(
        tmp_path, "l.csv", csv_text([["label", "risk"], *zip(LABELS, "201", strict=True)])
    )
    examples = written(
        tmp_path, "e.csv", csv_text([["example", "site"], *zip(EXAMPLES, "ns", strict=True)])
    )
    read = plausibly.read_predictions(tmp_path / "p.npy", labels=labels, examples=examples)
    assert read["risk"].values.tolist() == [2, 0, 1]
    assert read["site"].values.tolist() == ["n", "s"]
    xr.testing.assert_identical(read.drop_vars(["risk", "site"]), expected())


def test_one_of_several_netcdf_variables(tmp_path: Path) -> None:
    array = expected().assign_coords(site=("example", ["n", "s"]), risk=("label", [1, 2, 3]))
    xr.Dataset({"a": array, "b": array * 0 + 1 / 3, "c": ("example", [1.0, 2.0])}).to_netcdf(
        tmp_path / "p.nc", engine="scipy"
    )
    read = plausibly.read_predictions(tmp_path / "p.nc", variable="a")
    xr.testing.assert_identical(read, array)
    error = refusal(lambda: plausibly.read_predictions(tmp_path / "p.nc"))
    assert (error.name, error.hint) == ("variable-missing", 'variable="a"')
    error = refusal(lambda: plausibly.read_predictions(tmp_path / "p.nc", variable="c"))
    assert error.what == "p.nc has no c"


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_a_small_file_is_read(tmp_path: Path, case: cases_net.Spec) -> None:
    path = cases_net.write(tmp_path, case)
    found = plausibly.read_predictions(path, **case.get("options", {}))
    wanted = xr.DataArray(
        case["values"],
        dims=("example", "label"),
        coords={"example": case["examples"], "label": case["labels"]},
        name="predictions",
        attrs={"scale": "probability", **case.get("attributes", {})},
    )
    xr.testing.assert_identical(found, wanted)


@given(
    values=st.lists(
        st.lists(st.floats(-1e300, 1e300), min_size=2, max_size=2), min_size=1, max_size=5
    )
)
def test_csv_numbers_are_read_to_the_last_bit(folder: Path, values: list[list[float]]) -> None:
    rows: list[list[object]] = [["example", "a", "b"]]
    rows += [[f"x{i}", *row] for i, row in enumerate(values)]
    path = written(folder, "p.csv", csv_text(rows))
    assert plausibly.read_predictions(path, scale="any").values.tolist() == values


@pytest.mark.parametrize("kind", ["nc", "nc4", "zarr"])
@pytest.mark.parametrize("chunks", [None, 1])
def test_a_stored_zero_is_zero_whatever_the_fill_value(
    tmp_path: Path, kind: str, chunks: int | None, recwarn: pytest.WarningsRecorder
) -> None:
    array = expected().drop_attrs()
    array.encoding = {"_FillValue": 0.0} | ({} if kind == "zarr" else {"missing_value": 0.0})
    path = tmp_path / f"p.{kind}"
    if kind == "zarr":
        array.to_dataset().to_zarr(path, zarr_format=2, consolidated=False)
    else:
        engine = "scipy" if kind == "nc" else "netcdf4"
        array.to_netcdf(path, engine=engine)  # type: ignore[call-overload]  # chosen above
    recwarn.clear()
    read = plausibly.read_predictions(path, chunks=chunks)
    np.testing.assert_array_equal(read.values, VALUES)
    assert not recwarn.list


def test_rows_are_divided_by_their_sum(tmp_path: Path) -> None:
    """In double precision for whole and half-precision numbers."""
    path = tmp_path / "p.npz"
    np.savez(path, probs=(VALUES * 4).astype(np.float32), labels=LABELS, examples=EXAMPLES)
    assert refusal(lambda: plausibly.read_predictions(path)).name == "rows-do-not-sum"
    xr.testing.assert_identical(
        plausibly.read_predictions(path, normalise=True),
        expected(np.float32).assign_attrs(normalised=1),
    )
    shares = np.random.default_rng(0).dirichlet(np.ones(10), 50).astype(np.float16)
    for values in (np.array([[1, 3]]), shares):
        np.savez(path, probs=values, labels=[f"l{column}" for column in range(values.shape[1])])
        read = plausibly.read_predictions(path, normalise=True)
        exact = values.astype(np.float64)
        np.testing.assert_allclose(read, exact / exact.sum(1, keepdims=True), rtol=1e-15)
        assert read.dtype == np.float64


@pytest.mark.parametrize("scale", ["probability", "logit"])
def test_the_index_of_a_data_frame_is_no_label(tmp_path: Path, scale: str) -> None:
    frame = pd.DataFrame({"example": ["x", "y"], "a": [0.5, 1], "b": [0.5, 0]})
    frame.to_csv(tmp_path / "p.csv")
    pd.read_csv(tmp_path / "p.csv").to_csv(tmp_path / "again.csv", index=False)
    for name in ("p.csv", "again.csv"):
        error = refusal(
            lambda name=name: plausibly.read_predictions(tmp_path / name, scale=scale)  # type: ignore[misc]  # bound now
        )
        assert error.name == "index-column"
        assert "index=False" in error.hint
    frame.set_index("example").rename_axis(None).to_csv(tmp_path / "names.csv")
    error = refusal(lambda: plausibly.read_predictions(tmp_path / "names.csv", scale=scale))
    assert (error.name, error.hint[:10]) == ("index-column", 'example=""')
    read = plausibly.read_predictions(tmp_path / "names.csv", example="", scale=scale)
    assert read.values.tolist() == [[0.5, 0.5], [1, 0]]


def test_labels_of_netcdf_under_another_word_are_not_overridden(tmp_path: Path) -> None:
    data = {"p": (("example", "label"), VALUES), "classes": ("label", LABELS)}
    xr.Dataset(data).to_netcdf(tmp_path / "p.nc", engine="scipy")
    error = refusal(lambda: plausibly.read_predictions(tmp_path / "p.nc", labels=LABELS))
    assert (error.name, LABELS[0] in error.found) == ("array-missing", True)
    assert 'labels=data["classes"]' in error.hint


def test_netcdf4_needs_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = in_format(tmp_path, "nc4", np.float64)
    monkeypatch.setitem(sys.modules, "netCDF4", None)
    assert refusal(lambda: plausibly.read_predictions(path)).name == "extra-missing"
