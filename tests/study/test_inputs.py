"""Files of a study: keys that depend on data, files that are wrong, and what is left out."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import plausibly
from cli_world import LABELS, Ran, World, run
from plausibly.errors import InputError
from plausibly.io import write_plausibilities
from plausibly.study import Prepared, prepare
from study_world import WHOLE, inputs, studied


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
