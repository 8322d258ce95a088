"""Sparse plausibilities in files: arrays that other programs read, small, and checked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import plausibly
from plausibly import to_sparse
from plausibly.io.plausibilities import read_plausibilities, write_plausibilities
from refusals import refused
from sparse_world import mentions, plausibilities


def test_other_programs_read_the_arrays(tmp_path: Path) -> None:
    sparse = plausibly.aggregate(mentions("single-label", 6, 50), sparse=True)
    for name in ("lam.npz", "lam.nc"):
        plausibly.write_plausibilities(sparse, tmp_path / name)
    arrays = np.load(tmp_path / "lam.npz")
    assert set(arrays) == {"weight", "label", "examples", "labels", "denominator", "site", "about"}
    np.testing.assert_array_equal(arrays["label"], sparse["label"].values)
    with xr.open_dataset(tmp_path / "lam.nc", engine="scipy") as dataset:
        assert dataset["weight"].dims == ("example", "slot")


@pytest.mark.parametrize("ending", [".npz", ".nc"])
def test_files_are_far_smaller_than_the_dense_array(tmp_path: Path, ending: str) -> None:
    sparse = plausibly.aggregate(mentions("single-label", 500, 20_000), sparse=True)
    path = tmp_path / f"lam{ending}"
    plausibly.write_plausibilities(sparse, path)
    assert path.stat().st_size < 2_000_000 < 500 * 20_000 * 8
    assert plausibly.read_plausibilities(path, sparse=True).identical(sparse)


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "lam.npz"
    plausibly.write_plausibilities(to_sparse(plausibilities(4, 40)), path)
    arrays = dict(np.load(path))
    arrays["weight"] = arrays["weight"] / 2
    np.savez(path, **arrays)
    with refused("rows-do-not-sum", "lam.npz: 4 of 4 rows sum to 0.5 (case 0, case"):
        plausibly.read_plausibilities(path, sparse=True)
    np.savez(path, **arrays | {"label": arrays["label"][:, :-1]})
    with refused("file-damaged"):
        plausibly.read_plausibilities(path)


@pytest.mark.parametrize(
    ("name", "form", "labels", "sparse"),
    [
        ("a.npz", "sparse", 6, True),
        ("a.nc", "sparse", 6, True),
        ("a.npz", "wide", 45, False),
        ("a.csv", "wide", 45, False),
        ("a.csv", "long", 33, True),
        ("a.csv", "long", 32, False),
    ],
)
def test_the_form_that_takes_less(
    tmp_path: Path, name: str, form: str, labels: int, sparse: bool
) -> None:
    dense, path = plausibilities(20, labels), tmp_path / name
    form_of_file = "long" if form == "long" else "wide"
    write_plausibilities(to_sparse(dense) if form == "sparse" else dense, path, form=form_of_file)
    result = read_plausibilities(path, sparse=None)
    assert isinstance(result, xr.Dataset) == sparse
    as_dense = plausibly.to_dense(result) if isinstance(result, xr.Dataset) else result
    assert as_dense.equals(read_plausibilities(path))
