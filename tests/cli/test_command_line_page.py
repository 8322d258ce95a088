"""The page of all commands is what the commands say."""

from __future__ import annotations

import re

import pytest

import command_line
from cli_world import run


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


def test_what_options_take() -> None:
    page = command_line.page()
    for row in (
        "| `-p, --predictions FILE` | What the model said: CSV, Parquet, npy, npz or netCDF. "
        "[required] |",
        r"| `--ties first\|random\|fractional\|any\|all` | What covers a vote that is tied. "
        "[default: first] |",
        "| `--seed N` | Of everything that is drawn. [default: 0] |",
    ):
        assert row in page
