"""Label Studio's JSON-MIN: one record an annotation."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any, TypeAlias

import pytest
import xarray as xr

import plausibly
from io_files import refusal, said, written
from label_studio_files import answers, votes
from plausibly.data.left_out import read_left_out
from plausibly.errors import PlausiblyWarning
from plausibly_builtins.readers.label_studio import LabelStudioMin

Json: TypeAlias = Any  # what a document holds: of any shape, also a wrong one
Option: TypeAlias = Any  # of a reader, by its name


def record(example: object, who: object, number: object, **more: Json) -> dict[str, Json]:
    """Return a record: data of the task, the answer, and who gave it when."""
    own = {"id": example, "annotator": who, "annotation_id": number, "lead_time": 1.5}
    return {"text": f"t{example}", **own, **more}


def write(folder: Path, *records: Json) -> Path:
    return written(folder, "min.json", json.dumps(list(records)))


def read(path: Path, labels: Json = None, **options: Option) -> xr.Dataset:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlausiblyWarning)
        options = {"control": "dx", **options}
        return plausibly.read_annotations(path, "label-studio-min", labels, **options)


def test_one_record_is_one_annotation(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        record(2, 1, 13, dx="a"),
        record(1, "w@example.com", 12, dx="b"),
        record(1, 1, 11, dx="a"),
        {"id": 3, "text": "nobody"},
    )
    table = read(path)
    assert answers(table) == {("1", "1"): "a", ("1", "w@example.com"): "b", ("2", "1"): "a"}
    assert table["example"].values.tolist() == ["1", "2", "3"]
    assert table.attrs["kind"] == "single-label"
    assert read(path, example="text")["example"].values.tolist() == ["nobody", "t1", "t2"]


def test_the_type_of_an_answer_varies(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        record(1, 1, 1, dx="a"),
        record(1, 2, 2, dx={"choices": ["a", "b"]}),
        record(1, 3, 3, dx=["b", {"choices": ["c", "b"]}]),
        record(1, 4, 4, dx=[{"taxonomy": [["a", "c"]]}]),
    )
    assert refusal(lambda: read(path)).name == "control-mixed"
    path = write(tmp_path, *json.loads(path.read_text())[:3])
    found = {("1", "1"): "a", ("1", "2"): "a=b", ("1", "3"): "b=c"}
    assert answers(read(path)) == found
    # An answer that can be nothing else says which key is the control.
    assert answers(plausibly.read_annotations(path)) == found


def test_other_controls(tmp_path: Path) -> None:
    taxonomy = write(tmp_path, record(1, 1, 1, dx=[{"taxonomy": [["Skin", "Eczema"]]}]))
    assert answers(read(taxonomy, control=None)) == {("1", "1"): "Eczema"}
    assert answers(read(taxonomy, taxonomy="path")) == {("1", "1"): "Skin/Eczema"}
    ranker = write(tmp_path, record(1, 1, 1, dx=[{"ranker": {"_": ["b"], "ok": ["a"]}}]))
    assert answers(read(ranker, buckets=("ok",))) == {("1", "1"): "a"}
    rating = write(tmp_path, record(1, 1, 1, dx=[{"rating": 4}]))
    assert refusal(lambda: read(rating)).name == "control-number"
    assert answers(read(rating, numbers="label")) == {("1", "1"): "4"}
    number = write(tmp_path, record(1, 1, 1, dx=7))
    assert refusal(lambda: read(number)).name == "control-number"
    spans = write(tmp_path, record(1, 1, 1, dx=[{"start": 0, "end": 2, "labels": ["a"]}]))
    assert refusal(lambda: read(spans)).what == (
        'min.json: the values of "dx" (labels) are no labels of a task'
    )
    turns = write(tmp_path, record(1, 1, 1, dx_0="a", dx_1="b"), record(1, 2, 2, dx_0="b"))
    table = read(turns, control="dx_{index}")
    assert answers(table) == {("1#0", "1"): "a", ("1#1", "1"): "b", ("1#0", "2"): "b"}


def test_states_of_a_record(tmp_path: Path) -> None:
    path = write(
        tmp_path, record(1, 1, 1, dx="a"), record(1, 2, 2), record(2, None, 3, dx="b", skipped=True)
    )
    assert sorted(votes(read(path))) == [
        ("1", "1", "answered", "a"),
        ("1", "2", "empty", ""),
        ("2", "?", "answered", "b"),
    ]


def test_the_order_of_records_does_not_matter(tmp_path: Path) -> None:
    early, late = "2024-05-15T12:00:00Z", "2024-05-15T12:00:01Z"
    records = [
        record(1, 1, 2, dx="b", updated_at=late),
        record(1, 1, 1, dx="a", updated_at=early),
        record(1, 1, 2, dx="b", updated_at=late),
    ]
    for order in (records, records[::-1]):
        table = read(write(tmp_path, *order))
        assert answers(table) == {("1", "1"): "b"}
        assert read_left_out(table.attrs) == {"earlier answers": 1, "the same annotation again": 1}


@pytest.mark.parametrize(
    ("records", "options", "message"),
    [
        (
            [record(1, 1, 1, dx="a")],
            {"control": None},
            "error control-unnamed: min.json: which key holds the answers is not clear expected "
            'the name of the control; the data of a task stand beside it; got "text", "dx" '
            'do control = "dx", or another of them',
        ),
        (
            [{"id": 1, "annotator": 1, "annotation_id": 2}],
            {"control": None},
            "error control-unnamed: min.json: which key holds the answers is not clear expected "
            "the name of the control; the data of a task stand beside it; got no key but those of "
            "the export itself do export again as JSON",
        ),
        (
            [record(1, 1, 1, diagnosis="a")],
            {"control": "diagnosi"},
            'error control-unknown: min.json holds no answer to a control "diagnosi" expected a '
            'key of the records that holds answers; got "text", "diagnosis" '
            'do did you mean control = "diagnosis"?',
        ),
        (
            [record(1, 1, 1, dx="a"), {"id": 2, "dx": "data"}],
            {},
            'error control-collides: min.json record 2 is no annotation and holds "dx" expected a '
            'key that only answers have; got "dx" among the data of the task, which the answer '
            "overwrites or loses to do export as JSON, where answers and data stand apart",
        ),
        (
            [record(None, 1, 1, dx="a")],
            {},
            "error example-unnamed: min.json record 1 names no example expected text or a number "
            'under "id"; got null do example = "..." with a key that all records have',
        ),
        (
            [record(1, 1, 1, dx=True)],
            {},
            'error value-unfit: min.json record 1: the value of control "dx" is no answer expected '
            "a label, or an object such as {choices: [...]}; got true "
            "do mend it, or export again",
        ),
        (
            [record(1, 1, 1, dx="a"), 7],
            {},
            "error label-studio-shape: min.json is no list of records expected a list of records, "
            "one an annotation; got 7 do export again as JSON-MIN",
        ),
        (
            [],
            {},
            "error label-studio-shape: min.json is no list of records expected a list of records, "
            "one an annotation; got [] do export again as JSON-MIN",
        ),
    ],
)
def test_what_is_refused(
    tmp_path: Path, records: list[Json], options: dict[str, Option], message: str
) -> None:
    path = write(tmp_path, *records)
    assert said(lambda: read(path, **options)) == message


def test_several_keys_that_could_be_the_control(tmp_path: Path) -> None:
    both = {"dx": {"choices": ["a", "b"]}, "tax": [{"taxonomy": [["s"]]}]}
    error = refusal(lambda: read(write(tmp_path, record(1, 1, 1, **both)), control=None))
    assert (error.name, error.got) == ("control-unnamed", '"dx", "tax"')


@pytest.mark.parametrize(
    ("head", "own"),
    [
        ('[{"id": 1, "dx": "a", "annotation_id": 3, "annotator": 1}]', True),
        ('[{"id": 1}, {"annotation_id": 3, "lead_time": 1.5, "te', True),
        ('[{"id": 1, "annotations": [{"result": []}]}]', False),
        ('[{"annotation_id": 3}]', False),
        ('{"annotation_id": 3, "annotator": 1}', False),
        ("annotation_id,annotator\n", False),
    ],
)
def test_what_is_recognised(head: str, own: bool) -> None:
    assert LabelStudioMin().recognises(Path("x.json"), head.encode()) is own
