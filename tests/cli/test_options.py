"""Options about files: what they are called, and what is left out is counted aloud."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import plausibly
from cli_world import CALIBRATE, World, run, typed
from plausibly.cli import common
from plausibly.data.validate import SCALES
from plausibly.evaluation.intervals import METHODS
from plausibly.kernels.coverage import TIES


def fingerprint(*words: str) -> str:
    """Return the fingerprint of the predictor that a command makes."""
    ran = run(*words, "--json")
    assert ran.code == 0, ran.err
    return str(ran.document["fingerprint"])


def test_choices_are_those_of_the_library() -> None:
    assert [scale.value for scale in common.Scale] == list(SCALES)
    assert [ties.value for ties in common.Ties] == list(TIES)
    assert [interval.value for interval in common.Interval] == list(METHODS)


# ---- what files call things


def test_columns_of_other_names(world: World) -> None:
    expected = fingerprint(*CALIBRATE.split())
    world.edit("votes.csv", "task,worker,label", "item,rater,answer")
    columns = "task=item,worker=rater,label=answer"
    assert fingerprint(*CALIBRATE.split(), "--columns", columns) == expected
    table = '{task = "item", worker = "rater", label = "answer"}'
    assert fingerprint(*CALIBRATE.split(), "--columns", table) == expected
    reader = f'{{name = "crowd-table", columns = {table}}}'
    assert fingerprint(*CALIBRATE.split(), "--reader", reader) == expected


def test_another_column_of_example_names(world: World) -> None:
    expected = fingerprint(*CALIBRATE.split())
    world.edit("probabilities.csv", "example,", "case,")
    assert fingerprint(*CALIBRATE.split(), "--example", "case") == expected


@pytest.mark.parametrize("file", ["votes.csv", "probabilities.csv"])
def test_a_label_renamed_in_the_file_that_has_it(world: World, file: str) -> None:
    expected = fingerprint(*CALIBRATE.split())
    text = world.path(file).read_text()
    world.write(file, text.replace("dog", "hound"))
    assert typed(CALIBRATE).code == 2
    assert fingerprint(*CALIBRATE.split(), "--rename", "hound=dog") == expected


@pytest.mark.parametrize("file", ["votes.csv", "probabilities.csv"])
def test_blanks_stripped_in_the_file_that_has_them(world: World, file: str) -> None:
    expected = fingerprint(*CALIBRATE.split())
    # Quotes keep a blank in a header, too.
    world.write(file, world.path(file).read_text().replace("dog", '"dog "'))
    ran = typed(CALIBRATE)
    assert ran.code == 2
    assert "--strip, or --rename" in ran.err
    assert fingerprint(*CALIBRATE.split(), "--strip") == expected


@pytest.mark.parametrize("option", [["--strip"], ["--rename", "dog =dog"]])
def test_answers_of_a_label_with_and_without_a_blank_are_merged(
    world: World, option: list[str]
) -> None:
    expected = fingerprint(*CALIBRATE.split())
    world.write("votes.csv", world.path("votes.csv").read_text().replace("dog", "dog ", 2))
    ran = typed(CALIBRATE, *option)
    assert ran.code == 0, ran.err
    assert "names-alike" not in ran.err
    assert '2 (2 as "dog ")' in " ".join(ran.out.split())
    assert fingerprint(*CALIBRATE.split(), *option) == expected


def test_a_label_with_an_equals_sign_is_renamed_by_a_table(world: World) -> None:
    expected = fingerprint(*CALIBRATE.split())
    world.write("votes.csv", world.path("votes.csv").read_text().replace("dog", "d=g"))
    assert fingerprint(*CALIBRATE.split(), "--rename", '{"d=g" = "dog"}') == expected


def test_evaluate_renames_too(world: World) -> None:
    typed(CALIBRATE)
    run("predict", "predictor.nc", "-p", "new.csv", "-o", "sets.csv")
    expected = run("evaluate", "sets.csv", "-a", "new_votes.csv", "--json").document["results"]
    text = world.path("new_votes.csv").read_text()
    world.write("new_votes.csv", text.replace("dog", "hound"))
    words = "evaluate sets.csv -a new_votes.csv --json --rename hound=dog"
    assert typed(words).document["results"] == expected


def test_evaluate_knows_the_labels_of_the_sets(world: World) -> None:
    typed(CALIBRATE)
    run("predict", "predictor.nc", "-p", "new.csv", "-o", "sets.csv")
    text = world.path("new_votes.csv").read_text()
    world.write("new_votes.csv", text.replace("fox", "dog"))
    assert run("evaluate", "sets.csv", "-a", "new_votes.csv").code == 0
    world.write("new_votes.csv", text.replace("fox", "focks", 1))
    ran = run("evaluate", "sets.csv", "-a", "new_votes.csv")
    assert ran.code == 2
    assert ran.err.startswith('error label-unknown: new_votes.csv line 12, w1 says "focks"')


def test_variable_of_a_netcdf_file(world: World) -> None:
    expected = fingerprint(*CALIBRATE.split())
    array = plausibly.read_predictions("probabilities.csv")
    array.attrs.clear()
    both = xr.Dataset({"one": array, "two": array[::-1].copy(data=array.values)})
    both.to_netcdf("both.nc", engine="scipy")
    words = CALIBRATE.replace("probabilities.csv", "both.nc").split()
    assert run(*words).code == 2
    assert fingerprint(*words, "--variable", "one") == expected


def test_label_sets(world: World) -> None:
    lines = world.path("votes.csv").read_text().splitlines()
    world.write("votes.csv", "\n".join([*lines, "c00,w0,dog"]) + "\n")
    assert typed(CALIBRATE).code == 2
    ran = typed(CALIBRATE, "--kind", "label-set", "--json")
    assert ran.code == 0
    assert ran.document["annotations"]["kind"] == "label-set"
    assert ran.document["chosen"]["aggregator"]["name"] == "label-set"


def test_another_aggregator(world: World) -> None:
    ran = run("aggregate", "-a", "votes.csv", "--aggregator", "majority-vote", "-o", "lam.csv")
    assert ran.code == 0
    assert "aggregator majority-vote" in ran.out
    assert "(the default" not in ran.out
    document = typed(CALIBRATE, "--aggregator", "majority-vote", "--json").document
    assert document["chosen"]["aggregator"]["name"] == "majority-vote"


def test_normalise_and_scale(world: World) -> None:
    array = plausibly.read_predictions("probabilities.csv")
    doubled = array.values * 2
    np.savez("twice.npz", predictions=doubled, examples=array.example, labels=array.label)
    lam = plausibly.aggregate(plausibly.read_annotations("votes.csv"))
    words = CALIBRATE.replace("probabilities.csv", "twice.npz").split()
    assert "--normalise" in run(*words).err
    halved = plausibly.read_predictions("twice.npz", normalise=True)
    expected = plausibly.calibrate(halved, lam).fingerprint
    assert fingerprint(*words, "--normalise") == expected
    scores = plausibly.read_predictions("twice.npz", scale="any")
    expected = plausibly.calibrate(scores, lam).fingerprint
    assert fingerprint(*words, "--scale", "any") == expected


# ---- what is left out


def test_examples_without_response(world: World) -> None:
    text = world.path("votes.csv").read_text()
    world.write("votes.csv", text.replace("c00,w0,cat\nc00,w1,cat\nc00,w2,cat\n", "c00,w0,\n"))
    ran = typed(CALIBRATE)
    assert "--unanswered drop" in ran.err
    ran = typed(CALIBRATE, "--unanswered", "drop")
    assert ran.code == 2, "the predictions have the example"
    words = [*CALIBRATE.split(), "--unanswered", "drop", "--only-common"]
    ran = run(*words)
    assert "left out     1 not in votes.csv, 1 without a response" in ran.out
    document = run(*words, "--json").document
    assert document["left_out"] == {"not in votes.csv": 1, "without a response": 1}
    assert document["n"] == 29


def test_predictions_that_are_not_finite(world: World) -> None:
    world.edit("new.csv", "n04,0.05", "n04,inf")
    typed(CALIBRATE)
    words = ["predict", "predictor.nc", "-p", "new.csv", "-o", "sets.csv"]
    assert "--bad-rows drop" in run(*words).err
    ran = run(*words, "--bad-rows", "drop")
    assert ran.code == 0
    assert "left out  1 bad rows" in ran.out
    ran = run("evaluate", "sets.csv", "-a", "new_votes.csv")
    assert "--only-common" in ran.err
    ran = run("evaluate", "sets.csv", "-a", "new_votes.csv", "--only-common", "--json")
    assert ran.document["left_out"] == {"bad rows": 1, "not in sets.csv": 1}
    assert ran.document["n"] == 19


def test_labels_that_mean_no_answer(world: World) -> None:
    world.edit("votes.csv", "c00,w0,cat", "c00,w0,NA")
    world.edit("votes.csv", "c01,w0,cat", "c01,w0,?")
    ran = run("aggregate", "-a", "votes.csv", "-o", "lam.csv")
    assert ran.err.startswith('warning labels-like-missing: votes.csv: 1 label "NA" is kept')
    assert "--missing NA" in ran.err
    for given in (["--missing", "NA", "--missing", "?"], ["--missing", "NA,?"]):
        ran = run("aggregate", "-a", "votes.csv", "-o", "lam.csv", *given)
        assert ran.code == 0
        assert "warning" not in ran.err
        assert "not counted: 2 skipped" in " ".join(ran.out.split())
