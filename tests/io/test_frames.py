"""Data frames in memory: names and numbers exactly as the frame holds them."""

from __future__ import annotations

from collections import UserDict
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeAlias

import attrs
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings, strategies as st

import plausibly
from call_files import each_call
from io_files import csv_text, refusal, several, written
from plausibly.io.frames import text_table
from plausibly.io.text import read_table

Frame: TypeAlias = Any  # of whichever library: polars and pyarrow have no types here
Make: TypeAlias = Callable[..., Frame]
pa: Any = import_module("pyarrow")  # without type hints
parquet: Any = import_module("pyarrow.parquet")  # as above
FRAME = pd.DataFrame({"example": [1, 2], "cat": [1, 0], "dog": pd.array([0, None], "Int64")})
VOTES = {"task": ["t1", "t1", "t2"], "worker": ["a", "b", "a"], "label": ["cat", "dog", "dog"]}


@attrs.frozen
class DataSet:
    """The part of a data set of Hugging Face that is used; labels are a feature with names."""

    table: Frame
    features: dict[str, object]

    @property
    def shape(self) -> tuple[int, int]:
        return (self.table.num_rows, self.table.num_columns)

    def __len__(self) -> int:
        return self.shape[0]

    def with_format(self, name: str) -> Frame:
        assert name == "arrow"
        return self.table


class Splits(UserDict[str, DataSet]):
    """A data set by split."""

    with_format = None


def column(frame: object) -> list[str]:
    """Return the text of the column x, if it can be read."""
    table = text_table(frame)
    table.need(["x"], hint="")
    return table.column("x")


def makes() -> list[Make]:
    result = [pd.DataFrame, pa.table]
    try:
        return [*result, import_module("polars").DataFrame]
    except ModuleNotFoundError:  # no dependency of ours: tried where it is installed
        return result


@pytest.mark.parametrize("make", makes())
def test_predictions_keep_names_and_type(make: Make) -> None:
    single = {"cat": np.array([0.25, 1], np.float32), "dog": np.array([0.75, 0], np.float32)}
    result = plausibly.read_predictions(make({"example": ["x", "y"], **single}))
    assert result["example"].values.tolist() == ["x", "y"]
    assert result["label"].values.tolist() == ["cat", "dog"]
    assert result.values.tolist() == [[0.25, 0.75], [1, 0]]
    assert result.dtype == np.float32


def test_predictions_of_whole_numbers_gaps_and_views() -> None:
    result = plausibly.read_predictions(FRAME, bad_rows="drop")
    assert result["example"].values.tolist() == ["1"]
    assert result.dtype == np.float64
    views = pd.DataFrame({"example": ["x", "x"], "view": ["l", "r"], "cat": [0.5, 1.0]})
    result = plausibly.read_predictions(views, augmentation="view", scale="independent")
    assert result.dims == ("augmentation", "example", "label")


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([7, 8], ["7", "8"]),
        ([7.0, 8.5], ["7", "8.5"]),
        ([True, False], ["True", "False"]),
        (["007", " a "], ["007", " a "]),
        (["nan", None], ["nan", ""]),
        (["None", np.nan], ["None", ""]),
        ([1, "x"], ["1", "x"]),
        ([0.1, np.nan], ["0.1", ""]),
        (np.array([0.1, 3], np.float32), ["0.1", "3"]),
        (pd.array([12345678901234567, None], dtype="Int64"), ["12345678901234567", ""]),
        (pd.array(["x", None], dtype="string"), ["x", ""]),
        (pd.array([True, None], dtype="boolean"), ["True", ""]),
        (pd.Categorical([2, None], categories=[1, 2]), ["2", ""]),
        (pd.to_datetime(pd.Series(["2020-01-02", None])), ["2020-01-02", ""]),
        (pa.array([7, None]), ["7", ""]),
        (pa.array([0.5, None], pa.float32()), ["0.5", ""]),
        (pa.array([True, None]), ["True", ""]),
        (pa.array(["nan", None]), ["nan", ""]),
        (pa.array(["b", None, "b"]).dictionary_encode(), ["b", "", "b"]),
        (pa.array([1, 2, 1]).dictionary_encode(), ["1", "2", "1"]),
        (pa.array(["b"], pa.large_string()), ["b"]),
        (pa.array([date(2020, 1, 2), None]), ["2020-01-02", ""]),
        (pa.array([Decimal("1.50"), None, Decimal("0.25")]), ["1.5", "", "0.25"]),
    ],
)
def test_text_is_exact(tmp_path: Path, values: object, texts: list[str]) -> None:
    """Reports 2, 3 and 10: 7 and "007", 1 and True, "nan" and nothing are different names."""
    if not hasattr(values, "to_pylist"):
        assert column(pd.DataFrame({"x": values})) == texts
        return
    table = pa.table({"x": values})
    assert column(table) == texts
    parquet.write_table(table, tmp_path / "x.parquet")
    read = read_table(tmp_path / "x.parquet", role="annotations")
    assert [*read.column("x")] == texts


