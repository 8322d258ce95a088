"""What ``plausibly plan`` prints, and that it is what Python gives."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import plausibly
from cli_world import run
from eval_said import check, said

from .pilots import pilot, write


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
    assert "\n".join(plausibly.plan(within=0.02).lines()) + "\n" == shown("plan --within 0.02")


@said(__file__)
def test_each_command_prints_its_text(folder: Path, call: str, text: str) -> None:
    check(call, text, globals())


def test_without_anything() -> None:
    message = shown("plan --n 8 --n 50 --alpha 0.1 --alpha 0.05")
    first, second = message.split("\n\n")
    assert first.splitlines()[2:5] == [
        "examples   range of coverage in 9 of 10 calibrations",
        "       8   all labels",
        "      50   0.826 to 0.960",
    ]
    assert first.startswith("Plan: with 50 calibration examples, 9 of 10 calibrations cover")
    assert "Set within, such as 0.02, for the number of examples that is enough." in " ".join(
        first.split()
    )
    assert "(alpha 0.05, 1 draw)" in second
    assert "189 (pac), 1,981 held out (ecdf)" in " ".join(second.split())


def test_a_pilot(folder: Path) -> None:
    message = shown(
        "plan -a votes.csv -p pilot.csv -e patients.csv --cluster patient --within 0.03 "
        "--set plan.resamples=40"
    )
    lines = message.splitlines()
    start = next(row for row, line in enumerate(lines) if line.startswith("method  "))
    assert "label-frequency" in lines[start]
    assert lines[0].startswith("annotations  votes.csv (long-table): 300 examples, 5 annotators")
    assert lines[start - 1].startswith("predictions  pilot.csv: 300 ")
    predictions, table = pilot(300, 5)
    measured = plausibly.plan(predictions, table, within=0.03, cluster="patient", resamples=40)
    assert lines[start + 1 :] == measured.lines()


def test_the_document(folder: Path) -> None:
    words = (
        "plan -a votes.csv -p pilot.csv --within 0.03 --n 100,400 --set plan.resamples=20 --json"
    )
    ran = run(*words.split())
    assert ran.code == 0
    document = ran.document
    predictions, table = pilot(300, 5)
    measured = plausibly.plan(
        predictions, table, alpha=["0.1"], within=0.03, n=[100, 400], resamples=20
    )
    same = json.loads(json.dumps(measured.to_json()).replace("NaN", "null"))
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


def test_options_reach_the_plan(folder: Path) -> None:
    message = shown(
        "plan -a votes.csv -p pilot.csv --draws 3,expected --answers 2 --set method.score=margin "
        "--n 200 --set plan.resamples=0 --set plan.delta=0.01 --set seed=4"
    )
    assert "           3 draws           expected\n" in message
    flat = " ".join(message.split())
    assert "Standard deviation at n = 200, by answers per example (expected): 0." in flat
    assert "49 (pac)" in flat
    assert "resamples of the pilot" not in flat


def test_plausibilities_of_a_pilot(folder: Path) -> None:
    assert run("aggregate", "-a", "votes.csv", "-o", "lam.csv").code == 0
    message = shown("plan --plausibilities lam.csv -p pilot.csv --n 100 --set plan.resamples=0")
    assert "answers per example" not in message
    assert message.startswith("plausibilities  lam.csv: plausibilities of 300 examples, 4 labels\n")
