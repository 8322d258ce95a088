"""The readers on files that people published, to the counts of their manifest."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import plausibly
from io_files import refusal
from plausibly.io.label_tables import read_labels

pytestmark = pytest.mark.realdata

FIRST_WORKER = {"task": "2", "worker": "1", "label": "3"}


def test_get_another_label_toy(shared: Path) -> None:
    folder = shared / "cases" / "annotations" / "long"
    crowd = plausibly.read_annotations(folder / "gal_toy_crowdkit.csv")
    plain = plausibly.read_annotations(
        folder / "gal_toy_worker_task_label.tsv", "crowd-table", columns=FIRST_WORKER
    )
    assert crowd.equals(plain)
    assert crowd.sizes["response"] == 25
    lam = plausibly.aggregate(crowd, "label-frequency")
    assert lam.sel(label="flagged").values.tolist() == [0.4, 0.8, 0.4, 0.8, 0.6]


def test_mozafari(shared: Path) -> None:
    folder = shared / "cases" / "annotations" / "long"
    table = plausibly.read_annotations(
        folder / "mozafari_worker_task_label.tsv", columns=FIRST_WORKER
    )
    assert table.sizes["response"] == 5_000
    assert table.sizes["annotator"] == 83
    assert table.sizes["example"] == 1_000
    assert (np.bincount(table["response_example"].values) == 5).all()
    lam = plausibly.aggregate(table)
    truth = dict(
        line.split("\t") for line in (folder / "mozafari_truth.tsv").read_text().splitlines()
    )
    votes = lam["label"].values[lam.values.argmax(axis=1)]
    right = [truth[name] == vote for name, vote in zip(lam["example"].values, votes, strict=True)]
    assert np.mean(right) == pytest.approx(0.696, abs=5e-4)


def test_ferplus(shared: Path) -> None:
    path = shared / "cases" / "annotations" / "counts" / "ferplus_votes_subset.csv"
    table = plausibly.read_annotations(path, "counts", ignore=["Usage"], unnamed="drop")
    assert table.sizes["example"] == 206 - 19
    assert "19 rows without a name" in repr(table)
    votes = np.bincount(table["response_example"].values, table["response_weight"].values)
    assert sorted(votes)[:2] == [9, 10]
    assert votes.max() == 10
    lam = plausibly.aggregate(table).values
    assert ((lam == lam.max(axis=1, keepdims=True)).sum(axis=1) > 1).sum() == 37
    error = refusal(lambda: plausibly.read_annotations(path, "counts", ignore=["Usage"]))
    assert error.what.endswith("names no example in lines 19, 25, 61, … (19 in all)")
    error = refusal(lambda: plausibly.read_annotations(path, "counts", ignore=["Image name"]))
    assert 'names "Training" in lines' in error.what


def test_cifar10h(shared: Path) -> None:
    path = shared / "cases" / "annotations" / "counts" / "cifar10h_counts_first100.npy"
    labels = [str(label) for label in range(10)]
    assert (
        refusal(lambda: plausibly.read_annotations(path, labels=labels)).name == "format-ambiguous"
    )
    table = plausibly.read_annotations(path, "counts", labels)
    votes = np.bincount(table["response_example"].values, table["response_weight"].values)
    assert (votes.min(), votes.max(), votes.size) == (49, 56, 100)
    np.testing.assert_array_equal(
        plausibly.aggregate(table).values, np.load(path) / np.load(path).sum(1, keepdims=True)
    )


def test_a_whole_data_set(shared: Path) -> None:
    path = shared / "data" / "crema_d" / "data.npz"
    table = plausibly.read_annotations(path)
    predictions = plausibly.read_predictions(path)
    assert predictions.dtype == np.float32
    assert predictions.shape == (table.sizes["example"], table.sizes["label"]) == (7_442, 6)
    assert predictions["label"].values.tolist() == table["label"].values.tolist()
    with np.load(path) as stored:
        np.testing.assert_array_equal(predictions.values, stored["probs"])
        assert table["response_weight"].sum() == stored["counts"].sum()


def test_dermatology(shared: Path) -> None:
    folder = shared / "data" / "derm_ddx"
    conditions = folder / "dermatology_conditions.txt"
    table = plausibly.read_annotations(folder / "dermatology_selectors.json", labels=conditions)
    assert table.sizes["example"] == 1_947
    assert table.sizes["response"] == 9_602
    assert table.sizes["label"] == read_labels(conditions).sizes["label"] == 419
    readers = np.bincount(table["response_example"].values)
    assert (readers.min(), readers.max()) == (1, 10)
    assert ((readers == 1).sum(), (readers == 10).sum()) == (25, 84)
    blocks = np.stack([table["mention_response"].values, table["mention_block"].values])
    _, sizes = np.unique(blocks, axis=1, return_counts=True)
    assert sizes.max() == 6
    tied = np.unique(blocks[0][np.repeat(sizes, sizes) > 1])
    assert tied.size == 1_519
    assert np.bincount(table["mention_response"].values).max() == 7
    assert table["mention_label"].values.max() == 417
    lam = plausibly.aggregate(table, "inverse-rank")
    first = lam.isel(example=1)
    assert {int(k): float(first[k]) for k in np.flatnonzero(first)} == {15: 0.5, 372: 0.5}
    assert float(lam.max("label").mean()) == pytest.approx(0.598, abs=5e-4)


@pytest.mark.parametrize(
    "name",
    [
        "wide/temp_wide_noheader.csv",
        "doccano/text_classification_export.csv",
        "counts/ferplus_votes_subset.csv",
        "long/mozafari_worker_task_label.tsv",
    ],
)
def test_files_of_other_formats_are_refused(shared: Path, name: str) -> None:
    path = shared / "cases" / "annotations" / name
    error = refusal(lambda: plausibly.read_annotations(path))
    assert (error.name, error.what) == ("format-unknown", f"no reader recognises {path.name}")
