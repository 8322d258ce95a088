"""A study end to end: what it prints, what it measures, and that nothing else has a part in it."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import plausibly
from cli_world import World, make_views, run
from plausibly.data.validate import seen_in_one
from plausibly.errors import InputError
from plausibly.evaluation.design import Design, Outcome
from plausibly.evaluation.splits import split, split_keys, split_seed
from plausibly.io import read_sets
from plausibly.kernels.random import hash_names
from plausibly.study import prepare, run_study, write_study
from refusals import quiet
from study_world import WHOLE, inputs, studied, tables, written

SWEEPS = (
    WHOLE.replace("count = 6", 'count = 4\nstratify = "site"\nsizes = [10, 15]\ndraws = [1, 5]')
    .replace("[0.1, 0.25]", "[0.25]")
    .replace('cluster = "patient"\n', "\n")
)


def test_warnings_end_a_strict_run_after_its_files(world: World) -> None:
    command = "run study.toml -o elsewhere --json --strict --quiet --no-report"
    strict = run(*command.split())
    assert (strict.code, strict.err.startswith("error warnings-strict: ")) == (3, True)
    shown, result = strict.document, studied("study.toml")
    assert shown["predictor"]["fingerprint"] == result.predictor.fingerprint
    assert {Path(name).name for name in shown["written"]} == written(world.path("elsewhere")).keys()


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (WHOLE, {"alphas": ["0.1", "0.25"], "splits": 6, "cluster": "patient"}),
        (
            SWEEPS,
            {
                "alphas": ["0.25"],
                "splits": 4,
                "stratify": "site",
                "sizes": [10, 15],
                "draws": [1, 5],
            },
        ),
    ],
    ids=["clusters", "sweeps"],
)
def test_keys_are_the_arguments_of_compare(
    world: World,
    text: str,
    options: dict[str, Any],  # Any: by name
) -> None:
    methods: dict[str, dict[str, object]] = {
        "everyone": {},
        "majority-vote": {"calibrator": "majority-vote"},
        "monte-carlo(draws=4), maximum": {
            "calibrator": {"name": "monte-carlo", "draws": 4},
            "combiner": "maximum",
        },
    }
    with quiet():
        expected = plausibly.compare(*inputs(), methods, seed=1, **options).data
    result = studied(world.write("study.toml", text)).compared
    xr.testing.assert_equal(result, expected)
    assert result.attrs["guarantees"] == expected.attrs["guarantees"]


def test_sets_are_those_of_the_first_split_and_the_predictor_saw_all(world: World) -> None:
    result = studied("study.toml")
    write_study(result)
    predictions, plausibilities = inputs()
    groups = predictions["patient"].values
    test = split(hash_names(predictions["example"].values), split_keys(1, 0), groups=groups)
    predictor = plausibly.calibrate(
        predictions[~test], plausibilities[~test], seed=split_seed(1, 0), cluster="patient"
    )
    sets = predictor.predict(predictions[test], ["0.1", "0.25"])
    stored = read_sets("out/sets.csv")
    xr.testing.assert_equal(stored, sets.reset_coords(drop=True))
    assert stored.attrs["fingerprint"] == predictor.fingerprint
    assert stored.attrs["calibration_overlap"] == 0
    about = json.loads(world.path("out/sets.json").read_text())
    assert about["calibration"] == "everyone"
    assert about["examples_are"] == "the test examples of split 0 of a study of 6"
    coverage = plausibly.evaluate(stored, plausibilities[test])["aggregated_coverage_mean"].values
    measured = result.compared["aggregated_coverage"].sel({"method": "everyone", "split": 0}).values
    np.testing.assert_allclose(coverage, measured, rtol=1e-15)

    everything = plausibly.calibrate(predictions, plausibilities, seed=1, cluster="patient")
    saved = plausibly.load_predictor("out/predictor.nc")
    assert saved.fingerprint == everything.fingerprint == result.predictor.fingerprint
    assert (saved.n, saved.metadata.aggregator) == (30, "label-frequency")


def test_sweeps_on_the_screen_and_as_data(world: World) -> None:
    world.write("study.toml", SWEEPS)
    ran = run("run", "study.toml", "--no-report")
    assert (
        "study 4 random splits, 50% of the examples and of each site to test; 10, 15 "
        "calibration examples (n); 1, 5 draws (m); seed 1"
    ) in ran.text
    # The sets and the predictor are those of all calibration examples.
    assert "predictor.nc: everyone, on all 30 examples" in ran.text
    predictions, _ = inputs()
    hashes, sites = hash_names(predictions["example"].values), predictions["site"].values
    test = split(hashes, split_keys(1, 0), strata=sites)
    names = read_sets("out/sets.csv")["example"].values
    assert names.tolist() == predictions["example"].values[test].tolist()
    document = run("run", "study.toml", "--json", "-o", "again", "--no-report").document
    results = document["methods"][2]["results"]
    cells = [(item["alpha"], item["size"], item["draws"]) for item in results]
    assert cells == [(0.25, size, draws) for size in (10, 15) for draws in (1, 5)]
    stored = plausibly.load_study("again/results.nc").data
    mean = float(stored["set_size"].isel(method=2, alpha=0, draws=1, size=1).mean())
    assert results[-1]["set_size"] == mean


AUGMENTED = """\
seed = 4
alphas = [0.3]
[annotations]
path = "votes.csv"
[predictions]
path = "views.csv"
augmentation = "view"
[[methods]]
calibrator = { name = "augmentation", scores = "pooled" }
[[methods]]
calibrator = { name = "augmentation", scores = "mean" }
[[methods]]
calibrator = { name = "augmentation", scores = "separate" }
combiner = "maximum"
[splits]
count = 1
"""


def test_a_study_of_augmentations_by_hand(world: World) -> None:
    make_views(world.folder)
    world.write("study.toml", AUGMENTED)
    result = studied("study.toml")
    views = plausibly.read_predictions("views.csv", augmentation="view")
    _, plausibilities = inputs()
    keys = split_keys(4, 0)
    test = split(hash_names(views["example"].values), keys)
    assert set(result.sets["example"].values) == set(views["example"].values[test])
    for place, scores in enumerate(("pooled", "mean", "separate")):
        predictor = plausibly.calibrate(
            views[:, ~test],
            plausibilities[~test],
            calibrator={"name": "augmentation", "scores": scores},
            combiner="maximum" if scores == "separate" else "average",
            seed=split_seed(4, 0),
        )
        # Pooled ones say something of an example that is seen once.
        seen = seen_in_one(views[:, test], keys.child("augmentation"))
        sets = predictor.predict(seen if scores == "pooled" else views[:, test], 0.3)
        expected = float((sets * plausibilities[test]).sum("label").mean())
        measured = result.compared["aggregated_coverage"].isel(method=place).item()
        assert measured == pytest.approx(expected), scores


def test_nothing_else_has_a_part_in_the_results(world: World) -> None:
    """Results are those of the resolved study, of several processes, and of any order of rows."""
    world.edit("study.toml", "count = 6", "count = 3")
    assert run("run", "study.toml", "--no-report").code == 0
    first = written(world.path("out"))
    assert [*first] == ["predictor.nc", "resolved.toml", "results.nc", "sets.csv", "sets.json"]
    # Nothing is left to defaults or to readers that recognise a file.
    text = world.path("out/resolved.toml").read_text()
    assert 'reader = "long-table"' in text
    assert 'aggregator.name = "label-frequency"\n' in text
    assert run("run", "out/resolved.toml", "--no-report").code == 0
    assert written(world.path("out")) == first
    assert run("run", "out/resolved.toml", "-o", "copy", "--no-report").code == 0
    apart = {"resolved.toml": b""}
    assert {**written(world.path("copy")), **apart} == {**first, **apart}
    for number, name in enumerate(("votes.csv", "probabilities.csv", "patients.csv")):
        header, *rows = world.path(name).read_text().splitlines()
        random.Random(number).shuffle(rows)
        world.write(name, "\n".join([header, *rows]) + "\n")
    assert run("run", "study.toml", "--no-report", "--processes", "2").code == 0
    assert written(world.path("out")) == first
    assert run("run", "study.toml", "--processes", "0").code == 2


def test_a_study_from_python_needs_no_file(world: World) -> None:
    text = WHOLE.replace("count = 6", "count = 2")
    from_file = studied(world.write("study.toml", text))
    for source in (tables(text), prepare("study.toml")):
        result = studied(source)
        xr.testing.assert_identical(result.compared, from_file.compared)
        assert result.predictor.fingerprint == from_file.predictor.fingerprint
    with pytest.raises(InputError) as caught:
        run_study({**tables(text), "sede": 1})
    assert caught.value.what == "the study: sede is no key"


# ---- runs that were interrupted


@pytest.fixture
def stopping(monkeypatch: pytest.MonkeyPatch) -> Callable[[int | None], list[int]]:
    """Stops before a split as Ctrl-C does, and returns the splits that were computed."""
    compute = Design.run

    def stop_at(last: int | None) -> list[int]:
        numbers: list[int] = []

        def runs(self: Design, number: int) -> Outcome:
            if number == last:
                raise KeyboardInterrupt
            numbers.append(number)
            return compute(self, number)

        monkeypatch.setattr(Design, "run", runs)
        return numbers

    return stop_at


def test_an_interrupted_run_goes_on(
    world: World, stopping: Callable[[int | None], list[int]]
) -> None:
    stopping(4)
    shown = run("run", "study.toml", "--no-report")
    assert shown.code == 130
    assert shown.err.startswith("error interrupted: ")
    assert "  found     4, which are kept in out/unfinished\n" in shown.err
    assert sorted(path.name for path in world.path("out").iterdir()) == ["unfinished"]
    computed = stopping(None)
    shown = run("run", "study.toml", "--no-report")
    assert shown.code == 0
    assert computed == [4, 5]
    assert "kept         4 of 6 splits, from an interrupted run\n\nStudy: 6 splits " in shown.out
    resumed = written(world.path("out"))
    computed = stopping(None)
    shown = run("run", "study.toml", "-o", "whole", "--json", "--no-report")
    assert shown.document["kept"] == 0
    assert computed == list(range(6))
    whole = written(world.path("whole"))
    assert list(resumed) == list(whole)
    for name, content in whole.items():
        assert name == "resolved.toml" or resumed[name] == content
    assert not world.path("out/unfinished").exists()


def test_splits_of_another_study_are_refused_until_a_fresh_run(
    world: World, stopping: Callable[[int | None], list[int]]
) -> None:
    stopping(3)
    assert run("run", "study.toml", "--no-report").code == 130
    world.edit("study.toml", "seed = 1", "seed = 2")
    computed = stopping(None)
    shown = run("run", "study.toml", "--no-report")
    assert (shown.code, computed) == (2, [])
    assert "interrupted run" not in shown.out
    assert "error checkpoint-other: out/unfinished keeps splits of another study\n" in shown.err
    assert shown.err.endswith("  hint      --fresh to start anew, or -o elsewhere\n")
    shown = run("run", "study.toml", "--no-report", "--fresh")
    assert (shown.code, computed) == (0, list(range(6)))


def test_a_run_that_was_stopped_at_once_leaves_nothing(
    world: World, stopping: Callable[[int | None], list[int]]
) -> None:
    stopping(0)
    shown = run("run", "study.toml")
    assert shown.code == 130
    assert "hint      run it again; every file is whole, or as it was\n" in shown.err
    assert not world.path("out").exists()


def test_a_folder_of_that_name_is_not_touched(world: World) -> None:
    world.path("out/unfinished").mkdir(parents=True)
    world.write("out/unfinished/mine.txt", "kept")
    shown = run("run", "study.toml")
    assert shown.code == 2
    assert "error checkpoint-unknown: out/unfinished is no folder of finished" in shown.err
    assert shown.err.endswith("  hint      -o elsewhere, or move out/unfinished away\n")
    assert world.path("out/unfinished/mine.txt").read_text() == "kept"
