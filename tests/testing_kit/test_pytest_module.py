"""The opt-in pytest module: one test per rule, strict expected failures."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kit_components import Shares
from plausibly.plugin import AGGREGATOR
from plausibly.testing.pytest import RuleTest, rules

from .test_mutants import AGGREGATORS

SUPPORT = Path(__file__).resolve().parents[1] / "support"

TEST = """
import pytest
from kit_components import Bars, Scaled, changed
from plausibly.plugin import READER, SCORE
from plausibly.testing.pytest import rules

@pytest.mark.parametrize("rule", rules(SCORE, expected_failures={"larger-fits-better": "ours"}))
def test_expected(rule):
    rule(changed(Scaled, score=lambda self, probabilities, uniform: -probabilities))

@pytest.mark.parametrize("rule", rules("score", expected_failures={"shape": "ours"}))
def test_unexpected(rule):
    rule(Scaled())

@pytest.mark.parametrize("rule", rules(READER))
def test_without_file(rule):
    rule(Bars())
"""


def test_in_a_project_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(TEST)
    (tmp_path / "pytest.ini").write_text(
        f"[pytest]\npythonpath = {SUPPORT}\naddopts = --strict-markers\nfilterwarnings = error\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-rfs", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    *lines, last = done.stdout.strip().splitlines()
    assert last.split(" in ")[0] == "1 failed, 27 passed, 8 skipped, 1 xfailed", done.stdout
    assert any("test_unexpected[shape]" in line for line in lines if line.startswith("FAILED"))
    assert "XPASS(strict)" in done.stdout
    assert "there is no file to try it on" in done.stdout


def test_a_rule_alone() -> None:
    (test,) = [p.values[0] for p in rules(AGGREGATOR) if p.id == "simplex"]
    assert isinstance(test, RuleTest)
    test(Shares())
    with pytest.raises(AssertionError, match="simplex: the result: 7 of 7 rows below 0"):
        test(AGGREGATORS["simplex"])
