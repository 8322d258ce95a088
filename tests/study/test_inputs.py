"""What a study reads: keys that depend on data, files that are wrong, and what is left out."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import xarray as xr

import plausibly
from cli_world import LABELS, World, run
from plausibly.errors import InputError, PlausiblyWarning
from plausibly.io import write_plausibilities
from plausibly.study import Prepared, prepare, run_study
from study_world import SIX_MISTAKES, SMALLEST, WHOLE


def prepared(world: World, text: str) -> Prepared:
    return prepare(world.write("study.toml", text))


def said(world: World, text: str) -> str:
    """Return what is wrong with a study."""
    world.write("study.toml", text)
    with pytest.raises(InputError) as caught:
        prepare("study.toml")
    return str(caught.value)


CHECKED = """\
study.toml: 6 mistakes, nothing was run
 line 2   alphas[1]: expected a number between 0 and 1, found 5; 95% is 0.05
 line 5   annotations.raeder: no such key; did you mean "reader"?
 line 6   annotations.aggregator: no aggregator "inverse-rnk"; did you mean
          "inverse-rank"? All: plausibly plugins list --kind aggregator
 line 12  methods[0].calibrator.draws: expected an integer, found the text "10";
          write draws = 10
 line 13  methods[0].combiner.held_out: maximum has no such parameter; ecdf,
          held-out-rank and pac have it
 line 19  examples.cluster: examples have no "patient_id"; they have patient,
          site