@given(
    values=st.lists(
        st.none() | st.text(max_size=5) | st.integers(-(2**70), 2**70) | st.booleans(), min_size=1
    )
)
def test_any_objects_are_text_or_nothing(values: list[object]) -> None:
    frame = pd.DataFrame({"x": pd.Series(values, dtype=object)})
    assert column(frame) == ["" if value is None else str(value) for value in values]


@given(values=st.lists(st.none() | st.floats(allow_nan=False), min_size=1))
def test_any_floats_come_back(values: list[float | None]) -> None:
    frame = pa.table({"x": pa.array(values, pa.float64())})
    assert [float(text) if text else None for text in column(frame)] == values


def test_an_index_that_names_is_read() -> None:
    votes = pd.DataFrame(VOTES)
    wide = votes.pivot(index="task", columns="worker", values="label")
    result = plausibly.read_annotations(wide, "wide-table")
    assert result["example"].values.tolist() == ["t1", "t2"]
    assert result["annotator"].values.tolist() == ["a", "b"]
    assert text_table(pd.DataFrame({"x": [1]}, index=["case"])).header == ("index", "x")
    assert text_table(votes[votes["worker"] == "a"]).header == ("task", "worker", "label")
    levels = votes.set_index(["worker", "task"])
    before = levels.copy(deep=True)
    assert plausibly.read_annotations(levels, "long-table").sizes["response"] == 3
    pd.testing.assert_frame_equal(levels, before)


def test_categories_are_the_declared_labels() -> None:
    labels = pd.CategoricalDtype(["dog", "fox", "cat"])
    wide = pd.DataFrame({"a": ["cat", None], "b": ["dog", "cat"]}).astype(labels)
    long = pd.DataFrame(VOTES).astype({"label": labels})
    assert text_table(long).offered == {"label": ("dog", "fox", "cat")}
    for frame, reader in ((wide, "wide-table"), (long, "long-table")):
        result = plausibly.read_annotations(frame, reader)
        assert result["label"].values.tolist() == ["dog", "fox", "cat"]
        assert result.attrs["labels_declared"] == 1
    part = plausibly.read_annotations(wide.astype({"a": str}), "wide-table", missing=("nan",))
    assert part["label"].values.tolist() == ["cat", "dog"]
    part = plausibly.read_annotations(long, "long-table", missing=("dog",))
    assert part["label"].values.tolist() == ["fox", "cat"]
    assert plausibly.read_annotations(long, "long-table", ["cat", "dog"]).sizes["label"] == 2


def test_report_54_label_minus_1_of_a_data_set_is_no_label() -> None:
    data = DataSet(pa.table({"id": ["a", "b", "c"], "label": [0, -1, 1]}), {"label": NAMES})
    assert text_table(data).column("label") == ["entailment", "", "neutral"]
    result = plausibly.read_annotations(data, "wide-table", example="id")
    assert result["label"].values.tolist() == NAMES.names
    assert (result.sizes["example"], result.sizes["response"]) == (3, 2)
    assert result.attrs["source"] == "the data set"


DATA = DataSet(pa.table({"x": [1]}), {})
NAMES = SimpleNamespace(names=["entailment", "neutral", "contradiction"])


