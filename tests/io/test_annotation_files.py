"""Annotation tables to a file and back, to the last bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings, strategies as st

import plausibly
from io_annotation_tables import KINDS, same, tables
from io_files import damaged, refusal, result_or_refusal, written
from plausibly.data.annotations import AnnotationTable, build_table
from plausibly.io import files
from plausibly.io.annotation_files import (
    is_annotation_file,
    read_annotation_file,
    write_annotations,
)
from plausibly.io.datasets import ENDINGS
from plausibly.plugin import READER, resolve
from plausibly.registry import default


def votes(**more: object) -> AnnotationTable:
    """Two examples with answers, one that was skipped, one that nobody got."""
    return build_table(
        "single-label",
        examples=["007", "never asked", "b, c", "a"],
        annotators=["None", "silent"],
        labels=["x", "unused", " y"],
        response_example=[0, 0, 3, 2],
        response_annotator=[0, -1, 0, -1],
        mention_response=[0, 1, 2],
        mention_label=[2, 0, 0],
        response_state=[0, 5, 0, 2],
        coordinates={
            "risk": xr.Variable("label", [1, 2, 3]),
            "patient": xr.Variable("example", ["p", "q", "p", "r"]),
        },
        **more,  # type: ignore[arg-type]  # keywords of build_table, by name
    )


@pytest.mark.parametrize("ending", ENDINGS)
@given(table=st.sampled_from(KINDS).flatmap(tables))
@settings(max_examples=30)
def test_everything_comes_back(
    tmp_path_factory: pytest.TempPathFactory, ending: str, table: AnnotationTable
) -> None:
    path = tmp_path_factory.mktemp("ann") / f"votes{ending}"
    before = table.copy(deep=True)
    write_annotations(table, path)
    same(table, before)
    same(read_annotation_file(path), table)
    assert [one.name for one in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("ending", ENDINGS)
def test_no_reader_has_to_be_named(tmp_path: Path, ending: str) -> None:
    table = votes(left_out={"bad rows": 2}, attributes={"source": "export.json", "reader": "tool"})
    plausibly.write_annotations(table, tmp_path / f"votes{ending}")
    found = plausibly.read_annotations(tmp_path / f"votes{ending}")
    assert found.attrs["reader"] == "annotation-table"
    assert found.attrs["source"] == f"votes{ending}"
    same(found.assign_attrs(reader="tool", source="export.json"), table)
    assert read_annotation_file(tmp_path / f"votes{ending}").attrs["source"] == "export.json"


def test_rows_are_in_words(tmp_path: Path) -> None:
    write_annotations(votes(), tmp_path / "votes.csv")
    lines = (tmp_path / "votes.csv").read_text(encoding="utf-8").split("\n")
    cut = [line.partition(',"1/1 {')[0] for line in lines]
    assert cut == [
        "response,example,annotator,label,state,about",
        "0,007,,x,unknown-annotator",
        '1,007,None," y",answered,',
        '2,"b, c",,,skipped,',
        "3,a,None,x,answered,",
        "",
    ]


def test_blocks_and_weights_have_columns(tmp_path: Path) -> None:
    table = build_table(
        "partial-ranking",
        examples=["a"],
        annotators=["q"],
        labels=["x", "y"],
        response_example=[0, 0],
        response_annotator=[0, -1],
        mention_response=[1, 1],
        mention_label=[1, 0],
        mention_block=[2, 1],
        mention_weight=[0.1, 1e-300],
        response_weight=[3.0, 0.5],
    )
    for ending in (".csv", ".parquet"):
        write_annotations(table, tmp_path / f"r{ending}")
    lines = (tmp_path / "r.csv").read_text(encoding="utf-8").split("\n")
    assert [line.partition(',"1/1 {')[0] for line in lines] == [
        "response,example,annotator,label,block,weight,response_weight,about",
        "0,a,,x,1,1e-300,0.5",
        "0,a,,y,2,0.1,0.5,",
        "1,a,q,,,,3.0,",
        "",
    ]
    frame = pd.read_parquet(tmp_path / "r.parquet")
    assert frame.columns.tolist() == lines[0].removesuffix(",about").split(",")
    assert frame.drop(columns="annotator").iloc[1].tolist() == [0, "a", "y", 2, 0.1, 0.5]
    assert frame["annotator"].isna().tolist() == [True, True, False]
    assert frame["block"].isna().tolist() == [False, False, True]


@pytest.mark.parametrize("mark", [",", ";", "\t"])
@given(order=st.permutations(range(4)), told=st.booleans())
@settings(max_examples=20)
def test_rows_in_any_order_of_any_spreadsheet(
    folder: Path, mark: str, order: list[int], told: bool
) -> None:
    """Also where the rows alone tell the order of the examples, since all have a response."""
    path = folder / "votes.csv"
    table = plausibly.select_annotations(votes(), example=["007", "b, c", "a"]) if told else votes()
    write_annotations(table, path)
    frame = pd.read_csv(path, dtype=str, keep_default_na=False).iloc[list(order)]
    frame.to_csv(path, index=False, sep=mark, encoding="utf-8-sig", lineterminator="\r\n")
    same(read_annotation_file(path), table)
    assert plausibly.read_annotations(path).attrs["reader"] == "annotation-table"


def test_much_beside_the_rows_takes_several_cells(tmp_path: Path) -> None:
    """No cell is longer than a spreadsheet keeps; there may be more cells than rows."""
    labels = [f"label {place:06,}" for place in range(9_000)]
    table = build_table(
        "single-label",
        examples=["a"],
        annotators=[],
        labels=labels,
        response_example=[0],
        response_annotator=[-1],
        mention_response=[0],
        mention_label=[8_999],
    )
    write_annotations(table, tmp_path / "votes.csv")
    frame = pd.read_csv(tmp_path / "votes.csv", dtype=str, keep_default_na=False)
    assert len(frame) > 2
    assert frame["about"].str.len().max() < 32_767
    frame.iloc[::-1].to_csv(tmp_path / "votes.csv", index=False)
    same(read_annotation_file(tmp_path / "votes.csv"), table)
    frame.iloc[:-1].to_csv(tmp_path / "votes.csv", index=False)
    assert refusal(lambda: read_annotation_file(tmp_path / "votes.csv")).name == "table-changed"


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_label_of_a_hundred_thousand_characters(tmp_path: Path, ending: str) -> None:
    """It does not make the file of two hundred short ones as long as two hundred such."""
    long = "😀" * 100_000
    table = build_table(
        "single-label",
        examples=["a"],
        annotators=[],
        labels=[long, *map(str, range(200))],
        response_example=[0],
        response_annotator=[-1],
        mention_response=[0],
        mention_label=[0],
    )
    write_annotations(table, tmp_path / f"votes{ending}")
    assert (tmp_path / f"votes{ending}").stat().st_size < 3_000_000
    same(read_annotation_file(tmp_path / f"votes{ending}"), table)


@pytest.mark.parametrize("ending", ENDINGS)
def test_labels_that_are_declared_now(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"votes{ending}"
    write_annotations(votes(), path)
    found = plausibly.read_annotations(path, labels=[" y", "new", "x"])
    assert found["label"].values.tolist() == [" y", "new", "x"]
    assert found["risk"].values.tolist()[::2] == [3, 1]
    assert np.isnan(found["risk"].values[1])
    again = plausibly.aggregate(found, unanswered="drop").sel(label=[" y", "x"])
    before = plausibly.aggregate(votes(), unanswered="drop").sel(label=[" y", "x"])
    assert np.array_equal(again.values, before.values)
    error = refusal(lambda: plausibly.read_annotations(path, labels=["x", "unused"]))
    assert (error.name, error.details) == ("label-unknown", {"labels": [" y"]})


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_rows_alone(tmp_path: Path, ending: str) -> None:
    """What pandas writes again is rows alone: they are read where the kind is said."""
    path = tmp_path / f"votes{ending}"
    write_annotations(votes(), path)
    if ending == ".csv":
        pd.read_csv(path, dtype=str).drop(columns="about").to_csv(path, index=False)
    else:
        pd.read_parquet(path).to_parquet(path)
    assert is_annotation_file(path, files.opening(path, "annotations"))
    assert refusal(lambda: read_annotation_file(path)).name == "table-changed"
    found = plausibly.read_annotations(path, {"name": "annotation-table", "kind": "single-label"})
    assert found["label"].values.tolist() == [" y", "x"]
    assert found["example"].values.tolist() == ["007", "a", "b, c"]
    assert found.attrs["labels_declared"] == 0
    assert found["response_state"].values.tolist() == [5, 0, 0, 2]


@pytest.mark.parametrize("digits", [False, True])
def test_no_other_reader_takes_it_for_its_own(tmp_path: Path, digits: bool) -> None:
    named = ["1", "2"] if digits else ["é", "None"]
    table = build_table(
        "single-label",
        examples=named,
        annotators=named,
        labels=named,
        response_example=[0, 0, 1, 1],
        response_annotator=[0, 1, 0, 1],
        mention_response=[0, 1, 2, 3],
        mention_label=[0, 1, 0, 1],
    )
    for ending in ENDINGS:
        path = tmp_path / f"votes{ending}"
        write_annotations(table, path)
        head = files.opening(path, "annotations")
        ours = [e for e in default().entries(READER) if e.source.builtin]
        found = [e.name for e in ours if resolve(READER, e.name).recognises(path, head)]
        assert found == ["annotation-table"]


@pytest.mark.realdata
def test_no_export_of_a_tool_is_taken_for_one(shared: Path) -> None:
    for path in sorted((shared / "cases" / "annotations").rglob("*")):
        head = b"" if path.is_dir() else files.opening(path, "annotations")
        assert not is_annotation_file(path, head), path.name


@pytest.mark.parametrize("ending", ENDINGS)
@given(data=st.data())
@settings(max_examples=25)
def test_damaged_files_are_refused_by_name(folder: Path, ending: str, data: st.DataObject) -> None:
    """Cut or with other bytes in it: the names and codes that were written, or an error."""
    path = folder / f"votes{ending}"
    write_annotations(votes(), path)
    path = damaged(data, path)
    found = result_or_refusal(lambda: read_annotation_file(path), path.name)
    assert found is None or found.attrs["checksum"] == votes().attrs["checksum"]


def test_what_stood_there_stays_where_writing_fails(tmp_path: Path) -> None:
    path = written(tmp_path, "votes.csv", "mine")
    broken = votes(attributes={"odd": object()})
    assert refusal(lambda: write_annotations(broken, path)).name == "value-unwritable"
    assert path.read_text() == "mine"
    assert [one.name for one in tmp_path.iterdir()] == ["votes.csv"]
