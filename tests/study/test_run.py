"""A study end to end: its inputs, what it prints and measures, and that nothing else has a part."""

from __future__ import annotations

import json
import random
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import plausibly
from cli_world import LABELS, Ran, World, make_views, run
from plausibly.data.validate import seen_in_one
from plausibly.errors import InputError, PlausiblyWarning
from plausibly.evaluation.design import Design, Outcome
from plausibly.evaluation.splits import split, split_keys, split_seed
from plausibly.io import read_sets, write_plausibilities
from plausibly.kernels.random import hash_names
from plausibly.study import Prepared, StudyResult, prepare, run_study, write_study
from plausibly.study.prepare import groups_of, owners, plural
from plausibly.study.run import assumptions, warn_of_groups
from refusals import quiet
from study_world import WHOLE, inputs, studied, tables, written
from tables import labelled

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


# ---- files of a study that are wrong, keys that depend on data, examples that belong together


def prepared(world: World, text: str) -> Prepared:
    return prepare(world.write("study.toml", text))


def refused(world: World, text: str) -> str:
    world.write("study.toml", text)
    with pytest.raises(InputError) as caught:
        prepare("study.toml")
    return " ".join(str(caught.value).split())


def test_mistakes_of_settings_and_of_files_at_once(world: World) -> None:
    """A screen of such mistakes is in ``cli/screens/config.txt``."""
    world.edit("study.toml", "[0.1, 0.25]", "[0.1, 5]")
    world.edit("study.toml", "draws = 4", 'draws = "4"')
    world.edit("study.toml", '"patient"', '"patient_id"')
    checked, ran = run("config", "check", "study.toml"), run("run", "study.toml")
    assert (checked.code, checked.err) == (2, "")
    start = "error config-key: study.toml line 2: alphas[1] is not valid\n"
    assert ran.err.startswith(f"{checked.out}{start}")
    assert run("config", "check", "study.toml", "--quiet") == Ran(2, "", ran.err)
    mistakes = run("config", "check", "study.toml", "--json").document["mistakes"]
    assert [item["line"] for item in mistakes] == [2, 13, 21]
    stopped = run("run", "study.toml", "--json").document["error"]
    assert stopped["details"]["mistakes"] == mistakes


WRONG = """
"patient" -> "patent" | line 13: examples.cluster is | cluster = "patient"
[output] -> [evaluation]~true_label = "diagnosi"~[output] | evaluation.true_label | "diagnosis"
[output] -> [evaluation]~true_label = "site"~[output] | 29: evaluation.true_label \
| that is no label | found "north", "south" hint fix these names, or leave true_label out
[output] -> [evaluation]~by = ["site", "sites"]~[output] | line 29: evaluation.by[1] | write "site"
"patients.csv" -> "patients.csv"~one_per = "who" | 13: examples.one_per is | name a table that has
count = 6 -> stratify = "sit" | line 25: splits.stratify is | write stratify = "site"
path = "patients.csv"~ ->  | line 12: examples.cluster | name a table that has
patients.csv: c03,p1, -> c03,, | 1 of 30 examples have no "patient"
votes.csv -> votes.cvs | file-missing: annotations | did you mean votes.csv?
votes.csv -> data/votes.csv | annotations "data/votes.csv": there is no such
votes.csv"~reader = "long-table" -> x" & probabilities -> votes & "x" -> "probabilities.csv" \
| error files-swapped: annotations.path and predictions.path
probabilities.csv: 0.80,0.15 -> 0.80,oops | probabilities.csv line 2
votes.csv: c00,w0,cat -> c00,w0,cat,x & seed -> sede | 1 sede: no such | votes.csv line 2 has 4
[[methods]]~calib -> [[methods]]~name = "everyone"~calib | method-twice: two methods of the study \
| hint add a name to one of them, such as name = "first"
votes.csv: task,worker,label -> item,rater,answer | [annotations] columns = { example =
probabilities.csv: cat,dog,fox -> cat,"dog ",fox | strip = true
probabilities.csv: cat,dog,fox -> cat,dog,Fox | [labels] rename = { fox = "Fox" }
[output] -> [labels]~rename = {wolf = "Fox"}~[output] | label-unknown: no file has a label
"""
"""Edits of the study, or of a file before a colon, and pieces of the error; ~ ends a line."""


