"""Exit codes, streams, and the one form of every message."""

from __future__ import annotations

import json

import pytest

from cli_world import CALIBRATE, EVALUATE, PREDICT, Ran, World, typed
from plausibly.study import reading


@pytest.mark.parametrize(
    ("raised", "code", "name", "what"),
    [
        (ZeroDivisionError("by  0"), 1, "unexpected", "ZeroDivisionError: by 0"),
        (KeyboardInterrupt(), 130, "interrupted", "plausibly calibrate was stopped"),
    ],
)
def test_unforeseen_errors_and_interruptions(
    world: World,
    monkeypatch: pytest.MonkeyPatch,
    raised: BaseException,
    code: int,
    name: str,
    what: str,
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise raised

    monkeypatch.setattr(reading, "read_predictions", broken)
    ran = typed(CALIBRATE)
    assert (ran.code, ran.out) == (code, "")
    assert ran.err.startswith(f"error {name}: {what}\n")
    error = typed(CALIBRATE, "--json").document["error"]
    assert (error["name"], error["exit"]) == (name, code)
    debug = typed(CALIBRATE, "--debug")
    assert debug.code == code
    assert debug.err.startswith("Traceback (most recent call last):")
    assert debug.err.endswith(ran.err)


def test_debug_adds_the_traceback_of_wrong_input(world: World) -> None:
    ran = typed("calibrate -a no.csv -p probabilities.csv -o x.nc --debug")
    assert ran.code == 2
    assert ran.err.startswith("Traceback (most recent call last):")


def test_fail_under_holds_at_every_alpha(sets: World) -> None:
    assert typed(EVALUATE, "--fail-under", "0.93").code == 0
    ran = typed(EVALUATE, "--fail-under", "0.95")
    assert (ran.code, ran.out) == (3, typed(EVALUATE).out)
    assert ran.err.startswith("error coverage-below: sets.csv: at alpha 0.1 the sets cover 0.933")
    assert "0.95 or more (--fail-under)\n  found     0.93333, interval 0.741 to 0.986\n" in ran.err
    document = typed(EVALUATE, "--fail-under", "0.95", "--json").document
    assert document["error"]["exit"] == 3
    assert document["results"][0]["aggregated_coverage"]["mean"] == pytest.approx(14 / 15)
    typed(PREDICT, "--alpha", "0.1", "--alpha", "0.25")
    assert typed(EVALUATE, "--fail-under", "0.8").code == 0
    assert typed(EVALUATE, "--fail-under", "0.9").code == 3


def test_strict_counts_warnings_as_a_failed_check(world: World) -> None:
    words = f"{CALIBRATE} --alpha 0.01"
    warned = typed(words)
    assert warned.code == 0
    world.path("predictor.nc").unlink()
    strict = typed(words, "--strict")
    assert (strict.code, strict.out) == (3, warned.out)
    named = "error warnings-strict: plausibly calibrate warned of guarantee-vacuous\n"
    assert strict.err.startswith(warned.err + named)
    assert world.path("predictor.nc").exists()


# ---- json and quiet


def test_warnings_are_in_the_document_and_on_stderr_once(world: World) -> None:
    ran = typed(CALIBRATE, "--alpha", "0.01", "--json")
    assert ran.err.startswith("warning guarantee-vacuous")
    (warning,) = ran.document["warnings"]
    assert (warning["name"], warning["found"]) == ("guarantee-vacuous", "30")
    assert ran.document["guarantees"][0]["threshold"] == "-inf"
    # Reading, thresholds and guarantees all look at alpha.
    assert typed(CALIBRATE, "--alpha", "0.6").err.count("warning alpha-large") == 1


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
def test_json_is_one_document_without_nan_and_quiet_is_silent(sets: World, command: str) -> None:
    def refused(constant: str) -> None:
        pytest.fail(f"{constant} is no JSON")

    ran = typed(command, "--json")
    document = json.loads(ran.out, parse_constant=refused)
    assert document["command"] in ("plugins list", command.split()[0])
    assert (ran.code, ran.err, document["warnings"]) == (0, "", [])
    written = sets.path(command.split()[-1])
    if command in (CALIBRATE, PREDICT):
        written.unlink()
    assert typed(command, "--quiet") == Ran(0, "", "")
    assert written.exists() == (command != "plugins list")


def test_quiet_keeps_errors_but_no_warnings(world: World) -> None:
    assert typed(CALIBRATE, "--alpha", "0.01", "--quiet") == Ran(0, "", "")
    ran = typed("calibrate -a no.csv -p probabilities.csv -o x.nc --quiet")
    assert ran.code == 2
    assert ran.err.startswith('error file-missing: annotations "no.csv"')
    ran = typed(CALIBRATE, "--alpha", "0.01", "--quiet", "--json")
    assert ran.err == ""
    assert ran.document["warnings"][0]["name"] == "guarantee-vacuous"
