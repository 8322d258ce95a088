"""Options about files: their names, and what is left out and counted."""

from __future__ import annotations

import typing

import numpy as np
import pytest
import xarray as xr

import plausibly
from cli_world import CALIBRATE, EVALUATE, PREDICT, World, done, refused, typed
from plausibly.config.load import key
from plausibly.data.validate import SCALES
from plausibly.evaluation.intervals import METHODS
from plausibly.kernels.coverage import TIES


def fingerprint(line: str) -> str:
    """Return the fingerprint of the predictor that a command makes."""
    ran = typed(line, "--json")
    assert ran.code == 0, ran.err
    return str(ran.document["fingerprint"])


@pytest.mark.parametrize(
    ("path", "choices"),
    [
        ("predictions.scale", SCALES),
        ("evaluation.ties", TIES),
        ("evaluation.interval", METHODS),
    ],
)
def test_choices_are_those_of_the_library(path: str, choices: typing.Iterable[str]) -> None:
    assert typing.get_args(key(path).arms[0]) == tuple(choices)


# ---- names in files

HEAD, OTHER = "task,worker,label", "item,rater,answer"
TABLE = '{example = "item", annotator = "rater", label = "answer"}'


@pytest.mark.parametrize(
    ("file", "old", "new", "option"),
    [
        ("votes.csv", HEAD, OTHER, "--columns example=item,annotator=rater,label=answer"),
        ("votes.csv", HEAD, OTHER, f"--columns '{TABLE}'"),
        ("votes.csv", HEAD, OTHER, f"--reader '{{name = \"long-table\", columns = {TABLE}}}'"),
        ("probabilities.csv", "example,", "case,", "--set predictions.example=case"),
        ("votes.csv", "dog", "hound", "--set labels.rename=hound=dog"),
        ("probabilities.csv", "dog", "hound", "--set labels.rename=hound=dog"),
        ("votes.csv", "dog", "d=g", '--set labels.rename=\'{"d=g" = "dog"}\''),
        # Quotes keep a blank in a header, too.
        ("votes.csv", "dog", '"dog "', "--set labels.strip=true"),
        ("probabilities.csv", "dog", '"dog "', "--set labels.strip=true"),
    ],
)
def test_names_of_other_files(world: World, file: str, old: str, new: str, option: str) -> None:
    expected = fingerprint(CALIBRATE)
    world.replace(file, old, new)
    ran = typed(CALIBRATE)
    assert ran.code == 2
    assert option != "--set labels.strip=true" or "--set labels.strip=true, or --set" in ran.err
    assert fingerprint(f"{CALIBRATE} {option}") == expected


@pytest.mark.parametrize("option", ["--set labels.strip=true", "--set 'labels.rename=dog =dog'"])
def test_answers_of_a_label_with_and_without_a_blank_are_merged(world: World, option: str) -> None:
    expected = fingerprint(CALIBRATE)
    world.replace("votes.csv", "dog", "dog ", 2)
    ran = typed(f"{CALIBRATE} {option}")
    assert ran.code == 0, ran.err
    assert "names-alike" not in ran.err
    assert '2 (2 as "dog ")' in ran.text
    assert fingerprint(f"{CALIBRATE} {option}") == expected


def test_evaluate_renames_and_knows_the_labels_of_the_sets(sets: World) -> None:
    expected = typed(EVALUATE, "--json").document["results"]
    text = sets.path("new_votes.csv").read_text()
    sets.write("new_votes.csv", text.replace("dog", "hound"))
    assert typed(f"{EVALUATE} --json --set labels.rename=hound=dog").document["results"] == expected
    sets.write("new_votes.csv", text.replace("fox", "dog"))
    assert typed(EVALUATE).code == 0
    sets.write("new_votes.csv", text.replace("fox", "focks", 1))
    refused(EVALUATE, "label-unknown", "new_votes.csv line 12:", 'annotator w1 says "focks"')


