"""Commands are there and documented, complete in shells, and messages name options that exist."""

from __future__ import annotations

import csv
import importlib
import os
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

import command_line
import plausibly
import plausibly.cli
import plausibly_builtins
from cli_world import World, asked, done, refused, run, typed
from plausibly.cli.app import SUMMARIES, app, made
from plausibly.cli.example import FILES
from plausibly.config import hints

OFFERED = Path(__file__).with_name("offered.txt")


def test_none_is_forgotten() -> None:
    names = {result.name for result in pkgutil.iter_modules(plausibly.cli.__path__)}
    modules = {name: vars(importlib.import_module(f"plausibly.cli.{name}")) for name in names}
    commands = {name for name, module in modules.items() if {name, "COMMANDS"} & module.keys()}
    assert commands - {"app"} == set(SUMMARIES)
    assert [made(name).name for name in SUMMARIES] == list(SUMMARIES)


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


def test_flags_in_messages_exist() -> None:
    every = set(every_command())
    assert {"demo", "aggregate", "calibrate", "predict", "evaluate", "plugins list"} <= every
    # A hint with a flag that a command does not have is printed with --set.
    pip = {"--upgrade", "--force-reinstall"}
    known = pip.union(*map(options, every), (f"--{flag}" for flag in hints.KEYS))
    folders = [Path(package.__path__[0]) for package in (plausibly, plausibly_builtins)]
    modules = {
        path: set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", path.read_text("utf-8")))
        for folder in folders
        for path in folder.rglob("*.py")
    }
    assert {path.name: flags - known for path, flags in modules.items() if flags - known} == {}
    # What is called from Python has hints with arguments, and flags of whole commands only; the
    # page of a report names the flag beside the argument. One docstring names --json.
    commands = {"cli", "config", "paper"}
    called = [flags for path, flags in modules.items() if commands.isdisjoint(path.parts)]
    assert set().union(*called) <= {
        *("--alpha", "--all", "--kind", "--json", *pip),
        *("--anonymous", "--examples"),
    }


def offered(words: str) -> list[str]:
    """Return what is offered for the last of the words, in this process."""
    result = CliRunner().invoke(app, [], env=asked(f"plausibly {words}"), prog_name="plausibly")
    assert (result.exit_code, result.stderr) == (0, "")
    return [line for line in result.stdout.splitlines() if line]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_its_answer(shell: str) -> None:
    words = "plausibly calibrate --calibrator mon"
    result = CliRunner().invoke(app, [], env=asked(words, shell), prog_name="plausibly")
    assert (result.exit_code, result.stderr) == (0, "")
    assert {"monte-carlo", "mondrian"} <= set(re.findall(r"[\w-]+", result.stdout))
    assert "expected" not in result.stdout
    assert shell == "bash" or "draw labels from the plausibilities" in result.stdout


def test_what_is_offered_is_as_recorded(world: World) -> None:
    """Commands, flags, components, and columns of a named table; ``|`` is where one types on."""
    world.write("t.tsv", '\ufeffexample\t"the site"\tward\n1\t2\t3\n')
    world.path("binary.csv").write_bytes(b"\xff\xfe\x00")
    result = []
    for words in re.findall(r"^\$ plausibly (.*)\|$", OFFERED.read_text("utf-8"), re.MULTILINE):
        result += [f"$ plausibly {words}|", *offered(words)]
    if os.environ.get("PLAUSIBLY_WRITE_NETS"):
        OFFERED.write_text("".join(f"{line}\n" for line in result), "utf-8")
    assert result == OFFERED.read_text("utf-8").splitlines()


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def rows(name: str) -> list[dict[str, str]]:
    with Path(name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_files_are_as_the_pages_describe_them() -> None:
    done("example")
    names = [{row["example"] for row in rows(f"{part}examples.csv")} for part in ("", "new_")]
    patients = [{row["patient"] for row in rows(f"{part}examples.csv")} for part in ("", "new_")]
    assert [len(known) for known in (*names, *patients)] == [300, 200, 171, 114]
    assert not names[0] & names[1]
    assert not patients[0] & patients[1]
    for part, known in zip(("", "new_"), names, strict=True):
        assert {row["example"] for row in rows(f"{part}votes.csv")} == known
        assert {row["example"] for row in rows(f"{part}probabilities.csv")} == known


def test_files_that_are_there_stay_and_nothing_else_is_written() -> None:
    Path("new_votes.csv").write_text("mine\n", encoding="utf-8")
    refused("example", "output-exists", "new_votes.csv")


@pytest.mark.realdata
def test_the_files_are_those_of_the_shared_folder(shared: Path) -> None:
    done("example")
    for name in FILES:
        assert Path(name).read_bytes() == (shared / "example" / name).read_bytes()
