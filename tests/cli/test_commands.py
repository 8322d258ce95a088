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
from plausibly.cli.app import GROUPS, PROJECT, SUMMARIES, made
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
    groups = {name: text for group in GROUPS.values() for name, text in group.items()}
    assert all(f"  {name} " in shown and text in shown for name, text in groups.items())
    assert f"Project         {', '.join(PROJECT)}\n" in shown
    assert not {f"plausibly.cli.{name}" for name in SUMMARIES} & set(ast.literal_eval(imported))
    assert "numpy" not in imported


def test_none_is_forgotten() -> None:
    modules = {found.name for found in pkgutil.iter_modules(plausibly.cli.__path__)}
    said = {name: importlib.import_module(f"plausibly.cli.{name}") for name in modules}
    commands = {name for name, module in said.items() if {name, "COMMANDS"} & vars(module).keys()}
    assert commands - {"app"} == set(SUMMARIES)
    for name in SUMMARIES:
        assert made(name).name == name
        assert run(name, "--help").out.startswith(f"Usage: plausibly {name} ")


@pytest.fixture(scope="module")
def sections() -> dict[str, str]:
    """Return the sections of the page of commands by their titles."""
    parts = re.split(r"^## (plausibly.*)$", command_line.page(), flags=re.M)
    assert len(set(parts[1::2])) == len(parts[1::2])
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_the_page_has_every_command_and_option(sections: dict[str, str]) -> None:
    for group in ("plausibly", "plausibly config", "plausibly plugins"):
        inside = listed(group.partition(" ")[2])
        assert inside
        assert {f"{group} {name}" for name in inside} <= sections.keys()
    for name, section in sections.items():
        rows = re.findall(r"^\| `([^`]+)` \| (.*) \|$", section, re.M)
        assert all(about for _, about in rows), name
    for name in ("demo", "calibrate", "plugins new"):
        left = re.findall(r"^  +(-.*?)(?:  |$)", run(*name.split(), "--help").out, re.M)
        shown = {flag for flags in left for flag in re.findall(r"--[a-z-]+", flags)}
        rows = re.findall(r"^\| `([^`]+)` \| .* \|$", sections[f"plausibly {name}"], re.M)
        assert {flag for row in rows for flag in re.findall(r"--[a-z-]+", row)} == shown


def listed(group: str) -> list[str]:
    """Return the commands that the help of a group names."""
    shown = run(*group.split(), "--help").out
    if group:
        return re.findall(r"^  ([a-z]+) ", shown.partition("\nCommands:\n")[2], re.M)
    return [name for name in SUMMARIES if re.search(rf"\b{name}\b", shown)]


def options(command: str) -> set[str]:
    """Return the long options of a command, as its help shows them."""
    return set(re.findall(r"--[a-z][a-z-]*", typed(command, "--help").out))


def every_command(cluster: str = "") -> Iterator[str]:
    """Yield the empty name, and the name of every command and group, as their helps list them."""
    yield cluster
    for name in listed(cluster):
        yield from every_command(f"{cluster} {name}".strip())


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
    # What is called from Python has hints with arguments, and flags of whole commands only; the
    # page of a report names the flag beside the argument.
    of_commands = {"cli", "config", "paper"}
    called = [path for path in modules() if of_commands.isdisjoint(path.parts)]
    assert set().union(*map(told, called)) <= {
        *("--alpha", "--all", "--kind", "--upgrade"),
        *("--anonymous", "--examples"),
    }
