"""Faults that were measured in other libraries: what happens here on the same input.

The numbers are those of the study of annotation libraries.
"""

from __future__ import annotations

import os
import subprocess
import sys
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


def test_fault_02_a_tie_is_no_third_label() -> None:
    """A comparison without a winner made all scores NaN, and a label called tie."""
    found = plausibly.aggregate(
        build("partial-ranking", [("x", "r", [["a", "b"]])]), "plackett-luce"
    )
    assert found["label"].values.tolist() == ["a", "b"]
    assert found.values[0] == pytest.approx([0.5, 0.5])


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("aggregator", ["label-frequency", "majority-vote", "dawid-skene"])
def test_fault_03_a_tie_does_not_depend_on_the_order_of_rows(aggregator: str, order: int) -> None:
    """Rows swapped, another label won."""
    rows = [("t1", "a", "dog"), ("t1", "b", "cat")]
    assert shares(votes(*rows[::order]), aggregator) == {"t1": [0.5, 0.5]}


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


def test_fault_05_one_annotator_is_not_counted_thrice() -> None:
    """Three times x by one, y and y by two others: x got 0.6."""
    rows: Records = [("t", "a", "x")] * 3 + [("t", "b", "y"), ("t", "c", "y")]
    with pytest.raises(plausibly.InputError, match="a answered 1 example again"):
        votes(*rows)


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


def test_fault_09_weights_that_sum_to_nothing_are_told() -> None:
    """They were "Encountered all NA values"."""
    with pytest.raises(plausibly.InputError, match=r"only responses of weight\s+0 \(1\)"):
        plausibly.aggregate(
            votes(("1", "a", "x"), ("2", "b", "y")), "weighted-vote", weights={"a": 0.0}
        )


def test_fault_10_components_share_no_state() -> None:
    """An object that had never been fitted showed the labels of another."""
    sets = build("label-set", [("1", "a", ["p"]), ("1", "b", ["q"])])
    first = registry.resolve(ANNOTATION, "label-set")
    before = repr(registry.resolve(ANNOTATION, "label-set"))
    assert shares(sets, "label-set") == {"1": [0.5, 0.5]}
    assert repr(first) == before


SILENT = """
import warnings
warnings.simplefilter("error")
import plausibly
from plausibly import registry
from plausibly.protocols import ANNOTATION
rows = [("1", "a", "x"), ("1", "b", "y"), ("2", "a", "x"), ("2", "b", "x")]
table = registry.resolve(ANNOTATION, "single-label").build(rows, None)
for name in ("label-frequency", "majority-vote", "dawid-skene", "one-coin", "worker-agreement"):
    plausibly.aggregate(table, name)
"""


def test_fault_12_no_warning_of_a_library_comes_through() -> None:
    """With warnings as errors every aggregator failed at once."""
    run = subprocess.run(
        [sys.executable, "-c", SILENT],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONWARNINGS": ""},
    )
    assert (run.returncode, run.stderr) == (0, "")


def alpha(*records: Record) -> float:
    found = plausibly.agreement(votes(*records), resamples=0).data
    return float(found["value"].sel(measure="krippendorff-nominal"))


def test_fault_13_a_missing_answer_is_no_category() -> None:
    """None as a category gave 0.2308 instead of 1; no pair at all divided by zero."""
    rows = [
        ("1", "a", "x"),
        ("1", "b", "x"),
        ("1", "c", None),
        ("2", "a", "y"),
        ("2", "b", "y"),
        ("2", "c", None),
    ]
    assert alpha(*rows) == 1.0
    assert np.isnan(alpha(("1", "a", "x"), ("2", "b", "y")))


@pytest.mark.parametrize("ties", ["first", "random", "fractional"])
def test_fault_15_all_tied(ties: str) -> None:
    """Where every row was tied the vote crashed; the rarer label was preferred."""
    table = votes(("1", "a", "0"), ("1", "b", "1"), ("2", "a", "1"), ("2", "b", "0"))
    found = plausibly.aggregate(table, "majority-vote", ties=ties).values
    assert found.sum(axis=1).tolist() == [1.0, 1.0]


def test_fault_16_a_label_called_nan(tmp_path: Path) -> None:
    """A label named nan was treated as missing."""
    file = tmp_path / "votes.csv"
    file.write_text("task,worker,label\n1,a,nan\n1,b,cat\n")
    found = plausibly.read_annotations(file, labels=["nan", "cat"])
    assert shares(found) == {"1": [0.5, 0.5]}


def test_fault_19_one_ranking_alone() -> None:
    """Alone it raised, or did not converge; a label twice and ties gave a shape error."""
    table = build("partial-ranking", [("x", "r", ["a", "b", "c"])])
    found = plausibly.aggregate(table, "plackett-luce").values[0]
    assert found[0] > found[1] > found[2] > 0
    with pytest.raises(plausibly.InputError, match='ranks "a" twice'):
        build("partial-ranking", [("x", "r", ["a", "a", "b"])])


def test_fault_20_one_value_everywhere_has_an_alpha_or_a_reason() -> None:
    """It was a ValueError, and so was a table without a pair."""
    found = plausibly.agreement(votes(("1", "a", "x"), ("1", "b", "x")), resamples=0).data
    one = found.sel(measure="krippendorff-nominal")
    assert float(one["value"]) == 1.0 or str(one["reason"].values)


@pytest.mark.filterwarnings("ignore:warning names-alike")
def test_fault_21_words_and_ids_stay_as_written(tmp_path: Path) -> None:
    """None and NA of a file became missing, and 007 became 7."""
    file = tmp_path / "votes.csv"
    file.write_text("task,worker,label\n007,a,None\n7,a,NA\n")
    found = plausibly.read_annotations(file, labels=["None", "NA"])
    assert found["example"].values.tolist() == ["007", "7"]
    assert shares(found) == {"007": [1, 0], "7": [0, 1]}
