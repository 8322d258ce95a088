"""Strata, sizes and numbers of draws as keys of a study file, and what is printed of them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import xarray as xr

import plausibly
from cli_world import World, run
from plausibly.errors import PlausiblyWarning
from plausibly.evaluation.splits import split, split_keys
from plausibly.kernels.random import hash_names
from plausibly.study import run_study
from study_world import SMALLEST, WHOLE, rows

SWEEPS = WHOLE.replace(
    "count = 6\n",
    'count = 4\nstratify = "site"\nsizes = [10, 15]\ndraws = [1, 5]\n',
).replace("alphas = [0.1, 0.25]", "alphas = [0.25]")
SWEEPS = SWEEPS.replace('cluster = "patient"\n', "\n")


@pytest.fixture(autouse=True)
def swept(world: World) -> None:
    world.write("study.toml", SWEEPS)


def compared(name: str) -> xr.Dataset:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlausiblyWarning)
        return run_study(name).compared


def test_the_keys_are_the_arguments_of_compare(world: World) -> None:
    found = compared("study.toml")
    table = plausibly.read_examples("patients.csv")
    predictions = plausibly.read_predictions("probabilities.csv")
    predictions = predictions.assign_coords(site=("example", table["site"].values))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlausiblyWarning)
        expected = plausibly.compare(
            predictions,
            plausibly.aggregate(plausibly.read_annotations("votes.csv")),
            {
                "everyone": {},
                "majority-vote": {"calibrator": "majority-vote"},
                "last": {"calibrator": "monte-carlo", "combiner": "maximum"},
            },
            alphas=["0.25"],
            splits=4,
            stratify="site",
            sizes=[10, 15],
            draws=[1, 5],
            seed=1,
        ).data
    assert found["set_size"].dims == ("method", "split", "alpha", "draws", "size")
    for name in ("aggregated_coverage", "set_size", "n_calibration", "guaranteed", "uses_draws"):
        assert np.array_equal(found[name].values, expected[name].values)


def test_what_is_told(world: World) -> None:
    told = run("run", "study.toml")
    assert told.code == 0
    assert (
        "study        4 random splits, 50% of the examples and of each site to test; 10\n"
        "             and 15 calibration examples (n); 1 and 5 draws (m); seed 1\n"
    ) in told.out
    _, _, table = told.out.partition("\nmethod ")
    rows = table.partition("\nVerdict")[0].splitlines()[1:]
    assert [row.split("  ")[0] for row in rows] == [
        "everyone, n 10",
        "everyone, n 15",
        "majority-vote, n 10",
        "majority-vote, n 15",
        *(f"monte-carlo…, n {n}, m {m}" for n in (10, 15) for m in (1, 5)),
    ]
    assert max(map(len, told.out.splitlines())) <= 80
    # The sets and the predictor are those of all calibration examples.
    assert "predictor.nc: everyone, on all 30 examples" in " ".join(told.out.split())
    document = run("run", "study.toml", "--json", "-o", "again").document
    assert document["study"]["splits"] == {
        "count": 4,
        "test": 0.5,
        "stratify": "site",
        "draws": [1, 5],
        "sizes": [10, 15],
    }
    cells = [(one["alpha"], one["size"], one["draws"]) for one in document["methods"][2]["results"]]
    assert cells == [(0.25, size, draws) for size in (10, 15) for draws in (1, 5)]
    stored = plausibly.load_study("again/results.nc").data
    last = document["methods"][2]["results"][-1]
    mean = float(stored["set_size"].isel(method=2, alpha=0, draws=1, size=1).mean())
    assert last["set_size"] == mean


def test_the_sets_are_of_the_stratified_split(world: World) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlausiblyWarning)
        result = run_study("study.toml")
    ready = result.prepared.predictions
    hashes = hash_names(ready["example"].values)
    test = split(hashes, split_keys(1, 0), strata=ready["site"].values)
    assert result.sets["example"].values.tolist() == ready["example"].values[test].tolist()


MISTAKES = {
    "draws = []": "7 splits.draws: expected one number or more, found none",
    "draws = [1, 0]": "7 splits.draws: must be >= 1, found 0",
    "sizes = [5, 7, 5]": "7 splits.sizes: expected each number once, found 5 2 times",
    "sizes = [5.5]": "7 splits.sizes[0]: expected an integer, found 5.5",
    "sizes = 5": "7 splits.sizes: expected a list, each an integer, found 5",
    "stratify = 5": '7 splits.stratify: expected text, found 5; write stratify = "5"',
    "strata = 'site'": '7 splits.strata: no such key; did you mean "stratify"?',
}


@pytest.mark.parametrize("text", MISTAKES)
def test_mistakes_are_told_before_anything_is_read(text: str) -> None:
    found = rows(f"{SMALLEST}[splits]\n{text}\n")
    assert found == [MISTAKES[text]]


def test_strata_that_the_examples_do_not_have(world: World) -> None:
    world.edit("study.toml", '"site"', '"sit"')
    told = run("config", "check", "study.toml")
    assert told.code == 2
    assert told.out.endswith(
        ' line 26  splits.stratify: examples have no "sit"; they have patient, site,\n'
        "          diagnosis\n"
    )


def test_sizes_and_strata_that_no_split_has(world: World) -> None:
    world.edit("study.toml", "[10, 15]", "[10, 16]")
    told = run("run", "study.toml")
    assert told.code == 2
    assert "error option-range: split 0 has no 16 calibration examples\n" in told.err
    world.edit("study.toml", "sizes = [10, 16]", "")
    world.edit("study.toml", 'patients.csv"\n', 'patients.csv"\ncluster = "patient"\n')
    world.edit("study.toml", '"site"', '"diagnosis"')
    told = run("run", "study.toml")
    assert told.code == 2
    assert 'values of "patient" lie in several strata of' in told.err
    assert not world.path("out").exists()
