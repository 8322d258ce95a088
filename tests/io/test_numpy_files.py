"""Numpy's files: right ones, damaged ones, and those that would run code."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from io_files import refusal, result_or_refusal, written
from plausibly.io.arrays import from_npy, one_of, parse_npy, read_npz, texts_of

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
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        file, {"descr": "<U0", "fortran_order": False, "shape": (2,)}
    )
    assert parse_npy(file.getvalue(), "a.npy").tolist() == ["", ""]


def test_large_headers_come_back() -> None:
    array = np.arange(6.0).reshape(2, 3)
    file = io.BytesIO()
    np.lib.format.write_array(file, array, version=(2, 0))
    np.testing.assert_array_equal(parse_npy(file.getvalue(), "a.npy"), array)


@given(cut=st.integers(0, 250), flip=st.integers(0, 249), byte=st.integers(0, 255))
def test_damaged_npy_files_are_refused_by_name(cut: int, flip: int, byte: int) -> None:
    data = bytearray(npy(np.arange(40.0).reshape(8, 5)))
    data[flip] = byte
    result_or_refusal(lambda: parse_npy(bytes(data[:cut]), "a.npy"), "a.npy")


@given(cut=st.integers(0, 2_000), flip=st.integers(0, 2_000), byte=st.integers(0, 255))
def test_damaged_npz_files_are_refused_by_name(
    folder: Path, cut: int, flip: int, byte: int
) -> None:
    data = bytearray(npz(folder / "a.npz", probs=np.eye(4), labels=list("abcd")).read_bytes())
    data[flip % len(data)] = byte
    path = written(folder, "b.npz", bytes(data[:cut]))
    result_or_refusal(lambda: read_npz(path, "predictions"), "b.npz")


def test_truncated_files(tmp_path: Path) -> None:
    data = npy(np.zeros((1_000, 3)))
    error = refusal(lambda: from_npy(written(tmp_path, "probs.npy", data[:10_000]), "predictions"))
    assert (error.name, error.found) == ("file-damaged", "10,000 bytes")
    whole = npz(tmp_path / "probs.npz", probs=np.zeros((1_000, 3))).read_bytes()
    error = refusal(lambda: read_npz(written(tmp_path, "probs.npz", whole[:9_000]), "predictions"))
    assert (error.name, error.found) == ("file-damaged", "9,000 bytes")


def test_shapes_that_no_machine_holds_are_not_allocated(tmp_path: Path) -> None:
    file = io.BytesIO()
    header = {"descr": "<f8", "fortran_order": False, "shape": (10**15, 3)}
    np.lib.format.write_array_header_1_0(file, header)
    assert refusal(lambda: parse_npy(file.getvalue(), "a.npy")).name == "file-damaged"


def test_files_of_another_kind(tmp_path: Path) -> None:
    path = written(tmp_path, "probs.npy", "example,a,b\n")
    error = refusal(lambda: from_npy(path, "predictions"))
    assert (error.name, error.found) == ("file-damaged", "other first bytes than a numpy file has")
    assert refusal(lambda: from_npy(written(tmp_path, "e.npy", b""), "x")).name == "file-empty"
    assert refusal(lambda: read_npz(written(tmp_path, "e.npz", b""), "x")).name == "file-empty"
    assert refusal(lambda: read_npz(written(tmp_path, "t.npz", "text"), "x")).name == "file-damaged"
    damaged = bytearray(npz(tmp_path / "d.npz", probs=np.zeros(50)).read_bytes())
    damaged[200] ^= 1
    assert "CRC" in refusal(lambda: read_npz(written(tmp_path, "d.npz", bytes(damaged)), "x")).found
    structured = npy(np.zeros(2, dtype=[("a", "<f8")]))
    assert "type [('a', '<f8')]" in refusal(lambda: parse_npy(structured, "s.npy")).found
    version = b"\x93NUMPY\x09\x00" + bytes(100)
    assert "numpy file format 9.0" in refusal(lambda: parse_npy(version, "s.npy")).found


def test_pickles_are_never_loaded(tmp_path: Path) -> None:
    file = io.BytesIO()
    np.save(file, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    path = written(tmp_path, "probs.npy", file.getvalue())
    error = refusal(lambda: from_npy(path, "predictions"))
    assert (error.name, error.found) == ("file-pickled", "type object")


def test_damage_inside_an_archive_names_the_array(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("probs.npy", npy(np.zeros(100))[:200])
        archive.writestr("notes.txt", "not an array")
    error = refusal(lambda: read_npz(tmp_path / "a.npz", "predictions"))
    assert error.what == "a.npz, array probs is not a whole file"


def test_one_array_of_several_names(tmp_path: Path) -> None:
    arrays = read_npz(npz(tmp_path / "a.npz", probs=np.eye(2), other=np.zeros(3)), "predictions")
    np.testing.assert_array_equal(one_of(arrays, ("predictions", "probs"), "a.npz"), np.eye(2))
    error = refusal(lambda: one_of(arrays, ("predictions", "p"), "a.npz"))
    assert (error.name, error.found) == ("array-missing", "probs (2, 2), other (3,)")
    error = refusal(lambda: one_of(arrays, ("probs", "other"), "a.npz"))
    assert error.what == "a.npz has probs, other"
    assert refusal(lambda: one_of({}, ("probs",), "a.npz")).found == "no array at all"


def test_names_are_text() -> None:
    assert texts_of(np.array(["a", "é"]), "a.npz", "labels") == ["a", "é"]
    assert texts_of(np.array([b"a", "é".encode()]), "a.npz", "labels") == ["a", "é"]
    assert texts_of(np.array([7, 8]), "a.npz", "labels") == ["7", "8"]
    error = refusal(lambda: texts_of(np.zeros((2, 2)), "a.npz", "labels"))
    assert (error.name, error.found) == ("array-shape", "shape (2, 2)")
    impossible = npy(np.array(["ab"])).replace(b"a\0\0\0", b"\xff\xff\xff\xff")
    assert "characters that do not exist" in refusal(lambda: parse_npy(impossible, "a.npy")).found
    assert refusal(lambda: texts_of(np.array([b"\xff"]), "a.npz", "labels")).name == "file-damaged"
