"""Tables of plausibilities that other programs write, and what is said of those that are broken."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings, strategies as st

import plausibly
from io_files import damaged, refusal, result_or_refusal, said, warned, written
from io_plausibilities import EXACT, plausibilities, same
from plausibly.data.annotations import build_table
from plausibly.data.plausibilities import is_sparse, to_sparse
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


@pytest.mark.parametrize(("ending", "form"), EXACT)
def test_draws_without_names(tmp_path: Path, ending: str, form: Form) -> None:
    bare = DRAWS.drop_vars("draw")
    write_plausibilities(bare, tmp_path / f"d{ending}", form=form)
    same(read_plausibilities(tmp_path / f"d{ending}"), bare)


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


def test_a_wide_table_whose_labels_are_called_like_columns(tmp_path: Path) -> None:
    lam = LAM.assign_coords(label=["label", "plausibility", "about"])
    write_plausibilities(lam, tmp_path / "w.csv")
    same(read_plausibilities(tmp_path / "w.csv"), lam)
    lam = (
        LAM[:, :2]
        .copy(data=[[0.0, 1.0], [1.0, 0.0]])
        .assign_coords(label=["label", "plausibility"])
    )
    write_plausibilities(lam, tmp_path / "w.csv")
    same(read_plausibilities(tmp_path / "w.csv"), lam)


def test_thousands_of_labels_stay_sparse(tmp_path: Path) -> None:
    """200,000 x 20,000 floats would be 32 GB; the table has three rows per example at most."""
    n, size = 2_000, 20_000
    label = np.sort(np.random.default_rng(0).choice(size, (n, 3)), axis=1)
    label[:, 1:] += np.cumsum(label[:, 1:] == label[:, :-1], axis=1)
    sparse = xr.Dataset(
        {
            "weight": (("example", "slot"), np.tile([0.25, 0.25, 0.5], (n, 1))),
            "label": (("example", "slot"), np.minimum(label, size + 2).astype(np.int32)),
        },
        coords={
            "example": np.array([f"e{row}" for row in range(n)]),
            "label_name": np.array([f"l{row}" for row in range(size + 3)]),
            "denominator": ("example", np.full(n, 4)),
        },
    )
    for ending in (".csv", ".parquet"):
        write_plausibilities(sparse, tmp_path / f"p{ending}", form="long")
        found = plausibly.read_plausibilities(tmp_path / f"p{ending}", sparse=True)
        assert is_sparse(found)
        xr.testing.assert_identical(found, sparse)


def test_a_wide_csv_says_what_it_does_not_keep(tmp_path: Path) -> None:
    lam = LAM.assign_attrs(joint="dawid-skene", convergence="{}")
    assert warned(lambda: write_plausibilities(lam, tmp_path / "lam.csv")) == (
        "warning attributes-lost: lam.csv does not keep joint, convergence: how the plausibilities "
        "were estimated expected a format that does: guarantees then say that they are estimates "
        'found a wide CSV hint path="lam.parquet", .npz or .nc, or form long'
    )
    assert read_plausibilities(tmp_path / "lam.csv").attrs == {}


def test_forms_that_there_are_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    error = refusal(lambda: write_plausibilities(LAM, "lam.nc", form="long"))
    assert (error.name, error.hint) == ("option-unfit", 'path="lam.parquet", or form wide')
    assert said(lambda: write_plausibilities(LAM, "lam.csv", form="tall")) == (  # type: ignore[arg-type]  # what it is about
        "error option-unfit: lam.csv: form has no meaning here expected form "
        '"wide", or "long" for .csv and .parquet found form "tall" hint form="long", or leave it '
        "out"
    )
    assert not list(tmp_path.iterdir())


def test_rows_that_the_table_does_not_know(tmp_path: Path) -> None:
    path = tmp_path / "l.csv"
    write_plausibilities(LAM, path, form="long")
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("a b,y", "a b,z"), encoding="utf-8")
    error = refusal(lambda: read_plausibilities(path))
    assert (error.name, error.found) == ("table-changed", "3 labels")
    path.write_text(text.replace("1/1 {", "1/2 {"), encoding="utf-8")
    error = refusal(lambda: read_plausibilities(path))
    assert (error.name, error.found) == ("file-damaged", 'cells of column "about" are lost')


def test_columns_that_do_not_fit_what_a_file_says(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "lam.parquet"
    write_plausibilities(LAM, path)
    table = parquet.read_table(path)
    parquet.write_table(table.slice(0, 1), path)
    error = refusal(lambda: read_plausibilities(path))
    assert (error.name, error.found) == ("file-damaged", "its examples are not 007, a b")
    renamed = table.rename_columns(["example", "x", "unused", "y"])
    parquet.write_table(renamed.replace_schema_metadata(table.schema.metadata), path)
    assert refusal(lambda: read_plausibilities(path)).found.startswith("its labels are not")


def test_draws_in_another_order_than_a_file_says(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    write_plausibilities(DRAWS, tmp_path / "lam.parquet")
    table = parquet.read_table(tmp_path / "lam.parquet")
    parquet.write_table(table.take([2, 3, 0, 1]), tmp_path / "lam.parquet")
    assert refusal(lambda: read_plausibilities(tmp_path / "lam.parquet")).found == (
        "its draws are not 3, 1"
    )


def test_a_table_of_annotations_is_no_plausibilities(tmp_path: Path) -> None:
    votes = build_table(
        "single-label",
        examples=["a"],
        annotators=["q"],
        labels=["x"],
        response_example=[0],
        response_annotator=[0],
        mention_response=[0],
        mention_label=[0],
    )
    for ending in ("csv", "parquet", "npz", "nc"):
        path = tmp_path / f"votes.{ending}"
        plausibly.write_annotations(votes, path)
        assert path.name in refusal(partial(read_plausibilities, path)).what


def test_draws_are_not_sparse(tmp_path: Path) -> None:
    forms: tuple[Form, ...] = ("wide", "long")
    for form in forms:
        write_plausibilities(DRAWS, tmp_path / "d.csv", form=form)
        error = refusal(lambda: read_plausibilities(tmp_path / "d.csv", sparse=True))
        assert error.what == "d.csv has the dims draw, example, label"


def test_sparse_ones_that_are_broken(tmp_path: Path) -> None:
    sparse = to_sparse(LAM)
    sparse["weight"] = sparse["weight"] * 2
    error = refusal(lambda: write_plausibilities(sparse, tmp_path / "l.csv", form="long"))
    assert (error.name, error.details) == (
        "plausibilities-do-not-sum",
        {"examples": ["007", "a b"]},
    )
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("ending", "form"), [*EXACT, (".csv", "wide")])
@given(data=st.data())
@settings(max_examples=15)
def test_damaged_files_are_refused_by_name(
    folder: Path, ending: str, form: Form, data: st.DataObject
) -> None:
    path = folder / f"lam{ending}"
    write_plausibilities(data.draw(plausibilities(plain=True)), path, form=form)
    path = damaged(data, path)
    result_or_refusal(lambda: read_plausibilities(path), path.name)
