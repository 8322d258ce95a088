"""Exit codes, streams, and the one form of every message."""

from __future__ import annotations

import json
import textwrap

import pytest

from cli_world import CALIBRATE, EVALUATE, PREDICT, Ran, World, typed
from plausibly.study import reading


def failed(ran: Ran, code: int, text: str) -> None:
    """Check that a command said exactly `text` on stderr, nothing on stdout, and its code."""
    assert ran.err == textwrap.dedent(text).lstrip("\n")
    assert ran.out == ""
    assert ran.code == code


# ---- 1: our fault


def broken(*_: object, **__: object) -> None:
    raise ZeroDivisionError("division  by\nzero")


UNEXPECTED = """
error unexpected: ZeroDivisionError: division by zero
  expected  no such error: the fault is ours, or a plugin's
  hint      run again with --debug, and report what it prints
"""


def test_an_unforeseen_error_is_ours(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "read_predictions", broken)
    failed(typed(CALIBRATE), 1, UNEXPECTED)
    assert typed(CALIBRATE, "--json").document["error"]["exit"] == 1


def test_debug_adds_the_traceback(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "read_predictions", broken)
    ran = typed(CALIBRATE, "--debug")
    assert ran.code == 1
    assert ran.err.startswith("Traceback (most recent call last):")
    assert 'raise ZeroDivisionError("division  by\\nzero")' in ran.err
    assert ran.err.endswith(textwrap.dedent(UNEXPECTED).lstrip())


def test_debug_adds_the_traceback_of_wrong_input(world: World) -> None:
    ran = typed("calibrate -a no.csv -p probabilities.csv -o x.nc --debug")
    assert ran.code == 2
    assert ran.err.startswith("Traceback (most recent call last):")


# ---- 130: interrupted


def test_interruption(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(reading, "read_predictions", stopped)
    text = """
        error interrupted: plausibly calibrate was stopped
          hint      run it again; every file is whole, or as it was
        """
    failed(typed(CALIBRATE), 130, text)
    ran = typed(CALIBRATE, "--json")
    assert ran.code == 130
    assert ran.document["error"]["name"] == "interrupted"


# ---- 3: a check


def test_fail_under(sets: World) -> None:
    assert typed(EVALUATE, "--fail-under", "0.93").code == 0
    ran = typed(EVALUATE, "--fail-under", "0.95")
    assert (ran.code, ran.out) == (3, typed(EVALUATE).out)
    assert ran.err.startswith("error coverage-below: sets.csv: at alpha 0.1 the sets cover 0.933")
    assert "0.95 or more (--fail-under)\n  found     0.93333, interval 0.741 to 0.986\n" in ran.err
    document = typed(EVALUATE, "--fail-under", "0.95", "--json").document
    assert document["error"]["exit"] == 3
    assert document["results"][0]["aggregated_coverage"]["mean"] == pytest.approx(14 / 15)


def test_fail_under_holds_at_every_alpha(sets: World) -> None:
    typed(PREDICT, "--alpha", "0.1", "--alpha", "0.25")
    assert typed(EVALUATE, "--fail-under", "0.8").code == 0
    assert typed(EVALUATE, "--fail-under", "0.9").code == 3


def test_strict_counts_warnings_as_a_failed_check(world: World) -> None:
    words = f"{CALIBRATE} --alpha 0.01"
    warned = typed(words)
    assert warned.code == 0
    assert warned.err == (
        "warning guarantee-vacuous: every set contains all labels at alpha 0.01\n"
        "  expected  at least 99 calibration examples\n"
        "  found     30\n"
        "  hint      --alpha 0.033, or annotate 69 more\n"
    )
    assert "alpha 0.01: vacuous: every set contains all labels" in warned.out
    world.path("predictor.nc").unlink()
    strict = typed(words, "--strict")
    assert (strict.code, strict.out) == (3, warned.out)
    said = "error warnings-strict: plausibly calibrate warned of guarantee-vacuous\n"
    assert strict.err.startswith(warned.err + said)
    assert world.path("predictor.nc").exists()


# ---- json and quiet


def test_warnings_are_in_the_document_and_on_stderr(world: World) -> None:
    ran = typed(CALIBRATE, "--alpha", "0.01", "--json")
    assert ran.err.startswith("warning guarantee-vacuous")
    (warning,) = ran.document["warnings"]
    assert warning["name"] == "guarantee-vacuous"
    assert warning["found"] == "30"
    assert ran.document["guarantees"][0]["threshold"] == "-inf"


def test_a_warning_is_said_once(world: World) -> None:
    # Reading, thresholds and guarantees all look at alpha.
    ran = typed(CALIBRATE, "--alpha", "0.6")
    assert ran.err.count("warning alpha-large") == 1


def test_errors_are_in_the_document(world: World) -> None:
    world.edit("votes.csv", "c03,w0,dog", "c03,w0,bird")
    ran = typed(CALIBRATE, "--json")
    assert ran.code == 2
    error = ran.document["error"]
    assert error["name"] == "labels-differ"
    fields = ("name", "what", "source", "expected", "found", "hint", "details", "exit")
    assert tuple(error) == fields
    assert ran.err.startswith("error labels-differ: votes.csv has a label that probabilities.csv")


@pytest.mark.parametrize("command", [CALIBRATE, PREDICT, EVALUATE, "plugins list"])
def test_json_is_one_document_without_nan(sets: World, command: str) -> None:
    ran = typed(command, "--json")
    assert ran.code == 0

    def refused(constant: str) -> None:
        pytest.fail(f"{constant} is no JSON")

    document = json.loads(ran.out, parse_constant=refused)
    assert document["command"] in ("plugins list", command.split()[0])
    assert document["warnings"] == []
    assert ran.err == ""


@pytest.mark.parametrize("command", [CALIBRATE, PREDICT, EVALUATE, "plugins list"])
def test_quiet_is_silent(sets: World, command: str) -> None:
    for file in ("predictor.nc", "sets.csv"):
        if file in command.split()[-1]:
            sets.path(file).unlink()
    ran = typed(command, "--quiet")
    assert ran == Ran(0, "", "")
    assert sets.path("predictor.nc").exists()
    assert sets.path("sets.csv").exists()


def test_quiet_keeps_errors_but_no_warnings(world: World) -> None:
    assert typed(CALIBRATE, "--alpha", "0.01", "--quiet") == Ran(0, "", "")
    ran = typed("calibrate -a no.csv -p probabilities.csv -o x.nc --quiet")
    assert ran.code == 2
    assert ran.err.startswith('error file-missing: annotations "no.csv"')
    ran = typed(CALIBRATE, "--alpha", "0.01", "--quiet", "--json")
    assert ran.err == ""
    assert ran.document["warnings"][0]["name"] == "guarantee-vacuous"
