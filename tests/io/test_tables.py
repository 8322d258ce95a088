"""Tables about examples and labels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, strategies as st

from io_files import csv_text, refusal, written
from plausibly.io.label_tables import (
    read_examples,
    read_labels,
    table_from,
    with_coordinates,
)
from plausibly.io.text import plain


def test_examples_have_text_and_numbers(tmp_path: Path) -> None:
    rows = [
        ["site", "example", "patient", "weight", "year", "code", "gap", "sign"],
        ["north", "a", "7", "0.50", "2020", "007", "1", "+1"],
        ["south", "b", "-3", "1e-3", "1999", "10", "", "2"],
    ]
    table = read_examples(written(tmp_path, "patients.csv", csv_text(rows)))
    assert table.attrs == {"source": "patients.csv"}
    assert list(table.data_vars) == []
    assert table["example"].values.tolist() == ["a", "b"]
    assert all(coordinate.dims == ("example",) for coordinate in table.coords.values())
    kinds = {str(name): coordinate.dtype.kind for name, coordinate in table.coords.items()}
    integers, floats = {"patient", "year"}, {"weight"}
    assert {name for name, kind in kinds.items() if kind == "i"} == integers
    assert {name for name, kind in kinds.items() if kind == "f"} == floats
    assert {name for name, kind in kinds.items() if kind == "U"} == {*rows[0]} - integers - floats
    assert table["patient"].values.tolist() == [7, -3]
    assert table["weight"].values.tolist() == [0.5, 0.001]
    assert table["gap"].values.tolist() == ["1", ""]


NO_NUMBERS = ["007", "+1", " 1", "1 ", "", "nan", "inf", "1_000", "1,5", "-0", "0x1", "1.", ".5"]
NO_NUMBERS += ["1e999", "99999999999999999999", "9223372036854775808", "1" * 5_000, "\u0661", "1\n"]


@pytest.mark.parametrize("text", NO_NUMBERS, ids=lambda text: ascii(text[:20]))
def test_what_is_not_a_number_beyond_doubt(text: str) -> None:
    assert plain([text]) is None
    assert plain(["1", text]) is None
    assert plain([]) is None


@given(st.lists(st.integers(-(2**62), 2**62), min_size=1))
def test_whole_numbers_are_integers(numbers: list[int]) -> None:
    values = plain([str(number) for number in numbers])
    assert values is not None
    assert (values.dtype, values.tolist()) == (np.dtype(np.int64), numbers)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_decimals_are_floats_to_the_last_bit(numbers: list[float]) -> None:
    values = plain([repr(number) for number in numbers])
    assert values is not None
    assert values.tolist() == numbers


def test_labels_from_a_table_or_from_lines(tmp_path: Path) -> None:
    table = read_labels(written(tmp_path, "l.csv", "label,risk\nb,2\n a,0\n"))
    assert table["label"].values.tolist() == ["b", " a"]
    assert table["risk"].values.tolist() == [2, 0]
    for end in ("\n", "\r\n", "\r"):
        text = f"\ufeffb, c{end} a{end}007{end}{end}"
        path = written(tmp_path, "l.txt", text)
        assert read_labels(path)["label"].values.tolist() == ["b, c", " a", "007"]
    assert read_labels(written(tmp_path, "l.tsv", "label\nx\n"))["label"].values.tolist() == ["x"]


def test_coordinates_are_attached_by_name(tmp_path: Path) -> None:
    table = read_examples(written(tmp_path, "p.csv", "example,site,year\nz,s,1\nb,n,2\na,m,3\n"))
    array = xr.DataArray(
        [[1.0, 2.0], [3.0, 4.0]],
        dims=("example", "label"),
        coords={"example": ["a", "b"], "label": ["x", "y"]},
    )
    before = array.copy(deep=True)
    result = with_coordinates(array, table)
    assert result["site"].values.tolist() == ["m", "n"]
    assert result["year"].values.tolist() == [3, 2]
    np.testing.assert_array_equal(result.values, array.values)
    xr.testing.assert_identical(array, before)
    labels = read_labels(written(tmp_path, "l.csv", "label,risk\ny,2\nx,0\n"))
    assert with_coordinates(result.to_dataset(name="p"), labels)["risk"].values.tolist() == [0, 2]


def test_examples_that_the_table_lacks(tmp_path: Path) -> None:
    table = read_examples(written(tmp_path, "patients.csv", "example,site\nscan_7,n\n"))
    array = xr.DataArray([1.0, 2.0], dims="example", coords={"example": ["scan_0007", "c2"]})
    error = refusal(lambda: with_coordinates(array, table))
    assert (error.name, error.found) == (
        "examples-incomplete",
        '"scan_7" there and "scan_0007" here',
    )
    other = xr.DataArray([1.0], dims="example", coords={"example": ["zzz"]})
    assert refusal(lambda: with_coordinates(other, table)).found == "other names"


def test_names_that_repeat() -> None:
    assert refusal(lambda: table_from(["a", "b", "b"], "label")).what == (
        'labels names "b" in rows 2, 3'
    )
