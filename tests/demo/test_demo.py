"""The demo: its model, study, figure and files, and the command."""

from __future__ import annotations

import subprocess
import sys
import warnings
from functools import cache, partial
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
import xarray as xr
from hypothesis import given, strategies as st
from numpy.typing import NDArray

import plausibly
from cli_world import run
from plausibly.demo import study, subjects
from plausibly.demo.subjects import group_folds, out_of_fold
from plausibly.errors import InputError, PlausiblyWarning
from plausibly.kernels.random import Keys
from plausibly.plots import sets
from plots_world import laid_out

SEED = 1


@cache
def subject(name: subjects.Name) -> subjects.Subject:
    """Return the data of a demo."""
    return subjects.load(name, SEED)


@cache
def result(name: subjects.Name, splits: int = 3) -> study.Result:
    """Return a demo that has run, without what it warned of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlausiblyWarning)
        return study.run(subject(name), splits=splits, seed=SEED, methods=study.EVERY)


NAMES: tuple[subjects.Name, ...] = ("nodules", "toy")


@pytest.mark.parametrize("name", NAMES)
def test_the_sets_are_those_of_the_first_split(name: subjects.Name) -> None:
    found = result(name)
    data = found.subject
    measured = found.study.sel({"method": study.EXPECTED}).isel(split=0, alpha=0)
    lam = data.plausibilities.sel(example=found.sets.example)
    assert found.sets.sizes["example"] == int(measured.n_test)
    assert float((found.sets * lam).sum("label").mean()) == pytest.approx(
        float(measured.aggregated_coverage)
    )
    assert float(found.sets.sum("label").mean()) == pytest.approx(float(measured.set_size))
    assert found.sets.attrs["calibration_overlap"] == 0
    if data.true_label is not None:
        true = data.true_label.sel(example=found.sets.example)
        covered = plausibly.evaluate(found.sets, lam, true_label=true).data.true_coverage_mean
        assert float(covered) == pytest.approx(float(measured.true_coverage))
    if data.cluster is not None:
        tested = set(found.sets[data.cluster].values)
        calibrates = ~data.predictions.example.isin(found.sets.example)
        assert not tested & set(data.predictions[data.cluster].values[calibrates.values])


def test_the_meaning_compares_sizes() -> None:
    found = result("toy")
    for voted, expected, words in (
        (1.32, 1.74, "0.4 more"),
        (1.74, 1.32, "0.4 fewer"),
        (1.0, 11.5, "10.5 more"),
    ):
        size = found.study["set_size"].copy()
        size.loc[{"method": study.VOTED}] = voted
        size.loc[{"method": study.EXPECTED}] = expected
        changed = attrs.evolve(found, study=found.study.assign(set_size=size))
        assert f", with {words} labels per set. " in study.meaning(changed)


def test_nodules_come_as_counted_votes(tmp_path: Path) -> None:
    data = subject("nodules")
    data.plausibilities.values.flags.writeable = False
    assert study.write_data(data, tmp_path) == ["votes.csv", "probabilities.csv", "patients.csv"]
    votes = plausibly.read_annotations(tmp_path / "votes.csv", reader="counts")
    assert votes.attrs["reader"] == "counts"
    lam = plausibly.aggregate(votes).sel(example=data.plausibilities.example)
    assert (lam.values == data.plausibilities.values).all()
    assert (lam.denominator.values == data.plausibilities.denominator.values).all()
    predictions = plausibly.read_predictions(tmp_path / "probabilities.csv")
    assert list(predictions.label.values) == list(data.predictions.label.values)
    assert (predictions.values == data.predictions.values).all()
    patients = plausibly.read_examples(tmp_path / "patients.csv")
    assert list(patients.patient.values) == list(data.predictions.patient.values)
    assert list(patients.example.values) == list(data.predictions.example.values)


def test_what_a_user_may_have_edited_is_never_replaced(tmp_path: Path) -> None:
    data = subject("toy")

    def written(splits: int) -> None:
        study.write_data(data, tmp_path)
        study.write_study_file(data, tmp_path, splits=splits, seed=1)

    written(5)
    written(9)  # an older study file that nobody edited is no hindrance
    for name in (study.PLAUSIBILITIES, study.PREDICTIONS, study.STUDY):
        path = tmp_path / name
        whole = path.read_bytes()
        path.write_bytes(whole + b"# mine\n")
        with pytest.raises(InputError) as refused:
            written(9)
        assert refused.value.name == "output-occupied"
        assert path.read_bytes() == whole + b"# mine\n"
        path.write_bytes(whole)


NAMES: tuple[subjects.Name, ...] = ("nodules", "toy")


@cache
def drawn(name: subjects.Name) -> Any:  # Any: a Figure of matplotlib, which types do not see
    """Return the figure, laid out as it is saved."""
    return laid_out(study.draw(result(name)))


@pytest.mark.parametrize("name", NAMES)
def test_what_is_guaranteed_has_its_own_mark(name: subjects.Name) -> None:
    coverage = drawn(name).axes[0]
    marks = [
        (line.get_marker(), line.get_color())
        for line in coverage.lines
        if line.get_marker() not in ("None", None, "")
    ]
    styles = [sets.GUARANTEED] * 6
    styles[2] = sets.NOTHING
    if name == "nodules":
        # One nodule of each held-out patient: a guarantee on patients, and none on this mean.
        styles[4:] = sets.NOTHING, sets.VACUOUS
    assert marks == [(style["marker"], style["color"]) for style in styles]
    explained = [text.get_text() for text in coverage.get_legend().get_texts()]
    assert ("mean, vacuous: every set contains all labels" in explained) == (name == "nodules")


SPLITS = 3


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("data", ["nodules", "toy"])
def test_the_study_of_the_file_is_that_of_the_demo(data: str, in_a_folder: Path) -> None:
    found = run("demo", "--splits", str(SPLITS), "-o", "out", "--data", data, "--json").document
    assert found["next"] == "plausibly run out/study.toml"
    following = run("run", "out/study.toml", "--json").document
    for ours, theirs in zip(found["methods"], following["methods"], strict=True):
        assert ours["name"] == theirs["name"]
        for measure in ("aggregated_coverage", "set_size"):
            assert ours[measure] == pytest.approx(theirs["results"][0][measure])
    names = {Path(name).name for name in found["written"]}
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
    """Return features and plausibilities of 72 examples in 24 groups."""
    random = np.random.default_rng(5)
    n = GROUPS * EACH
    x = random.normal(size=(n, 2))
    names = [f"e{i}" for i in range(n)]
    features = xr.DataArray(
        np.column_stack([x, np.full(n, 2.0)]),
        dims=("example", "feature"),
        coords={
            "example": names,
            "feature": ["a", "b", "constant"],
            "patient": ("example", [f"p{i // EACH}" for i in range(n)]),
        },
    )
    weight = np.exp(2 * np.column_stack([x[:, 0], x[:, 1], -x[:, 0]]))
    weight[weight < weight.max(axis=1, keepdims=True) / 50] = 0
    lam = xr.DataArray(
        weight / weight.sum(axis=1, keepdims=True),
        dims=("example", "label"),
        coords={"example": names, "label": ["u", "v", "w"]},
    )
    return features, lam


predict = partial(out_of_fold, cluster="patient", folds=FOLDS, keys=KEYS)


def folds(features: xr.DataArray) -> NDArray[np.int64]:
    return group_folds(features.patient.values.astype(str), FOLDS, KEYS).astype(np.int64)


def test_what_a_fold_says_does_not_reach_its_own_predictions() -> None:
    features, lam = world()
    fold = folds(features)
    turned = lam.copy()
    turned[fold == 0] = lam[fold == 0].values[:, ::-1]
    before, after = predict(features, lam), predict(features, turned)
    assert (before[fold == 0] == after[fold == 0]).all()
    assert (before[fold != 0] != after[fold != 0]).any()


def test_features_of_a_fold_do_not_scale_the_others_of_its_model() -> None:
    features, lam = world()
    fold = folds(features)
    far = features.copy()
    row = int(np.flatnonzero(fold == 0)[0])
    far[row, 0] = 1e6
    same = (fold == 0) & (np.arange(len(fold)) != row)
    assert (predict(features, lam)[same] == predict(far, lam)[same]).all()


def test_a_label_that_no_fold_saw_has_probability_nought() -> None:
    features, lam = world()
    fold = folds(features)
    lam.values[fold != 1] = [0.5, 0.5, 0]
    found = predict(features, lam)
    assert (found.values[fold == 1, 2] == 0).all()
    assert (found.values[fold != 1, 2] > 0).all()


@given(
    sizes=st.lists(st.integers(1, 9), min_size=1, max_size=40),
    count=st.integers(1, 12),
    seed=st.integers(0, 99),
)
def test_folds_are_even_and_whole(sizes: list[int], count: int, seed: int) -> None:
    groups = np.repeat([f"g{i}" for i in range(len(sizes))], sizes)
    found = group_folds(groups, count, Keys(seed))
    assert found.min() >= 0
    assert found.max() < count
    for group in set(groups.tolist()):
        assert len(set(found[groups == group].tolist())) == 1
    # A fold is off its even share by less than two groups.
    even = len(groups) / count
    assert (np.abs(np.bincount(found, minlength=count) - even) < 2 * max(sizes)).all()
    order = np.random.default_rng(seed).permutation(len(groups))
    assert (group_folds(groups[order], count, Keys(seed)) == found[order]).all()
