"""Output of ``plausibly plan``, the same as that of Python."""

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
    assert run("aggregate", "-a", "votes.csv", "-o", "lam.csv").code == 0
    return tmp_path


def test_the_command_prints_the_plan() -> None:
    ran = run("plan", "--within", "0.02")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == plausibly.plan(within=0.02).lines()


@said(__file__)
def test_each_command_prints_its_text(folder: Path, call: str, text: str) -> None:
    check(call, text, globals())


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
    assert [(item["n"], item["draws"]) for item in result["by_n"]] == [
        (n, m) for n in (100, 400) for m in (1, 10, "expected")
    ]
    assert result["by_n"][0]["bootstrap_spread"] > 0
    assert result["by_n"][3]["bootstrap_spread"] is None
    assert [item["draws"] for item in result["n_within"]] == [1, 10, "expected"]
    assert [item["responses"] for item in result["by_responses"]] == [1, 2, 3, 5]
    assert result["needed"][3] == {"combiner": "ecdf", "n": 496, "counts": "held-out examples"}