"""


def test_six_mistakes_are_told_at_once(world: World) -> None:
    world.write("study.toml", SIX_MISTAKES)
    table = [",".join(row.split(",")[:3]) for row in world.path("patients.csv").read_text().split()]
    world.write("patients.csv", "\n".join(table) + "\n")
    checked = run("config", "check", "study.toml")
    assert (checked.code, checked.out, checked.err) == (2, CHECKED, "")
    told = run("run", "study.toml")
    assert (told.code, told.out) == (2, "")
    assert told.err == CHECKED + (
        "error config-key: study.toml line 2: alphas[1]\n"
        "  expected  a number between 0 and 1\n"
        "  found     5 (mistake 1 of 6, all are listed)\n"
        "  hint      95% is 0.05\n"
    )
    assert not world.path("plausibly-out").exists()
    quiet = run("config", "check", "study.toml", "--quiet")
    assert (quiet.code, quiet.out, quiet.err) == (2, "", told.err)
    document = run("config", "check", "study.toml", "--json").document
    assert [one["line"] for one in document["mistakes"]] == [2, 5, 6, 12, 13, 19]
    assert (
        run("run", "study.toml", "--json").document["error"]["details"]["mistakes"]
        == (document["mistakes"])
    )


COORDINATES = {
    ('cluster = "patient"', 'cluster = "patent"'): (
        13,
        "examples.cluster",
        "patent",
        'cluster = "patient"',
    ),
    ("[output]", '[evaluation]\ntrue_label = "diagnosi"\n[output]'): (
        29,
        "evaluation.true_label",
        "diagnosi",
        'true_label = "diagnosis"',
    ),
    ("[output]", '[evaluation]\nby = ["site", "sites"]\n[output]'): (
        29,
        "evaluation.by[1]",
        "sites",
        '"site"',
    ),
    ('path = "patients.csv"', 'path = "patients.csv"\none_per = "who"'): (
        13,
        "examples.one_per",
        "who",
        "",
    ),
}


@pytest.mark.parametrize("change", COORDINATES)
def test_keys_name_coordinates_of_the_examples(world: World, change: tuple[str, str]) -> None:
    line, path, name, meant = COORDINATES[change]
    text = WHOLE.replace(*change)
    assert said(world, text) == (
        f"error config-key: study.toml line {line}: {path}\n"
        "  expected  one of patient, site, diagnosis\n"
        f"  found     {name}\n"
        f"  hint      {f'write {meant}' if meant else 'name one of those'}"
    )


def test_without_a_table_examples_have_no_coordinates(world: World) -> None:
    found = said(world, f'{SMALLEST}[examples]\ncluster = "patient"\n')
    assert found == (
        "error config-key: study.toml line 7: examples.cluster: examples have no\n"
        '  "patient", nor any other coordinate\n'
        "  hint      name a table that has it: [examples] path"
    )


def test_coordinates_that_are_not_complete(world: World) -> None:
    world.edit("patients.csv", "c03,p1,", "c03,,")
    world.edit("patients.csv", "c04,p2,north,fox", "c04,p2,north,wolf")
    found = said(
        world, WHOLE.replace("[output]", '[evaluation]\ntrue_label = "diagnosis"\n[output]')
    )
    assert (
        ' line 13  examples.cluster: 1 of 30 examples have no "patient"; expected a value' in found
    )
    assert 'evaluation.true_label: 1 examples have a "diagnosis" that the sets do not' in " ".join(
        found.split()
    )


def test_a_file_that_is_not_there(world: World) -> None:
    found = said(world, WHOLE.replace("votes.csv", "votes.cvs"))
    assert found == (
        'error file-missing: annotations "votes.cvs" is not beside study.toml\n'
        "  expected  a file\n"
        "  found     none\n"
        "  hint      did you mean votes.csv?"
    )
    found = said(world, WHOLE.replace("votes.csv", "data/votes.csv"))
    assert found.startswith('error file-missing: annotations "data/votes.csv": there is no such')
    assert run("run", "studdy.toml").err.startswith(
        'error file-missing: study "studdy.toml": there is no such file\n'
        "  expected  a file\n"
        "  found     none\n"
        "  hint      did you mean study.toml?\n"
    )


def test_every_file_that_is_not_there_is_told_at_once(world: World) -> None:
    text = WHOLE.replace(".csv", ".cvs").replace("reader =", "raeder =")
    found = said(world, text)
    assert found.splitlines()[0] == "study.toml: 4 mistakes, nothing was run"
    for line, table in ((5, "annotations"), (9, "predictions"), (12, "examples")):
        assert f" line {line:<3} {table}.path: {table} " in found


def test_one_damaged_file_is_said_as_its_reader_says_it(world: World) -> None:
    world.edit("probabilities.csv", "0.80,0.15", "0.80,oops")
    found = said(world, WHOLE)
    assert found.startswith("error ")
    assert "config-key" not in found
    assert "probabilities.csv line 2" in found
    world.edit("votes.csv", "c00,w0,cat", "c00,w0,cat,extra")
    both = said(world, WHOLE)
    assert both.splitlines()[0] == "study.toml: 2 mistakes, nothing was run"
    assert " line 5  annotations.path: votes.csv line 2 has 4 fields; expected 3" in both
    assert " line 9  predictions.path: probabilities.csv line 2" in both


def test_swapped_files_are_told(world: World) -> None:
    swapped = WHOLE.replace("votes.csv", "x").replace("probabilities.csv", "votes.csv")
    found = said(world, swapped.replace('"x"\nreader = "long-table"', '"probabilities.csv"'))
    assert found.startswith("error files-swapped: annotations.path and predictions.path")
    assert "votes.csv predictions.path = " in found


def test_what_to_do_is_said_in_keys(world: World) -> None:
    world.edit("votes.csv", "task,worker,label", "item,rater,answer")
    found = said(world, WHOLE)
    assert '[annotations] columns = { example = "item", annotator = "rater",' in found
    world.edit(
        "study.toml",
        'reader = "long-table"',
        'reader = "long-table"\n'
        + ('columns = { example = "item", annotator = "rater", label = "answer" }'),
    )
    assert prepare("study.toml").predictions.shape == (30, 3)
    world.edit("study.toml", '"answer"', '"anser"')
    with pytest.raises(InputError):
        prepare("study.toml")
    assert "annotations.columns" in said(world, world.path("study.toml").read_text() + "x = 1\n")


def test_labels_that_differ_are_renamed(world: World) -> None:
    world.edit("probabilities.csv", "cat,dog,fox", "cat,dog,Fox")
    found = said(world, WHOLE)
    assert '[labels] rename = { fox = "Fox" }' in found
    ready = prepared(world, f'{WHOLE}[labels]\nrename = {{fox = "Fox"}}\n')
    assert list(ready.plausibilities["label"].values) == ["cat", "dog", "Fox"]
    ready = prepared(world, f'{WHOLE}[labels]\nrename = {{Fox = "fox"}}\n')
    assert list(ready.predictions["label"].values) == list(LABELS)
    wrong = f'{WHOLE}[labels]\nrename = {{wolf = "Fox"}}\n'
    world.edit("probabilities.csv", "Fox", "fox")
    assert "error label-unknown: no file has a label" in said(world, wrong)
    assert " labels.rename: no file has a label" in said(world, f"sede = 1\n{wrong}")


def test_blanks_are_taken_off_where_that_is_asked_for(world: World) -> None:
    world.edit("probabilities.csv", "cat,dog,fox", 'cat,"dog ",fox')
    found = said(world, WHOLE)
    assert "strip = true" in found
    stripped = f"{WHOLE}[labels]\nstrip = true\n"
    assert list(prepared(world, stripped).predictions["label"].values) == list(LABELS)


def test_answers_of_one_label_under_two_names_are_merged(world: World) -> None:
    plain = prepared(world, WHOLE).plausibilities
    world.write("votes.csv", world.path("votes.csv").read_text().replace("dog", "dog ", 2))
    for change in ("strip = true", 'rename = {"dog " = "dog"}'):
        ready = prepared(world, f"{WHOLE}[labels]\n{change}\n")
        xr.testing.assert_equal(plain, ready.plausibilities)


def test_declared_labels_that_nobody_said(world: World) -> None:
    rows = world.path("probabilities.csv").read_text().splitlines()
    wider = [f"{rows[0]},owl", *(f"{row},0.00" for row in rows[1:])]
    world.write("probabilities.csv", "\n".join(wider) + "\n")
    world.write("labels.txt", "owl\ncat\ndog\nfox\n")
    found = said(world, WHOLE)
    assert '[labels] path = "FILE", every label on a line of its own' in found
    declared = f'{WHOLE}[labels]\npath = "labels.txt"\n'
    plain = prepared(world, declared)
    assert list(plain.plausibilities["label"].values) == ["owl", *LABELS]
    renamed = prepared(world, f"{declared}strip = true\n")
    xr.testing.assert_equal(plain.plausibilities, renamed.plausibilities)


def test_examples_that_only_one_file_has(world: World) -> None:
    rows = world.path("probabilities.csv").read_text().splitlines()
    world.write("probabilities.csv", "\n".join(rows[:-2]) + "\n")
    found = said(world, WHOLE)
    assert "[examples] only_common = true, which keeps 28" in found
    ready = prepared(world, WHOLE.replace('patients.csv"', 'patients.csv"\nonly_common = true'))
    assert ready.left_out == {"not in probabilities.csv": 2}
    told = run("run", "study.toml")
    assert "\nleft out     2 not in probabilities.csv\n" in told.out
    assert "probabilities.csv: 28 examples, all matched by name\n" in told.out
    stored = xr.load_dataset("out/results.nc", engine="scipy")
    assert stored.attrs["left_out"] == '{"not in probabilities.csv": 2}'


def test_unanswered_examples_are_dropped_where_that_is_asked_for(world: World) -> None:
    votes = world.path("votes.csv").read_text()
    world.write(
        "votes.csv", votes.replace("c00,w0,cat", "c00,w0,").replace("c00,w1,cat", "c00,w1,")
    )
    world.edit("votes.csv", "c00,w2,cat", "c00,w2,")
    assert '[annotations] unanswered = "drop"' in said(world, WHOLE)
    text = WHOLE.replace('"votes.csv"', '"votes.csv"\nunanswered = "drop"')
    text = text.replace('patients.csv"', 'patients.csv"\nonly_common = true')
    assert prepared(world, text).left_out["without a response"] == 1


def test_a_study_of_plausibilities(world: World) -> None:
    lam = plausibly.aggregate(plausibly.read_annotations("votes.csv"))
    write_plausibilities(lam, world.path("lam.nc"))
    text = WHOLE.replace(
        '[annotations]\npath = "votes.csv"\nreader = "long-table"\n',
        ('[plausibilities]\npath = "lam.nc"\n'),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlausiblyWarning)
        voted = run_study("study.toml")
        world.write("study.toml", text)
        given = run_study("study.toml")
    xr.testing.assert_identical(given.compared, voted.compared)
    assert given.predictor.metadata.aggregator == "plausibilities as given"
    told = run("run", "study.toml", "--json")
    assert (told.code, told.document["plausibilities"]) == (0, {"file": "lam.nc"})
    out = run("config", "check", "study.toml").out
    assert "plausibilities  lam.nc: 30 examples, 3 labels\n" in out
    assert "aggregator" not in out
    renamed = f'{text}[labels]\nrename = {{wolf = "fox"}}\n'
    assert 'error label-unknown: no file has a label "wolf" to rename' in said(world, renamed)


def test_the_table_of_examples_names_the_rows_of_a_file_without_names(world: World) -> None:
    first = prepare("study.toml").predictions
    predictions = plausibly.read_predictions("probabilities.csv")
    np.save("bare.npy", predictions.values)
    world.write("labels.txt", "\n".join(LABELS) + "\n")
    text = WHOLE.replace("probabilities.csv", "bare.npy") + '[labels]\npath = "labels.txt"\n'
    xr.testing.assert_identical(prepared(world, text).predictions, first)
    assert '[labels] path = "labels.txt" (one name per line)' in said(
        world, WHOLE.replace("probabilities.csv", "bare.npy")
    )


def test_options_that_have_no_meaning_for_a_file(world: World) -> None:
    text = WHOLE.replace('"probabilities.csv"', '"probabilities.csv"\nvariable = "x"')
    assert said(world, text).startswith("error option-unfit: probabilities.csv: variable has no")
    assert "predictions.variable: probabilities.csv: variable" in said(world, f"sede = 1\n{text}")


def test_components_of_disabled_plugins_are_told_as_such(world: World) -> None:
    text = WHOLE.replace('combiner = "maximum"', 'combiner = "ecdf"')
    assert prepared(world, text).study.plugins.disable == ()
    found = said(world, f'{text}[plugins]\ndisable = ["combiners"]\n')
    assert "methods[2].combiner" in found
    assert "disable" in found
