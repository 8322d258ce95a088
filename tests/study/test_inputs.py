"""Files of a study: keys that depend on data, files that are wrong, and what is left out."""

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


def refused(world: World, text: str) -> str:
    """Return what is wrong with a study, in one line."""
    world.write("study.toml", text)
    with pytest.raises(InputError) as caught:
        prepare("study.toml")
    return " ".join(str(caught.value).split())


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


def test_six_mistakes_at_once(world: World) -> None:
    world.write("study.toml", SIX_MISTAKES)
    table = [",".join(row.split(",")[:3]) for row in world.path("patients.csv").read_text().split()]
    world.write("patients.csv", "\n".join(table) + "\n")
    checked = run("config", "check", "study.toml")
    assert (checked.code, checked.out, checked.err) == (2, CHECKED, "")
    ran = run("run", "study.toml")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(
        f"{CHECKED}error config-key: study.toml line 2: alphas[1] is not valid\n"
    )
    assert not world.path("plausibly-out").exists()
    quiet = run("config", "check", "study.toml", "--quiet")
    assert (quiet.code, quiet.out, quiet.err) == (2, "", ran.err)
    mistakes = run("config", "check", "study.toml", "--json").document["mistakes"]
    assert [one["line"] for one in mistakes] == [2, 5, 6, 12, 13, 19]
    error = run("run", "study.toml", "--json").document["error"]
    assert error["details"]["mistakes"] == mistakes


EVALUATION = "[evaluation]\n{}\n[output]"
COORDINATES = [  # in WHOLE: what is replaced, by what; the place, and the hint
    ('"patient"', '"patent"', "line 13: examples.cluster", 'write cluster = "patient"'),
    (
        "[output]",
        EVALUATION.format('true_label = "diagnosi"'),
        "line 29: evaluation.true_label",
        'write true_label = "diagnosis"',
    ),
    (
        "[output]",
        EVALUATION.format('by = ["site", "sites"]'),
        "line 29: evaluation.by[1]",
        'write "site"',
    ),
    (
        '"patients.csv"',
        '"patients.csv"\none_per = "who"',
        "line 13: examples.one_per",
        "name one of those",
    ),
    ("count = 6", 'stratify = "sit"', "line 25: splits.stratify", 'write stratify = "site"'),
]


@pytest.mark.parametrize(("old", "new", "place", "hint"), COORDINATES)
def test_keys_name_coordinates_of_the_examples(
    world: World, old: str, new: str, place: str, hint: str
) -> None:
    found = refused(world, WHOLE.replace(old, new))
    assert found.startswith(f"error config-key: study.toml {place} is not valid expected one of")
    assert found.endswith(f" hint {hint}")


def test_coordinates_that_are_missing_or_not_complete(world: World) -> None:
    found = refused(world, f'{SMALLEST}[examples]\ncluster = "patient"\n')
    assert "study.toml line 7: examples.cluster: examples have no" in found
    assert found.endswith("hint name a table that has it: [examples] path")
    world.edit("patients.csv", "c03,p1,", "c03,,")
    world.edit("patients.csv", "c04,p2,north,fox", "c04,p2,north,wolf")
    found = refused(world, WHOLE.replace("[output]", EVALUATION.format('true_label = "diagnosis"')))
    assert ' line 13 examples.cluster: 1 of 30 examples have no "patient"' in found
    assert 'evaluation.true_label: 1 examples have a "diagnosis" that the sets do not' in found


def test_files_that_are_not_there(world: World) -> None:
    found = refused(world, WHOLE.replace("votes.csv", "votes.cvs"))
    assert found.startswith("error file-missing: annotations")
    assert found.endswith("hint did you mean votes.csv?")
    found = refused(world, WHOLE.replace("votes.csv", "data/votes.csv"))
    assert found.startswith('error file-missing: annotations "data/votes.csv": there is no such')
    assert "hint      did you mean study.toml?\n" in run("run", "studdy.toml").err
    found = refused(world, WHOLE.replace(".csv", ".cvs").replace("reader =", "raeder ="))
    assert found.startswith("study.toml: 4 mistakes, nothing was run")
    for line, table in ((5, "annotations"), (9, "predictions"), (12, "examples")):
        assert f" line {line} {table}.path: {table} " in found


