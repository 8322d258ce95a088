"""Files that are cut or have other bytes in them: read, or refused by their name."""

from __future__ import annotations

import io
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from io_files import damaged, result_or_refusal, written
from io_tables import EXACT, KINDS, plausibilities, prediction_sets, tables
from plausibly.io.annotation_files import read_annotation_file, write_annotations
from plausibly.io.arrays import parse_npy, read_npz
from plausibly.io.datasets import ENDINGS
from plausibly.io.json import json_head, read_json, read_json_lines
from plausibly.io.plausibilities import Form, read_plausibilities, write_plausibilities
from plausibly.io.sets import read_sets, write_sets
from plausibly.io.text import first_row, read_table
from plausibly.io.xml import read_xml


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
