"""Crowd tables in memory: data frames with one row a vote."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

import pandas as pd
import pytest
import xarray as xr

import plausibly
from io_files import refusal, said

Make: TypeAlias = Callable[..., Any]  # Any: a frame of whichever library
VOTES = {"task": ["t1", "t1", "t2"], "worker": ["a", "b", "a"], "label": ["cat", "dog", "dog"]}


def makes() -> list[Make]:
    found = [pd.DataFrame, import_module("pyarrow").table]
    try:
        return [*found, import_module("polars").DataFrame]
    except ModuleNotFoundError:  # no dependency of ours: tried where it is installed
        return found


@pytest.mark.parametrize("make", makes())
def test_votes_are_those_of_the_same_file(make: Make, tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    pd.DataFrame(VOTES).to_csv(path, index=False)
    frame = make(VOTES)
    found = plausibly.read_annotations(frame, "crowd-table")
    xr.testing.assert_equal(found, plausibly.read_annotations(path))
    assert found.attrs["source"] == "the frame"
    assert found.attrs["reader"] == "crowd-table"


def test_the_frame_is_not_changed() -> None:
    frame = pd.DataFrame(VOTES).set_index("task")
    before = frame.copy(deep=True)
    plausibly.read_annotations(frame, "crowd-table")
    pd.testing.assert_frame_equal(frame, before)


def test_report_4_and_5_other_names_of_columns() -> None:
    frame = pd.DataFrame(VOTES).rename(columns={"worker": "performer", "label": "text"})
    assert said(lambda: plausibly.read_annotations(frame)) == (
        "error reader-unnamed: the frame has 3 columns, and no reader is named "
        "expected one of " + _readers() + '; got columns "task", "performer", "text" '
        'do reader="wide-table", where each column is of an annotator; "counts" or "soft-labels", '
        "where it is of a label"
    )
    frame = pd.DataFrame(VOTES).rename(columns={"worker": "performer", "label": "answer"})
    error = refusal(lambda: plausibly.read_annotations(frame))
    assert error.do == ('reader="crowd-table", columns={"label": "answer", "worker": "performer"}')
    error = refusal(lambda: plausibly.read_annotations(frame, "crowd-table"))
    assert (error.name, error.what) == (
        "columns-missing",
        'the frame has no column "worker", "label"',
    )
    error = refusal(lambda: plausibly.read_annotations(pd.DataFrame(VOTES)))
    assert error.do == 'reader="crowd-table"'
    error = refusal(lambda: plausibly.read_annotations(frame, "selectors"))
    assert (error.name, error.what) == (
        "reader-unfit",
        "reader selectors reads files, not the frame",
    )


def _readers() -> str:
    error = refusal(lambda: plausibly.read_annotations(pd.DataFrame(VOTES)))
    known = error.details["readers"]
    assert isinstance(known, list)
    assert {"crowd-table", "wide-table", "counts", "soft-labels"} <= set(known)
    return ", ".join(known)


def test_an_index_of_two_levels_is_two_columns() -> None:
    votes = pd.DataFrame(VOTES).set_index(["worker", "task"])
    assert plausibly.read_annotations(votes, "crowd-table").sizes["response"] == 3


def test_categories_are_the_declared_labels() -> None:
    labels = pd.CategoricalDtype(["fox", "dog", "cat"])
    frame = pd.DataFrame(VOTES).astype({"label": labels})
    found = plausibly.read_annotations(frame, "crowd-table")
    assert found["label"].values.tolist() == ["fox", "dog", "cat"]
    assert found.attrs["labels_declared"] == 1
    part = plausibly.read_annotations(frame, "crowd-table", missing=("dog",))
    assert part["label"].values.tolist() == ["fox", "cat"]
    assert plausibly.read_annotations(frame, "crowd-table", ["cat", "dog"]).sizes["label"] == 2


def test_report_2_whole_numbers_are_text_as_they_are() -> None:
    votes = [(1, 1, 0), (1, 2, 1), (2, 1, 0), (2, 2, 0)]
    numbers = pd.DataFrame(votes, columns=["task", "worker", "label"])
    found = plausibly.read_annotations(numbers, "crowd-table")
    xr.testing.assert_equal(found, plausibly.read_annotations(numbers.astype(str), "crowd-table"))
    assert plausibly.aggregate(found).sel(example="1").values.tolist() == [0.5, 0.5]


@pytest.mark.filterwarnings("ignore:warning names-alike")
def test_report_3_zero_false_and_text_are_three_labels() -> None:
    said_of = {"task": ["t"] * 3, "worker": ["a", "b", "c"], "label": [0, False, "0.0"]}
    frame = pd.DataFrame(said_of, dtype=object)
    found = plausibly.read_annotations(frame, "crowd-table")
    assert found["label"].values.tolist() == ["0", "0.0", "False"]
