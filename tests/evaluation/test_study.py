"""Studies: the same splits for every method, sizes and draws, warnings once, files."""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
import sys
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from hypothesis import assume, given, strategies as st

import plausibly
from call_files import each_call
from plausibly import calibrate, compare
from plausibly.errors import InputError, PlausiblyWarning
from plausibly.evaluation import Study, evaluate
from plausibly.evaluation.design import Methods, with_draws
from plausibly.evaluation.splits import nested, split, split_keys, split_seed
from plausibly.kernels.random import Keys, hash_names
from plausibly.plugin import CALIBRATOR, CalibrationData, CalibrationScores, resolve
from readme_world import write_files
from study_world import Wrapped

from . import studies as oracle
from .studies import quiet, sites

MEASURES = ("aggregated_coverage", "majority_vote_coverage", "set_size", "share_empty")
METHODS = [
    {"calibrator": "majority-vote"},
    {"calibrator": "monte-carlo", "combiner": "average"},
    {"calibrator": "monte-carlo", "combiner": "held-out-rank"},
    {"calibrator": "expected"},
]


@pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")
def test_every_cell_is_calibrate_predict_and_evaluate_on_a_subset() -> None:
    predictions, plausibilities = sites(80)
    true = predictions["example"].copy(data=np.resize(["l2", "l0", "l1"], 80))
    study = quiet(
        predictions,
        plausibilities,
        METHODS[:3],
        alphas=["0.1", "0.25"],
        splits=2,
        test=0.4,
        cluster="patient",
        draws=[1, 4],
        sizes=[30, 10],
        seed=5,
        true_label=true,
    )
    assert study["set_size"].dims == ("method", "split", "alpha", "draws", "size")
    assert study["uses_draws"].values.tolist() == [False, True, True]
    hashes, patients = hash_names(predictions["example"].values), predictions["patient"].values
    for number in range(2):
        keys = split_keys(5, number)
        test = split(hashes, keys, test=0.4, groups=patients)
        assert study["n_test"][number] == test.sum() == 32
        rows = np.flatnonzero(~test)
        subsets = nested(hashes[rows], keys.child("size"), [30, 10], groups=patients[rows])
        assert study["n_calibration"].sel(split=number).values.tolist() == [30, 10]
        cells = product(zip((30, 10), subsets, strict=True), (1, 4), enumerate(METHODS[:3]))
        for (size, subset), draws, (place, method) in cells:
            predictor = calibrate(
                predictions[rows[subset]],
                plausibilities[rows[subset]],
                seed=split_seed(5, number),
                cluster="patient",
                draws=draws if study["uses_draws"][place] else None,
                **method,  # type: ignore[arg-type]  # names of components only
            )
            sets = predictor.predict(predictions[test], [0.1, 0.25])
            result = evaluate(sets, plausibilities[test], true_label=true).data
            item = study.isel(method=place, split=number).sel(size=size, draws=draws)
            for measure in (*MEASURES, "true_coverage"):
                mean = result[measure if measure == "share_empty" else f"{measure}_mean"]
                np.testing.assert_allclose(item[measure], mean, rtol=1e-12)


def test_a_study_states_its_guarantees_and_settings() -> None:
    predictions, plausibilities = oracle.world(60)
    study = compare(
        predictions, plausibilities, METHODS, alphas=[0.2, "0.4"], splits=2, seed=1
    ).data
    assert study["method"].values.tolist() == [
        "majority-vote",
        "monte-carlo, average",
        "monte-carlo, held-out-rank",
        "expected",
    ]
    assert study["guaranteed"].values.tolist() == [["nothing"] * 2, *[["0.80", "0.60"]] * 3]
    assert np.isnan(study["guaranteed_level"].values[0]).all()
    assert study["guaranteed_level"].values[3].tolist() == [0.8, 0.6]
    assert not study["vacuous"].any()
    assert "true_coverage" not in study
    stated = json.loads(study.attrs["guarantees"])
    assert stated["majority-vote"][0]["target"] == "majority-vote"
    assert stated["expected"][1]["alpha"] == "2/5"
    settings = {"n": 60, "labels": 4, "seed": 1, "test": 0.5, "ties": "first"}
    settings |= {"alphas": '["0.2", "0.4"]', "version": plausibly.__version__}
    assert {name: study.attrs[name] for name in settings} == settings
    assert json.loads(study.attrs["methods"])["majority-vote"] == {
        "calibrator": "majority-vote",
        "score": "probability",
        "combiner": "average",
    }


def test_the_order_of_rows_labels_and_dims_does_not_matter() -> None:
    predictions, plausibilities = oracle.world(80)
    first = compare(
        predictions, plausibilities, METHODS, splits=3, ties="random", cluster="patient"
    ).data
    order = np.random.default_rng(2).permutation(80)
    second = compare(
        predictions[order].transpose(),
        plausibilities[order[::-1], ::-1],
        METHODS,
        splits=3,
        ties="random",
        cluster="patient",
    ).data
    xr.testing.assert_identical(first, second)


