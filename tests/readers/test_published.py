"""Data that people published, to numbers that were counted by hand, or by other means."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import plausibly
from plausibly.io.label_tables import read_labels

pytestmark = pytest.mark.realdata


@pytest.fixture
def folder(shared: Path) -> Path:
    return shared / "cases" / "annotations"


def weights(table: xr.Dataset, about: str) -> list[int]:
    """Return the votes of each example, or for each label."""
    each = table["response_weight"].values
    places = table["response_example"].values
    if about == "label":
        each, places = each[table["mention_response"].values], table["mention_label"].values
    return [int(weight) for weight in np.bincount(places, each)]


def test_get_another_label_toy(folder: Path) -> None:
    crowd = plausibly.read_annotations(folder / "long" / "gal_toy_crowdkit.csv")
    plain = plausibly.read_annotations(
        folder / "long" / "gal_toy_worker_task_label.tsv",
        "long-table",
        columns={"example": "2", "annotator": "1", "label": "3"},
    )
    assert crowd.equals(plain)
    lam = plausibly.aggregate(crowd, "label-frequency")
    assert lam.sel(label="flagged").values.tolist() == [0.4, 0.8, 0.4, 0.8, 0.6]


def test_ferplus(folder: Path) -> None:
    path = folder / "counts" / "ferplus_votes_subset.csv"
    rows = [row.split(",") for row in path.read_text("utf-8").splitlines()[1:]]
    named = [[int(cell) for cell in row[2:]] for row in rows if row[1]]
    assert (len(rows), len(named)) == (206, 187)
    options = {"ignore": ["Usage"], "unnamed": "drop"}
    every = plausibly.read_annotations(path, "counts", **options)
    votes = weights(every, "example")
    assert sorted(votes)[:2] == [9, 10]
    assert max(votes) == 10
    assert sum(votes) == sum(map(sum, named))
    lam = plausibly.aggregate(every).values
    assert ((lam == lam.max(axis=1, keepdims=True)).sum(axis=1) > 1).sum() == 37
    emotions = plausibly.read_annotations(
        path,
        "counts",
        none_of_these=["unknown", "NF"],
        states={"none-of-these": "drop"},
        **options,
    )
    aside = sum(sum(row[8:]) for row in named)
    text = " ".join(repr(emotions).split())
    assert text.endswith(f"not counted: {aside} none-of-these, 19 rows without a name")
    assert emotions.sizes["label"] == 8
    assert sum(weights(emotions, "label")) == sum(sum(row[:8]) for row in named)


@pytest.mark.parametrize(
    ("name", "examples", "labels"),
    [
        ("cifar10h", 10_000, 10),
        ("chaosnli_mnli", 1_569, 3),
        ("chaosnli_snli", 1_514, 3),
        ("lidc_malignancy", 1_378, 5),
        ("sleep_dodh", 24_665, 5),
    ],
)
def test_data_sets_of_counts(shared: Path, name: str, examples: int, labels: int) -> None:
    path = shared / "data" / name / "data.npz"
    table = plausibly.read_annotations(path)
    assert table.attrs["reader"] == "counts"
    assert (table.sizes["example"], table.sizes["label"]) == (examples, labels)
    with np.load(path) as stored:
        counts = stored["counts"]
        assert table["label"].values.tolist() == stored["class_names"].tolist()
    np.testing.assert_array_equal(
        plausibly.aggregate(table).values, counts / counts.sum(axis=1, keepdims=True)
    )
    if name == "cifar10h":
        votes = counts.sum(axis=1)
        assert (votes.min(), votes.max()) == (47, 63)
        assert ((counts > 0).sum(axis=1) == 1).sum() == 4_393
        tied = np.flatnonzero((counts == counts.max(axis=1, keepdims=True)).sum(axis=1) > 1)
        assert tied.tolist() == [7_493, 9_246, 9_386]


def test_votes_and_predictions_of_one_data_set(shared: Path) -> None:
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
    assert np.unique(blocks[0][np.repeat(sizes, sizes) > 1]).size == 1_519
    assert np.bincount(table["mention_response"].values).max() == 7
    assert table["mention_label"].values.max() == 417
    lam = plausibly.aggregate(table, "inverse-rank")
    first = lam.isel(example=1)
    assert {int(k): float(first[k]) for k in np.flatnonzero(first)} == {15: 0.5, 372: 0.5}
    assert float(lam.max("label").mean()) == pytest.approx(0.598, abs=5e-4)
