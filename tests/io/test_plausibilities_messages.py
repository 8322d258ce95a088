"""Tables of plausibilities in words, those that other programs write, and broken ones."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
import xarray as xr

from io_files import refusal, warned, written
from plausibly.data.plausibilities import to_sparse
from plausibly.io.plausibilities import Form, read_plausibilities, write_plausibilities

LAM = xr.DataArray(
    [[0.5, 0.0, 0.5], [0.0, 1.0, 0.0]],
    dims=("example", "label"),
    coords={"example": ["007", "a b"], "label": ["x", "y", "unused"]},
    name="plausibilities",
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
    found = read_plausibilities(tmp_path / "w.parquet")
    xr.testing.assert_equal(found.sel(example=["007", "a b"]), DRAWS)


def test_a_long_table_of_somebody_else(tmp_path: Path) -> None:
    """Names in the order in which they first come; what is not there is 0."""
    text = "example,label,plausibility\na,x,0.25\na,y,0.75\nb,z,1\n"
    found = read_plausibilities(written(tmp_path, "l.csv", text))
    assert found["label"].values.tolist() == ["x", "y", "z"]
    assert found.values.tolist() == [[0.25, 0.75, 0.0], [0.0, 0.0, 1.0]]
    pd.read_csv(tmp_path / "l.csv").to_parquet(tmp_path / "l.parquet")
    xr.testing.assert_identical(read_plausibilities(tmp_path / "l.parquet"), found)
    text = "draw;example;label;plausibility\n1;a;x;1.0\n2;a;y;1.0\n"
    found = read_plausibilities(written(tmp_path, "d.csv", text))
    assert found["draw"].values.tolist() == [1, 2]
    assert found.values.tolist() == [[[1.0, 0.0]], [[0.0, 1.0]]]


def test_a_wide_csv_warns_of_attributes_that_it_does_not_keep(tmp_path: Path) -> None:
    lam = LAM.assign_attrs(joint="dawid-skene", convergence="{}")
    message = warned(lambda: write_plausibilities(lam, tmp_path / "lam.csv"))
    assert message.startswith("warning attributes-lost: lam.csv does not keep joint, convergence")
    assert read_plausibilities(tmp_path / "lam.csv").attrs == {}


@pytest.mark.parametrize(
    ("path", "form", "name", "found"),
    [
        ("lam.nc", "long", "option-unfit", "the ending .nc"),
        ("lam.csv", "tall", "option-unfit", 'form "tall"'),
        ("lam.txt", "wide", "ending-unknown", ".txt"),
        ("lam", "wide", "ending-unknown", "no ending"),
    ],
)
def test_forms_and_endings_that_do_not_exist(
    tmp_path: Path, path: str, form: Form, name: str, found: str
) -> None:
    error = refusal(lambda: write_plausibilities(LAM, tmp_path / path, form=form))
    assert (error.name, error.found) == (name, found)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("old", "new", "name", "found"),
    [
        ("a b,y", "a b,z", "table-changed", "3 labels"),
        ("1/1 {", "1/2 {", "file-damaged", 'cells of column "about" are lost'),
    ],
)
def test_a_long_csv_that_was_edited(
    tmp_path: Path, old: str, new: str, name: str, found: str
) -> None:
    path = tmp_path / "l.csv"
    write_plausibilities(LAM, path, form="long")
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    error = refusal(lambda: read_plausibilities(path))
    assert (error.name, error.found) == (name, found)


@pytest.mark.parametrize(
    ("values", "rows", "names", "found"),
    [
        (LAM, [0], ["example", "x", "y", "unused"], "its examples are not 007, a b"),
        (LAM, [0, 1], ["example", "x", "unused", "y"], "its labels are not x, y, unused"),
        (DRAWS, [2, 3, 0, 1], ["draw", "example", "x", "y", "unused"], "its draws are not 3, 1"),
    ],
)
def test_a_parquet_file_that_was_edited(
    tmp_path: Path, values: xr.DataArray, rows: list[int], names: list[str], found: str
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "lam.parquet"
    write_plausibilities(values, path)
    table = parquet.read_table(path)
    other = table.take(rows).rename_columns(names)
    parquet.write_table(other.replace_schema_metadata(table.schema.metadata), path)
    error = refusal(lambda: read_plausibilities(path))
    assert (error.name, error.found) == ("file-damaged", found)


@pytest.mark.parametrize("form", ["wide", "long"])
def test_draws_are_not_sparse(tmp_path: Path, form: Form) -> None:
    write_plausibilities(DRAWS, tmp_path / "d.csv", form=form)
    error = refusal(lambda: read_plausibilities(tmp_path / "d.csv", sparse=True))
    assert error.what == "d.csv has the dims draw, example, label"


def test_sparse_ones_that_are_broken(tmp_path: Path) -> None:
    sparse = to_sparse(LAM)
    sparse["weight"] = sparse["weight"] * 2
    error = refusal(lambda: write_plausibilities(sparse, tmp_path / "l.csv", form="long"))
    assert (error.name, error.details) == (
        "rows-do-not-sum",
        {"examples": ["007", "a b"]},
    )
    assert not list(tmp_path.iterdir())
