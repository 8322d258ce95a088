"""Commands are imported when they are asked for, and are all there."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import subprocess
import sys

import pytest

import plausibly.cli
from cli_world import run
from plausibly.cli.commands import SUMMARIES, made

LISTED = """
import sys
from plausibly.cli import app
app.main()
print(sorted(name for name in sys.modules if name.startswith("plausibly.cli.")))
"""


def test_the_help_imports_no_command() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", LISTED, "--help"], capture_output=True, text=True, check=True
    )
    shown, imported = ran.stdout.rsplit("\n", 2)[:2]
    assert all(f"  {name} " in shown for name in SUMMARIES)
    assert all(summary in shown for summary in SUMMARIES.values())
    assert not {f"plausibly.cli.{name}" for name in SUMMARIES} & set(ast.literal_eval(imported))
    assert "numpy" not in imported


@pytest.mark.parametrize("name", list(SUMMARIES))
def test_each_is_found(name: str) -> None:
    assert made(name).name == name
    assert run(name, "--help").out.startswith(f"Usage: plausibly {name} ")


def test_none_is_forgotten() -> None:
    modules = {found.name for found in pkgutil.iter_modules(plausibly.cli.__path__)}
    said = {name: importlib.import_module(f"plausibly.cli.{name}") for name in modules}
    commands = {name for name, module in said.items() if hasattr(module, "EXAMPLES")}
    assert {name for name in commands if "_" not in name} <= set(SUMMARIES) <= modules
