"""Parquet as a table of text."""

from __future__ import annotations

import datetime
import sys
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, strategies as st

import plausibly
from io_files import refusal, written
from plausibly.data import validate
from plausibly.errors import InputError, MissingExtra
from plausibly.extras import require
from plausibly.io.datasets import write_rows
from plausibly.io.text import first_rows, read_columns, read_table


def store(path: Path, **columns: object) -> Path:
    pyarrow = require("pyarrow", extra="parquet", source="tests")
    parquet = require("pyarrow.parquet", extra="parquet", source="tests")
    parquet.write_table(pyarrow.table(columns), path)
    return path


def test_values_become_text(tmp_path: Path) -> None:
    pyarrow = require("pyarrow", extra="parquet", source="tests")
    path = store(
        tmp_path / "v.parquet",
        text=["007", None, "NA"],
        whole=[7, None, -1],
        real=[0.5, 1.0, None],
        truth=[True, None, False],
        day=[datetime.date(2020, 1, 2), None, None],
        code=pyarrow.array(["a", None, "a"]).dictionary_encode(),
        number=pyarrow.array([1, 2, 1]).dictionary_encode(),
        price=[Decimal("1.50"), None, Decimal("0.25")],
    )
    table = read_table(path, role="annotations")
    assert dict(zip(table.header, table.columns, strict=True)) == {
        "text": ["007", "", "NA"],
        "whole": ["7", "", "-1"],
        "real": ["0.5", "1", ""],
        "truth": ["True", "", "False"],
        "day": ["2020-01-02", "", ""],
        "code": ["a", "", "a"],
        "number": ["1", "2", "1"],
        "price": ["1.5", "", "0.25"],
    }
    assert (table.place(1), table.places([0, 2])) == ("v.parquet row 2", "rows 1, 3")
    rows = list(zip(*table.columns, strict=True))
    assert first_rows(path, path.read_bytes()) == [table.header, *rows]


def test_number_columns_keep_their_type(tmp_path: Path) -> None:
    path = store(
        tmp_path / "v.parquet",
        half=np.array([0.5, 1], np.float16),
        single=np.array([0.5, 1], np.float32),
        whole=[1, None],
        price=[Decimal("1.50"), None],
    )
    columns = {column.name: column.numbers() for column in read_columns(path, "predictions")}
    kinds = {name: values.dtype.name for name, values in columns.items()}
    assert kinds == {"half": "float16", "single": "float32", "whole": "float64", "price": "float64"}
    np.testing.assert_array_equal(columns["whole"], [1, np.nan])
    np.testing.assert_array_equal(columns["price"], [1.5, np.nan])


def test_lists_that_nobody_needs_are_not_read(tmp_path: Path) -> None:
    more = {
        "a.b": ["p", "q"],
        "image": [b"x", b"y"],
        "box": [{"x": 1}, {"x": 2}],
        "tags": [[], [1]],
    }
    votes = {"task": ["t1", "t1"], "worker": ["a", "b"], "label": ["cat", "dog"]}
    path = store(tmp_path / "v.parquet", **more, **votes)
    table = plausibly.read_annotations(path)
    assert table["label"].values.tolist() == ["cat", "dog"]
    values = [column.cells for column in read_columns(path, "x") if column.content == "nested"]
    assert values == [None] * 3
    lists = store(tmp_path / "l.parquet", **more, **{**votes, "label": [["cat"], ["dog"]]})
    assert refusal(lambda: plausibly.read_annotations(lists)).name == "column-nested"
    other = store(tmp_path / "o.parquet", **more, item=["t"] * 2, rater=["a", "b"], dx=["x", "y"])
    error = refusal(lambda: plausibly.read_annotations(other, "long-table"))
    assert error.hint == 'columns={"example": "item", "annotator": "rater", "label": "dx"}'


def test_names_may_repeat_only_where_it_is_allowed(tmp_path: Path) -> None:
    write_rows(tmp_path / "v.parquet", ["a", "a"], [["x"], ["y"]])
    assert read_table(tmp_path / "v.parquet", role="sets", unique=False).columns == (["x"], ["y"])
    assert refusal(lambda: read_table(tmp_path / "v.parquet", role="x")).name == "columns-repeat"


@pytest.mark.parametrize(
    "columns",
    [
        {"example": [1.0, 2.5], "a": [0.5, 1.0]},
        {"example": [datetime.date(2020, 1, 2), datetime.date(2020, 1, 3)], "a": [1, 0]},
        {"example": ["x", "y"], "a": np.array([0.5, 1], np.float32)},
        {"example": ["x", "y"], "a": [Decimal("0.5"), Decimal("1.00")]},
        {"example": ["x", "y"], "a": [1, None]},
        {"example": ["x", None], "a": [0.5, 1.0]},
        {"example": ["x", "x"], "a": [0.5, 1.0]},
        {"example": ["x", "y"], "a": ["0.5", "1.0"]},
    ],
)
def test_chunks_are_read_as_the_whole(tmp_path: Path, columns: dict[str, object]) -> None:
    path = store(tmp_path / "p.parquet", **columns)

    def read(chunks: int | None) -> xr.DataArray | str:
        try:
            found = plausibly.read_predictions(path, scale="independent", chunks=chunks)
            return validate.check_predictions(found.compute(), source="p.parquet")
        except InputError as error:
            return error.name

    whole, in_chunks = read(None), read(1)
    if isinstance(whole, str) or isinstance(in_chunks, str):
        assert whole == in_chunks
    else:
        xr.testing.assert_identical(whole, in_chunks)


def test_damaged_files(tmp_path: Path) -> None:
    content = store(tmp_path / "v.parquet", a=["x"] * 100).read_bytes()
    path = written(tmp_path, "cut.parquet", content[:50])
    error = refusal(lambda: read_table(path, role="annotations"))
    assert (error.name, error.what) == ("file-damaged", "cut.parquet is not a whole Parquet file")
    assert error.hint == "copy it again, or write it again"
    assert first_rows(path, path.read_bytes()) == []


def test_files_without_columns(tmp_path: Path) -> None:
    error = refusal(lambda: read_table(store(tmp_path / "v.parquet"), role="annotations"))
    assert error.what == "v.parquet is empty"


def test_without_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = store(tmp_path / "cnn.parquet", a=["x"])
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert refusal(lambda: read_table(path, role="annotations")).name == "extra-missing"
    with pytest.raises(MissingExtra):
        write_rows(tmp_path / "sets.parquet", ["a"], [["x"]])


@pytest.mark.parametrize("kind", ["string", "large_string"])
@given(
    texts=st.lists(
        st.none() | st.sampled_from(["", "a", "b\0", "12345678", "é😀", "123456789", "x\n"]),
        min_size=1,
        max_size=12,
    ),
    row_group=st.integers(1, 13),
)
def test_texts_that_repeat_are_the_same_texts(
    folder: Path,
    kind: str,
    texts: list[str | None],
    row_group: int,
) -> None:
    pyarrow = require("pyarrow", extra="parquet", source="tests")
    parquet = require("pyarrow.parquet", extra="parquet", source="tests")
    path = folder / "votes.parquet"
    column = pyarrow.array(texts, type=getattr(pyarrow, kind)())
    parquet.write_table(pyarrow.table({"task": column}), path, row_group_size=row_group)
    found = read_table(path, role="annotations", repeats=True)
    plain = read_table(path, role="annotations")
    assert list(found.columns[0]) == list(plain.columns[0]) == [text or "" for text in texts]
