"""Plausibilities to a file and back, in words, of other programs, and broken ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings, strategies as st

import plausibly
from io_files import EXACT, plausibilities, refusal, same, written
from plausibly.data.plausibilities import to_sparse
from plausibly.io.plausibilities import Form, read_plausibilities, write_plausibilities
from readme_world import tables
from refusals import refused, warned
from tables import labelled

ENDINGS = (".csv", ".npz", ".nc")


@pytest.mark.parametrize(("ending", "form"), [*EXACT, (".csv", "wide")])
@given(data=st.data())
@settings(max_examples=25)
def test_everything_comes_back(folder: Path, ending: str, form: Form, data: st.DataObject) -> None:
    """A wide CSV has a place for values and names alone."""
    lam = data.draw(plausibilities(plain=(ending, form) not in EXACT))
    path = folder / f"lam{ending}"
    before = lam.copy(deep=True)
    write_plausibilities(lam, path, form=form)
    same(lam, before)
    same(read_plausibilities(path), lam)


@pytest.mark.parametrize(("ending", "form"), EXACT)
@given(lam=plausibilities(draws=False))
@settings(max_examples=15)
def test_sparse_ones_come_back(folder: Path, ending: str, form: Form, lam: xr.DataArray) -> None:
    path = folder / f"lam{ending}"
    sparse = to_sparse(lam)
    write_plausibilities(sparse, path, form=form)
    same(read_plausibilities(path, sparse=True), sparse)
    same(read_plausibilities(path), lam)


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("total", [2**31 - 1, 2**31, 2**53 + 1, 2**63 - 1])
def test_large_totals_are_exact(tmp_path: Path, ending: str, total: int) -> None:
    shares = labelled([[1.0, 0.0], [0.0, 1.0]], denominator=[total, 1])
    path = tmp_path / f"lam{ending}"
    write_plausibilities(shares.transpose("label", "example"), path)
    assert read_plausibilities(path)["denominator"].values.tolist() == [total, 1]


def test_arrays_that_numpy_and_xarray_write(tmp_path: Path) -> None:
    shares = labelled([[0.5, 0.5]], ["a"], "xy", denominator=[2], name="plausibilities")
    shares.attrs["joint"] = "dawid-skene"
    values, labels, path = shares.values, ["x", "y"], tmp_path / "lam.npz"
    np.savez(path, plausibilities=values, labels=labels, denominator=[2], examples=["a"])
    same(read_plausibilities(tmp_path / "lam.npz"), shares.drop_attrs())
    np.savez(path, plausibilities=values, labels=labels, denominator=[2], attributes="no JSON")
    assert read_plausibilities(tmp_path / "lam.npz")["example"].values.tolist() == ["0"]
    shares.to_dataset().to_netcdf(tmp_path / "lam.nc", engine="scipy", format="NETCDF3_64BIT")
    same(read_plausibilities(tmp_path / "lam.nc"), shares)


LAM = labelled(
    [[0.5, 0.0, 0.5], [0.0, 1.0, 0.0]], ["007", "a b"], ["x", "y", "unused"], name="plausibilities"
)
DRAWS = xr.concat([LAM, LAM[:, ::-1].assign_coords(label=LAM.label)], "draw").assign_coords(
    draw=[3, 1]
)


def test_a_long_table_in_words(tmp_path: Path) -> None:
    write_plausibilities(
        DRAWS.assign_coords(denominator=("example", [2, 1])), tmp_path / "l.csv", form="long"
    )
    lines = (tmp_path / "l.csv").read_text(encoding="utf-8").split("\n")
    assert [line.partition(',"1/1 {')[0] for line in lines] == [
        "draw,example,label,plausibility,denominator,about",
        "3,007,x,0.5,2",
        "3,007,unused,0.5,2,",
        "3,a b,y,1.0,1,",
        "1,007,x,0.5,2,",
        "1,007,unused,0.5,2,",
        "1,a b,y,1.0,1,",
        "",
    ]


def test_draws_in_a_wide_table(tmp_path: Path) -> None:
    write_plausibilities(DRAWS, tmp_path / "w.csv")
    assert (tmp_path / "w.csv").read_text(encoding="utf-8") == (
        "draw,example,x,y,unused\n3,007,0.5,0.0,0.5\n3,a b,0.0,1.0,0.0\n"
        "1,007,0.5,0.0,0.5\n1,a b,0.0,1.0,0.0\n"
    )
    frame = pd.read_csv(tmp_path / "w.csv", dtype={"example": str})
    frame.iloc[[1, 3, 0, 2]].to_parquet(tmp_path / "w.parquet", index=False)
    result = read_plausibilities(tmp_path / "w.parquet")
    xr.testing.assert_equal(result.sel(example=["007", "a b"]), DRAWS)


def test_a_long_table_of_another_program_is_read(tmp_path: Path) -> None:
    """Names in the order in which they first come; what is not there is 0."""
    text = "example,label,plausibility\na,x,0.25\na,y,0.75\nb,z,1\n"
    result = read_plausibilities(written(tmp_path, "l.csv", text))
    assert result["label"].values.tolist() == ["x", "y", "z"]
    assert result.values.tolist() == [[0.25, 0.75, 0.0], [0.0, 0.0, 1.0]]
    pd.read_csv(tmp_path / "l.csv").to_parquet(tmp_path / "l.parquet")
    xr.testing.assert_identical(read_plausibilities(tmp_path / "l.parquet"), result)
    text = "draw;example;label;plausibility\n1;a;x;1.0\n2;a;y;1.0\n"
    result = read_plausibilities(written(tmp_path, "d.csv", text))
    assert result["draw"].values.tolist() == [1, 2]
    assert result.values.tolist() == [[[1.0, 0.0]], [[0.0, 1.0]]]


def test_a_wide_csv_warns_of_attributes_that_it_does_not_keep(tmp_path: Path) -> None:
    shares = LAM.assign_attrs(joint="dawid-skene", convergence="{}")
    with warned("attributes-lost", "lam.csv does not keep joint, convergence"):
        write_plausibilities(shares, tmp_path / "lam.csv")
    assert read_plausibilities(tmp_path / "lam.csv").attrs == {}


@pytest.mark.parametrize(
    ("path", "form", "name", "result"),
    [
        ("lam.nc", "long", "option-unfit", "the ending .nc"),
        ("lam.csv", "tall", "option-unfit", 'form "tall"'),
        ("lam.txt", "wide", "ending-unknown", ".txt"),
        ("lam", "wide", "ending-unknown", "no ending"),
    ],
)
def test_forms_and_endings_that_do_not_exist(
    tmp_path: Path, path: str, form: Form, name: str, result: str
) -> None:
    error = refusal(lambda: write_plausibilities(LAM, tmp_path / path, form=form))
    assert (error.name, error.found) == (name, result)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("old", "new", "result"),
    [
        ("a b,y", "a b,z", 'labels that it does not know: "z"'),
        ("1/1 {", "1/2 {", 'cells of column "about" are lost'),
    ],
)
def test_a_long_csv_that_was_edited(tmp_path: Path, old: str, new: str, result: str) -> None:
    path = tmp_path / "l.csv"
    write_plausibilities(LAM, path, form="long")
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    error = refusal(lambda: read_plausibilities(path))
    assert (error.name, error.found) == ("file-damaged", result)


@pytest.mark.parametrize(
    ("values", "rows", "names", "result"),
    [
        (LAM, [0], ["example", "x", "y", "unused"], "its examples are not 007, a b"),
        (LAM, [0, 1], ["example", "x", "unused", "y"], "its labels are not x, y, unused"),
        (DRAWS, [2, 3, 0, 1], ["draw", "example", "x", "y", "unused"], "its draws are not 3, 1"),
    ],
)
def test_a_parquet_file_that_was_edited(
    tmp_path: Path, values: xr.DataArray, rows: list[int], names: list[str], result: str
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "lam.parquet"
    write_plausibilities(values, path)
    table = parquet.read_table(path)
    another = table.take(rows).rename_columns(names)
    parquet.write_table(another.replace_schema_metadata(table.schema.metadata), path)
    error = refusal(lambda: read_plausibilities(path))
    assert (error.name, error.found) == ("file-damaged", result)


@pytest.mark.parametrize("form", ["wide", "long"])
def test_draws_are_not_sparse(tmp_path: Path, form: Form) -> None:
    write_plausibilities(DRAWS, tmp_path / "d.csv", form=form)
    with refused("dims-differ", "d.csv has the dims draw, example, label"):
        read_plausibilities(tmp_path / "d.csv", sparse=True)


def test_sparse_ones_that_are_broken(tmp_path: Path) -> None:
    sparse = to_sparse(LAM)
    sparse["weight"] = sparse["weight"] * 2
    with refused("rows-do-not-sum") as caught:
        write_plausibilities(sparse, tmp_path / "l.csv", form="long")
    assert caught.value.details == {"examples": ["007", "a b"]}
    assert not list(tmp_path.iterdir())


DRAWN = xr.DataArray(
    np.array([[[0.25, 0.75, 0.0]], [[1.0, 0.0, 0.0]]], np.float32),
    dims=("draw", "example", "label"),
    coords={
        "draw": ["b", "a"],
        "example": [" 007"],
        "label": ["x", "None", "unused"],
        "risk": ("label", [1, 2, 3]),
    },
    name="plausibilities",
    attrs={"left_out": '{"bad rows": 2}'},
)


@pytest.fixture
def page(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return project / "docs" / "files.md"


def test_each_format_of_plausibilities_keeps_what_the_table_says(page: Path) -> None:
    rows = [row for row in tables(page)[1][1:] if row[0].startswith("plausibilities")]
    assert len(rows) == 6
    for name, *answers in rows:
        form: Form = "long" if name.endswith("long") else "wide"
        path = f"lam{name.split('`')[1]}"
        plausibly.write_plausibilities(DRAWN, path, form=form)
        result = plausibly.read_plausibilities(path)
        assert np.array_equal(result.values, DRAWN.values)
        assert result["label"].values.tolist() == DRAWN["label"].values.tolist()
        kept = [
            True,
            result.dtype == DRAWN.dtype,
            result.attrs == DRAWN.attrs,
            "risk" in result.coords,
            result.sizes["draw"] == 2,
        ]
        assert answers[:5] == ["yes" if item else "no" for item in kept], name
        if all(kept):
            same(result, DRAWN)
        stays = form == "long" or path.endswith((".npz", ".nc"))
        assert answers[5] == ("yes" if stays else "no")


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".npz", ".nc"])
def test_where_sparse_stays_sparse(
    page: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    sparse = to_sparse(DRAWN.isel(draw=0, drop=True))

    def never(*_: object) -> None:
        raise AssertionError("it was dense")

    for name in ("kernels.sparse.Sparse.dense", "io.plausibilities.mean_over_draws"):
        monkeypatch.setattr(f"plausibly.{name}", never)
    form: Form = "long" if ending in (".csv", ".parquet") else "wide"
    plausibly.write_plausibilities(sparse, f"p{ending}", form=form)
    xr.testing.assert_identical(plausibly.read_plausibilities(f"p{ending}", sparse=True), sparse)
