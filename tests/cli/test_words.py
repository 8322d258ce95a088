"""Guarantees, sizes, documents and streams in the forms that commands print."""

from __future__ import annotations

import sys
import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from cli_world import EVALUATE, World, done, run, typed
from plausibly.cli import app
from plausibly.cli.guarantee import guarantee_text
from plausibly.cli.output import Output
from plausibly.guarantee import Guarantee


def test_guarantees_of_other_combiners() -> None:
    alpha = Fraction(1, 10)
    nothing = Guarantee(alpha=alpha, level=None, reason="no proof")
    assert guarantee_text(nothing) == "alpha 0.1: no guarantee; no proof."
    other = Guarantee(
        alpha=alpha,
        level=1 - alpha,
        covers="the worst label",
        assumption=None,
        conditions=("all is well",),
        reason="",
    )
    assert "contains the worst label with probability at least 0.90" in guarantee_text(other)
    assert guarantee_text(other).endswith(", if all is well.")


def test_evaluation_against_plausibilities(sets: World) -> None:
    typed("aggregate -a new_votes.csv -o lam.csv")
    direct = typed(f"{EVALUATE} --json").document
    aggregated = typed("evaluate sets.csv --plausibilities lam.csv --json").document
    assert aggregated["results"] == direct["results"]
    assert aggregated["aggregator"] is None


def test_sizes_of_many_labels_are_ranges(world: World) -> None:
    labels = [f"k{number:02d}" for number in range(60)]
    world.write("labels.txt", "\n".join(labels) + "\n")
    rows, votes = [f"example,{','.join(labels)}"], ["task,worker,label"]
    for number in range(20):
        flat = ["0.01"] * 60
        flat[number] = "0.41"
        rows.append(f"e{number},{','.join(flat)}")
        votes.append(f"e{number},w,k{number + 20 if number % 2 else number:02d}")
    world.write("many.csv", "\n".join(rows) + "\n")
    world.write("votes.csv", "\n".join(votes) + "\n")
    typed("calibrate -a votes.csv -p many.csv --labels labels.txt -o predictor.nc")
    text = done("predict predictor.nc -p many.csv -o sets.csv --alpha 0.3").text
    assert "alpha 0.3: 100% with 51 to 60 labels, none empty; 60.00 labels per set" in text
    assert "note 20 of 20 examples calibrated this predictor; they cannot test it" in text


@pytest.mark.parametrize("command", ["demo", "config check", "predict", "plugins list"])
def test_help_has_examples_and_a_short_flag(command: str) -> None:
    ran = done(command, "--help")
    assert ran.out.count("\n    plausibly ") >= 2
    assert typed(command, "-h").out == ran.out


def test_without_a_command_help_is_printed() -> None:
    assert run() == run("--help")
    group = run("plugins")
    assert (group.code, group.out.strip()) == (0, run("plugins", "--help").out.strip())


# ---- documents and streams


def test_documents_hold_what_json_can(capsys: pytest.CaptureFixture[str]) -> None:
    output = Output("study", json=True)
    infinite = float("inf")
    output.document |= {
        "numbers": [np.float64("nan"), infinite, -infinite, np.int64(1), 0.5],
        "path": Path("a") / "b",
        "table": {1: ("x", None, True)},
    }
    assert output.run(lambda: None) == 0
    assert capsys.readouterr().out == (
        '{\n  "command": "study",\n  "numbers": [\n    null,\n    "inf",\n    "-inf",\n    1,\n'
        '    0.5\n  ],\n  "path": "a/b",\n  "table": {\n    "1": [\n      "x",\n      null,\n'
        '      true\n    ]\n  },\n  "warnings": []\n}\n'
    )


def test_warnings_of_others_go_where_they_always_go() -> None:
    def body() -> None:
        warnings.warn("not ours", RuntimeWarning, stacklevel=1)

    with pytest.warns(RuntimeWarning, match="not ours"):
        assert Output("study").run(body) == 0


def test_main_returns_the_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["plausibly", "--version"])
    assert app.main() == 0
    assert capsys.readouterr().out.startswith("plausibly ")
    monkeypatch.setattr(sys, "argv", ["plausibly", "nothing"])
    assert app.main() == 2
    assert "no such command 'nothing'" in capsys.readouterr().err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("json", [False, True])
def test_a_full_disk_behind_stdout(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], json: bool
) -> None:
    with Path("/dev/full").open("w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        output = Output("study", json=json)
        output.document["n"] = 1
        assert output.run(lambda: output.show("text")) == 2
        monkeypatch.undo()
    shown = capsys.readouterr().err
    assert shown.startswith("error output-unwritable: ")
    assert '  found     "no space left on device"\n' in shown
