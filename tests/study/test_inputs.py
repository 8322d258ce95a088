"""Inputs of a study: keys that depend on data, wrong files, and examples that belong together."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pytest
import xarray as xr

import plausibly
from cli_world import LABELS, Ran, World, run
from plausibly.errors import InputError, PlausiblyWarning
from plausibly.io import write_plausibilities
from plausibly.study import Prepared, StudyResult, prepare, run_study
from plausibly.study.prepare import groups_of, owners, plural
from plausibly.study.run import assumptions, warn_of_groups
from study_world import WHOLE, inputs, studied
from tables import labelled


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
