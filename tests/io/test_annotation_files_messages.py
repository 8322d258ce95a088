"""What is said of annotation tables that cannot be written or read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import plausibly
from io_files import refusal, said, written
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


WRITTEN: dict[str, tuple[Callable[[], xr.Dataset], str, str]] = {
    "ending": (
        votes,
        "votes.xlsx",
        "error ending-unknown: cannot tell the format of votes.xlsx expected .csv or .parquet or "
        ".npz or .nc; got .xlsx do -o votes.csv",
    ),
    "seal": (
        lambda: votes().isel(example=[1, 0]),
        "votes.csv",
        "error table-detached: annotations: rows were cut, sorted or renamed behind the table's "
        "back expected responses that point at the names they were built with; got a broken seal "
        "do plausibly.select(ann, example=...) on the table as it was read, instead of isel, sel, "
        "sortby or assign_coords",
    ),
    "variable": (
        lambda: votes(variables={"z": xr.Variable("label", np.array([1j, 2j]))}),
        "votes.npz",
        "error variable-unwritable: votes.npz cannot hold the variable z expected numbers, truth "
        "values, text or dates; got type complex128 do change its type, or leave it out: "
        '.drop_vars("z")',
    ),
    "objects": (
        lambda: votes(variables={"z": xr.Variable("label", np.array(["a", None], object))}),
        "votes.nc",
        "error variable-unwritable: votes.nc cannot hold the variable z expected numbers, truth "
        "values, text or dates; got objects that are no text do change its type, or leave it out: "
        '.drop_vars("z")',
    ),
    "attribute": (
        lambda: votes(attributes={"when": {1, 2}}),
        "votes.parquet",
        "error attribute-unwritable: votes.parquet cannot hold the attribute when expected text, a "
        "number, a truth value, or a list, mapping or array of them; got set do write it as text, "
        "or take it away from .attrs",
    ),
    "surrogate": (
        lambda: votes("\ud800"),
        "votes.csv",
        "error name-unwritable: votes.csv cannot hold the name of label '\\ud800' expected "
        "characters that UTF-8 can write; got half a surrogate pair, as some JSON files have do "
        "write .npz instead, or mend the name",
    ),
}


@pytest.mark.parametrize("case", WRITTEN)
def test_what_cannot_be_written(folder: Path, case: str) -> None:
    make, name, message = WRITTEN[case]
    before = sorted(folder.iterdir())
    assert said(lambda: write_annotations(make(), name)) == message
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".nc"])
def test_half_a_surrogate_pair(folder: Path, ending: str) -> None:
    assert refusal(lambda: write_annotations(votes("\ud800"), f"n{ending}")).name == (
        "name-unwritable"
    )
    write_annotations(votes("\ud800"), "n.npz")
    assert read_annotation_file("n.npz")["label"].values.tolist() == ["\ud800", "y"]


READ = {
    "a row was taken away": (
        "1,b,q,y,suggestion,\n",
        "",
        "error table-changed: votes.csv has other rows than were written expected rows that fit "
        "the digest in the file; got 1 response, 1 mention do copy it again; or --reader "
        'annotation-table --kind single-label (kind="single-label"), if the rows are such answers, '
        "to read them as they stand",
    ),
    "a name is new": ("1,b,q,y", "1,b,q,z", "error table-changed: votes.csv has other rows than"),
    "what it says is lost": (
        "1/1 {",
        "1/2 {",
        "error table-incomplete: votes.csv does not say what its rows cannot expected the column "
        '"about" as plausibly wrote it (Parquet: the metadata), with the kind of answer, all '
        "labels and what else there is; got rows alone do write it again; or --reader "
        'annotation-table --kind single-label (kind="single-label"), if the rows are such answers, '
        "to read them alone",
    ),
    "what it says is no JSON": (
        '""version"": 1',
        '""version"": ',
        "error file-damaged: votes.csv is not a whole file expected what plausibly wrote; got "
        "Expecting value: line 1 column 46 (char 45) do copy it again, or write it again",
    ),
    "what it says does not fit": (
        '""unlisted"": ""excluded""',
        '""unlisted"": ""?""',
        "error file-damaged: votes.csv is not a whole file expected what plausibly wrote; got",
    ),
    "it is of a later version": (
        '""version"": 1',
        '""version"": 2',
        "error file-newer: votes.csv was written by a later version of plausibly expected format "
        '1; got format 2 do upgrade here: pip install --upgrade "plausibly"',
    ),
    "it is something else": (
        '""plausibly"": ""annotation table""',
        '""plausibly"": ""plausibilities""',
        "error file-other: votes.csv holds something else expected annotation table; got "
        "plausibilities do plausibly.read_plausibilities(path), or the option plausibilities",
    ),
    "a number is none": (
        "1,b,q,y",
        "one,b,q,y",
        'error number-unreadable: votes.csv line 3, column "response" is not a number expected a '
        'whole number; got "one" do mend that line',
    ),
    "no example": (
        "1,b,q,y",
        "1,,q,y",
        "error example-unnamed: votes.csv names no example in line 3 expected the name of an "
        "example; got an empty cell do name it, or remove the row",
    ),
    "no state": (
        "suggestion",
        "guess",
        'error state-unknown: votes.csv line 3: "guess" is no state of a response expected '
        "answered, unfinished, skipped, empty, none-of-these, unknown-annotator, rejected, "
        "suggestion, consolidated do mend that line",
    ),
    "a response of two examples": (
        "1,b,q,y",
        "0,b,q,y",
        "error response-mixed: votes.csv line 3 is about another example, annotator, weight or "
        "state than the rows before it of response 0 expected rows of one response that differ in "
        "what they name alone do give it another number",
    ),
    "no column of labels": (
        "response,example,annotator,label",
        "response,example,annotator,labels",
        'error columns-missing: votes.csv has no column "label" expected that column; got '
        "response, example, annotator, … (6 in all) do name the columns response, example, "
        "annotator and label",
    ),
}


@pytest.mark.parametrize("case", READ)
def test_what_cannot_be_read(folder: Path, case: str) -> None:
    old, new, message = READ[case]
    path = edited(folder, old, new)
    assert said(lambda: read_annotation_file(path)).startswith(message)


def test_weights_of_rows_alone(tmp_path: Path) -> None:
    text = "response,example,annotator,label,weight\n0,a,q,x,0.5\n0,a,q,y,0.5\n"
    path = written(tmp_path, "votes.csv", text)
    table = read_annotation_file(path, kind="soft-label")
    assert table["mention_weight"].values.tolist() == [0.5, 0.5]


@pytest.mark.parametrize("ending", [".npz", ".nc"])
def test_arrays_have_no_rows_to_read_alone(folder: Path, ending: str) -> None:
    write_annotations(votes(), f"votes{ending}")
    assert said(lambda: read_annotation_file(f"votes{ending}", kind="label-set")) == (
        f"error option-unfit: votes{ending}: kind has no meaning here expected a CSV or Parquet "
        'file, whose rows can be read alone; got arrays, and kind "label-set" do leave kind out: '
        "the file has its own"
    )


def test_rows_that_are_such_answers(tmp_path: Path) -> None:
    text = "response,example,annotator,label\n0,a,q,x\n0,a,q,y\n"
    path = written(tmp_path, "votes.csv", text)
    assert read_annotation_file(path, kind="label-set").sizes["mention"] == 2


def test_labels_outside_those_declared(folder: Path) -> None:
    assert said(lambda: plausibly.read_annotations("votes.csv", labels=["x", "z"])) == (
        'error label-unknown: votes.csv: annotators say "y" expected one of 2 declared labels; '
        "got 1 label outside (1 vote) do declare them in --labels too, or leave --labels out: the "
        "file has its own"
    )


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
    assert said(lambda: read_annotation_file(path)) == (
        f"error file-damaged: votes{ending} is not a whole file expected what plausibly wrote; got "
        "its parts do not fit together do copy it again, or write it again"
    )


def test_arrays_of_somebody_else(folder: Path) -> None:
    np.savez(folder / "other.npz", counts=np.eye(2))
    assert refusal(lambda: read_annotation_file("other.npz")).name == "file-damaged"
    xr.Dataset({"a": ("x", [1.0])}).to_netcdf("other.nc", engine="scipy")
    assert refusal(lambda: read_annotation_file("other.nc")).got == (
        "it does not say that it is an annotation table"
    )
