"""Predictions from every format, and the policies."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings, strategies as st

import plausibly
from io_files import csv_text, damaged, refusal, result_or_refusal, said, written
from plausibly.io.datasets import write_rows

LABELS = ["melanoma", "naevus, other", 'say "x"']
VALUES = np.array([[0.5, 0.25, 0.25], [0.0, 0.125, 0.875]])
EXAMPLES = ["007", "é"]


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


def test_netcdf_with_64_bit_data_needs_netcdf4(tmp_path: Path) -> None:
    array = expected().drop_attrs()
    array.to_netcdf(tmp_path / "p.nc", "w", "NETCDF3_64BIT_DATA", engine="netcdf4")  # type: ignore[call-overload]  # xarray's hints lack it
    assert (tmp_path / "p.nc").read_bytes()[:4] == b"CDF\x05"
    xr.testing.assert_identical(plausibly.read_predictions(tmp_path / "p.nc"), expected())


def test_big_endian_numbers_are_turned(tmp_path: Path) -> None:
    np.save(tmp_path / "p.npy", VALUES.astype(">f4"))
    read = plausibly.read_predictions(tmp_path / "p.npy", labels=LABELS, examples=EXAMPLES)
    xr.testing.assert_identical(read, expected(np.float32))
    assert read.dtype.isnative


def test_examples_without_names_are_counted_from_zero(tmp_path: Path) -> None:
    np.savez(tmp_path / "p.npz", predictions=VALUES, labels=LABELS)
    read = plausibly.read_predictions(tmp_path / "p.npz")
    xr.testing.assert_identical(read, expected(examples=["0", "1"]).assign_attrs(numbered=1))


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


def test_declared_labels_give_the_order(tmp_path: Path) -> None:
    path = in_format(tmp_path, "csv", np.float64)
    turned = LABELS[::-1]
    read = plausibly.read_predictions(path, labels=turned)
    xr.testing.assert_identical(read, expected().sel(label=turned))
    lines = written(tmp_path, "l.txt", "\n".join(turned))
    xr.testing.assert_identical(plausibly.read_predictions(path, labels=lines), read)


def test_the_column_of_names_may_be_called_otherwise(tmp_path: Path) -> None:
    rows = table()
    rows[0][0] = "case_id"
    path = written(tmp_path, "p.csv", csv_text(rows))
    xr.testing.assert_identical(plausibly.read_predictions(path, example="case_id"), expected())


def test_a_label_may_be_called_example(tmp_path: Path) -> None:
    path = written(tmp_path, "p.csv", "example,example,b\nx,0.5,0.5\n")
    assert plausibly.read_predictions(path)["label"].values.tolist() == ["example", "b"]


def test_one_of_several_netcdf_variables(tmp_path: Path) -> None:
    array = expected().drop_attrs()
    xr.Dataset({"a": array, "b": array * 0 + 1 / 3, "c": ("example", [1.0, 2.0])}).to_netcdf(
        tmp_path / "p.nc", engine="scipy"
    )
    read = plausibly.read_predictions(tmp_path / "p.nc", variable="a")
    np.testing.assert_array_equal(read.values, VALUES)
    error = refusal(lambda: plausibly.read_predictions(tmp_path / "p.nc"))
    assert (error.name, error.hint) == ("variable-missing", 'variable="a"')
    error = refusal(lambda: plausibly.read_predictions(tmp_path / "p.nc", variable="c"))
    assert error.what == "p.nc has no c"


def test_coordinates_of_netcdf_files_stay(tmp_path: Path) -> None:
    array = expected().assign_coords(site=("example", ["n", "s"]), risk=("label", [1, 2, 3]))
    array.to_netcdf(tmp_path / "p.nc", engine="scipy")
    read = plausibly.read_predictions(tmp_path / "p.nc")
    assert read["site"].values.tolist() == ["n", "s"]
    assert read["risk"].values.tolist() == [1, 2, 3]


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


# ---- names and zeros that a file holds are never lost


def test_npz_words_are_read_in_the_singular(tmp_path: Path) -> None:
    path = tmp_path / "p.npz"
    np.savez(path, prediction=VALUES, label=LABELS, example=EXAMPLES)
    xr.testing.assert_identical(plausibly.read_predictions(path), expected())
    turned = plausibly.read_predictions(path, labels=LABELS[::-1])
    xr.testing.assert_identical(turned, expected().isel(label=[2, 1, 0]))


def test_npz_truths_under_the_word_label_are_no_names(tmp_path: Path) -> None:
    np.savez(tmp_path / "p.npz", probs=VALUES, names=EXAMPLES, label=[2, 2])
    read = plausibly.read_predictions(tmp_path / "p.npz", labels=LABELS)
    xr.testing.assert_identical(read, expected())


def test_names_under_other_words_are_never_overridden_by_position(tmp_path: Path) -> None:
    path = tmp_path / "p.npz"
    np.savez(path, probs=VALUES, classes=LABELS[::-1])
    xr.Dataset({"p": (("example", "label"), VALUES), "classes": ("label", LABELS)}).to_netcdf(
        tmp_path / "p.nc", engine="scipy"
    )
    for file in (path, tmp_path / "p.nc"):
        error = refusal(lambda file=file: plausibly.read_predictions(file, labels=LABELS))  # type: ignore[misc]  # bound now
        assert error.name == "array-missing"
        assert LABELS[0] in error.found
        assert 'labels=data["classes"]' in error.hint
    for ids in (["e", "f"], [17, 4]):
        np.savez(path, probs=VALUES, labels=LABELS, ids=ids)
        error = refusal(lambda: plausibly.read_predictions(path, examples=EXAMPLES))
        assert (error.name, str(ids[0]) in error.found) == ("array-missing", True)
    assert plausibly.read_predictions(path)["example"].values.tolist() == ["0", "1"]


def test_arrays_that_are_not_read_are_listed(tmp_path: Path) -> None:
    np.savez(tmp_path / "p.npz", probs=VALUES, truth=[2, 2])
    error = refusal(lambda: plausibly.read_predictions(tmp_path / "p.npz"))
    assert error.name == "labels-unnamed"
    assert error.found == "beside them truth (2,)"


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


def test_sparse_numbers_are_unpacked(tmp_path: Path) -> None:
    array = expected().drop_attrs()
    array.encoding = {"dtype": "u1", "scale_factor": 1 / 8, "_FillValue": 0}
    array.to_netcdf(tmp_path / "p.nc", engine="netcdf4")
    np.testing.assert_array_equal(plausibly.read_predictions(tmp_path / "p.nc").values, VALUES)


def test_half_precision_is_divided_in_double(tmp_path: Path) -> None:
    values = np.random.default_rng(0).dirichlet(np.ones(10), 50).astype(np.float16)
    np.save(tmp_path / "p.npy", values)
    labels = [f"l{number}" for number in range(10)]
    read = plausibly.read_predictions(tmp_path / "p.npy", labels=labels, normalise=True)
    assert read.dtype == np.float64
    assert float(abs(read.sum("label") - 1).max()) < 1e-15
    assert read.attrs["normalised"] == 1


# ---- policies


def test_rows_are_divided_by_their_sum(tmp_path: Path) -> None:
    path = tmp_path / "p.npz"
    values = (VALUES * 4).astype(np.float32)
    np.savez(path, probs=values, labels=LABELS, examples=EXAMPLES)
    assert refusal(lambda: plausibly.read_predictions(path)).name == "rows-do-not-sum"
    xr.testing.assert_identical(
        plausibly.read_predictions(path, normalise=True),
        expected(np.float32).assign_attrs(normalised=1),
    )


def test_integers_are_divided_as_floats(tmp_path: Path) -> None:
    path = written(tmp_path, "p.csv", "example,a,b\nx,1,3\n")
    assert plausibly.read_predictions(path, normalise=True).values.tolist() == [[0.25, 0.75]]
    np.save(tmp_path / "p.npy", np.array([[1, 3]]))
    read = plausibly.read_predictions(tmp_path / "p.npy", labels=["a", "b"], normalise=True)
    assert read.values.tolist() == [[0.25, 0.75]]


def test_bad_rows_can_be_dropped_and_are_counted(tmp_path: Path) -> None:
    path = written(tmp_path, "p.csv", "example,a,b\nx,.5,.5\ny,,1\nz,inf,0\nw,NA,NaN\nv,1,0\n")
    read = plausibly.read_predictions(path, bad_rows="drop")
    assert read["example"].values.tolist() == ["x", "v"]
    assert json.loads(read.attrs["left_out"]) == {"bad rows": 3}
    good = written(tmp_path, "g.csv", "example,a,b\nx,.5,.5\n")
    assert "left_out" not in plausibly.read_predictions(good, bad_rows="drop").attrs


def test_labels_are_stripped_and_renamed(tmp_path: Path) -> None:
    path = written(tmp_path, "p.csv", 'example,"melanoma "," b"\nx,0.5,0.5\n')
    assert plausibly.read_predictions(path)["label"].values.tolist() == ["melanoma ", " b"]
    stripped = plausibly.read_predictions(path, strip=True)
    assert stripped["label"].values.tolist() == ["melanoma", "b"]
    renamed = plausibly.read_predictions(path, rename={"melanoma ": "m"}, labels=[" b", "m"])
    assert renamed["label"].values.tolist() == [" b", "m"]
    both = plausibly.read_predictions(path, strip=True, rename={"melanoma": "m"})
    assert both["label"].values.tolist() == ["m", "b"]


# ---- what is said


def test_labels_of_an_npy_file_must_be_named(tmp_path: Path) -> None:
    np.save(tmp_path / "probs.npy", VALUES)
    error = refusal(lambda: plausibly.read_predictions(tmp_path / "probs.npy"))
    assert (error.name, error.hint) == (
        "labels-unnamed",
        'labels="labels.txt" (one name per line)',
    )
    error = refusal(lambda: plausibly.read_predictions(tmp_path / "probs.npy", labels=["a", "b"]))
    assert (error.name, error.found) == ("names-count", "a, b")
    call = plausibly.read_predictions
    error = refusal(lambda: call(tmp_path / "probs.npy", labels=LABELS, examples=["a"]))
    assert error.what == "probs.npy has 2 rows and 1 examples"


def test_columns_that_hold_no_numbers(tmp_path: Path) -> None:
    write_rows(
        tmp_path / "p.parquet",
        ["example", "split", "a"],
        [["x", "y"], ["train", "test"], np.array([1.0, 1.0])],
    )
    error = refusal(lambda: plausibly.read_predictions(tmp_path / "p.parquet"))
    assert (error.name, error.found) == ("columns-not-numeric", "string")


@pytest.mark.parametrize(
    ("array", "found"),
    [
        (np.zeros(3), "shape (3,), type float64"),
        (np.zeros((2, 3, 4)), "shape (2, 3, 4), type float64"),
        (np.array([["a"]]), "shape (1, 1), type <U1"),
        (np.zeros((0, 3)), "shape (0, 3), type float64"),
    ],
)
def test_arrays_of_another_shape(tmp_path: Path, array: np.ndarray, found: str) -> None:
    np.save(tmp_path / "p.npy", array)
    assert said(lambda: plausibly.read_predictions(tmp_path / "p.npy", labels=["a"])) == (
        "error array-shape: p.npy holds no table of numbers "
        f"expected two dimensions, example and label, both with entries found {found} "
        "hint save an array with one row per example and one column per label"
    )


def test_names_of_blanks_are_no_names(tmp_path: Path) -> None:
    write_rows(tmp_path / "p.parquet", ["example", "a"], [["x", "\xa0"], np.ones(2)])
    error = refusal(lambda: plausibly.read_predictions(tmp_path / "p.parquet"))
    assert (error.name, error.details["lines"]) == ("example-unnamed", [2])


@pytest.mark.parametrize("scale", ["probability", "logit"])
def test_the_index_of_a_data_frame_is_no_label(tmp_path: Path, scale: str) -> None:
    frame = pd.DataFrame({"example": ["x", "y"], "a": [0.5, 1], "b": [0.5, 0]})
    frame.to_csv(tmp_path / "p.csv")
    pd.read_csv(tmp_path / "p.csv").to_csv(tmp_path / "again.csv", index=False)
    path = tmp_path / "p.parquet"
    write_rows(path, ["example", "a", "__index_level_0__"], [["x", "y"], np.ones(2), np.arange(2)])
    for name in ("p.csv", "again.csv", "p.parquet"):
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


def test_options_that_would_do_nothing(tmp_path: Path) -> None:
    npz = in_format(tmp_path, "npz", np.float64)
    assert refusal(lambda: plausibly.read_predictions(npz, example="p")).what == (
        "p.npz: example has no meaning here"
    )


@pytest.mark.parametrize("kind", ["npy", "npz", "csv", "parquet", "nc"])
@given(data=st.data())
@settings(max_examples=30)
def test_damaged_files_are_refused_by_name(folder: Path, kind: str, data: st.DataObject) -> None:
    path = damaged(data, in_format(folder, kind, np.float64))
    result_or_refusal(lambda: plausibly.read_predictions(path, labels=LABELS), path.name)


@pytest.mark.parametrize("kept", [8, 100, 0.5, 0.99])
def test_truncated_netcdf4_files_are_refused_by_name(tmp_path: Path, kept: float) -> None:
    content = in_format(tmp_path, "nc4", np.float64).read_bytes()
    size = int(kept) if kept >= 1 else int(kept * len(content))
    path = written(tmp_path, "cut.nc", content[:size])
    error = refusal(lambda: plausibly.read_predictions(path))
    assert error.what == "cut.nc is not a whole netCDF file"


def test_netcdf4_needs_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = in_format(tmp_path, "nc4", np.float64)
    monkeypatch.setitem(sys.modules, "netCDF4", None)
    assert refusal(lambda: plausibly.read_predictions(path)).name == "extra-missing"


def test_parquet_without_rows(tmp_path: Path) -> None:
    write_rows(tmp_path / "p.parquet", ["example", "a"], [[], np.zeros(0)])
    error = refusal(lambda: plausibly.read_predictions(tmp_path / "p.parquet"))
    assert (error.what, error.found) == ("p.parquet is empty", "columns without rows")
