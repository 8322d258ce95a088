"""Reports of users of other tools about what an export loses: nothing here, in any format."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
import xarray as xr

import plausibly
from io_annotation_tables import ENDINGS
from plausibly.data.annotations import AnnotationTable, not_counted
from plausibly.data.select import answered
from plausibly.plugin import Response, ResponseOptions

RESPONSES = [
    Response(example="t1", annotator="ann", answer="nan"),
    Response(example="t1", annotator="bob", answer="None"),
    Response(example="t1", annotator=None, answer="NA"),
    Response(example="t1", annotator=None, answer="NA"),
    Response(example="t2", annotator="ann", answer=None, state="skipped"),
    Response(example="t2", annotator="bob", answer="nan", state="rejected"),
]


@pytest.fixture(params=ENDINGS)
def found(request: pytest.FixtureRequest, tmp_path: Path) -> xr.Dataset:
    """The table of all responses, written and read back."""
    with pytest.warns(plausibly.PlausiblyWarning, match="annotators-unnamed"):
        table = ResponseOptions().gathered(
            "single-label",
            RESPONSES,
            ["nan", "None", "NA", "nobody says"],
            whose="export.json",
            examples=["t1", "t2", "never assigned"],
            annotators=["ann", "bob", "never answered"],
        )
    plausibly.write_annotations(table, tmp_path / f"votes{request.param}")
    return plausibly.read_annotations(tmp_path / f"votes{request.param}")


def test_report_8_an_annotator_without_an_answer_stays(found: AnnotationTable) -> None:
    assert found["annotator"].values.tolist() == ["ann", "bob", "never answered"]


def test_report_9_a_label_that_nobody_named_stays(found: AnnotationTable) -> None:
    lam = plausibly.aggregate(found, unanswered="drop")
    assert lam.sel(example="t1").values.tolist() == [0.25, 0.25, 0.5, 0.0]


def test_report_10_a_label_called_nan_survives(found: AnnotationTable) -> None:
    assert found["label"].values.tolist() == ["nan", "None", "NA", "nobody says"]


def test_reports_18_and_19_what_is_no_answer_stays_apart(found: AnnotationTable) -> None:
    assert not_counted(found) == {"skipped": 1, "rejected": 1}
    assert found["example"].values.tolist() == ["never assigned", "t1", "t2"]
    assert answered(found) == ["t1"]


def test_report_26_answers_of_unknown_annotators_stay_apart(found: AnnotationTable) -> None:
    assert (found["response_annotator"].values == -1).sum() == 2


def test_report_27_what_was_exported_is_imported_again(tmp_path: Path) -> None:
    """From one format to the next, and back to the first: byte by byte the same file."""
    records = [("a", "ann", "x"), ("a", "bob", "y"), ("b", "bob", "x")]
    first = tmp_path / "0.csv"
    rows = "".join(f"{','.join(record)}\n" for record in records)
    first.write_text(f"task,worker,label\n{rows}", encoding="utf-8")
    table = plausibly.read_annotations(first).assign_attrs(source="", reader="")
    plausibly.write_annotations(table, tmp_path / "1.csv")
    for step, ending in enumerate((".parquet", ".npz", ".nc", ".csv"), start=1):
        before = sorted(tmp_path.glob(f"{step}.*"))[0]
        again = plausibly.read_annotations(before).assign_attrs(source="", reader="")
        plausibly.write_annotations(again, tmp_path / f"{step + 1}{ending}")
    assert (tmp_path / "5.csv").read_bytes() == (tmp_path / "1.csv").read_bytes()


def test_report_31_pandas_shows_every_answer(tmp_path: Path) -> None:
    with pytest.warns(plausibly.PlausiblyWarning):
        table = ResponseOptions().gathered("single-label", RESPONSES, None, whose="export.json")
    for ending, read in ((".csv", pd.read_csv), (".parquet", pd.read_parquet)):
        plausibly.write_annotations(table, tmp_path / f"votes{ending}")
        frame = read(tmp_path / f"votes{ending}")
        assert frame["response"].tolist() == [0, 1, 2, 3, 4, 5]
        said = frame["state"].value_counts().to_dict()
        assert said == {"answered": 4, "skipped": 1, "rejected": 1}