@pytest.mark.parametrize("case", WRONG.strip().splitlines())
def test_each_problem_of_a_file_has_its_key_and_a_hint(world: World, case: str) -> None:
    edits, *pieces = case.replace("~", "\n").split(" | ")
    text = WHOLE
    for edit in edits.split(" & "):
        old, _, new = edit.partition(" -> ")
        file, _, within = old.partition(": ")
        if within:
            world.edit(file, within, new)
        else:
            assert old in text
            text = text.replace(old, new, 1)
    message = refused(world, text)
    for piece in pieces:
        assert piece in message


def test_declared_labels_without_answers(world: World) -> None:
    rows = world.path("probabilities.csv").read_text().splitlines()
    wider = [f"{rows[0]},owl", *(f"{row},0.00" for row in rows[1:])]
    world.write("probabilities.csv", "\n".join(wider) + "\n")
    world.write("labels.txt", "owl\ncat\ndog\nfox\n")
    assert '[labels] path = "FILE", every label on a line' in refused(world, WHOLE)
    declared = f'{WHOLE}[labels]\npath = "labels.txt"\n'
    plain = prepared(world, declared)
    assert list(plain.plausibilities["label"].values) == ["owl", *LABELS]
    renamed = prepared(world, f"{declared}strip = true\n")
    xr.testing.assert_equal(plain.plausibilities, renamed.plausibilities)


def test_examples_that_are_left_out(world: World) -> None:
    rows = world.path("probabilities.csv").read_text().splitlines()
    world.write("probabilities.csv", "\n".join(rows[:-2]) + "\n")
    assert "[examples] only_common = true, which keeps 28" in refused(world, WHOLE)
    common = WHOLE.replace('patients.csv"', 'patients.csv"\nonly_common = true')
    assert prepared(world, common).left_out == {"not in probabilities.csv": 2}
    ran = run("run", "study.toml", "--no-report")
    assert "\nleft out     2 not in probabilities.csv\n" in ran.out
    stored = xr.load_dataset("out/results.nc", engine="scipy")
    assert stored.attrs["left_out"] == '{"not in probabilities.csv": 2}'
    world.edit("votes.csv", "c00,w0,cat\nc00,w1,cat\nc00,w2,cat", "c00,w0,\nc00,w1,\nc00,w2,")
    assert '[annotations] unanswered = "drop"' in refused(world, common)
    dropped = common.replace('"votes.csv"', '"votes.csv"\nunanswered = "drop"')
    assert prepared(world, dropped).left_out["without a response"] == 1


def test_a_study_of_plausibilities(world: World) -> None:
    predictions, plausibilities = inputs()
    about = {name: predictions[name] for name in ("patient", "site")}
    write_plausibilities(plausibilities.assign_coords(about), world.path("lam.nc"))
    text = WHOLE.replace(
        '[annotations]\npath = "votes.csv"\nreader = "long-table"\n',
        '[plausibilities]\npath = "lam.nc"\n',
    ).replace('path = "patients.csv"\n', "")  # its cluster is a coordinate of the plausibilities
    voted = studied("study.toml")
    world.write("study.toml", text)
    aggregated = studied("study.toml")
    xr.testing.assert_identical(aggregated.compared, voted.compared)
    assert aggregated.predictor.metadata.aggregator == "plausibilities as given"
    checked = run("config", "check", "study.toml", "--json").document
    assert checked["plausibilities"]["file"] == "lam.nc"
    out = run("config", "check", "study.toml").out
    assert "plausibilities  lam.nc: plausibilities of 30 examples, 3 labels\n" in out
    assert "aggregator" not in out


def test_the_table_of_examples_names_the_rows_of_a_file_without_names(world: World) -> None:
    first = prepare("study.toml").predictions
    np.save("bare.npy", plausibly.read_predictions("probabilities.csv").values)
    world.write("labels.txt", "\n".join(LABELS) + "\n")
    bare = WHOLE.replace("probabilities.csv", "bare.npy")
    assert '[labels] path = "labels.txt" (one name per line)' in refused(world, bare)
    xr.testing.assert_identical(
        prepared(world, f'{bare}[labels]\npath = "labels.txt"\n').predictions, first
    )


