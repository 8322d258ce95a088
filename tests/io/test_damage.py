"""Files of numpy and netCDF; files that are cut or changed: read, or refused by their name."""

from __future__ import annotations

import io
import pickle
import subprocess
import sys
import zipfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray

import plausibly
from io_files import (
    EXACT,
    KINDS,
    damaged,
    plausibilities,
    prediction_sets,
    refusal,
    result_or_refusal,
    tables,
    written,
)
from plausibly.io import arrays
from plausibly.io.annotation_files import read_annotation_file, write_annotations
from plausibly.io.arrays import parse_npy, read_npz, texts_of
from plausibly.io.datasets import ENDINGS
from plausibly.io.json import json_head, read_json, read_json_lines
from plausibly.io.plausibilities import Form, read_plausibilities, write_plausibilities
from plausibly.io.sets import read_sets, write_sets
from plausibly.io.text import first_row, read_table
from plausibly.io.xml import read_xml
from refusals import refused
from tables import world


@pytest.mark.parametrize("ending", ENDINGS)
@given(data=st.data())
@settings(max_examples=25)
def test_annotations(folder: Path, ending: str, data: st.DataObject) -> None:
    """The names and codes that were written, or an error."""
    path = folder / f"votes{ending}"
    table = data.draw(st.sampled_from(KINDS).flatmap(tables))
    write_annotations(table, path)
    path = damaged(data, path)
    result = result_or_refusal(lambda: read_annotation_file(path), path.name)
    assert result is None or result.attrs["checksum"] == table.attrs["checksum"]


@pytest.mark.parametrize(("ending", "form"), [*EXACT, (".csv", "wide")])
@given(data=st.data())
@settings(max_examples=15)
def test_plausibilities(folder: Path, ending: str, form: Form, data: st.DataObject) -> None:
    path = folder / f"lam{ending}"
    write_plausibilities(data.draw(plausibilities(plain=True)), path, form=form)
    path = damaged(data, path)
    result_or_refusal(lambda: read_plausibilities(path), path.name)


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
@given(data=st.data())
@settings(max_examples=30)
@pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")
def test_sets(tmp_path_factory: pytest.TempPathFactory, ending: str, data: st.DataObject) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    write_sets(data.draw(prediction_sets()), folder / f"sets{ending}")
    name = data.draw(st.sampled_from([f"sets{ending}", "sets.json"]))
    damaged(data, folder / name).replace(folder / name)
    result_or_refusal(lambda: read_sets(folder / f"sets{ending}"), "sets.")


@given(cut=st.integers(0, 2_000), flip=st.integers(0, 2_000), byte=st.integers(0, 255))
def test_arrays_of_numpy(folder: Path, cut: int, flip: int, byte: int) -> None:
    file = io.BytesIO()
    np.save(file, np.arange(40.0).reshape(8, 5))
    array = bytearray(file.getvalue())
    array[flip % len(array)] = byte
    result_or_refusal(lambda: parse_npy(bytes(array[: cut % 250]), "a.npy"), "a.npy")
    file = io.BytesIO()
    np.savez(file, probs=np.eye(4), labels=list("abcd"))
    arrays = bytearray(file.getvalue())
    arrays[flip % len(arrays)] = byte
    path = written(folder, "b.npz", bytes(arrays[:cut]))
    result_or_refusal(lambda: read_npz(path, "predictions"), "b.npz")


STARTS = [
    b"",
    b"\xef\xbb\xbf",
    b"task,worker,label\n",
    b'{"a":1,"a":2}',
    b'[1,"\\ud800"',
    b"[NaN",
    b"<?xml version='1.0'?>\n<!DOCTYPE lolz [<!ENTITY a 'lol'><!ENTITY b '&a;&a;'>]>\n<a>&b;</a>\n",
]
BYTES = st.one_of(
    st.binary(max_size=200),
    st.text(max_size=40).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.text("<>/a b='\"&;![]?{}:,", max_size=40).map(str.encode),
)


@given(start=st.sampled_from(STARTS), data=BYTES, cut=st.integers(0, 100))
def test_any_bytes_as_text_json_or_xml(folder: Path, start: bytes, data: bytes, cut: int) -> None:
    content = start[:cut] + data
    path = written(folder, "some.csv", content)
    first_row(path, content)
    assert isinstance(json_head(content), list)
    table = result_or_refusal(lambda: read_table(path, role="annotations"), "some.csv")
    assert table is None or all(len(column) == len(table) for column in table.columns)
    for read in (read_json, read_json_lines, partial(read_xml, role="annotations")):
        result_or_refusal(lambda read=read: read(path), "some.csv")  # type: ignore[misc]  # bound now


# ---- arrays: right, damaged, too large, and read in threads


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