def test_variable_of_a_netcdf_file(world: World) -> None:
    expected = fingerprint(CALIBRATE)
    array = plausibly.read_predictions("probabilities.csv")
    array.attrs.clear()
    both = xr.Dataset({"one": array, "two": array[::-1].copy(data=array.values)})
    both.to_netcdf("both.nc", engine="scipy")
    words = CALIBRATE.replace("probabilities.csv", "both.nc")
    assert typed(words).code == 2
    assert fingerprint(f"{words} --set predictions.variable=one") == expected


def test_label_sets_and_another_aggregator(world: World) -> None:
    document = typed(f"{CALIBRATE} --aggregator majority-vote --json").document
    assert document["method"]["aggregator"]["name"] == "majority-vote"
    ran = typed("aggregate -a votes.csv --aggregator majority-vote -o lam.csv")
    assert "aggregator majority-vote" in ran.out
    assert "(the default" not in ran.out
    world.write("votes.csv", f"{world.path('votes.csv').read_text()}c00,w0,dog\n")
    assert typed(CALIBRATE).code == 2
    document = typed(f"{CALIBRATE} --set annotations.kind=label-set --json").document
    assert document["annotations"]["kind"] == "label-set"
    assert document["method"]["aggregator"]["name"] == "label-set"


def test_normalise_and_scale(world: World) -> None:
    array = plausibly.read_predictions("probabilities.csv")
    np.savez("twice.npz", predictions=array.values * 2, examples=array.example, labels=array.label)
    lam = plausibly.aggregate(plausibly.read_annotations("votes.csv"))
    words = CALIBRATE.replace("probabilities.csv", "twice.npz")
    assert "--set predictions.normalise=true" in typed(words).err
    for option, predictions in (
        ("normalise=true", plausibly.read_predictions("twice.npz", normalise=True)),
        ("scale=any", plausibly.read_predictions("twice.npz", scale="any")),
    ):
        expected = plausibly.calibrate(predictions, lam).fingerprint
        assert fingerprint(f"{words} --set predictions.{option}") == expected


# ---- what is left out


def test_examples_without_response(world: World) -> None:
    world.replace("votes.csv", "c00,w0,cat\nc00,w1,cat\nc00,w2,cat\n", "c00,w0,\n")
    assert "--set annotations.unanswered=drop" in typed(CALIBRATE).err
    drop = f"{CALIBRATE} --set annotations.unanswered=drop"
    assert typed(drop).code == 2, "the predictions have the example"
    drop += " --set examples.only_common=true"
    assert "left out     1 not in votes.csv, 1 without a response" in typed(drop).out
    document = typed(f"{drop} --json").document
    assert document["left_out"] == {"not in votes.csv": 1, "without a response": 1}
    assert document["n"] == 29


def test_predictions_that_are_not_finite(world: World) -> None:
    world.edit("new.csv", "n04,0.05", "n04,inf")
    done(CALIBRATE)
    assert "--set predictions.bad_rows=drop" in typed(PREDICT).err
    assert "left out     1 bad rows" in done(f"{PREDICT} --set predictions.bad_rows=drop").out
    assert "--set examples.only_common=true" in typed(EVALUATE).err
    document = typed(f"{EVALUATE} --set examples.only_common=true --json").document
    assert document["left_out"] == {"bad rows": 1, "not in sets.csv": 1}
    assert document["n"] == 19


def test_labels_that_mean_no_answer(world: World) -> None:
    world.edit("votes.csv", "c00,w0,cat", "c00,w0,NA")
    world.edit("votes.csv", "c01,w0,cat", "c01,w0,?")
    aggregate = "aggregate -a votes.csv -o lam.csv"
    ran = typed(aggregate)
    assert ran.err.startswith("warning labels-like-missing: votes.csv: ")
    assert "--missing NA" in ran.err
    for missing in ("--missing NA --missing '?'", "--missing 'NA,?'"):
        ran = typed(f"{aggregate} {missing}")
        assert ran.code == 0
        assert "warning" not in ran.err
        assert "not counted: 2 skipped" in ran.text
