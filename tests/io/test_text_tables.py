"""Text tables and Parquet: what is read, by the strict parser or by pyarrow."""

from __future__ import annotations

import datetime
import sys
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, strategies as st

import io_files
import plausibly
from io_files import csv_text, refusal, written
from plausibly.data import validate
from plausibly.data.text_table import Coded, TextTable
from plausibly.errors import InputError, MissingExtra
from plausibly.extras import require
from plausibly.io import text as module
from plausibly.io.datasets import write_rows
from plausibly.io.text import first_row, first_rows, read_columns, read_table, sniff

HEADER = "task,worker,label\n"


def read(path: Path, **options: object) -> TextTable:
    return read_table(path, role="annotations", **options)  # type: ignore[arg-type]  # by name


def test_values_are_text_exactly_as_written(tmp_path: Path) -> None:
    path = written(tmp_path, "v.csv", HEADER + "007,None,NA\n1.0, x ,nan\n,,0\n")
    table = read(path)
    assert table.header == ("task", "worker", "label")
    assert table.columns == (["007", "1.0", ""], ["None", " x ", ""], ["NA", "nan", "0"])
    assert list(table.lines) == [2, 3, 4]
    assert len(read(written(tmp_path, "v.csv", HEADER))) == 0
    path = written(tmp_path, "v.csv", "a,b;c,b;c\n1,2;3,4;5\n")
    assert read(path, delimiter=";").header == ("a,b", "c,b", "c")
    assert read(path, delimiter=",", unique=False).header == ("a", "b;c", "b;c")


def test_lines_count_from_the_start_of_the_file(tmp_path: Path) -> None:
    text = HEADER + '\nt1,w,"two\nlines"\n\n\nt2,w,b\n,,\n"t3",w,c'
    table = read(written(tmp_path, "v.csv", text))
    assert list(table.lines) == [3, 7, 9]
    assert table.place(1) == "v.csv line 7"
    assert table.places([0, 1, 2]) == "lines 3, 7, 9"
    assert table.places([1]) == "line 7"


fields = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)


@given(
    rows=st.lists(st.lists(fields, min_size=3, max_size=3), min_size=1, max_size=8),
    mark=st.sampled_from([b"", b"\xef\xbb\xbf"]),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    delimiter=st.sampled_from([",", ";", "\t"]),
)
def test_any_text_comes_back(
    folder: Path, rows: list[list[str]], mark: bytes, end: str, delimiter: str
) -> None:
    """With any mark, line end and delimiter; a row without text is left below by spreadsheets."""
    text = csv_text([["task", "worker", "label"], *rows], delimiter, end)
    table = read(written(folder, "v.csv", mark + text.encode()), delimiter=delimiter)
    assert [list(row) for row in zip(*table.columns, strict=True)] == [r for r in rows if any(r)]


@pytest.mark.parametrize(("text", "suffix", "delimiter"), io_files.BEGINNINGS["delimiters"])
def test_delimiters_are_found(text: str, suffix: str, delimiter: str) -> None:
    assert sniff(text, suffix) == delimiter
    assert sniff("a,b\n" + "1,2\n" * 30_000 + "1", ".csv") == ","


def test_the_first_rows_are_read_from_the_head_alone(tmp_path: Path) -> None:
    head = ("a,b\n" + "1,2\n" * 20_000).encode()[:65_536]
    assert first_row(tmp_path / "v.csv", head) == ("a", "b")
    assert len(first_rows(tmp_path / "v.csv", head, most=5)) == 5
    assert first_rows(tmp_path / "v.csv", b"\xff\xfe") == []
    assert first_row(tmp_path / "v.csv", b"") == ()


CELLS = st.text(st.sampled_from("ab01 é€😀\t;'\x0b\x85"), max_size=12) | st.sampled_from(
    ["", "task", "NA", "None", "null", "007", "7", "1.0", "x" * 300, "\ufeff", "#N/A", "true"]
)


def read_by(
    path: Path, *, large: int, header: bool = True, delimiter: str | None = None
) -> TextTable | str:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_LARGE", large)
        try:
            return read_table(
                path, role="annotations", header=header, delimiter=delimiter, repeats=True
            )
        except InputError as error:
            return str(error)


def agree(path: Path, *, header: bool = True, delimiter: str | None = None) -> bool:
    """Compare both ways to read a file; return whether pyarrow read it."""
    quick, strict = (
        read_by(path, large=large, header=header, delimiter=delimiter) for large in (0, 1 << 40)
    )
    if isinstance(quick, str) or isinstance(strict, str):
        assert quick == strict
        return False
    assert quick.header == strict.header
    assert [list(column) for column in quick.columns] == [list(c) for c in strict.columns]
    assert list(quick.lines) == list(strict.lines)
    assert (quick.source, quick.unit, quick.named) == (strict.source, strict.unit, strict.named)
    return any(isinstance(column, Coded) for column in quick.columns)


