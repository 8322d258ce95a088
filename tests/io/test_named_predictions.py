"""Predictions in exports of annotation tools: named labels with scores become an array."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, strategies as st

import plausibly
from io_files import refusal, said
from label_studio_files import annotation, export, region, task
from plausibly.data.states import read_left_out
from plausibly.errors import PlausiblyWarning
from plausibly.io.predictions import NamedPrediction, from_named

Json: TypeAlias = Any  # what a document holds: of any shape, also a wrong one
Option: TypeAlias = Any  # of a reader, by its name


def named(
    example: str, *scores: tuple[str, str | float | None], model: str = "m"
) -> NamedPrediction:
    return NamedPrediction(example=example, model=model, scores=scores, place=f"row {example}")


def array(
    *text: NamedPrediction, labels: Sequence[str] | None = None, **more: Option
) -> xr.DataArray:
    return from_named(text, labels, source="f.json", **more)


# ---- the array


def test_scores_stand_at_their_labels() -> None:
    text = array(
        named("x2", ("b", "0.25"), ("a", 0.75)), named("x1", ("c", 2)), examples=["x1", "x2", "x3"]
    )
    assert text.dims == ("example", "label")
    assert text["example"].values.tolist() == ["x1", "x2"]
    assert text["label"].values.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(text.values, [[0, 0, 2], [0.75, 0.25, 0]])
    assert (text.attrs["scale"], text.attrs["model"]) == ("any", "m")
    assert read_left_out(text.attrs) == {"examples without prediction": 1}


def test_a_label_without_score_has_one() -> None:
    text = array(named("x", ("a", None), ("b", None)), labels=["c", "b", "a"])
    assert text["label"].values.tolist() == ["c", "b", "a"]
    assert text.values.tolist() == [[0.0, 1.0, 1.0]]


@given(
    rows=st.dictionaries(
        st.text("xyz", min_size=1, max_size=3),
        st.dictionaries(st.sampled_from("abcd"), st.floats(-9, 9), min_size=1),
        min_size=1,
    ),
    data=st.data(),
)
def test_any_scores_come_back_whatever_their_order(
    rows: dict[str, dict[str, float]], data: st.DataObject
) -> None:
    text = [named(example, *scores.items()) for example, scores in rows.items()]
    copies = data.draw(st.lists(st.sampled_from(text), max_size=2))
    result = array(*data.draw(st.permutations(text + copies)), labels=list("dcba"))
    back = {
        str(example): {
            str(label): float(score)
            for label, score in zip(result["label"].values, row, strict=True)
            if label in rows[str(example)]
        }
        for example, row in zip(result["example"].values, result.values, strict=True)
    }
    assert back == rows
    assert (result.values != 0).sum() == sum(s != 0 for row in rows.values() for s in row.values())


@pytest.mark.parametrize(
    ("text", "more", "name", "found"),
    [
        ([named("x")], {}, "predictions-missing", "none"),
        (
            [named("x", ("a", 1), model=""), named("x", ("a", 1), model="m2")],
            {},
            "model-unknown",
            'a model without name, "m2"',
        ),
        ([named("x", ("a", 1))], {"model": "n"}, "model-unknown", '"m"'),
        ([named("x", ("a", 1)), named("x", ("b", 1))], {}, "scores-unfit", "row x, row x"),
        (
            [named("x", ("a", 1)), named("y", ("a", None))],
            {},
            "scores-unfit",
            "1 label without score",
        ),
        (
            [named("x", ("eczemo", 1))],
            {"labels": ["eczema", "acne"]},
            "label-unknown",
            "1 label outside (eczemo)",
        ),
        ([named("x", ("a", "1e999"))], {}, "scores-unfit", "a 1e999"),
        ([named("x", ("a", "high"))], {}, "scores-unfit", "a high"),
        ([named("x", ("a", 1), ("a", 2))], {}, "scores-unfit", "a 1, a 2"),
    ],
)
def test_what_is_refused(
    text: list[NamedPrediction], more: dict[str, Option], name: str, found: str
) -> None:
    error = refusal(lambda: array(*text, **more))
    assert (error.name, error.found) == (name, found)


# ---- an export of Label Studio


def predicted(model: str | None, *regions: dict[str, Json], **more: Json) -> dict[str, Json]:
    return {"model_version": model, "result": list(regions), **more}


def read(path: Path, **options: Option) -> xr.DataArray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlausiblyWarning)
        return plausibly.read_predictions(path, **{"reader": "label-studio", **options})


def two_models(folder: Path) -> Path:
    return export(
        folder,
        task(
            1,
            annotation(1, "a"),
            predictions=[
                predicted("m1", region("a", score=0.7), region("b", score=0.2), score=0.1),
                predicted("m2", region(["b", "c"]), score=0.6),
            ],
        ),
        task(2, predictions=[predicted("m1", region("c"), score=0.5), predicted("m2")]),
    )


def test_predictions_of_a_model(tmp_path: Path) -> None:
    path = two_models(tmp_path)
    text = read(path, model="m1")
    assert text["example"].values.tolist() == ["1", "2"]
    assert text["label"].values.tolist() == ["a", "b", "c"]
    assert text.values.tolist() == [[0.7, 0.2, 0.0], [0.0, 0.0, 0.5]]
    assert text.name == "predictions"
    other = read(path, model="m2", labels=["c", "b", "a"])
    assert other.values.tolist() == [[0.6, 0.6, 0.0]]
    assert read_left_out(other.attrs) == {"examples without prediction": 1}
    assert refusal(lambda: read(path)).name == "model-unknown"


def test_they_calibrate(tmp_path: Path) -> None:
    said_by = [annotation(who, "abc"[who % 3]) for who in range(4)]
    path = export(
        tmp_path,
        *(
            task(n, *said_by, predictions=[predicted("m", region("abc"[n % 3]), score=0.9)])
            for n in range(9)
        ),
    )
    predictor = plausibly.calibrate(read(path), plausibly.read_annotations(path))
    assert predictor.n == 9
    assert predictor.labels == ("a", "b", "c")


def test_options_of_the_reader(tmp_path: Path) -> None:
    path = export(
        tmp_path,
        task(
            1,
            predictions=[
                predicted("m", region("a"), region([["s", "t"]], "tax", "taxonomy"), score=1)
            ],
        ),
        task(2, predictions=[predicted("m", region("b", "dx_0"), region("c", "dx_1"))]),
    )
    tax = read(path, reader={"name": "label-studio", "control": "tax", "taxonomy": "path"})
    assert tax["label"].values.tolist() == ["s/t"]
    turns = read(path, reader={"name": "label-studio", "control": "dx_{index}"})
    assert turns["example"].values.tolist() == ["2#0", "2#1"]


def test_label_tables_and_what_is_checked(tmp_path: Path) -> None:
    path = two_models(tmp_path)
    labels = tmp_path / "labels.csv"
    labels.write_text("label,risk\na,low\nb,low\nc,high\n")
    text = read(path, model="m1", labels=labels)
    assert text["risk"].values.tolist() == ["low", "low", "high"]
    shares = read(path, model="m1", scale="probability", normalise=True)
    np.testing.assert_allclose(shares.values.sum(axis=1), 1.0)
    assert refusal(lambda: read(path, model="m1", scale="probability")).what.startswith(
        "export.json"
    )


def test_readers_without_predictions_and_options_that_mean_nothing(tmp_path: Path) -> None:
    path = two_models(tmp_path)
    assert said(lambda: read(path, reader="long-table")).startswith(
        'error reader-no-predictions: export.json: reader "long-table" reads annotations only '
        "expected a reader with a method predictions("
    )
    options: list[dict[str, Option]] = [
        {"examples": ["x"]},
        {"example": "task"},
        {"variable": "p"},
        {"view": "v"},
        {"strip": True},
        {"rename": {"a": "b"}},
    ]
    for option in options:
        error = refusal(lambda option=option: read(path, model="m1", **option))  # type: ignore[misc]  # bound in the loop
        (name,) = option
        assert error.what == f"export.json: {name} has no meaning here"
    frame = pd.DataFrame({"example": ["x"], "a": [1.0]})
    error = refusal(lambda: plausibly.read_predictions(frame, reader="label-studio"))
    assert (error.name, error.expected) == ("option-unfit", "a file")


# ---- exports that people published


@pytest.mark.realdata
def test_published_exports(shared: Path) -> None:
    folder = shared / "cases" / "annotations"
    two = folder / "label_studio" / "two_predictions.json"
    assert refusal(lambda: read(two)).found == '"model_version_A", "model_version_B"'
    for model, label in (("model_version_A", "class_A"), ("model_version_B", "class_B")):
        text = read(two, model=model, labels=["class_A", "class_B"])
        assert text.sel(example="0", label=label) == 1.0
        assert text.sum() == 1.0
    mixed = folder / "label_studio" / "tasks_annotations_predictions.json"
    text = read(mixed, model="model_version_A")
    assert text["example"].values.tolist() == ["0", "1"]
    assert read_left_out(text.attrs) == {"examples without prediction": 4}
    assert read(mixed, model="")["label"].values.tolist() == ["class_PREDICTIONS_TESTING"]
    multi = folder / "constructed" / "label_studio_multi_annotator.json"
    content = json.loads(multi.read_text())
    assert content[0]["predictions"][0]["score"] == 0.7
    assert read(multi).values.tolist() == [[0.7]]
