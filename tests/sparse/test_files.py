"""Sparse plausibilities in files: they come back as they were, and as dense ones where asked."""

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
    plausibly.write_plausibilities(sparse, tmp_path / "lam.npz")
    held = np.load(tmp_path / "lam.npz")
    assert set(held) == {"weight", "label", "examples", "labels", "denominator", "site", "about"}
    np.testing.assert_array_equal(held["label"], sparse["label"].values)
    plausibly.write_plausibilities(sparse, tmp_path / "lam.nc")
    with xr.open_dataset(tmp_path / "lam.nc", engine="scipy") as found:
        assert found["weight"].dims == ("example", "slot")


@pytest.mark.parametrize("ending", [".npz", ".nc"])
def test_files_are_far_smaller_than_the_dense_array(tmp_path: Path, ending: str) -> None:
    sparse = plausibly.aggregate(mentions("single-label", 500, 20_000), sparse=True)
    path = tmp_path / f"lam{ending}"
    plausibly.write_plausibilities(sparse, path)
    assert path.stat().st_size < 2_000_000 < 500 * 20_000 * 8
    assert plausibly.read_plausibilities(path, sparse=True).identical(sparse)


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    sparse = to_sparse(plausibilities(4, 40))
    path = tmp_path / "lam.npz"
    plausibly.write_plausibilities(sparse, path)
    held = dict(np.load(path))
    held["weight"] = held["weight"] / 2
    np.savez(path, **held)
    with refused("rows-do-not-sum", "lam.npz: 4 of 4 rows sum to 0.5 (case 0, case"):
        plausibly.read_plausibilities(path, sparse=True)
    held["label"] = held["label"][:, :-1]
    np.savez(path, **held)
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
    lam = plausibilities(20, labels)
    given = to_sparse(lam) if form == "sparse" else lam
    write_plausibilities(given, tmp_path / name, form="long" if form == "long" else "wide")
    found = read_plausibilities(tmp_path / name, sparse=None)
    assert isinstance(found, xr.Dataset) == sparse
    assert (plausibly.to_dense(found) if isinstance(found, xr.Dataset) else found).equals(
        read_plausibilities(tmp_path / name)
    )
