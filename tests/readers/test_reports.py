"""What users reported of other software, where it is about what is made of the answers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import plausibly
from io_files import csv_text, refusal, warned, written


def wide(folder: Path, rows: list[list[str]]) -> xr.Dataset:
    return plausibly.read_annotations(written(folder, "w.csv", csv_text(rows)), "wide-table")


def test_report_8_an_annotator_without_a_vote_stays(tmp_path: Path) -> None:
    header = ["task", "a", "b", "nobody"]
    table = wide(tmp_path, [header, ["1", "cat", "dog", ""], ["2", "cat", "cat", ""]])
    found = plausibly.reliability(table, "worker-agreement")
    assert found["annotator"].values.tolist() == ["a", "b", "nobody"]
    assert found["responses"].values.tolist() == [2, 2, 0]
    assert np.isnan(found["weight"].sel(annotator="nobody"))


@pytest.mark.filterwarnings("ignore:warning annotators-unnamed")
def test_report_26_nobody_is_known_in_a_merged_export(tmp_path: Path) -> None:
    (tmp_path / "export").mkdir()
    text = json.dumps({"id": 1, "text": "text 1", "label": ["A"]})
    written(tmp_path / "export", "all.jsonl", text + "\n")
    table = plausibly.read_annotations(tmp_path / "export", "doccano", kind="single-label")
    assert warned(lambda: plausibly.aggregate(table, "dawid-skene")).startswith(
        "warning annotators-anonymous: dawid-skene takes 1 of 1 response of unknown annotators as "
        "one annotator's"
    )
    error = refusal(lambda: plausibly.aggregate(table, "dawid-skene", unknown="error"))
    assert error.whose == "annotations"
