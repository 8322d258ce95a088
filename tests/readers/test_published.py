"""Data that people published, to numbers that were counted by hand, or by other means."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import plausibly

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
