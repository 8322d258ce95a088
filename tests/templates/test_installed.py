"""A new plugin of each kind, untouched: installed, tested, typed, linted and checked."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from readme_world import write_files
from template_world import FORMAT, NAMES, Environment, installed

__all__ = ["installed"]

EVERY = (*NAMES.values(), FORMAT)


def test_their_own_tests_pass(installed: Environment, tmp_path: Path) -> None:
    """Of all in one process, which imports what they share once."""
    ran = installed.python(
        *("-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "error"),
        "--import-mode=importlib",
        "--basetemp",
        tmp_path / "temporary",
        *EVERY,
        cwd=installed.plugins,
    )
    assert " passed" in ran.out
    assert "skipped" not in ran.out


@pytest.mark.slow
@pytest.mark.parametrize("name", EVERY)
def test_it_is_typed(installed: Environment, name: str) -> None:
    assert installed.mypy("--strict", cwd=installed.plugins / name).out == ""


@pytest.mark.parametrize("name", EVERY)
def test_it_is_in_style(installed: Environment, name: str) -> None:
    for words in (("check", "--no-cache"), ("format", "--check", "--no-cache")):
        installed.run(sys.executable, "-m", "ruff", *words, cwd=installed.plugins / name)


def test_every_plugin_is_ready_and_right(installed: Environment, tmp_path: Path) -> None:
    listed = json.loads(installed.plausibly("plugins", "list", "--json", cwd=tmp_path).out)
    ready = {c["name"]: c["state"] for c in listed["components"] if c["plugin"] in EVERY}
    assert ready == dict.fromkeys(EVERY, "ready")
    checked = installed.plausibly("plugins", "check", cwd=tmp_path).out
    for name in EVERY:
        assert f"ok      {name} 0.1.0" in checked
    assert "FAILED" not in checked


@pytest.mark.slow
def test_the_rules_of_the_kit_hold_from_the_command_line(
    installed: Environment, tmp_path: Path
) -> None:
    ran = installed.plausibly("plugins", "check", *EVERY, "--rules", cwd=tmp_path)
    assert "FAILED" not in ran.out
    assert ran.out.count("rules hold") >= len(NAMES)


def test_one_calibration_uses_four_of_them(installed: Environment, tmp_path: Path) -> None:
    write_files(tmp_path)
    installed.plausibly(
        *("calibrate", "-a", "votes.csv", "-p", "probabilities.csv", "-o", "predictor.nc"),
        *("--aggregator", NAMES["aggregator"], "--score", NAMES["score"]),
        *("--calibrator", NAMES["calibrator"], "--combiner", NAMES["combiner"]),
        cwd=tmp_path,
    )
    predicted = installed.plausibly(
        *(
            "predict",
            "predictor.nc",
            "-p",
            "new_probabilities.csv",
            "--alpha",
            "0.2",
            "-o",
            "sets.csv",
        ),
        cwd=tmp_path,
    )
    assert predicted.err == ""
    evaluated = installed.plausibly(
        "evaluate", "sets.csv", "-a", "new_votes.csv", "--json", cwd=tmp_path
    )
    (result,) = json.loads(evaluated.out)["results"]
    # Bonferroni's rule guarantees .80 and gives more; the seed is fixed.
    assert result["aggregated_coverage"]["mean"] >= 0.8