def test_warnings_of_splits_are_issued_once_with_their_scope() -> None:
    predictions, plausibilities = oracle.world(60)
    methods: Methods = [{"calibrator": "monte-carlo", "combiner": "ecdf"}, "expected"]
    with pytest.warns(PlausiblyWarning) as every:
        study = compare(predictions, plausibilities, methods, splits=4).data
    (message,) = (warning.message for warning in every)
    assert isinstance(message, PlausiblyWarning)
    assert "splits)" not in message.what
    assert every[0].filename == __file__
    assert study["guaranteed"].values.ravel().tolist() == ["0.8999, vacuous", "0.90"]
    assert study["aggregated_coverage"].values[0].tolist() == [[1.0]] * 4

    few = predictions[:21].assign_coords(site=("example", np.repeat(np.arange(6), [6, *[3] * 5])))
    with pytest.warns(PlausiblyWarning) as some:
        study = compare(
            few, plausibilities[:21], {"e": {}}, alphas=0.075, splits=8, cluster="site", test=0.45
        ).data
    often = int(study["vacuous"].sum())
    assert 0 < often < 8
    (message,) = (warning.message for warning in some)
    assert isinstance(message, PlausiblyWarning)
    assert message.what.endswith(f"(in {often} of 8 splits)")
    assert study["guaranteed"].item() == f"0.925, vacuous in {often} of 8"

    with pytest.warns(PlausiblyWarning):
        study = compare(
            predictions,
            plausibilities,
            ["majority-vote", {"calibrator": "monte-carlo", "combiner": "maximum"}],
            splits=2,
            sizes=[5, 8, 20],
            draws=[1, 3],
        ).data
    vacuous = study["guaranteed"].sel(size=5, draws=1).values.ravel().tolist()
    assert vacuous == ["nothing", "0.90, vacuous"]


def test_dims_are_those_of_the_options() -> None:
    predictions, plausibilities = sites(60)
    options: dict[str, object] = {"alphas": 0.2, "splits": 2, "cluster": "patient", "seed": 1}
    plain = quiet(predictions, plausibilities, METHODS[:3], **options)
    assert plain["set_size"].dims == ("method", "split", "alpha")
    assert plain["n_calibration"].dims == ("split",)
    assert not {"draws", "size", "uses_draws"} & set(plain.coords)
    # Ten draws are the default, and all of the calibration side has 30 examples in pairs.
    for item in (
        quiet(predictions, plausibilities, METHODS[:3], draws=[10, 2], **options).sel(draws=10),
        quiet(predictions, plausibilities, METHODS[:3], sizes=30, **options).isel(size=0),
    ):
        for name in ("aggregated_coverage", "set_size", "vacuous", "guaranteed"):
            assert np.array_equal(item[name].values, plain[name].values)
        # In full they are those with the most draws and the largest size.
        assert item.attrs["guarantees"] == plain.attrs["guarantees"]


@dataclasses.dataclass(frozen=True)
class Plain:
    draws: int = 3

    def calibrate(self, data: CalibrationData, keys: Keys) -> CalibrationScores:
        inner = resolve(CALIBRATOR, {"name": "monte-carlo", "draws": self.draws})
        return inner.calibrate(data, keys)


def test_draws_reach_calibrators_inside_others() -> None:
    wrapped = with_draws(Wrapped(inner=Wrapped()), 4)
    assert wrapped == Wrapped(
        inner=Wrapped(inner=resolve(CALIBRATOR, {"name": "monte-carlo", "draws": 4}))
    )
    assert with_draws(Plain(), 7) == Plain(7)
    assert with_draws(Wrapped(inner=resolve(CALIBRATOR, "expected")), 7) is None
    predictions, plausibilities = oracle.world(40)
    methods = {
        name: {"calibrator": first} for name, first in (("plain", Plain()), ("wrapped", Wrapped()))
    }
    study = quiet(
        predictions, plausibilities, {**methods, "drawn": METHODS[1]}, splits=2, draws=[2, 5]
    )
    assert study["uses_draws"].all()
    for name in ("plain", "wrapped"):
        first, second = (study["set_size"].sel({"method": which}) for which in (name, "drawn"))
        assert np.array_equal(first, second)
    assert json.loads(study.attrs["methods"])["wrapped"]["calibrator"] == "Wrapped"


