"""Guarantees, choices and data in the words and forms that commands print."""

from __future__ import annotations

import sys
import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from cli_world import CALIBRATE, EVALUATE, World, typed
from plausibly.cli import app
from plausibly.cli.guarantee import guarantee_text
from plausibly.cli.output import Output
from plausibly.guarantee import Guarantee


def test_a_guarantee_for_every_alpha(world: World) -> None:
    ran = typed(f"{CALIBRATE} --alpha 0.1 --alpha 0.2")
    assert "\nguarantee    alpha 0.1: on average, a set contains an annotator's answer" in ran.out
    assert "\nguarantee    alpha 0.2: on average, a set contains an annotator's answer" in ran.out
    assert ran.out.endswith("plausibly predict predictor.nc -p NEW --alpha 0.1 -o sets.csv\n")


def test_guarantees_of_strangers() -> None:
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
    assert guarantee_text(other) == (
        "alpha 0.1: on average, a set contains the worst label with probability at least 0.90, "
        "if all is well."
    )


def test_evaluation_against_plausibilities(sets: World) -> None:
    typed("aggregate -a new_votes.csv -o lam.csv")
    ran = typed("evaluate sets.csv --plausibilities lam.csv")
    first = "plausibilities  lam.csv: plausibilities of 20 examples, 3 labels\n"
    assert ran.out.startswith(first)
    voted = typed(f"{EVALUATE} --json").document
    given = typed("evaluate sets.csv --plausibilities lam.csv --json").document
    assert given["results"] == voted["results"]
    assert given["aggregator"] is None


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
@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_a_full_disk_behind_stdout(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], flags: list[str]
) -> None:
    with Path("/dev/full").open("w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        output = Output("study", json=bool(flags))
        output.document["n"] = 1
        assert output.run(lambda: output.show("text")) == 2
        monkeypatch.undo()
    assert capsys.readouterr().err == (
        "error output-unwritable: cannot write to where the output of the command goes\n"
        "  expected  a place that can be written to\n"
        '  found     "no space left on device"\n'
        "  hint      send the output elsewhere; files that the command writes are whole\n"
    )
