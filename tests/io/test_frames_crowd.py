"""Crowd tables in memory: data frames with one row a vote."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pandas as pd
import pytest
import xarray as xr

import plausibly
from io_files import refusal, said

VOTES = {"task": ["t1", "t1", "t2"], "worker": ["a", "b", "a"], "label": ["cat", "dog", "dog"]}


def makes() -> list[Any]:
    found = [pd.DataFrame, import_module("pyarrow").table]
    try:
        return [*found, import_module("polars").DataFrame]
    except ModuleNotFoundError:  # no dependency of ours: tried where it is installed
        return found


@pytest.mark.parametrize("make", makes())
def test_votes_are_those_of_the_same_file(make: Any, tmp_path: Any) -> None:
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
        'do reader="wide-table", where each column is of an annotator'
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
    assert {"crowd-table", "wide-table"} <= set(known)
    return ", ".join(known)


def test_an_index_of_two_levels_is_two_columns() -> None:
    votes = pd.DataFrame(VOTES).set_index(["worker", "task"])
    assert plausibly.read_annotations(votes, "crowd-table").sizes["response"] == 3
