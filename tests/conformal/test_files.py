"""Predictors as files: whole, versioned, without code, and equal when they come back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import xarray as xr

import plausibly
from conformal_world import world
from kit_calibrators import Drawn
from kit_combiners import Mean
from plausibly.conformal import FORMAT
from plausibly.errors import ComponentError, InputError
from refusals import refused


def test_the_file_is_netcdf_3_without_wide_integers(tmp_path: Path) -> None:
    plausibly.calibrate(*world(30)).save(tmp_path / "p.nc")
    assert (tmp_path / "p.nc").read_bytes()[:4] == b"CDF\x02"
    with xr.open_dataset(tmp_path / "p.nc", engine="scipy") as dataset:
        kinds = {name: str(dataset[name].dtype).lstrip(">") for name in dataset}
        assert {"score", "mass", "group", "row", "hash_low", "hash_high"} <= set(kinds)
        assert not [name for name, kind in kinds.items() if kind in ("int64", "i8", "u8")]
        assert json.loads(dataset.attrs["plausibly"])["format"] == FORMAT


def test_names_are_kept_as_hashes_and_can_be_left_out(tmp_path: Path) -> None:
    predictions, lam = world(30)
    p = plausibly.calibrate(predictions, lam)
    p.save(tmp_path / "with.nc")
    p.save(tmp_path / "without.nc", names=False)
    assert b"case 1" not in (tmp_path / "with.nc").read_bytes()
    overlap = [
        plausibly.load_predictor(tmp_path / name)
        .predict(predictions, 0.2)
        .attrs["calibration_overlap"]
        for name in ("with.nc", "without.nc")
    ]
    assert overlap == [30, 0]


def test_zarr(tmp_path: Path) -> None:
    predictions, lam = world(30)
    p = plausibly.calibrate(predictions, lam, combiner="held-out-rank")
    for _ in range(2):  # the second replaces the first
        p.save(tmp_path / "p.zarr")
    again = plausibly.load_predictor(tmp_path / "p.zarr")
    assert again.predict(predictions, 0.2).identical(p.predict(predictions, 0.2))
    assert [path.name for path in tmp_path.iterdir()] == ["p.zarr"]
    (tmp_path / "empty.zarr").mkdir()
    with pytest.raises(InputError, match="that is no Zarr store"):
        plausibly.load_predictor(tmp_path / "empty.zarr")


def test_what_is_not_ours_is_refused(tmp_path: Path) -> None:
    plausibly.calibrate(*world(30)).save(tmp_path / "p.nc")
    whole = (tmp_path / "p.nc").read_bytes()
    other = tmp_path / "other.nc"
    xr.Dataset({"x": ("y", [1.0])}).to_netcdf(other, engine="scipy")
    contents = {"empty.nc": b"", "text.nc": b"task,worker,label\n", "cut.nc": whole[:60]}
    contents |= {f"cut{part}.nc": whole[: len(whole) * part // 10] for part in range(1, 10)}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    for name in [*contents, "other.nc"]:
        with refused("predictor-unreadable", name):
            plausibly.load_predictor(tmp_path / name)
    with refused("file-missing"):
        plausibly.load_predictor(tmp_path / "none.nc")


def test_nothing_is_half_written(tmp_path: Path) -> None:
    p = plausibly.calibrate(*world(30))
    with refused("output-unwritable"):
        p.save(tmp_path / "no" / "such" / "folder.nc")
    assert list(tmp_path.iterdir()) == []
    occupied = tmp_path / "occupied"
    (occupied / "p.nc").mkdir(parents=True)
    (occupied / "p.nc" / "kept").write_text("kept")
    with pytest.raises(InputError):
        p.save(occupied / "p.nc")
    assert [path.name for path in occupied.iterdir()] == ["p.nc"]
    assert (occupied / "p.nc" / "kept").read_text() == "kept"


def test_objects_of_unregistered_classes_cannot_be_saved(tmp_path: Path) -> None:
    p = plausibly.calibrate(*world(30), combiner=Mean())
    assert "Mean" in repr(p)
    with pytest.raises(ComponentError, match="regist"):
        p.save(tmp_path / "p.nc")
    assert list(tmp_path.iterdir()) == []
    q = plausibly.calibrate(*world(30), calibrator=Drawn())
    q.save(tmp_path / "q.nc")
    again = plausibly.load_predictor(tmp_path / "q.nc")
    assert again.components["calibrator"] is None
    assert again.fingerprint == q.fingerprint
