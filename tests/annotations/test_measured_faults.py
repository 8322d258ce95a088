"""Faults that were measured in other libraries: what happens here on the same input.

The numbers are those of the study of annotation libraries.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import plausibly
from plausibly import registry
from plausibly.data.records import Record
from plausibly.plugin import build_table
from plausibly.protocols import ANNOTATION

Records = Sequence[Record]


def build(kind: str, records: Records, labels: Sequence[str] | None = None) -> xr.Dataset:
    return registry.resolve(ANNOTATION, kind).build(records, labels)


def votes(*records: Record, labels: Sequence[str] | None = None) -> xr.Dataset:
    return build("single-label", records, labels)


def shares(table: xr.Dataset, aggregator: str = "label-frequency") -> dict[str, list[float]]:
    """Return the plausibilities of each example, rounded, in the order of the labels."""
    found = plausibly.aggregate(table, aggregator)
    return {
        str(name): [round(value, 6) for value in row]
        for name, row in zip(found["example"].values, found.values.tolist(), strict=True)
    }


WINS = [
    ("a", "b"),
    ("a", "b"),
    ("b", "a"),
    ("b", "c"),
    ("c", "b"),
    ("b", "c"),
    ("a", "c"),
    ("c", "a"),
]


def test_fault_01_bradley_terry_goes_on_until_it_is_there() -> None:
    """Two iterations and a hundred gave the same scores, 0.42178 0.32899 0.24923."""
    table = build_table(
        "partial-ranking",
        examples=["x"],
        annotators=[],
        labels=["a", "b", "c"],
        response_example=np.zeros(len(WINS), int),
        response_annotator=np.full(len(WINS), -1),
        mention_response=np.repeat(np.arange(len(WINS)), 2),
        mention_label=np.array([["abc".index(label) for label in pair] for pair in WINS]).ravel(),
        mention_block=np.tile([1, 2], len(WINS)),
        unlisted="unknown",
    )
    found = plausibly.aggregate(table, "plackett-luce", prior=0.0).values[0]
    assert found == pytest.approx([0.43364, 0.32411, 0.24225], abs=6e-6)


@pytest.mark.parametrize(
    "aggregator",
    ["label-frequency", "majority-vote", "dawid-skene", "one-coin", "worker-agreement"],
)
def test_fault_04_nobody_labelled_it_has_one_answer(aggregator: str) -> None:
    """It was dropped without a word, or the prior, or 1.0, or one half each."""
    table = votes(("t1", "a", "cat"), ("t1", "b", "dog"), ("t2", "a", None))
    with pytest.raises(plausibly.InputError, match=r"1 of 2 examples has no response \(t2\)"):
        plausibly.aggregate(table, aggregator)
    found = plausibly.aggregate(table, aggregator, unanswered="drop")
    assert found["example"].values.tolist() == ["t1"]
    assert found.attrs["left_out"] == '{"without a response": 1}'


def test_fault_06_categorical_labels(tmp_path: Path) -> None:
    """A categorical column with an unused label was an AttributeError."""
    frame = pd.DataFrame(
        {
            "task": ["t1", "t2"],
            "worker": ["a", "a"],
            "label": pd.Categorical(["cat", "dog"], categories=["cat", "dog", "newt"]),
        }
    )
    frame.to_parquet(tmp_path / "votes.parquet")
    found = plausibly.read_annotations(tmp_path / "votes.parquet", labels=["cat", "dog", "newt"])
    assert shares(found) == {"t1": [1, 0, 0], "t2": [0, 1, 0]}


@pytest.mark.parametrize("label", ["task", "worker", "label", "example", "annotator", "response"])
@pytest.mark.parametrize("aggregator", ["label-frequency", "dawid-skene", "one-coin"])
def test_fault_08_a_label_may_be_called_like_a_column(aggregator: str, label: str) -> None:
    """A label called task was "columns overlap"."""
    found = plausibly.aggregate(votes(("1", "a", label), ("1", "b", label)), aggregator)
    assert found["label"].values.tolist() == [label]
    assert found.values.tolist() == [[pytest.approx(1.0)]]


def test_fault_16_a_label_called_nan(tmp_path: Path) -> None:
    """A label named nan was treated as missing."""
    file = tmp_path / "votes.csv"
    file.write_text("task,worker,label\n1,a,nan\n1,b,cat\n")
    found = plausibly.read_annotations(file, labels=["nan", "cat"])
    assert shares(found) == {"1": [0.5, 0.5]}


@pytest.mark.filterwarnings("ignore:warning names-alike")
def test_fault_21_words_and_ids_stay_as_written(tmp_path: Path) -> None:
    """None and NA of a file became missing, and 007 became 7."""
    file = tmp_path / "votes.csv"
    file.write_text("task,worker,label\n007,a,None\n7,a,NA\n")
    found = plausibly.read_annotations(file, labels=["None", "NA"])
    assert found["example"].values.tolist() == ["007", "7"]
    assert shares(found) == {"007": [1, 0], "7": [0, 1]}
