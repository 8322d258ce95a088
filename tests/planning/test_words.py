"""What ``plausibly plan`` prints, and that it is what Python gives."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import plausibly
from cli_world import run
from eval_said import check, said
from planning_world import pilot, write
from plausibly.planning.plan import describe_plan, plan_as_json


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, *pilot(300, 5))
    return tmp_path


def shown(words: str) -> str:
    ran = run(*words.split())
    assert ran.code == 0, ran.err
    assert ran.err == ""
    assert max(map(len, ran.out.splitlines())) <= 80
    return ran.out


def test_without_a_pilot() -> None:
    assert describe_plan(plausibly.plan(within=0.02)) + "\n" == shown("plan --within 0.02")


@said(__file__)
def test_what_is_printed(folder: Path, call: str, text: str) -> None:
    check(call, text, globals())


def test_without_anything() -> None:
    told = shown("plan --n 8 --n 50 --alpha 0.1 --alpha 0.05")
    first, second = told.split("\n\n")
    assert first.splitlines()[1:4] == [
        "n        m = 1",
        "8        every label",
        "50       .826 to .960",
    ]
    assert "\nanswer      with 50 examples (1 draw) 9 in 10 calibrations cover .826 to" in first
    assert "--within says how many are enough." in " ".join(first.split())
    assert second.startswith("alpha 0.05: coverage of 9 in 10")
    assert "180 held out (pac), 1,981 held out (ecdf)" in " ".join(second.split())


def test_a_pilot(folder: Path) -> None:
    told = shown(
        "plan -a votes.csv -p pilot.csv -e patients.csv --cluster patient --within 0.03 "
        "--set plan.resamples=40"
    )
    lines = told.splitlines()
    assert lines[:6] == [
        "annotations  votes.csv (crowd-table): 300 examples, 5 annotators, 1,500",
        "             responses (5 each), 4 labels seen; single-label; 88 % of examples",
        "             disputed",
        "predictions  pilot.csv: 300 x 4",
        "chosen       aggregator label-frequency (default)",
        "alpha 0.1: coverage of 9 in 10 calibrations, by examples n and draws m",
    ]
    assert lines[6] == "n        m = 1           m = 10          expected"
    joined = " ".join(told.split())
    assert "check spread (standard deviation) over 40 resamples of the pilot at n = 300" in joined
    assert 'clusters 40 of "patient": examples of one are alike, which multiplies' in joined
    assert 'if examples of different "patient" are independent draws' in joined
    assert "responses examples needed, by responses an example (expected): " in joined
    assert told.count("<- within .03 of .90") == 1
    assert lines[-1].endswith("plan again after it.")
    predictions, table = pilot(300, 5)
    found = plausibly.plan(predictions, table, within=0.03, cluster="patient", resamples=40)
    assert "\n".join(lines[5:]) == describe_plan(found)


def test_the_document(folder: Path) -> None:
    words = "plan -a votes.csv -p pilot.csv --within 0.03 --n 100,400 --json"
    words += " --set plan.resamples=20"
    ran = run(*words.split())
    assert ran.code == 0
    document = ran.document
    predictions, table = pilot(300, 5)
    found = plausibly.plan(
        predictions, table, alpha=["0.1"], within=0.03, n=[100, 400], resamples=20
    )
    same = json.loads(json.dumps(plan_as_json(found)).replace("NaN", "null"))
    assert {key: document[key] for key in same} == same
    assert document["annotations"]["responses"] == 1500
    (result,) = document["results"]
    assert [(one["n"], one["draws"]) for one in result["by_n"]] == [
        (n, m) for n in (100, 400) for m in (1, 10, "expected")
    ]
    assert result["by_n"][0]["bootstrap_spread"] > 0
    assert result["by_n"][3]["bootstrap_spread"] is None
    assert [one["draws"] for one in result["n_within"]] == [1, 10, "expected"]
    assert [one["responses"] for one in result["by_responses"]] == [1, 2, 3, 5]
    assert result["needed"][3] == {"combiner": "ecdf", "n": 496, "counts": "held-out examples"}


def test_one_side_and_other_shares() -> None:
    told = " ".join(shown("plan --within 0.01 --confidence 0.95 --set plan.one_sided=true").split())
    assert "coverage of 19 in 20 calibrations" in told
    assert "answer 2,520 examples (1 draw): then 19 in 20 calibrations are .90 less .01, or" in told


def test_options_reach_the_plan(folder: Path) -> None:
    told = shown(
        "plan -a votes.csv -p pilot.csv --draws 3,expected --answers 2 --set method.score=margin "
        "--n 200 --set plan.resamples=0 --set plan.delta=0.01 --set seed=4"
    )
    assert "n        m = 3           expected\n" in told
    assert "responses   spread at n = 200, by responses an example (expected): ." in told
    assert "44 held out (pac)" in told
    assert "check" not in told


def test_labels_renamed_and_examples_left_out(folder: Path) -> None:
    text = (folder / "votes.csv").read_text(encoding="utf-8")
    fewer = "\n".join(line for line in text.split("\n") if not line.startswith("e0007,"))
    (folder / "votes.csv").write_text(fewer.replace(",a\n", ",alpha\n"), encoding="utf-8")
    words = (
        "plan -a votes.csv -p pilot.csv --set labels.rename=alpha=a --n 100 --set plan.resamples=0"
    )
    assert "examples-differ" in run(*words.split()).err
    told = shown(f"{words} --set examples.only_common=true")
    assert "left out     1 not in votes.csv" in told
    assert "predictions  pilot.csv: 299 x 4" in told
    assert "responses   spread at n = 100, by responses an example" in told


def test_plausibilities_of_a_pilot(folder: Path) -> None:
    assert run("aggregate", "-a", "votes.csv", "-o", "lam.csv").code == 0
    told = shown("plan --plausibilities lam.csv -p pilot.csv --n 100 --set plan.resamples=0")
    assert "responses  " not in told
    assert told.startswith("plausibilities  lam.csv: plausibilities of 300 examples, 4 labels\n")


def test_a_bootstrap_of_no_size_is_not_shown() -> None:
    predictions, table = pilot(300, 5)
    told = describe_plan(plausibly.plan(predictions, table, n=[1000], resamples=4))
    assert "check" not in told
    assert "spread at n = 1,000, by responses" in told
