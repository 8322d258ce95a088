"""What is said of annotation tables that cannot be written or read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import plausibly
from io_files import refusal, written
from plausibly.data.annotations import AnnotationTable, build_table
from plausibly.io.annotation_files import read_annotation_file, write_annotations


def votes(label: str = "x", **more: object) -> AnnotationTable:
    return build_table(
        "single-label",
        examples=["a", "b"],
        annotators=["q"],
        labels=[label, "y"],
        response_example=[0, 1],
        response_annotator=[0, 0],
        mention_response=[0, 1],
        mention_label=[0, 1],
        response_state=[0, 7],
        **more,  # type: ignore[arg-type]  # keywords of build_table, by name
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_annotations(votes(), "votes.csv")
    return tmp_path


def edited(folder: Path, old: str, new: str) -> Path:
    path = folder / "votes.csv"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return path


WRITTEN: list[tuple[Callable[[], xr.Dataset], str, str, str]] = [
    (votes, "votes.xlsx", "ending-unknown", ".xlsx"),
    (lambda: votes().isel(example=[1, 0]), "votes.csv", "table-detached", "another checksum"),
    (
        lambda: votes(variables={"z": xr.Variable("label", np.array([1j, 2j]))}),
        "votes.npz",
        "value-unwritable",
        "type complex128",
    ),
    (
        lambda: votes(variables={"z": xr.Variable("label", np.array(["a", None], object))}),
        "votes.nc",
        "value-unwritable",
        "objects that are no text",
    ),
    (lambda: votes(attributes={"when": {1, 2}}), "votes.parquet", "value-unwritable", "set"),
]


@pytest.mark.parametrize(("make", "file", "name", "found"), WRITTEN)
def test_what_cannot_be_written(
    folder: Path, make: Callable[[], xr.Dataset], file: str, name: str, found: str
) -> None:
    before = sorted(folder.iterdir())
    error = refusal(lambda: write_annotations(make(), file))
    assert (error.name, error.found, sorted(folder.iterdir())) == (name, found, before)


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".nc"])
def test_half_a_surrogate_pair(folder: Path, ending: str) -> None:
    assert refusal(lambda: write_annotations(votes("\ud800"), f"n{ending}")).name == (
        "value-unwritable"
    )
    write_annotations(votes("\ud800"), "n.npz")
    assert read_annotation_file("n.npz")["label"].values.tolist() == ["\ud800", "y"]


READ = [
    ("1,b,q,y,suggestion,\n", "", "table-changed", "1 response, 1 mention"),
    ("1,b,q,y", "1,b,q,z", "table-changed", "2 responses, 2 mentions"),
    ("1/1 {", "1/2 {", "table-changed", "rows alone"),
    (
        '""version"": 1',
        '""version"": ',
        "file-damaged",
        "Expecting value: line 1 column 46 (char 45)",
    ),
    ('""unlisted"": ""excluded""', '""unlisted"": ""?""', "file-damaged", ""),
    ('""version"": 1', '""version"": 2', "file-other", "format 2"),
    ('""annotation table""', '""plausibilities""', "file-other", "plausibilities"),
    ("1,b,q,y", "one,b,q,y", "number-unreadable", '"one"'),
    ("1,b,q,y", "1,,q,y", "example-unnamed", "an empty cell"),
    ("suggestion", "guess", "number-unreadable", ""),
    ("1,b,q,y", "0,b,q,y", "response-mixed", ""),
    (
        "response,example,annotator,label",
        "response,example,annotator,labels",
        "columns-missing",
        "response, example, annotator, … (6 in all)",
    ),
]


@pytest.mark.parametrize(("old", "new", "name", "found"), READ)
def test_what_cannot_be_read(folder: Path, old: str, new: str, name: str, found: str) -> None:
    error = refusal(lambda: read_annotation_file(edited(folder, old, new)))
    assert (error.name, error.found if found else "") == (name, found)
    assert name == "file-other" or "votes.csv" in error.what


def test_rows_alone_are_read_as_the_kind_that_is_named(folder: Path) -> None:
    error = refusal(lambda: read_annotation_file(edited(folder, "1/1 {", "1/2 {")))
    assert 'reader="annotation-table", kind="single-label"' in error.hint


def test_weights_of_rows_alone(tmp_path: Path) -> None:
    text = "response,example,annotator,label,weight\n0,a,q,x,0.5\n0,a,q,y,0.5\n"
    path = written(tmp_path, "votes.csv", text)
    table = read_annotation_file(path, kind="soft-label")
    assert table["mention_weight"].values.tolist() == [0.5, 0.5]


@pytest.mark.parametrize("ending", [".npz", ".nc"])
def test_arrays_have_no_rows_to_read_alone(folder: Path, ending: str) -> None:
    write_annotations(votes(), f"votes{ending}")
    error = refusal(lambda: read_annotation_file(f"votes{ending}", kind="label-set"))
    assert (error.name, error.found) == ("option-unfit", 'arrays, and kind "label-set"')


def test_rows_that_are_such_answers(tmp_path: Path) -> None:
    text = "response,example,annotator,label\n0,a,q,x\n0,a,q,y\n"
    path = written(tmp_path, "votes.csv", text)
    assert read_annotation_file(path, kind="label-set").sizes["mention"] == 2


def test_labels_outside_those_declared(folder: Path) -> None:
    error = refusal(lambda: plausibly.read_annotations("votes.csv", labels=["x", "z"]))
    assert (error.name, error.found) == ("label-unknown", "1 label outside (y)")


@pytest.mark.parametrize("ending", [".npz", ".nc"])
def test_parts_that_do_not_fit_together(folder: Path, ending: str) -> None:
    path = folder / f"votes{ending}"
    write_annotations(votes(), path)
    if ending == ".npz":
        with np.load(path) as stored:
            arrays = dict(stored)
        arrays["mention_label"] = arrays["mention_label"][::-1]
        np.savez(path, **arrays)
    else:
        with xr.load_dataset(path, engine="scipy") as dataset:
            dataset["mention_label"] = ("mention", dataset["mention_label"].values[::-1])
            dataset.to_netcdf(path, engine="scipy", format="NETCDF3_64BIT")
    error = refusal(lambda: read_annotation_file(path))
    assert (error.name, error.found) == ("file-damaged", "its parts do not fit together")


def test_arrays_of_somebody_else(folder: Path) -> None:
    np.savez(folder / "other.npz", counts=np.eye(2))
    assert refusal(lambda: read_annotation_file("other.npz")).name == "file-damaged"
    xr.Dataset({"a": ("x", [1.0])}).to_netcdf("other.nc", engine="scipy")
    assert refusal(lambda: read_annotation_file("other.nc")).found == (
        "it does not say that it is an annotation table"
    )
