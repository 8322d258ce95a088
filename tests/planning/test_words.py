"""Output of ``plausibly plan``, and its document, the same as that of Python."""

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


@said(__file__)
def test_each_command_prints_its_text(folder: Path, call: str, text: str) -> None:
    check(call, text, globals())


def test_the_document(folder: Path) -> None:
    """What such a document holds is in ``characterisation/nets/commands.txt``."""
    words = "plan -a votes.csv -p pilot.csv --within 0.03 --n 100,400 --set plan.resamples=4 --json"
    document = run(*words.split()).document
    measured = plausibly.plan(*pilot(300, 5), alpha=["0.1"], within=0.03, n=[100, 400], resamples=4)
    same = json.loads(json.dumps(measured.to_json()).replace("NaN", "null"))
    assert {key: document[key] for key in same} == same
    (result,) = document["results"]
    assert result["by_n"][3]["bootstrap_spread"] is None  # the pilot has fewer examples
    assert [item["draws"] for item in result["n_within"]] == [1, 10, "expected"]