@pytest.mark.parametrize(
    ("seed", "more"),
    [(3, {}), (-(10**30), {"draws": [1, 20], "sizes": [5, 20], "cluster": "patient"})],
)
def test_a_study_is_read_as_it_was_written(
    tmp_path: Path, seed: int, more: dict[str, object]
) -> None:
    predictions, plausibilities = sites(60)
    methods = {
        "Stimmen, gezählt": {"calibrator": "majority-vote"},
        "b": {"calibrator": "monte-carlo"},
    }
    study = quiet(
        predictions,
        plausibilities,
        methods,
        alphas=["0.1", "1/3"],
        splits=2,
        seed=seed,
        stratify="site",
        **more,
    )
    file = tmp_path / "study.nc"
    Study(study).save(file)
    assert file.read_bytes()[:3] == b"CDF"
    again = plausibly.load_study(str(file)).data
    xr.testing.assert_identical(again, study)
    for name, values in study.variables.items():
        assert again[name].dtype == values.dtype
    for name, value in study.attrs.items():
        assert type(again.attrs[name]) is type(value)


def test_data_that_holds_no_study_is_refused(tmp_path: Path) -> None:
    another, file = xr.Dataset({"x": ("i", np.zeros(2))}), tmp_path / "x.nc"
    another.to_netcdf(file, engine="scipy")
    for call in (
        lambda: Study(another).save(tmp_path / "y.nc"),
        lambda: plausibly.load_study(file),
    ):
        with pytest.raises(InputError) as refused:
            call()
        assert (refused.value.name, refused.value.found) == ("study-unknown", "x over i")
    with pytest.raises(InputError, match="file-missing"):
        plausibly.load_study(tmp_path / "y.nc")


test_each_call_gives_its_text = each_call(__file__, globals())


# ---- splits


NAMES = [f"case {i}" for i in range(101)]
HASHES = hash_names(NAMES)


@given(st.integers(2, 99), st.integers(0, 5))
def test_the_share_is_the_decimal_that_was_typed(percent: int, number: int) -> None:
    share = percent / 100
    hundred = HASHES[:100]
    assert split(hundred, split_keys(0, number), test=share).sum() == percent
    assert split(HASHES, split_keys(0, number), test=share).sum() == int(
        Fraction(percent, 100) * 101
    )


def test_splits_differ_between_numbers_and_seeds() -> None:
    result = [split(HASHES, split_keys(seed, number)) for seed in (0, 1) for number in range(4)]
    assert len({item.tobytes() for item in result}) == 8
    seeds = {split_seed(seed, number) for seed in (0, 1) for number in range(4)}
    assert len(seeds) == 8
    assert all(seed >= 0 for seed in seeds)
    assert split_keys(0, 3) == Keys(0).child("split-3")


def test_every_example_is_tested_as_often_as_any_other() -> None:
    tested = sum(split(HASHES, split_keys(0, number)).astype(int) for number in range(400))
    assert abs(np.mean(tested) - 400 * 50 / 101) < 1e-9
    assert np.abs(tested - 198).max() < 5 * np.sqrt(400 / 4)


@given(st.lists(st.integers(0, 9), min_size=20, max_size=60), st.integers(0, 9))
def test_groups_stay_whole_and_their_number_is_the_share(groups: list[int], number: int) -> None:
    codes, hashes = np.array(groups), HASHES[: len(groups)]
    assume(len(set(groups)) > 1)
    chosen = split(hashes, split_keys(0, number), groups=codes)
    assert not set(codes[chosen]) & set(codes[~chosen])
    assert len(set(codes[chosen])) == len(set(groups)) // 2


@pytest.mark.parametrize("strata", [None, np.zeros(120)])
@pytest.mark.parametrize("whole", [True, False])
def test_a_large_group_is_chosen_as_often_as_a_small_one(
    strata: np.ndarray | None, *, whole: bool
) -> None:
    """Of 60 patients with one example and 2 with 30.

    For the test side of a split, 18 of 62 groups, and for a size of 40 examples, about 20.
    """
    hashes = hash_names([f"e{row}" for row in range(120)])
    patients = np.concatenate([np.arange(60), np.repeat([60, 61], 30)])
    options = {"groups": patients, "strata": strata}
    chosen = [
        split(hashes, split_keys(0, k), test=0.3, **options)
        if whole
        else nested(hashes, split_keys(1, k), [40], **options)[0]
        for k in range(600)
    ]
    share, taken = (18 if whole else 20) / 62, np.mean(chosen, axis=0)
    margin = 4 * np.sqrt(0.25 / 600)
    for rows in (60, 90, slice(60)):
        assert abs(taken[rows].mean() - share) < margin
    assert whole or abs(taken.sum() - 40) < 4
    assert not any(set(patients[inside]) & set(patients[~inside]) for inside in chosen)


# ---- docs/studies.md


def test_the_script_runs_in_several_processes(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (project / "docs" / "studies.md").read_text(encoding="utf-8")
    (script,) = re.findall(r"^```python\n(# compare\.py\n.*?)^```$", page, re.MULTILINE | re.DOTALL)
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    Path("compare.py").write_text(script, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "compare.py"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    study = plausibly.load_study("study.nc").data
    assert study["set_size"].shape == (2, 20, 1)
    assert len(list(Path("kept").iterdir())) == 21