def test_components_of_disabled_plugins(world: World) -> None:
    text = WHOLE.replace('combiner = "maximum"', 'combiner = "ecdf"')
    assert prepared(world, text).study.plugins.disable == ()
    result = refused(world, f'{text}[plugins]\ndisable = ["combiners"]\n')
    assert "methods[2].combiner" in result
    assert "disable" in result


def test_a_remembered_option_that_another_format_does_not_have_is_left_out(world: World) -> None:
    probabilities = plausibly.read_predictions("probabilities.csv").drop_attrs()
    both = xr.Dataset({"first": probabilities, "second": probabilities})
    both.to_netcdf("model.nc", engine="scipy")
    calibrate = "calibrate -a votes.csv -p model.nc --set predictions.variable=second"
    assert run(*calibrate.split()).code == 0
    shown = run("predict", "predictor.nc", "-p", "new.csv", "-o", "sets.csv")
    assert shown.code == 0
    assert "warning reading-differs: new.csv: predictions.variable is not as in" in shown.err
    typed = run("predict", "predictor.nc", "-p", "new.csv", "--set", "predictions.variable=first")
    assert typed.code == 2
    assert "error option-unfit: new.csv: variable has no meaning here" in typed.err


# ---- examples that belong together: split whole, thinned out


UNGROUPED = WHOLE.replace('cluster = "patient"\n', "")


def ran(world: World, text: str) -> tuple[StudyResult, list[str]]:
    world.write("study.toml", text)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = run_study("study.toml")
    return result, [str(item.message) for item in caught]


def examples(**coordinates: Any) -> xr.DataArray:  # Any: lists of names or numbers
    count = len(next(iter(coordinates.values())))
    return labelled(np.full((count, 2), 0.5), **coordinates)


def test_patients_on_both_sides_or_with_several_examples_are_warned_of(world: World) -> None:
    result, caught = ran(world, UNGROUPED)
    patients = result.prepared.predictions["patient"].values
    test = np.isin(result.prepared.predictions["example"].values, result.sets["example"].values)
    both = set(patients[test]) & set(patients[~test])
    (warned,) = caught
    start = f"warning cluster-on-both-sides: {len(both)} patients are in calibration and in test\n"
    assert warned.startswith(start)
    assert f"  found     {2 * len(both)} of 30 examples shared\n" in warned
    assert warned.endswith('[examples] cluster = "patient"')
    assert "15 of 15 patients have several" in assumptions(result.prepared.predictions, None)
    result, caught = ran(world, WHOLE)
    assert [item.splitlines()[0] for item in caught] == [
        "warning cluster-repeats: there are 30 examples of 15 patients"
    ]
    assert int(result.compared["n_test"].min()) % 2 == 0


def test_examples_with_the_predictions_of_others_are_warned_of(world: World) -> None:
    values = np.random.default_rng(0).dirichlet([1, 1, 1], 30).round(6)
    values[9] = values[0]
    header, *rows = world.path("probabilities.csv").read_text().splitlines()
    lines = [
        f"{row.split(',')[0]},{','.join(map(str, v))}" for row, v in zip(rows, values, strict=True)
    ]
    world.write("probabilities.csv", "\n".join([header, *lines]) + "\n")
    _, caught = ran(world, WHOLE)
    assert [text.partition(": ")[2][:22] for text in caught if "examples-alike" in text] == [
        "2 of 30 examples have "
    ]


def test_one_example_per_patient_is_kept(world: World) -> None:
    text = WHOLE.replace('"patients.csv"', '"patients.csv"\none_per = "patient"')
    text = text.replace("[0.1, 0.25]", "[0.3, 0.25]")
    result, caught = ran(world, text)
    assert caught == []
    model = result.prepared.predictions
    assert sorted(model["patient"].values) == sorted(f"p{number}" for number in range(15))
    assert result.prepared.left_out == {"beside another of the same patient": 15}
    assert result.predictor.n == 15
    another, _ = ran(world, text.replace("seed = 1", "seed = 2"))
    assert set(another.prepared.predictions["example"].values) != set(model["example"].values)
    predictions, plausibilities = (array.sel(example=model["example"]) for array in inputs())
    expected = plausibly.compare(
        predictions,
        plausibilities,
        {"everyone": {}},
        alphas=["0.3", "0.25"],
        splits=6,
        cluster="patient",
        seed=1,
    ).data
    measured = result.compared["aggregated_coverage"].sel({"method": "everyone"}).values
    np.testing.assert_array_equal(measured, expected["aggregated_coverage"].values[0])