@given(
    rows=st.integers(1, 4).flatmap(
        lambda width: st.lists(st.lists(CELLS, min_size=width, max_size=width), min_size=1)
    ),
    end=st.sampled_from(["\n", "\r\n"]),
    last=st.booleans(),
    mark=st.booleans(),
    header=st.booleans(),
    delimiter=st.sampled_from([",", ";", "\t", None]),
    odd=st.just(b"") | st.binary(max_size=20),
)
def test_any_table(
    folder: Path,
    rows: list[list[str]],
    end: str,
    last: bool,
    mark: bool,
    header: bool,
    delimiter: str | None,
    odd: bytes,
) -> None:
    text = end.join((delimiter or ",").join(row) for row in rows) + end * last
    path = folder / "votes.csv"
    path.write_bytes(b"\xef\xbb\xbf" * mark + text.encode() + odd)
    agree(path, header=header, delimiter=delimiter)


def test_odd_files_are_left_to_the_strict_parser(tmp_path: Path) -> None:
    odd = [b"", b'a,b\n"1",2\n', b"a,b\n1,\x002\n", b"a,b\r1,2\r", b"a,b\n1\n2,3,4\n"]
    odd += [b"a,b\n1,2,3\n", b"a,b\n\n1,2\n", b"a\n\n1\n", b"a,b\n,\n1,2\n", b"a,a\n1,2\n"]
    odd += [b"a,b\n1,\xff\n", b"a,\xff\n1,2\n", b"a," + b"x" * 400_000 + b"\n1,2\n"]
    odd += [b"a," + b"x" * 140_000 + b"\n1,2\n", b"a,b\n1," + b"x" * 140_000 + b"\n"]
    for data in odd:
        assert not agree(written(tmp_path, "votes.csv", data))


def test_many_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In blocks that pyarrow encodes one by one; the annotations are the same too."""
    monkeypatch.setattr(module, "_BLOCK", 1 << 16)
    path = tmp_path / "votes.csv"
    pairs = np.unique(np.random.default_rng(4).integers(0, 3000, (20_000, 2)), axis=0)
    rows = [
        f"t{task},w{worker},{'long label ' * (worker % 3)}{task % 7}"
        for task, worker in np.random.default_rng(5).permutation(pairs)
    ]
    path.write_text("task,worker,label\n" + "\n".join(rows))
    assert agree(path)
    tables = []
    for large in (0, 1 << 40):
        monkeypatch.setattr(module, "_LARGE", large)
        tables.append(plausibly.read_annotations(path, "long-table"))
    xr.testing.assert_identical(*tables)


def store(path: Path, rows: int | None = None, /, **columns: object) -> Path:
    pyarrow = require("pyarrow", extra="parquet", source="tests")
    parquet = require("pyarrow.parquet", extra="parquet", source="tests")
    parquet.write_table(pyarrow.table(columns), path, row_group_size=rows)
    return path


def test_rows_of_parquet_have_numbers(tmp_path: Path) -> None:
    path = store(tmp_path / "v.parquet", text=["007", None, "NA"], whole=[7, None, -1])
    table = read_table(path, role="annotations")
    assert (table.place(1), table.places([0, 2])) == ("v.parquet row 2", "rows 1, 3")
    rows = [("007", "7"), ("", ""), ("NA", "-1")]
    assert first_rows(path, path.read_bytes()) == [("text", "whole"), *rows]


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


def test_lists_that_no_option_names_are_not_read(tmp_path: Path) -> None:
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
    another = store(tmp_path / "o.parquet", **more, item=["t"] * 2, rater=["a", "b"], dx=["x", "y"])
    error = refusal(lambda: plausibly.read_annotations(another, "long-table"))
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
            result = plausibly.read_predictions(path, scale="independent", chunks=chunks)
            return validate.check_predictions(result.compute(), source="p.parquet")
        except InputError as error:
            return error.name

    whole, in_chunks = read(None), read(1)
    if isinstance(whole, str) or isinstance(in_chunks, str):
        assert whole == in_chunks
    else:
        xr.testing.assert_identical(whole, in_chunks)


def test_files_that_are_damaged_or_empty(tmp_path: Path) -> None:
    content = store(tmp_path / "v.parquet", a=["x"] * 100).read_bytes()
    path = written(tmp_path, "cut.parquet", content[:50])
    error = refusal(lambda: read_table(path, role="annotations"))
    assert (error.name, error.hint) == ("file-damaged", "copy it again, or write it again")
    assert first_rows(path, path.read_bytes()) == []
    empty = store(tmp_path / "v.parquet")
    assert refusal(lambda: read_table(empty, role="annotations")).name == "file-empty"


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
    folder: Path, kind: str, texts: list[str | None], row_group: int
) -> None:
    pyarrow = require("pyarrow", extra="parquet", source="tests")
    column = pyarrow.array(texts, type=getattr(pyarrow, kind)())
    path = store(folder / "votes.parquet", row_group, task=column)
    for repeats in (True, False):
        table = read_table(path, role="annotations", repeats=repeats)
        assert list(table.columns[0]) == [text or "" for text in texts]