def test_rows_are_counted_from_one() -> None:
    frame = pd.DataFrame({"task": ["t1", None], "a": ["cat", "dog"]})
    error = refusal(lambda: plausibly.read_annotations(frame, "wide-table"))
    assert error.what == "the frame names no example in row 2"
    error = refusal(lambda: plausibly.read_annotations(frame.head(1), "wide-table", ["dog"]))
    assert error.what.startswith("the frame row 1, column a")


def test_columns_that_no_option_names_may_be_nested() -> None:
    frame = pd.DataFrame({"x": [[1], [2]], "task": [1, 2], "a": ["u", "v"]})
    assert plausibly.read_annotations(frame, "wide-table", annotators=["a"]).sizes["response"] == 2


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "narwhals", None)
    monkeypatch.setitem(__import__("sys").modules, "narwhals.stable.v1", None)
    assert refusal(lambda: text_table(pd.DataFrame(VOTES))).name == "extra-missing"


def test_polars_has_types_of_its_own() -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"a": ["cat", None], "b": ["dog", "cat"]})
    for dtype, labels in (
        (polars.Enum(["dog", "fox", "cat"]), ["dog", "fox", "cat"]),
        (polars.Categorical, ["cat", "dog"]),
    ):
        result = plausibly.read_annotations(frame.cast(dtype), "wide-table")
        assert result["label"].values.tolist() == labels
    assert refusal(lambda: text_table(frame.lazy())).name == "frame-unfit"
    assert refusal(lambda: column(polars.DataFrame({"x": [[1], [2]]}))).name == "column-nested"
    assert refusal(lambda: column(polars.DataFrame({"x": [1.0, None]}))).hint == (
        'frame.with_columns(pl.col("x").cast(pl.Int64))'
    )


def test_records_with_a_label_table() -> None:
    about = xr.Dataset(coords={"label": ["cat", "dog"], "alias": ("label", ["kitty", ""])})
    table = plausibly.build_annotations("single-label", [("x", "a", "kitty")], about)
    assert table["label"].values.tolist() == ["cat", "dog"]
    assert plausibly.aggregate(table).values.tolist() == [[1.0, 0.0]]
    error = refusal(lambda: plausibly.build_annotations("single-label", [("x", "a", "fox")], about))
    assert error.name == "label-unknown"


LABELS = ["cat", "dog", "007", " a ", "a, b", "nan", "None", "ä", "l\nm"]


@settings(max_examples=40)
@given(
    columns=st.integers(1, 5).flatmap(
        lambda size: st.fixed_dictionaries(
            {
                "task": st.just([f"t{row}" for row in range(size)]),
                **dict.fromkeys("abc", several(st.none() | st.sampled_from(LABELS), size)),
            }
        )
    ),
    make=st.sampled_from(makes()),
)
def test_a_frame_and_its_file_give_the_same(
    folder: Path, columns: dict[str, list[str | None]], make: Make
) -> None:
    rows = [[cell or "" for cell in row] for row in zip(*columns.values(), strict=True)]
    path = written(folder, "w.csv", csv_text([list(columns), *rows]))
    result = plausibly.read_annotations(make(columns), "wide-table", LABELS)
    xr.testing.assert_equal(result, plausibly.read_annotations(path, "wide-table", LABELS))


def test_reports_4_and_5_other_names_of_columns_and_the_hints() -> None:
    votes = pd.DataFrame(VOTES)
    error = refusal(lambda: plausibly.read_annotations(votes))
    assert error.hint == 'reader="long-table", columns={"example": "task", "annotator": "worker"}'
    frame = votes.rename(columns={"worker": "performer", "label": "answer"})
    error = refusal(lambda: plausibly.read_annotations(frame, "long-table"))
    assert (error.name, error.what) == ("columns-missing", 'the frame has no column "label"')
    assert refusal(lambda: plausibly.read_annotations(frame, "selectors")).name == "reader-unfit"
    named = votes.rename(columns={"task": "example", "worker": "annotator"})
    assert plausibly.read_annotations(named).attrs["reader"] == "long-table"


test_each_call_gives_its_text = each_call(__file__, globals())
