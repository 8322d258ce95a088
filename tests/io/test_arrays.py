"""Files of numpy and netCDF: right, damaged, too large, and read in threads."""

from __future__ import annotations

import io
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from numpy.typing import NDArray

import plausibly
from io_files import refusal, written
from plausibly.io import arrays
from plausibly.io.arrays import parse_npy, read_npz, texts_of
from refusals import refused
from tables import world


def npy(array: NDArray[Any]) -> bytes:  # Any: whatever type
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def npz(path: Path, **arrays: object) -> Path:
    np.savez(path, **{name: np.asarray(array) for name, array in arrays.items()})  # type: ignore[arg-type]  # names
    return path


def test_files_that_are_damaged(tmp_path: Path) -> None:
    for content, name in (("", "file-empty"), ("text", "file-damaged")):
        path = written(tmp_path, "e.npz", content)
        assert refusal(lambda: read_npz(tmp_path / "e.npz", "x")).name == name, path
    damaged = bytearray(npz(tmp_path / "d.npz", probs=np.zeros(50)).read_bytes())
    damaged[200] ^= 1
    assert "CRC" in refusal(lambda: read_npz(written(tmp_path, "d.npz", bytes(damaged)), "x")).found
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("probs.npy", npy(np.zeros(100))[:200])
        archive.writestr("notes.txt", "not an array")
    error = refusal(lambda: read_npz(tmp_path / "a.npz", "predictions"))
    assert error.what == "a.npz, array probs is not a whole file"


def header(descr: object, *shape: int) -> bytes:
    """Return the first bytes of a file, which say how large its array is."""
    file = io.BytesIO()
    about = {"descr": descr, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, about)
    return file.getvalue()


def test_another_version_pickled_objects_and_a_size_beyond_memory() -> None:
    for data, name, found in (
        (b"\x93NUMPY\x09\x00" + bytes(100), "file-damaged", "(9, 0)"),
        (npy(np.array([{"a": 1}], dtype=object)), "file-pickled", "type object"),
        (header("<f8", 10**15, 3), "file-damaged", ""),
    ):
        with refused(name, found):
            parse_npy(data, "a.npy")


def test_names_are_text() -> None:
    for values in (["a", "é"], [b"a", "é".encode()]):
        assert texts_of(np.array(values), "a.npz", "labels") == ["a", "é"]
    assert texts_of(np.array([7, 8]), "a.npz", "labels") == ["7", "8"]
    for wrong, name in ((np.zeros((2, 2)), "array-shape"), (np.array([b"\xff"]), "file-damaged")):
        with refused(name):
            texts_of(wrong, "a.npz", "labels")


def test_nothing_follows_from_the_numbers_of_rows(tmp_path: Path) -> None:
    (predictions, plausibilities), (others, _) = world(40), world(40, seed=5, start=900)
    labels = predictions["label"].values.tolist()
    for name, array in (("old", predictions), ("new", others)):
        np.save(tmp_path / f"{name}.npy", array.values)
    old = plausibly.read_predictions(tmp_path / "old.npy", labels=labels)
    new = plausibly.read_predictions(tmp_path / "new.npy", labels=labels)
    about = plausibilities.assign_coords(example=old["example"].values)
    numbered = plausibly.calibrate(old, about)
    named = plausibly.calibrate(predictions.assign_coords(example=about["example"].values), about)
    assert numbered.examples is None
    for predictor in (numbered, named):
        sets = predictor.predict(new, 0.2)
        assert sets.attrs["calibration_overlap"] == 0
        assert sets.attrs["numbered"] == 1
    # Names that happen to be numbers are names.
    names = old["example"].values.tolist()
    mine = plausibly.read_predictions(tmp_path / "old.npy", labels=labels, examples=names)
    assert named.predict(mine, 0.2).attrs["calibration_overlap"] == 40
    assert "numbered" not in named.predict(mine, 0.2).attrs


def test_one_netcdf_4_file_in_four_threads(tmp_path: Path) -> None:
    """In a process of its own, which two threads in the library at once would end."""
    pytest.importorskip("netCDF4")
    values = np.full((2000, 4), 0.25)
    names = {"example": [f"e{row}" for row in range(2000)], "label": list("abcd")}
    array = xr.DataArray(values, dims=("example", "label"), coords=names, name="predictions")
    array.to_netcdf(tmp_path / "p.nc", engine="netcdf4")
    code = """
import sys
from concurrent.futures import ThreadPoolExecutor
import plausibly
with ThreadPoolExecutor(4) as pool:
    found = list(pool.map(plausibly.read_predictions, [sys.argv[1]] * 24))
print(sum(float(one.sum()) for one in found))
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "p.nc")], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, "48000.0\n")
    assert pickle.loads(pickle.dumps(arrays.LOCK)) is arrays.LOCK


def test_an_npz_that_unpacks_to_far_more(tmp_path: Path) -> None:
    path = tmp_path / "bomb.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in "ab":
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                file.write(header("|u1", 40 << 20))
                for _ in range(40):
                    file.write(bytes(1 << 20))
    assert path.stat().st_size < 200_000
    with refused("file-damaged", "unpack"):
        read_npz(path, "predictions")