def test_damaged_and_swapped_files(world: World) -> None:
    swapped = WHOLE.replace("votes.csv", "x").replace("probabilities.csv", "votes.csv")
    found = refused(world, swapped.replace('"x"\nreader = "long-table"', '"probabilities.csv"'))
    assert found.startswith("error files-swapped: annotations.path and predictions.path")
    assert "votes.csv predictions.path = " in found
    world.edit("probabilities.csv", "0.80,0.15", "0.80,oops")
    found = refused(world, WHOLE)  # one damaged file: the error of its reader
    assert found.startswith("error ")
    assert "config-key" not in found
    assert "probabilities.csv line 2" in found
    world.edit("votes.csv", "c00,w0,cat", "c00,w0,cat,extra")
    both = refused(world, WHOLE)
    assert both.startswith("study.toml: 2 mistakes, nothing was run")
    assert " line 5 annotations.path: votes.csv line 2 has 4 fields; expected 3" in both
    assert " line 9 predictions.path: probabilities.csv line 2" in both


def test_hints_are_keys(world: World) -> None:
    world.edit("votes.csv", "task,worker,label", "item,rater,answer")
    columns = 'columns = { example = "item", annotator = "rater", label = "answer" }'
    assert "[annotations] columns = { example =" in refused(world, WHOLE)
    text = WHOLE.replace('reader = "long-table"', f'reader = "long-table"\n{columns}')
    assert prepared(world, text).predictions.shape == (30, 3)
    text = text.replace('"answer"', '"anser"')
    assert "annotations.columns" in refused(world, f"{text}x = 1\n")
    # An option without meaning for a file is one for the key that names it.
    text = WHOLE.replace('"probabilities.csv"', '"probabilities.csv"\nvariable = "x"')
    assert "predictions.variable: probabilities.csv: variable" in refused(
        world, f"sede = 1\n{text}"
    )


def test_names_of_labels_are_made_alike(world: World) -> None:
    plain = prepared(world, WHOLE).plausibilities
    world.edit("probabilities.csv", "cat,dog,fox", 'cat,"dog ",fox')
    assert "strip = true" in refused(world, WHOLE)
    world.edit("probabilities.csv", '"dog ",fox', '"dog ",Fox')
    labels = f"{WHOLE}[labels]\nstrip = true\n"
    assert '[labels] rename = { fox = "Fox" }' in refused(world, labels)
    ready = prepared(world, f'{labels}rename = {{fox = "Fox"}}\n')
    assert list(ready.plausibilities["label"].values) == ["cat", "dog", "Fox"]
    ready = prepared(world, f'{labels}rename = {{Fox = "fox"}}\n')
    assert list(ready.predictions["label"].values) == list(LABELS)
    world.edit("probabilities.csv", '"dog ",Fox', "dog,fox")
    wrong = f'{WHOLE}[labels]\nrename = {{wolf = "Fox"}}\n'
    assert "error label-unknown: no file has a label" in refused(world, wrong)
    assert " labels.rename: no file has a label" in refused(world, f"sede = 1\n{wrong}")
    world.replace("votes.csv", "dog", "dog ", 2)
    ready = prepared(world, f'{WHOLE}[labels]\nrename = {{"dog " = "dog"}}\n')
    xr.testing.assert_equal(plain, ready.plausibilities)


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
    lam = plausibly.aggregate(plausibly.read_annotations("votes.csv"))
    table = plausibly.read_examples("patients.csv")
    of_examples = {name: ("example", table[name].values) for name in ("patient", "site")}
    write_plausibilities(lam.assign_coords(of_examples), world.path("lam.nc"))
    text = WHOLE.replace(
        '[annotations]\npath = "votes.csv"\nreader = "long-table"\n',
        '[plausibilities]\npath = "lam.nc"\n',
    ).replace('path = "patients.csv"\n', "")  # its cluster is a coordinate of the plausibilities
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlausiblyWarning)
        voted = run_study("study.toml")
        world.write("study.toml", text)
        aggregated = run_study("study.toml")
    xr.testing.assert_identical(aggregated.compared, voted.compared)
    assert aggregated.predictor.metadata.aggregator == "plausibilities as given"
    checked = run("config", "check", "study.toml", "--json").document
    assert checked["plausibilities"] == {"file": "lam.nc"}
    out = run("config", "check", "study.toml").out
    assert "plausibilities  lam.nc: 30 examples, 3 labels\n" in out
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
    found = refused(world, f'{text}[plugins]\ndisable = ["combiners"]\n')
    assert "methods[2].combiner" in found
    assert "disable" in found
