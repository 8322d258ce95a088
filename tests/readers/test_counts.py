"""Tables of counts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, strategies as st

import plausibly
from io_files import csv_text, refusal, result_or_refusal, said, written
from plausibly.io.text import write_columns
from plausibly_builtins.readers.counts import Counts

TEXT = "example,cat,dog,fox\nb,2,0,1\na,0,0,0\nc,0,3,0\n"
EXPECTED = {"a": [0, 0, 0], "b": [2, 0, 1], "c": [0, 3, 0]}


def read(path: Path, labels: list[str] | None = None, **options: object) -> xr.Dataset:
    return plausibly.read_annotations(path, "counts", labels, **options)


def counts_of(table: xr.Dataset) -> dict[str, list[int]]:
    """Return the votes of each example by label, from the codes alone."""
    counts = np.zeros((table.sizes["example"], table.sizes["label"]), int)
    for mention, response in enumerate(table["mention_response"].values):
        row = table["response_example"].values[response]
        column = table["mention_label"].values[mention]
        counts[row, column] += int(table["response_weight"].values[response])
    return dict(zip(table["example"].values.tolist(), counts.tolist(), strict=True))


def test_counts_are_read(tmp_path: Path) -> None:
    table = read(written(tmp_path, "c.csv", TEXT))
    assert counts_of(table) == EXPECTED
    assert table.attrs["kind"] == "single-label"
    assert bool(table.attrs["labels_declared"])
    assert table["label"].values.tolist() == ["cat", "dog", "fox"]
    assert (table["response_annotator"].values == -1).all()
    assert table.sizes["annotator"] == 0
    assert table.sizes["response"] == 3
    lam = plausibly.aggregate(table, unanswered="drop")
    assert lam.sel(example="b").values.tolist() == [2 / 3, 0, 1 / 3]
    assert lam["denominator"].sel(example="b").item() == 3


def test_every_format_gives_the_same(tmp_path: Path) -> None:
    labels, examples = ["cat", "dog", "fox"], list(EXPECTED)
    values = np.array(list(EXPECTED.values()))
    np.savez(tmp_path / "c.npz", counts=values, label_names=labels, names=examples, other=values)
    np.savez(tmp_path / "d.npz", votes=values.astype(float), labels=labels, examples=examples)
    write_columns(tmp_path / "c.parquet", ["example", *labels], [examples, *values.T.copy()])
    columns: list[list[object]] = [["x", *labels]]
    columns += [[name, *row] for name, row in EXPECTED.items()]
    tables = [
        read(tmp_path / "c.npz"),
        read(tmp_path / "d.npz", array="votes"),
        read(tmp_path / "c.parquet"),
        read(written(tmp_path, "c.tsv", csv_text(columns, "\t"))),
        read(written(tmp_path, "f.csv", "example,cat,dog,fox\na,0.0,0,0\nb,2.0,0,1\nc,0,3.00,0\n")),
    ]
    for table in tables:
        xr.testing.assert_equal(table, read(written(tmp_path, "c.csv", TEXT)))


def test_arrays_without_names(tmp_path: Path) -> None:
    np.save(tmp_path / "c.npy", np.array([[1, 2]] * 11, np.uint8))
    table = read(tmp_path / "c.npy", ["cat", "dog"])
    assert table["example"].values.tolist() == [str(row) for row in range(11)]
    assert counts_of(table)["10"] == [1, 2]


def test_the_column_of_names(tmp_path: Path) -> None:
    rows = [["site", "id", "cat", "dog"], ["n", "01", "2", "0"], ["s", "02", "0", "1"]]
    path = written(tmp_path, "c.csv", csv_text(rows))
    expected = {"01": [2, 0], "02": [0, 1]}
    assert counts_of(read(path, ignore=["site"])) == expected
    assert counts_of(read(path, ignore=["site"], example="id")) == expected
    whole = written(tmp_path, "w.csv", "id,cat,dog\n17,2,0\n18,0,1\n")
    assert counts_of(read(whole, example="id")) == {"17": [2, 0], "18": [0, 1]}
    assert said(lambda: read(whole)) == (
        "error columns-missing: w.csv has no column that names the examples "
        "expected a column example, or one that is not of counts; got id, cat, dog "
        """do --reader '{name = "counts", example = "id"}', if that column does"""
    )
    error = refusal(lambda: read(whole, example="x"))
    assert error.what == 'w.csv has no column "x"'
    error = refusal(lambda: read(whole, example="id", ignore=["id"]))
    assert error.name == "columns-missing"


def test_rows_without_a_name(tmp_path: Path) -> None:
    path = written(tmp_path, "c.csv", "example,cat,dog\na,1,0\n,2,0\n,3,0\n")
    assert said(lambda: read(path)) == (
        "error example-unnamed: c.csv names no example in lines 3, 4 "
        "expected the name of an example; got an empty cell "
        """do name it, or --reader '{name = "counts", unnamed = "drop"}' (recorded)"""
    )
    table = read(path, unnamed="drop")
    assert counts_of(table) == {"a": [1, 0]}
    assert "not counted: 2 rows without a name" in repr(table)


def test_declared_labels_stay_at_full_width(tmp_path: Path) -> None:
    table = read(written(tmp_path, "c.csv", TEXT), ["owl", "fox", "cat", "dog"])
    assert table["label"].values.tolist() == ["owl", "fox", "cat", "dog"]
    assert counts_of(table)["b"] == [0, 1, 2, 0]


@given(data=st.data())
def test_the_order_of_rows_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    names = st.text('ab,"é', min_size=1, max_size=3).filter(str.strip)
    labels = data.draw(st.lists(names, min_size=1, max_size=3, unique=True))
    row = st.lists(st.integers(0, 10**9), min_size=len(labels), max_size=len(labels))
    counts = data.draw(st.dictionaries(names, row, min_size=1, max_size=4))
    folder = tmp_path_factory.mktemp("order")
    header = ["example", *labels]
    rows = [[name, *votes] for name, votes in counts.items()]
    first = written(folder, "a.csv", csv_text([header, *rows]))
    second = written(folder, "b.csv", csv_text([header, *data.draw(st.permutations(rows))]))
    xr.testing.assert_equal(read(first, example="example"), read(second, example="example"))
    assert counts_of(read(first, example="example")) == counts


# ---- what is said


def test_columns_that_hold_no_counts(tmp_path: Path) -> None:
    path = written(tmp_path, "c.csv", "example,cat,site,p\na,1,n,0.5\nb,2,s,0.25\n")
    assert said(lambda: read(path)) == (
        'error columns-not-counts: c.csv holds no counts in column "site" '
        'expected one column that names the examples, then counts; got "n" and the like '
        """do --reader '{name = "counts", ignore = ["site"]}'"""
    )
    fault = refusal(lambda: read(path, ignore=["site"]))
    assert (fault.name, fault.details["lines"]) == ("count-unreadable", [2, 3])
    assert counts_of(read(path, ignore=["site", "p"])) == {"a": [1], "b": [2]}
    error = refusal(lambda: read(path, ignore=["sight"]))
    assert (error.what, error.do) == (
        'c.csv has no column "sight"',
        "name columns of the file in ignore",
    )
    assert said(lambda: read(written(tmp_path, "c.csv", "example\na\n"))) == (
        "error columns-missing: c.csv has no column of counts "
        "expected one column that names the examples, then one a label; got example "
        "do add one column a label"
    )


def test_cells_that_are_no_counts(tmp_path: Path) -> None:
    path = written(tmp_path, "c.csv", "example,cat,dog\na,1,-1\nb,2,\nc,3,4\nd,5,6\n")
    assert said(lambda: read(path)) == (
        'error count-unreadable: c.csv line 2, column "dog" is not a number of votes '
        'expected a whole number, 0 or more; got "-1", a negative number (2 such '
        "cells) do a count is 0 or more: mend that line"
    )


@pytest.mark.parametrize("cell", ["1" + "0" * 15, "9" * 5_000, "1.5", "007", "1e3", "nan"])
def test_what_is_no_count(tmp_path: Path, cell: str) -> None:
    path = written(tmp_path, "c.csv", f"example,cat\na,1\nb,{cell}\n")
    assert refusal(lambda: read(path)).name == "count-unreadable"


def test_examples_that_repeat(tmp_path: Path) -> None:
    path = written(tmp_path, "c.csv", "example,cat\na,1\nb,1\na,2\nb,1\nb,3\n")
    assert said(lambda: read(path)) == (
        'error example-twice: c.csv names "a" in lines 2, 4 (and 1 example more again) '
        "expected one row an example; got 2 do keep one, or add up their counts"
    )


def test_columns_that_were_not_declared(tmp_path: Path) -> None:
    path = written(tmp_path, "c.csv", TEXT)
    assert said(lambda: read(path, ["cat", "dog"])) == (
        'error label-unknown: c.csv counts votes for "fox" '
        "expected columns among the 2 declared labels; got 1 column besides "
        """do --reader '{name = "counts", ignore = ["fox"]}'"""
    )
    assert refusal(lambda: read(path, ["cat", "dog", "Fox"])).do == (
        """did you mean "Fox"? mend it, or --reader '{name = "counts", ignore = ["fox"]}'"""
    )
    np.savez(tmp_path / "c.npz", counts=[[1]], labels=["cat"])
    assert refusal(lambda: read(tmp_path / "c.npz", ["dog"])).name == "label-unknown"


def test_arrays_whose_labels_nobody_names(tmp_path: Path) -> None:
    np.save(tmp_path / "c.npy", np.ones((2, 3), int))
    assert said(lambda: read(tmp_path / "c.npy")) == (
        "error labels-unnamed: c.npy has 3 columns and no label names "
        "expected names in column order; an order is never guessed "
        "do --labels labels.txt (one name a line)"
    )
    assert said(lambda: read(tmp_path / "c.npy", ["a", "b"])) == (
        "error names-count: c.npy has 3 columns and 2 labels expected one name a column; "
        "got a, b do name every column once, in order"
    )


@pytest.mark.parametrize("wrong", [0.5, -1.0, np.nan, np.inf, 2.0**60])
def test_arrays_that_hold_no_counts(tmp_path: Path, wrong: float) -> None:
    np.save(tmp_path / "c.npy", np.array([[1.0, 2.0], [3.0, wrong]]))
    assert said(lambda: read(tmp_path / "c.npy", ["a", "b"])) == (
        "error count-unreadable: c.npy row 2, column 2 is not a number of votes "
        f"expected a whole number, 0 or more; got {wrong} do save the counts, not shares of them"
    )


def test_an_npz_without_the_array(tmp_path: Path) -> None:
    np.savez(tmp_path / "c.npz", votes=[[1]])
    assert refusal(lambda: read(tmp_path / "c.npz")).what == "c.npz has no array counts"


def test_tables_without_rows(tmp_path: Path) -> None:
    error = refusal(lambda: read(written(tmp_path, "c.csv", "example,a\n")))
    assert (error.name, error.got) == ("file-empty", "a header and no rows")


# ---- recognition


@pytest.mark.parametrize("text", [TEXT, "id,cat,dog\na1,0,2\n", "w001,201,0\nw002,201,1\n", ""])
def test_no_table_is_recognised_by_its_numbers(tmp_path: Path, text: str) -> None:
    path = written(tmp_path, "v.csv", text)
    assert not Counts().recognises(path, path.read_bytes())


def test_recognition_of_arrays(tmp_path: Path) -> None:
    whole, real = np.ones((2, 2), np.uint8), np.ones((2, 2))
    np.save(tmp_path / "whole.npy", whole)
    np.save(tmp_path / "real.npy", real)
    np.savez(tmp_path / "counts.npz", counts=whole)
    np.savez(tmp_path / "probs.npz", probs=real)
    written(tmp_path, "broken.npz", b"PK\x03\x04")
    found = {p.name for p in tmp_path.iterdir() if Counts().recognises(p, p.read_bytes())}
    assert found == {"counts.npz"}


@given(content=st.binary(max_size=150), start=st.sampled_from([b"", TEXT.encode()]))
def test_any_bytes_are_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, start: bytes
) -> None:
    path = written(tmp_path_factory.mktemp("any"), "v.csv", start + content)
    Counts().recognises(path, start + content)
    result_or_refusal(lambda: read(path), path.name)
