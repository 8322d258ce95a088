"""Measures of ``plausibly evaluate`` beyond the average; whole tables are in the screens."""

from __future__ import annotations

import pytest

import plausibly
from cli_world import EVALUATE, World, refused, typed
from plausibly.evaluation import coverage_by, p_value_uniformity, worst_slab_coverage
from plausibly.io import read_sets


@pytest.fixture
def world(sets: World) -> World:
    sets.write("labels.csv", "label,risk\ncat,low\ndog,high\nfox,medium\n")
    return sets


def test_risk(world: World) -> None:
    assert (
        """\
by risk               answers    missed  95% interval        of all
  low                     6.7     0.100  0.014 to 0.457       0.333
  medium                  6.0     0.111  0.014 to 0.511       0.300
  high                    7.3     0.000  0.000 to 0.299       0.367
"""
        in typed(EVALUATE, "--set", "evaluation.risk=risk", "--labels", "labels.csv").out
    )


def test_true_labels_have_p_values_of_their_own(world: World) -> None:
    words = "-p new.csv --predictor predictor.nc -e new_patients.csv --true-label diagnosis"
    assert "\n  true label " in typed(EVALUATE, *words.split(), "--cluster", "patient").out


def test_json_holds_what_python_gives(world: World) -> None:
    words = "--by set-size --by label -p new.csv --predictor predictor.nc --json"
    document = typed(EVALUATE, *words.split()).document
    sets = read_sets("sets.csv")
    lam = plausibly.aggregate(plausibly.read_annotations("new_votes.csv"))
    predictions = plausibly.read_predictions("new.csv")
    sizes = coverage_by(sets, lam, by="set-size")
    rows = document["by_size"]["rows"]
    assert [row["size"] for row in rows] == ["0", "1", "2", "3"]
    assert rows[0]["aggregated_coverage"] == {"mean": None, "low": None, "high": None}
    assert rows[2]["aggregated_coverage"]["low"] == float(sizes["aggregated_coverage_low"][2])
    assert rows[2]["alpha"] == 0.1
    labels = coverage_by(sets, lam, by="label")
    assert document["by_label"]["rows"][1]["label"] == "dog"
    assert document["by_label"]["rows"][1]["covered"]["low"] == float(labels["covered_low"][1])
    slab = worst_slab_coverage(sets, lam, predictions)
    (row,) = document["worst_slab"]["rows"]
    assert row["slab_from"] == float(slab["slab_from"])
    assert document["worst_slab"]["directions"] == 1000
    predictor = plausibly.load_predictor("predictor.nc")
    found = p_value_uniformity(predictor, predictions, lam)
    drawn = [row for row in document["p_values"]["rows"] if row["of"] == "drawn"]
    assert [row["alpha"] for row in drawn] == [0.05, 0.1, 0.2]
    assert drawn[0]["ks_above"] == float(found["ks_above"].sel(of="drawn"))
    assert document["p_values"]["fingerprint"] == predictor.fingerprint
    assert document["by_predicted_entropy"]["of"] == "entropy of the predictions"


@pytest.mark.parametrize(
    ("words", "name", "piece"),
    [
        ("--set evaluation.risk=danger --labels labels.csv", "risk-missing", "found risk"),
        ("--predictor predictor.nc", "option-unfit", "found --predictor alone hint -p FILE"),
        (
            "-p new.csv --set labels.rename=hound=dog",
            "label-unknown",
            'found "hound" hint leave it out',
        ),
        (
            "-e new_patients.csv --by site:diagnosis",
            "subgroups-none",
            "expected 20 examples or more in one subgroup found at most 13 hint "
            "--set evaluation.at_least=10",
        ),
    ],
)
def test_what_is_refused(world: World, words: str, name: str, piece: str) -> None:
    refused(f"{EVALUATE} {words}", name, piece)


def test_evaluation_on_calibration_examples_is_said(world: World) -> None:
    predicted = typed("predict predictor.nc -p probabilities.csv -o own.csv")
    assert "note         30 of 30 examples calibrated this predictor; they" in predicted.out
    words = "evaluate own.csv -a votes.csv --by set-size -p probabilities.csv"
    ran = typed(f"{words} --predictor predictor.nc")
    assert ran.code == 0
    assert ran.err.count("warning ") == 1
    assert ran.err.startswith("warning evaluated-on-calibration: all 30 examples of")
    assert typed("evaluate own.csv -a votes.csv --strict").code == 3
