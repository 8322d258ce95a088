"""docs/files.md: each format of plausibilities keeps what its table shows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import plausibly
from io_plausibilities import same
from methods_page import tables
from plausibly.data.plausibilities import to_sparse
from plausibly.io.plausibilities import Form

LAM = xr.DataArray(
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
    for name, *said in rows:
        form: Form = "long" if name.endswith("long") else "wide"
        path = f"lam{name.split('`')[1]}"
        plausibly.write_plausibilities(LAM, path, form=form)
        found = plausibly.read_plausibilities(path)
        assert np.array_equal(found.values, LAM.values)
        assert found["label"].values.tolist() == LAM["label"].values.tolist()
        kept = [
            True,
            found.dtype == LAM.dtype,
            found.attrs == LAM.attrs,
            "risk" in found.coords,
            found.sizes["draw"] == 2,
        ]
        assert said[:5] == ["yes" if one else "no" for one in kept], name
        if all(kept):
            same(found, LAM)
        stays = form == "long" or path.endswith((".npz", ".nc"))
        assert said[5] == ("yes" if stays else "no")


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".npz", ".nc"])
def test_where_sparse_stays_sparse(
    page: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    sparse = to_sparse(LAM.isel(draw=0, drop=True))

    def never(*_: object) -> None:
        raise AssertionError("it was dense")

    for name in ("kernels.sparse.Sparse.dense", "io.plausibilities.mean_over_draws"):
        monkeypatch.setattr(f"plausibly.{name}", never)
    form: Form = "long" if ending in (".csv", ".parquet") else "wide"
    plausibly.write_plausibilities(sparse, f"p{ending}", form=form)
    xr.testing.assert_identical(plausibly.read_plausibilities(f"p{ending}", sparse=True), sparse)