OWNERS: dict[str, tuple[list[object], bool]] = {
    "patient": (["a", "a", "b"], True),
    "Patient_ID": ([1, 1, 2], True),
    "id": (["a", "b", "a"], True),
    "speaker name": (["a", "b", "a"], True),
    "patient_age": ([30.5, 30.5, 40.0], False),
    "age": ([30, 30, 40], False),
    "site": (["a", "a", "b"], False),
    "widow": (["a", "a", "b"], False),
    "subject": (["a", "b", "c"], False),
    "group": (["a", "a", "a"], False),
}


@pytest.mark.parametrize("name", OWNERS)
def test_coordinates_of_clusters_are_recognised_by_name(name: str) -> None:
    values, result = OWNERS[name]
    assert [item.name for item in owners(examples(**{name: values}))] == [name] * result


def test_the_smallest_clusters_come_first() -> None:
    made = examples(family=["f", "f", "f", "g"], patient=["a", "a", "b", "c"])
    assert [item.name for item in owners(made)] == ["patient", "family"]
    item = groups_of(made, "patient")
    assert (item.examples, item.groups, item.several, plural(item.name)) == (4, 3, 1, "patients")
    test = np.array([True, True, False, False])
    with pytest.warns(PlausiblyWarning, match="cluster-on-both-sides: 1 families are in"):
        warn_of_groups(made, test, None)
    with pytest.warns(PlausiblyWarning, match="cluster-repeats: there are 4 examples of 3 pat"):
        warn_of_groups(made, test, "patient")


# ---- weak groups


def test_numbers_and_true_labels_are_no_groups(world: World) -> None:
    rows = world.path("patients.csv").read_text().splitlines()
    wide = [f"{rows[0]},age,weight,serial,same"]
    wide += [f"{row},{n % 3},{n}.5,s{n},x" for n, row in enumerate(rows[1:])]
    world.write("patients.csv", "\n".join(wide) + "\n")
    text = WHOLE.replace("[output]", '[evaluation]\ntrue_label = "diagnosis"\n[output]')
    world.write("study.toml", text)
    # 30 serial numbers are 30 groups, which is the most that is looked through.
    assert prepare("study.toml").study.evaluation.by == ("site", "age", "serial")
    world.write("study.toml", text.replace("true_label =", 'by = ["same"]\ntrue_label ='))
    assert prepare("study.toml").study.evaluation.by == ("same",)


# ---- components inside others


def test_components_inside_are_shown_and_data_that_they_lack_are_mistakes(world: World) -> None:
    inner = '{ name = "monte-carlo", draws = 3 }'
    grouped = f'{{ name = "mondrian", by = "site", inner = {inner} }}'
    world.edit("study.toml", '"majority-vote"', grouped)
    out = run("config", "show", "study.toml").out
    for key in ('by = "site"', 'inner.name = "monte-carlo"', "inner.draws = 3"):
        assert re.search(rf"^calibrator\.{re.escape(key)} +# line 18$", out, re.M), key
    assert re.search(r"^calibrator\.inner\.systematic = false +# default$", out, re.M)
    world.edit("study.toml", 'by = "site"', 'by = "sit"')
    world.edit(
        "study.toml", '{ name = "monte-carlo", draws = 4 }', '{ name = "risk", by = "rank" }'
    )
    ran = run("config", "check", "study.toml")
    assert (ran.code, ran.width <= 80) == (2, True)
    assert 'line 18 methods[1].calibrator: calibrator mondrian needs "sit" of the ex' in ran.text
    assert 'did you mean "site"? line 21 methods[2].calibrator: calibrator risk needs' in ran.text
    assert ran.text.endswith("[labels] path, a table with such a column")
