"""Weights for labels: tables, arrays and JSON Lines."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, strategies as st

import plausibly
from io_files import csv_text, refusal, result_or_refusal, said, warned, written
from plausibly.io.text import write_columns
from plausibly.testing import check_reader
from plausibly_builtins.readers.counts import Counts
from plausibly_builtins.readers.soft_labels import SoftLabels

TEXT = "example,annotator,cat,dog,fox\na,ann,0.5,0.5,0\na,bo,1,0,0.0\nb,ann,2e-1,.3,0.499\n"
EXPECTED = {
    ("a", "ann"): {"cat": 0.5, "dog": 0.5},
    ("a", "bo"): {"cat": 1.0},
    ("b", "ann"): {"cat": 0.2, "dog": 0.3, "fox": 0.499},
}
Weights = dict[tuple[str, str | None], dict[str, float]]


def read(path: Path, labels: list[str] | None = None, **options: object) -> xr.Dataset:
    return plausibly.read_annotations(path, "soft-labels", labels, **options)


def lines(folder: Path, *entries: object) -> Path:
    return written(folder, "s.jsonl", "".join(f"{json.dumps(entry)}\n" for entry in entries))


def weights_of(table: xr.Dataset) -> Weights:
    """Return the weights above 0 of each response, from the codes alone."""
    found: list[dict[str, float]] = [{} for _ in range(table.sizes["response"])]
    for mention, response in enumerate(table["mention_response"].values):
        label = str(table["label"].values[table["mention_label"].values[mention]])
        found[int(response)][label] = float(table["mention_weight"].values[mention])
    keys: list[tuple[str, str | None]] = []
    for place, who in enumerate(table["response_annotator"].values):
        example = str(table["example"].values[table["response_example"].values[place]])
        keys.append((example, None if who < 0 else str(table["annotator"].values[who])))
    return dict(zip(keys, found, strict=True))


def test_weights_are_read_as_they_are(tmp_path: Path) -> None:
    path = written(tmp_path, "s.csv", TEXT)
    table = plausibly.read_annotations(path)
    assert table.attrs["reader"] == "soft-labels"
    assert table.attrs["kind"] == "soft-label"
    assert weights_of(table) == EXPECTED  # the last one sums to 0.999
    assert table["label"].values.tolist() == ["cat", "dog", "fox"]
    assert bool(table.attrs["labels_declared"])
    shares = plausibly.aggregate(table).sel(example="b").values
    assert shares == pytest.approx([0.2 / 0.999, 0.3 / 0.999, 0.499 / 0.999])


def test_every_table_format_gives_the_same(tmp_path: Path) -> None:
    rows = [row.split(",") for row in TEXT.splitlines()]
    path = written(tmp_path, "s.csv", TEXT)
    numbers = [[float(row[column]) for row in rows[1:]] for column in (2, 3, 4)]
    names = [[row[column] for row in rows[1:]] for column in (0, 1)]
    write_columns(tmp_path / "s.parquet", rows[0], [*names, *(np.array(n) for n in numbers)])
    renamed = TEXT.replace("example,annotator", "item,who")
    for table in (
        read(tmp_path / "s.parquet"),
        read(written(tmp_path, "s.tsv", csv_text(rows, "\t"))),
        read(written(tmp_path, "x.csv", csv_text([[*row, "n"] for row in rows])), ignore=["n"]),
        read(written(tmp_path, "r.csv", renamed), example="item", annotator="who"),
        plausibly.read_annotations(pd.read_csv(path), "soft-labels"),
    ):
        assert weights_of(table) == EXPECTED


def test_tables_without_annotators_are_read_by_name_only(tmp_path: Path) -> None:
    path = written(tmp_path, "s.csv", "example,cat,dog\na,0.25,0.75\nb,1,0\n")
    assert weights_of(read(path)) == {
        ("a", None): {"cat": 0.25, "dog": 0.75},
        ("b", None): {"cat": 1.0},
    }
    assert refusal(lambda: plausibly.read_annotations(path)).name == "format-unknown"
    partly = written(tmp_path, "p.csv", TEXT.replace("a,bo", "a,"))
    text = warned(lambda: read(partly))
    assert "p.csv does not say who gave 1 response (line 3)" in text


def test_labels_are_those_of_the_file_or_the_declared_ones(tmp_path: Path) -> None:
    path = written(tmp_path, "s.csv", TEXT)
    table = read(path, ["owl", "fox", "dog", "cat"])
    assert table["label"].values.tolist() == ["owl", "fox", "dog", "cat"]
    assert weights_of(table) == EXPECTED
    assert said(lambda: read(path, ["cat", "dog"])) == (
        'error label-unknown: s.csv gives weight to "fox" '
        "expected columns among the 2 declared labels; got 1 column besides "
        """do --reader '{name = "soft-labels", ignore = ["fox"]}'"""
    )


def test_arrays(tmp_path: Path) -> None:
    values = np.array([[0.25, 0.75], [1, 0]])
    np.save(tmp_path / "s.npy", values)
    table = read(tmp_path / "s.npy", ["cat", "dog"])
    assert weights_of(table) == {("0", None): {"cat": 0.25, "dog": 0.75}, ("1", None): {"cat": 1.0}}
    np.savez(tmp_path / "s.npz", soft_labels=values, labels=["cat", "dog"], names=["x", "y"])
    assert list(weights_of(read(tmp_path / "s.npz"))) == [("x", None), ("y", None)]
    np.savez(tmp_path / "p.npz", probs=values.astype(np.float32), labels=["cat", "dog"])
    table = read(tmp_path / "p.npz", array="probs")
    assert weights_of(table)["0", None] == {"cat": 0.25, "dog": 0.75}
    assert refusal(lambda: read(tmp_path / "s.npy")).name == "labels-unnamed"
    assert not SoftLabels().recognises(tmp_path / "s.npy", (tmp_path / "s.npy").read_bytes())
    assert not SoftLabels().recognises(tmp_path / "s.npz", (tmp_path / "s.npz").read_bytes())


def test_lines_of_weights_by_label_or_in_their_order(tmp_path: Path) -> None:
    by_label = lines(
        tmp_path,
        {"id": 1, "annotator": "ann", "label_dist": {"e": 0.7, "n": 0.3, "x": 0}},
        {"id": 1, "annotator": "bo", "label_dist": {"c": 1}},
    )
    table = plausibly.read_annotations(by_label)
    assert table.attrs["reader"] == "soft-labels"
    assert table["label"].values.tolist() == ["c", "e", "n", "x"]
    assert weights_of(table) == {("1", "ann"): {"e": 0.7, "n": 0.3}, ("1", "bo"): {"c": 1.0}}
    in_order = lines(tmp_path, {"uid": "u", "label_dist": [0.7, 0.3, 0]})
    assert weights_of(read(in_order, ["e", "n", "c"])) == {("u", None): {"e": 0.7, "n": 0.3}}
    assert said(lambda: read(in_order)) == (
        "error labels-unnamed: s.jsonl line 1 has 3 weights and no label names "
        "expected names in the order of the weights; an order is never guessed; got none "
        "do --labels labels.txt (one name a line)"
    )
    error = refusal(lambda: read(in_order, ["e", "n"]))
    assert (error.name, error.what) == ("names-count", "s.jsonl line 1 has 3 weights and 2 labels")
    models = lines(tmp_path, {"uid": "u", "probs": {"e": 0.7}, "other": {"e": 1}})
    assert not SoftLabels().recognises(models, models.read_bytes())
    assert weights_of(read(models)) == {("u", None): {"e": 0.7}}
    assert weights_of(read(models, field="other")) == {("u", None): {"e": 1.0}}
    assert said(lambda: read(models, field="label_dist")) == (
        "error key-missing: s.jsonl line 1 holds no weights "
        'expected "label_dist": a weight by label, or a list of them; got "uid", "probs", "other" '
        """do --reader '{name = "soft-labels", field = "KEY"}'"""
    )


@pytest.mark.parametrize("cell", ["-0.1", "nan", "NaN", "", "inf", "0,5", "1e999", "x", "50 %"])
def test_cells_that_are_no_weights(tmp_path: Path, cell: str) -> None:
    path = written(tmp_path, "s.tsv", f"example\tcat\tdog\na\t0.5\t0.5\nb\t1\t{cell}\n")
    assert said(lambda: read(path)) == (
        'error weights-invalid: s.tsv line 3: the weight of "dog" is none '
        f'expected a finite number, 0 or more; got "{cell}" '
        + ("do write decimals with a point" if cell == "0,5" else "do mend or remove that row")
    )


@pytest.mark.parametrize("wrong", [-0.5, np.nan, np.inf])
def test_numbers_that_are_no_weights(tmp_path: Path, wrong: float) -> None:
    np.savez(tmp_path / "s.npz", soft_labels=[[1.0, 0], [0.5, wrong]], labels=["cat", "dog"])
    error = refusal(lambda: read(tmp_path / "s.npz"))
    assert (error.name, error.what) == (
        "weights-invalid",
        's.npz row 2: the weight of "dog" is none',
    )


@pytest.mark.parametrize("wrong", [None, "0.5", [0.5], True, -1])
def test_values_that_are_no_weights(tmp_path: Path, wrong: object) -> None:
    error = refusal(lambda: read(lines(tmp_path, {"id": 1, "label_dist": {"e": 1, "n": wrong}})))
    assert (error.name, error.what) == (
        "weights-invalid",
        's.jsonl line 1: the weight of "n" is none',
    )


def test_rows_without_any_weight(tmp_path: Path) -> None:
    path = written(tmp_path, "s.csv", "example,cat,dog\na,0.5,0.5\nb,0,0\n")
    assert said(lambda: read(path)) == (
        "error weights-zero: s.csv line 3 gives no label any weight "
        "expected a weight above 0, and a finite sum; got a sum of 0 do mend or remove that row"
    )
    error = refusal(lambda: read(lines(tmp_path, {"id": 1, "label_dist": {}})))
    assert error.name == "weights-zero"
    huge = written(tmp_path, "h.csv", "example,cat,dog\na,1e308,1e308\n")
    assert refusal(lambda: read(huge)).name == "weights-zero"


def test_tables_that_are_refused(tmp_path: Path) -> None:
    twice = written(tmp_path, "s.csv", TEXT.replace("a,bo", "a,ann"))
    assert refusal(lambda: read(twice)).name == "response-twice"
    path = written(tmp_path, "s.csv", "item,cat\na,1\n")
    assert said(lambda: read(path)) == (
        "error columns-missing: s.csv has no column that names the examples "
        'expected a column example, or the name of another; got "item", "cat" '
        """do --reader '{name = "soft-labels", example = "item"}', if that column does"""
    )
    assert refusal(lambda: read(path, example="x")).what == 's.csv has no column "x"'
    error = refusal(lambda: read(written(tmp_path, "s.csv", "example\na\n")))
    assert error.what == "s.csv has no column of weights"
    error = refusal(lambda: read(written(tmp_path, "s.csv", "example,cat\n")))
    assert error.what == "s.csv is empty"
    error = refusal(lambda: read(written(tmp_path, "s.csv", "example,cat\n,1\n")))
    assert error.what == "s.csv names no example in line 2"
    error = refusal(
        lambda: read(lines(tmp_path, {"id": 1, "probs": {"a": 1}}, {"probs": {"a": 1}}))
    )
    assert error.what == "s.jsonl names no example in line 2"


@pytest.mark.parametrize(
    ("text", "recognised"),
    [
        (TEXT, True),
        ("example,annotator,cat,dog\na,ann,3,7\n", False),  # points, votes, or 0 and 1: who knows
        ("example,cat,dog\na,0.5,0.5\n", False),
        ("example,annotator,label,weight\na,ann,1,0.5\n", False),
        ("example,annotator,cat,dog\na,ann,0.5,x\n", False),
        ("example,annotator\na,ann\n", False),
        ("", False),
    ],
)
def test_recognition_of_tables(tmp_path: Path, text: str, recognised: bool) -> None:
    path = written(tmp_path, "s.csv", text)
    assert SoftLabels().recognises(path, path.read_bytes()) is recognised
    assert not (recognised and Counts().recognises(path, path.read_bytes()))


def test_every_rule_of_the_kit_holds(tmp_path: Path) -> None:
    check_reader(SoftLabels(), path=written(tmp_path, "s.csv", TEXT), kind="soft-label")
    path = lines(tmp_path, {"id": 1, "label_dist": {"e": 0.7, "n": 0.3}})
    check_reader(SoftLabels(), path=path, kind="soft-label")


@given(
    weights=st.dictionaries(
        st.tuples(st.sampled_from("xyz"), st.sampled_from("pq")),
        st.lists(st.floats(0, 1e6), min_size=3, max_size=3).filter(any),
        min_size=1,
    )
)
def test_weights_keep_every_bit(
    tmp_path_factory: pytest.TempPathFactory, weights: dict[tuple[str, str], list[float]]
) -> None:
    rows: list[list[object]] = [["example", "annotator", "a", "b", "c"]]
    rows += [[*key, *map(repr, row)] for key, row in weights.items()]
    path = written(tmp_path_factory.mktemp("any"), "s.csv", csv_text(rows))
    expected = {
        key: {label: weight for label, weight in zip("abc", row, strict=True) if weight}
        for key, row in weights.items()
    }
    assert weights_of(read(path)) == expected


@given(content=st.binary(max_size=60), place=st.integers(0, 120))
def test_damaged_files_are_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, place: int
) -> None:
    folder = tmp_path_factory.mktemp("any")
    line = json.dumps({"id": 1, "label_dist": {"e": 0.7, "n": 0.3}})
    for name, whole in (("s.csv", TEXT), ("s.jsonl", line)):
        path = written(folder, name, whole.encode()[:place] + content)
        SoftLabels().recognises(path, path.read_bytes())
        result_or_refusal(partial(read, path), name)
