"""Numpy's files: right ones, damaged ones, and those that would run code."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from io_files import refusal, written
from plausibly.io.arrays import parse_npy, read_npz, texts_of

DTYPES = st.sampled_from(
    ["<f4", ">f4", "<f8", ">f8", "|u1", "<i2", ">i8", "<U3", ">U3", "|S4", "?"]
)


def npy(array: NDArray[Any]) -> bytes:  # Any: whatever type
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def npz(path: Path, **arrays: object) -> Path:
    np.savez(path, **{name: np.asarray(array) for name, array in arrays.items()})  # type: ignore[arg-type]  # names
    return path


@given(dtype=DTYPES, data=st.data(), column_major=st.booleans())
def test_arrays_come_back(dtype: str, data: st.DataObject, column_major: bool) -> None:
    array = data.draw(
        hnp.arrays(np.dtype(dtype), hnp.array_shapes(min_dims=0, min_side=0, max_side=4))
    )
    stored = np.asfortranarray(array) if column_major else array
    read = parse_npy(npy(stored), "a.npy")
    assert read.dtype.isnative
    assert read.dtype == array.dtype.newbyteorder("=")
    np.testing.assert_array_equal(read, array)


def test_texts_of_no_length_come_back() -> None:
    assert parse_npy(npy(np.array(["", ""])[:0]), "a.npy").shape == (0,)
    assert parse_npy(header("<U0", 2), "a.npy").tolist() == ["", ""]


def test_large_headers_come_back() -> None:
    array = np.arange(6.0).reshape(2, 3)
    file = io.BytesIO()
    np.lib.format.write_array(file, array, version=(2, 0))
    np.testing.assert_array_equal(parse_npy(file.getvalue(), "a.npy"), array)


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


@pytest.mark.parametrize(
    ("data", "name", "found"),
    [
        (npy(np.zeros(2, dtype=[("a", "<f8")])), "file-damaged", "type [('a', '<f8')]"),
        (b"\x93NUMPY\x09\x00" + bytes(100), "file-damaged", "numpy file format 9.0"),
        (npy(np.array([{"a": 1}], dtype=object)), "file-pickled", "type object"),
        (header("<f8", 10**15, 3), "file-damaged", ""),
        (
            npy(np.array(["ab"])).replace(b"a\0\0\0", b"\xff\xff\xff\xff"),
            "file-damaged",
            "characters that do not exist",
        ),
    ],
    ids=["structured", "version", "pickled", "beyond memory", "no characters"],
)
def test_an_array_is_refused(data: bytes, name: str, found: str) -> None:
    error = refusal(lambda: parse_npy(data, "a.npy"))
    assert (error.name, found in error.found) == (name, True)


def test_names_are_text() -> None:
    for values in (["a", "é"], [b"a", "é".encode()]):
        assert texts_of(np.array(values), "a.npz", "labels") == ["a", "é"]
    assert texts_of(np.array([7, 8]), "a.npz", "labels") == ["7", "8"]
    error = refusal(lambda: texts_of(np.zeros((2, 2)), "a.npz", "labels"))
    assert (error.name, error.found) == ("array-shape", "shape (2, 2)")
    assert refusal(lambda: texts_of(np.array([b"\xff"]), "a.npz", "labels")).name == "file-damaged"
