"""What ``plausibly evaluate`` prints beyond the average, and the same as data."""

from __future__ import annotations

import pytest

import plausibly
from cli_world import EVALUATE, PREDICT, Ran, World, refused, typed
from plausibly.evaluation import coverage_by, p_value_uniformity, worst_slab_coverage
from plausibly.io import read_sets


@pytest.fixture
def world(sets: World) -> World:
    sets.write("labels.csv", "label,risk\ncat,low\ndog,high\nfox,medium\n")
    return sets


def evaluated(*words: str) -> Ran:
    """Run the command on the new votes."""
    ran = typed(EVALUATE, *words)
    assert ran.width <= 80 or "--json" in words
    return ran


def blocks(ran: Ran) -> list[str]:
    """Return the blocks that are printed, but for the first and the last."""
    assert ran.code == 0, ran.err
    assert ran.err == ""
    return ran.out.rstrip("\n").split("\n\n")[1:-1]


def test_strata(world: World) -> None:
    assert blocks(evaluated("--by", "set-size", "--by", "ambiguity", "--by", "label")) == [
        """\
by set size          examples  coverage  95% interval
  1 label                   4     1.000  0.510 to 1.000
  2 labels                 10     0.867  0.558 to 0.971
  3 labels                  6     1.000  0.609 to 1.000""",
        """\
by entropy of the plausibilities
                     examples  coverage  95% interval      set size
  below 0.6365              6     1.000  0.609 to 1.000        1.33
  0.6365 and more          14     0.905  0.655 to 0.980        2.43""",
        """\
by label              answers   covered  95% interval       in sets
  cat                     6.7     0.900  0.543 to 0.986       0.700
  dog                     7.3     1.000  0.701 to 1.000       0.800
  fox                     6.0     0.889  0.489 to 0.986       0.600""",
    ]


def test_risk(world: World) -> None:
    assert blocks(evaluated("--set", "evaluation.risk=risk", "--labels", "labels.csv")) == [
        """\
by risk               answers    missed  95% interval        of all
  low                     6.7     0.100  0.014 to 0.457       0.333
  medium                  6.0     0.111  0.014 to 0.511       0.300
  high                    7.3     0.000  0.000 to 0.299       0.367"""
    ]


def test_subgroups_say_that_they_are_many(world: World) -> None:
    words = "-e new_patients.csv --by site:diagnosis --set evaluation.at_least=3"
    (block,) = blocks(evaluated(*words.split()))
    lines = block.splitlines()
    assert lines[:2] == [
        "by site, diagnosis (lowest 8 of 10 groups, intervals widened for all)",
        "                     examples  coverage  95% interval      set size",
    ]
    assert lines[2] == "  site south                7     0.905  0.387 to 0.994        2.14"
    # A name that is too long stands on a line of its own.
    assert lines[5:7] == [
        "  site south, diagnosis cat",
        "                            3     0.889  0.218 to 0.996        2.00",
    ]
    words = "-e new_patients.csv --by site:diagnosis --set evaluation.at_least=5 --cluster patient"
    (block,) = blocks(evaluated(*words.split()))
    assert block.startswith("by site, diagnosis (intervals widened for 4 groups)\n")
    assert block.endswith("\nLeft out: 6 groups of fewer than 5 clusters.")


def test_one_group_is_as_before(world: World) -> None:
    ran = evaluated("-e", "new_patients.csv", "--by", "site")
    assert "\nby site (intervals widened for 2 groups)\n  north " in ran.out
    assert "subgroups" not in ran.out


def test_the_model_in_doubt_the_worst_slab_and_p_values(world: World) -> None:
    doubt, slab, p_values = blocks(evaluated("-p", "new.csv", "--predictor", "predictor.nc"))
    assert (
        doubt
        == """\
by entropy of the predictions
                     examples  coverage  95% interval      set size
  below 0.8865             10     0.933  0.634 to 0.992        1.60
  0.8865 and more          10     0.933  0.634 to 0.992        2.60"""
    )
    head, line = slab.splitlines()
    assert head == "worst slab           examples  coverage  95% interval     elsewhere"
    assert line.startswith("  other examples  ")
    assert p_values.splitlines()[0] == (
        "p-values of the            D+         p        D-  guaranteed"
    )
    assert [row.split()[0] for row in p_values.splitlines()[1:3]] == ["majority", "drawn"]
    assert [row.split()[-1] for row in p_values.splitlines()[1:3]] == ["no", "yes"]
    assert p_values.splitlines()[3].startswith("D+: the largest excess of the share of p-values")
    assert len(blocks(evaluated("-p", "new.csv"))) == 2
    words = "-p new.csv --predictor predictor.nc -e new_patients.csv --true-label diagnosis"
    assert "\n  true label " in evaluated(*words.split(), "--cluster", "patient").out


def test_several_alphas_have_a_block_each(world: World) -> None:
    typed(f"{PREDICT} --alpha 0.1 --alpha 0.25")
    ran = typed(f"{EVALUATE} --by set-size")
    assert "\n\nalpha 0.1\nby set size " in ran.out
    assert "\nalpha 0.25\nby set size " in ran.out


def test_json_holds_what_python_gives(world: World) -> None:
    words = "--by set-size --by label -p new.csv --predictor predictor.nc --json"
    document = evaluated(*words.split()).document
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
        (
            "--set evaluation.risk=risk",
            "risk-missing",
            "found evaluation.risk = risk alone hint --labels labels.csv --set "
            "evaluation.risk=risk",
        ),
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
