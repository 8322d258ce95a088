"""SageMaker Ground Truth: manifests with merged labels, and the answers of workers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import xarray as xr
from hypothesis import given, strategies as st

import plausibly
from io_files import refusal, result_or_refusal, said, warned, written
from plausibly.data.annotations import not_counted
from plausibly.testing import check_reader
from plausibly_builtins.readers.sagemaker import SageMaker
from readers_votes import once, voted, votes

results = pytest.mark.filterwarnings("ignore:warning votes-consolidated")

JOB = "groundtruth/image-classification"


def merged(source: str, label: str | None, number: str = "0", **more: object) -> dict[str, Any]:
    """Return a line of a manifest; without a label it is one that nobody reached."""
    if label is None:
        return {"source-ref": source}
    about = {"class-name": label, "confidence": 0.0, "type": JOB, "human-annotated": "yes"}
    return {"source-ref": source, "dx": number, "dx-metadata": {**about, "job-name": "j", **more}}


def sets(source: str, labels: dict[str, str]) -> dict[str, Any]:  # Any: what JSON holds
    about = {"type": f"{JOB}-multilabel", "class-map": labels, "confidence-map": {}}
    return {"source-ref": source, "dx": [int(n) for n in labels], "dx-metadata": about}


def workers(source: str, *said_by: tuple[str | None, object]) -> dict[str, Any]:
    found = [
        {"workerId": who, "annotationData": {"content": json.dumps(what)}} for who, what in said_by
    ]
    about = {"type": "groundtruth/custom", "job-name": "j"}
    return {"source": source, "dx": {"annotationsFromAllWorkers": found}, "dx-metadata": about}


def manifest(folder: Path, *lines: object, name: str = "output.manifest") -> Path:
    return written(folder, name, "\n".join([*map(json.dumps, lines), ""]))


def read(path: Path, labels: list[str] | None = None, **options: object) -> xr.Dataset:
    return plausibly.read_annotations(path, "sagemaker", labels, **options)


# ---- merged labels


@results
def test_the_number_of_a_label_is_text_and_its_name_the_label(tmp_path: Path) -> None:
    path = manifest(tmp_path, merged("a", "dog", "0"), merged("b", "cat", "1"), merged("c", None))
    table = plausibly.read_annotations(path)
    assert table.attrs["reader"] == "sagemaker"
    assert table.attrs["kind"] == "single-label"
    assert voted(table) == [
        (("a", "consolidated", ("dog",)), "consolidated"),
        (("b", "consolidated", ("cat",)), "consolidated"),
    ]
    assert table["example"].values.tolist() == ["a", "b", "c"]  # nobody reached c
    assert not_counted(table) == {}


def test_merged_labels_are_said_to_be_no_votes(tmp_path: Path) -> None:
    path = manifest(tmp_path, merged("a", "dog"))
    assert warned(lambda: read(path)) == (
        "warning votes-consolidated: output.manifest holds results, not votes: 1 response by the "
        "annotator consolidated expected what each annotator said; got one result an example; how "
        "much annotators disagreed is lost do export the single annotations; sets calibrated on "
        "this cover the result, not what an expert would say"
    )


@results
def test_label_sets(tmp_path: Path) -> None:
    path = manifest(tmp_path, sets("a", {"1": "bicycle", "0": "person"}), sets("b", {"8": "coat"}))
    table = read(path)
    assert table.attrs["kind"] == "label-set"
    assert votes(table) == once(
        ("a", "consolidated", ("bicycle", "person")), ("b", "consolidated", ("coat",))
    )
    path = manifest(tmp_path, sets("a", {"1": "bicycle"}), sets("b", {}))
    error = refusal(lambda: read(path))
    assert (error.name, error.what) == (
        "answer-empty",
        "output.manifest line 2: consolidated on example b: names no label",
    )
    assert not_counted(read(path, states={"empty": "drop"})) == {"empty": 1}


@results
def test_labels_that_only_a_machine_gave_do_not_count(tmp_path: Path) -> None:
    lines = merged("a", "dog"), merged("b", "cat", "1", **{"human-annotated": "no"})
    path = manifest(tmp_path, *lines)
    table = read(path)
    assert voted(table) == [
        (("a", "consolidated", ("dog",)), "consolidated"),
        (("b", "consolidated", ()), "suggestion"),
    ]
    assert not_counted(table) == {"suggestion": 1}
    table = read(path, states={"suggestion": "count"})
    assert votes(table) == once(("a", "consolidated", ("dog",)), ("b", "consolidated", ("cat",)))


@results
def test_objects_that_the_job_could_not_label(tmp_path: Path) -> None:
    failed = {"source-ref": "b", "dx-metadata": {"failure-reason": "no image", "job-name": "j"}}
    table = read(manifest(tmp_path, merged("a", "dog"), failed))
    assert table["example"].values.tolist() == ["a", "b"]
    assert not_counted(table) == {"objects that the job could not label": 1}


@results
def test_one_of_several_label_attributes(tmp_path: Path) -> None:
    line = {**merged("a", "dog"), "mood": "1", "mood-metadata": {"class-name": "good", "type": JOB}}
    path = manifest(tmp_path, line)
    assert said(lambda: read(path)) == (
        "error attribute-several: output.manifest holds 2 label attributes "
        'expected one, or the name of the one to read; got "dx", "mood" '
        'do --reader \'{name = "sagemaker", attribute = "dx"}\''
    )
    assert said(lambda: read(path, attribute="moods")) == (
        'error attribute-missing: output.manifest has no label attribute "moods" '
        'expected one, or the name of the one to read; got "dx", "mood" '
        'do --reader \'{name = "sagemaker", attribute = "dx"}\''
    )
    assert votes(read(path, attribute="mood")) == once(("a", "consolidated", ("good",)))


def test_what_a_number_is_called(tmp_path: Path) -> None:
    path = manifest(tmp_path, merged("a", "dog"), merged("b", "cat"))
    assert said(lambda: read(path)) == (
        'error class-differs: output.manifest line 2: dx 0 is called "cat" '
        'expected one name for each number; got "dog" before do split the manifest by job'
    )
    line = merged("a", "dog")
    del line["dx-metadata"]["class-name"]
    assert said(lambda: read(manifest(tmp_path, line))) == (
        'error class-unnamed: output.manifest line 1: nothing says what dx "0" is called '
        "expected class-name or class-map in the metadata; "
        "got keys confidence, type, human-annotated, … (4 in all) "
        "do write the metadata of the job beside it"
    )


def test_jobs_that_give_no_labels(tmp_path: Path) -> None:
    path = manifest(tmp_path, merged("a", "dog", type="groundtruth/object-detection"))
    assert said(lambda: read(path)) == (
        "error type-unfit: output.manifest line 1: dx is of a job that gives no labels of objects "
        "expected classification or verification, or the answers of all workers; "
        'got "groundtruth/object-detection" do read another label attribute, or export one'
    )
    path = manifest(tmp_path, merged("a", "dog"), sets("b", {"8": "coat"}))
    assert said(lambda: read(path)) == (
        "error types-mixed: output.manifest: dx is of different jobs in line 1 and line 2 "
        "expected one type of job; "
        "got groundtruth/image-classification, groundtruth/image-classification-multilabel "
        "do split the manifest by job"
    )


# ---- what workers said


def test_workers_of_a_custom_job_are_annotators(tmp_path: Path) -> None:
    one = workers("x", ("w1", {"q": {"label": "cat"}}), ("w2", {"q": {"label": "dog"}}))
    two = workers("y", ("w1", {"q": "cat"}), ("w3", {"q": {"dog": True, "cat": False}}))
    path = manifest(tmp_path, one, two, {"source": "z"}, name="all.jsonl")
    table = plausibly.read_annotations(path)
    assert voted(table) == [
        (("x", "w1", ("cat",)), "answered"),
        (("x", "w2", ("dog",)), "answered"),
        (("y", "w1", ("cat",)), "answered"),
        (("y", "w3", ("dog",)), "answered"),
    ]
    assert table["example"].values.tolist() == ["x", "y", "z"]
    as_list = written(tmp_path, "all.json", json.dumps([one, two, {"source": "z"}], indent=1))
    xr.testing.assert_equal(plausibly.read_annotations(as_list), table)


def test_label_sets_of_workers(tmp_path: Path) -> None:
    line = workers(
        "x", ("w1", {"q": {"labels": ["cat", "dog"]}}), ("w2", {"q": {"labels": ["cat"]}})
    )
    table = read(manifest(tmp_path, line))
    assert table.attrs["kind"] == "label-set"
    assert votes(table) == once(("x", "w1", ("cat", "dog")), ("x", "w2", ("cat",)))
    boxes = workers("x", ("w1", {"q": {"cat": True, "dog": True}}))
    path = manifest(tmp_path, boxes)
    assert said(lambda: read(path)) == (
        'error answer-invalid: output.manifest line 1, worker 1: field "q" holds no label '
        'expected one label; got {"cat": true, "dog": true} '
        'do --reader \'{name = "sagemaker", kind = "label-set"}\', if several labels can be right'
    )
    assert votes(read(path, kind="label-set")) == once(("x", "w1", ("cat", "dog")))


def test_skips_and_unknown_workers(tmp_path: Path) -> None:
    line = workers("x", ("w1", {"q": ""}), ("w2", {}), (None, {"q": "cat"}))
    with pytest.warns(plausibly.PlausiblyWarning, match="annotators-unnamed"):
        table = read(manifest(tmp_path, line))
    assert votes(table) == once(("x", "w1", ()), ("x", "w2", ()), ("x", None, ("cat",)))


def test_fields_of_a_form(tmp_path: Path) -> None:
    path = manifest(tmp_path, workers("x", ("w1", {"q": "cat", "note": "a long text", "n": [1]})))
    assert said(lambda: read(path)) == (
        'error field-several: output.manifest: workers filled "q", "note", "n" '
        "expected one field with a label, or the name of the one to read; "
        'got labels in "q", "note" do --reader \'{name = "sagemaker", field = "q"}\''
    )
    assert votes(read(path, field="q")) == once(("x", "w1", ("cat",)))
    assert said(lambda: read(path, field="Q")) == (
        'error field-missing: output.manifest: no worker filled "Q" '
        "expected one field with a label, or the name of the one to read; "
        'got labels in "q", "note" do --reader \'{name = "sagemaker", field = "q"}\''
    )
    error = refusal(lambda: read(path, field="n"))
    assert error.do == ('read another field: --reader \'{name = "sagemaker", field = "FIELD"}\'')
    path = manifest(tmp_path, workers("x", ("w1", {})))
    assert refusal(lambda: read(path)).what == "output.manifest: workers filled no field"


def answers(*said_by: tuple[str, object, str]) -> dict[str, object]:
    return {
        "answers": [
            {"workerId": who, "answerContent": what, "submissionTime": time}
            for who, what, time in said_by
        ]
    }


def test_the_folder_of_responses(tmp_path: Path) -> None:
    folder = tmp_path / "worker-response"
    early, late = "2020-01-01T00:00:00Z", "2020-01-02T00:00:00+0000"
    for place, content in {
        "iteration-1/0": answers(("w1", {"q": {"label": "cat"}}, early)),
        "iteration-1/1": answers(("w1", {"q": "dog"}, early), ("w2", {"q": "cat"}, early)),
        "iteration-2/1": answers(("w1", {"q": "cat"}, late)),
    }.items():
        (folder / place).mkdir(parents=True)
        written(folder / place, "a.json", json.dumps(content))
    error = refusal(lambda: plausibly.read_annotations(folder))
    assert error.name == "response-twice"
    table = plausibly.read_annotations(folder, duplicates="latest")
    assert table.attrs["reader"] == "sagemaker"
    assert votes(table) == once(("0", "w1", ("cat",)), ("1", "w1", ("cat",)), ("1", "w2", ("cat",)))
    path = folder / "iteration-1" / "0" / "a.json"
    assert said(lambda: read(path)) == (
        "error folder-expected: a.json holds answers about one object, which it does not name "
        "expected the folder worker-response, whose folders name the objects; got one file of it "
        "do name that folder instead of the file"
    )
    written(path.parent, "b.json", '{"answers": [')
    assert refusal(lambda: read(folder)).what == (
        "worker-response/iteration-1/0/b.json line 1, column 13: the file ends early"
    )
    written(path.parent, "b.json", '{"text": 1}')
    assert said(lambda: read(folder)) == (
        "error sagemaker-unlike: worker-response iteration-1/0/b.json is not as Ground Truth "
        "writes it expected answers with workerId and answerContent, in a folder called as the "
        'object; got {"text": 1} do name the reader that it is for: --reader NAME'
    )
    (tmp_path / "none").mkdir()
    assert refusal(lambda: read(tmp_path / "none")).what == "none holds no JSON file"


def test_requests_for_merging(tmp_path: Path) -> None:
    said_of = {"workerId": "w1", "annotationData": {"content": '{"q": "cat"}'}}
    entries = [
        {"datasetObjectId": "0", "dataObject": {"s3Uri": "s3://x"}, "annotations": [said_of]},
        {"datasetObjectId": "1", "dataObject": {"content": "text"}, "annotations": [said_of]},
        {"datasetObjectId": "2", "dataObject": {}, "annotations": [said_of]},
    ]
    path = written(tmp_path, "r.json", json.dumps(entries))
    assert votes(plausibly.read_annotations(path)) == once(
        ("s3://x", "w1", ("cat",)), ("text", "w1", ("cat",)), ("2", "w1", ("cat",))
    )


# ---- what is said of other files


@pytest.mark.parametrize(
    ("lines", "what", "expected", "got"),
    [
        ([7], "f.json line 1 is not as Ground Truth writes it", "an object", "7"),
        (
            [{"dx": "0", "dx-metadata": {"type": JOB, "class-name": "a"}}],
            "f.json line 1 is not as Ground Truth writes it",
            "source-ref or source",
            "keys dx, dx-metadata",
        ),
        (
            [{"source": "a"}],
            "f.json is no output of Ground Truth",
            "a label attribute with its metadata on some line",
            "none",
        ),
        (
            [{**workers("x"), "dx": {"annotationsFromAllWorkers": [{"workerId": "w"}]}}],
            "f.json line 1, worker 1 is not as Ground Truth writes it",
            "workerId, and annotationData with content",
            '{"workerId": "w"}',
        ),
        (
            [workers("x", ("w", [1]))],
            "f.json line 1, worker 1 is not as Ground Truth writes it",
            "workerId, and the fields of a form",
            "[1]",
        ),
    ],
)
def test_lines_of_another_shape(
    tmp_path: Path, lines: list[object], what: str, expected: str, got: str
) -> None:
    assert said(lambda: read(manifest(tmp_path, *lines, name="f.json"))) == (
        f"error sagemaker-unlike: {what} expected {expected}; got {got} "
        "do name the reader that it is for: --reader NAME"
    )


def test_broken_content_of_a_worker(tmp_path: Path) -> None:
    line = workers("x", ("w", 1))
    line["dx"]["annotationsFromAllWorkers"][0]["annotationData"]["content"] = '{"q": '
    error = refusal(lambda: read(manifest(tmp_path, line)))
    assert (error.name, error.what) == (
        "json-broken",
        "output.manifest line 1, worker 1, content, line 1, column 5: the text ends early",
    )


# ---- recognition, and anything


@pytest.mark.parametrize(
    ("head", "recognised"),
    [
        (json.dumps(merged("a", "dog")), True),
        (json.dumps(merged("a", None)) + "\n" + json.dumps(merged("b", "dog")), True),
        (json.dumps([workers("x", ("w", {}))]), True),
        (json.dumps(merged("a", None)), False),
        ('{"text": "a", "x-metadata": {"y": 1}}', False),
        ('{"text": "a", "label": ["b"]}', False),
        ('[{"id": 1, "annotations": []}]', False),
        ("task,worker,label\n", False),
        ("", False),
    ],
)
def test_recognition(tmp_path: Path, head: str, recognised: bool) -> None:
    assert SageMaker().recognises(tmp_path / "o.manifest", head.encode()) is recognised
    folder = tmp_path / "f"
    folder.mkdir()
    assert not SageMaker().recognises(folder, b"")
    written(folder, "a.json", head)
    assert not SageMaker().recognises(folder, b"")


@given(
    labels=st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from(["cat", "dog", 'ä "x"'])),
        min_size=1,
        max_size=6,
        unique_by=lambda pair: pair[0],
    ),
    ascii_only=st.booleans(),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_any_answers_come_back(
    tmp_path_factory: pytest.TempPathFactory,
    labels: list[tuple[str, str]],
    ascii_only: bool,
    end: str,
) -> None:
    lines = [workers("x", *((who, {"q": label}) for who, label in labels)), {"source": "y"}]
    text = end.join(json.dumps(line, ensure_ascii=ascii_only) for line in lines)
    table = read(written(tmp_path_factory.mktemp("s"), "m.manifest", text))
    assert votes(table) == once(*(("x", who, (label,)) for who, label in labels))
    assert table["example"].values.tolist() == ["x", "y"]


LINES = [merged("a", "dog"), merged("b", None), workers("x", ("w", {"q": "cat"}))]
WHOLE = "\n".join(map(json.dumps, LINES[:2])).encode()
VOTES = json.dumps(LINES[2]).encode()


@given(
    data=st.one_of(
        st.tuples(st.sampled_from([WHOLE, VOTES]), st.floats(0, 1)).map(
            lambda cut: cut[0][: int(cut[1] * len(cut[0]))]
        ),
        st.tuples(st.sampled_from([WHOLE, VOTES]), st.floats(0, 1), st.binary(max_size=2)).map(
            lambda at: at[0][: int(at[1] * len(at[0]))] + at[2] + at[0][int(at[1] * len(at[0])) :]
        ),
        st.binary(max_size=40),
    )
)
@pytest.mark.filterwarnings("ignore::plausibly.PlausiblyWarning")
def test_any_bytes_are_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = written(tmp_path_factory.mktemp("any"), "v.manifest", data)
    SageMaker().recognises(path, data)
    result_or_refusal(lambda: read(path), path.name)


@results
def test_every_rule_of_the_kit(tmp_path: Path) -> None:
    path = manifest(tmp_path, merged("a", "dog", "0"), merged("b", "cat", "1"))
    check_reader(SageMaker(), path=path, kind="single-label")
    folder = tmp_path / "worker-response"
    for place, label in (("i/0", "cat"), ("i/1", "dog")):
        (folder / place).mkdir(parents=True)
        content = answers(("w1", {"q": label}, ""))
        written(folder / place, "a.json", json.dumps(content))
    check_reader(SageMaker(), path=folder, kind="single-label")


@pytest.mark.realdata
@results
def test_real_files(shared: Path) -> None:
    folder = shared / "cases" / "annotations"
    path = folder / "sagemaker" / "output.manifest"
    error = refusal(lambda: plausibly.read_annotations(path))
    assert error.what == "output.manifest holds 3 label attributes"
    image = "s3://AWSDOC-EXAMPLE-BUCKET/example_image.jpg"
    text = "The food was delicious"
    for attribute, example, labels in (
        ("species", image, ("dog",)),
        ("mood", text, ("positive",)),
        ("image-label-attribute-name", image, ("bicycle", "clothing", "person")),
    ):
        table = plausibly.read_annotations(path, attribute=attribute)
        assert voted(table) == [((example, "consolidated", labels), "consolidated")]
        assert table["example"].values.tolist() == [text, image]
    table = plausibly.read_annotations(
        folder / "constructed" / "sagemaker_custom_all_workers.jsonl"
    )
    assert voted(table) == [
        (("s3://EXAMPLE/1.txt", "private.us-east-1.aaaa", ("Response 2",)), "answered"),
        (("s3://EXAMPLE/1.txt", "private.us-east-1.bbbb", ("Response 4",)), "answered"),
    ]
