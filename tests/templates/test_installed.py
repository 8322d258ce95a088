"""A new plugin of each kind, untouched: installed, tested, typed, linted and checked."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from template_world import FORMAT, NAMES, Environment, installed, run

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


def test_they_are_in_style(installed: Environment) -> None:
    """Each by the settings of its own."""
    for words in (("check", "--no-cache"), ("format", "--check", "--no-cache")):
        run(sys.executable, "-m", "ruff", *words, *EVERY, cwd=installed.plugins)


def test_every_plugin_is_ready_and_right(installed: Environment, tmp_path: Path) -> None:
    listed = json.loads(installed.plausibly("plugins", "list", "--json", cwd=tmp_path).out)
    ready = {c["name"]: c["state"] for c in listed["components"] if c["plugin"] in EVERY}
    assert ready == dict.fromkeys(EVERY, "ready")
    checked = installed.plausibly("plugins", "check", cwd=tmp_path).out
    for name in EVERY:
        assert f"ok      {name} 0.1.0" in checked
    assert "FAILED" not in checked
