"""Commands are there, are documented, and what messages tell people to type exists."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

import command_line
import plausibly.cli
from cli_world import run, typed
from plausibly.cli.app import SUMMARIES, made
from plausibly.config import hints

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
    commands = {name for name, module in said.items() if {name, "COMMANDS"} & vars(module).keys()}
    assert commands - {"app"} == set(SUMMARIES)


@pytest.fixture(scope="module")
def commands() -> list[command_line.Command]:
    found = command_line.commands()
    if not any(one.about for each in found for one in each.arguments):
        pytest.skip("this version of Typer says nothing of arguments")
    return found


def test_every_command_is_there_once(commands: list[command_line.Command]) -> None:
    names = [one.name for one in commands]
    assert len(set(names)) == len(names)
    for group in ("plausibly", "plausibly config", "plausibly plugins"):
        shown = run(*group.split()[1:], "--help").out.partition("Commands:\n")[2]
        inside = re.findall(r"^  ([a-z]+)  ", shown, re.M)
        assert inside
        assert {f"{group} {name}" for name in inside} <= set(names)


@pytest.mark.parametrize("name", ["demo", "calibrate", "evaluate", "plugins new"])
def test_every_option_of_the_help_is_there(commands: list[command_line.Command], name: str) -> None:
    (one,) = (each for each in commands if each.name == f"plausibly {name}")
    help_text = run(*name.split(), "--help").out
    shown = set(re.findall(r"^ +(?:-\w, )?(--[a-z-]+)", help_text, re.M))
    written = {flag for row in one.options for flag in re.findall(r"--[a-z-]+", row.written)}
    assert shown == written
    for row in one.options:
        assert row.about


def options(command: str) -> set[str]:
    """Return the long options of a command, as its help shows them."""
    return set(re.findall(r"--[a-z][a-z-]*", typed(command, "--help").out))


def every_command(group: str = "") -> Iterator[str]:
    """Yield the empty name, and the name of every command and group, as their helps list them."""
    yield group
    listed = run(*group.split(), "--help").out.partition("\nCommands:\n")[2]
    for name in re.findall(r"^  ([a-z]+) ", listed, re.M):
        yield from every_command(f"{group} {name}".strip())


def folders() -> Iterator[Path]:
    for package in ("plausibly", "plausibly_builtins"):
        spec = find_spec(package)
        assert spec is not None
        assert spec.submodule_search_locations
        yield Path(spec.submodule_search_locations[0])


def told(path: Path) -> set[str]:
    """Return the flags in the texts of a module, docstrings and comments aside."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docs = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    texts = (
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs
    )
    return {flag for text in texts for flag in re.findall(r"(?<![\w-])--[a-z][a-z-]*", text)}


def modules() -> list[Path]:
    return sorted(path for folder in folders() for path in folder.rglob("*.py"))


def test_flags_in_messages_exist() -> None:
    every = set(every_command())
    assert {"demo", "aggregate", "calibrate", "predict", "evaluate", "plugins list"} <= every
    of_pip = {"--upgrade"}
    # A hint with a flag that a command does not have is printed with --set.
    known = of_pip.union(*map(options, every), (f"--{flag}" for flag in hints.KEYS))
    found = {path.name: sorted(told(path) - known) for path in modules() if told(path) - known}
    assert found == {}
    # What is called from Python has hints with arguments, and flags of whole commands only.
    of_commands = {"cli", "config", "paper"}
    called = [path for path in modules() if of_commands.isdisjoint(path.parts)]
    assert set().union(*map(told, called)) <= {"--alpha", "--kind", "--upgrade"}


def test_every_option_is_documented() -> None:
    for command in every_command():
        text = run(command, "--help").out
        block = text.partition(":\n")[2].partition("\n  Examples:")[0]
        bare = re.findall(r"^  (-\S.*\S)\n(?!   )", block + "\n", re.M)
        assert [line for line in bare if "  " not in line] == []
