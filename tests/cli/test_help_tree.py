"""The page of all commands and the man page are what the commands say."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

import help_tree
from cli_world import run


@pytest.fixture(scope="module")
def commands() -> list[help_tree.Command]:
    found = help_tree.commands()
    if not any(one.about for each in found for one in each.arguments):
        pytest.skip("this version of Typer says nothing of arguments")
    return found


@pytest.mark.usefixtures("commands")
def test_the_page_and_the_man_page_are_current() -> None:
    assert help_tree.PAGE.read_text(encoding="utf-8") == help_tree.page()
    assert help_tree.MANUAL.read_text(encoding="utf-8") == help_tree.manual()


def test_every_command_is_there_once(commands: list[help_tree.Command]) -> None:
    names = [one.name for one in commands]
    assert len(set(names)) == len(names)
    for group in ("plausibly", "plausibly config", "plausibly plugins"):
        shown = run(*group.split()[1:], "--help").out.partition("Commands:\n")[2]
        inside = re.findall(r"^  ([a-z]+)  ", shown, re.M)
        assert inside
        assert {f"{group} {name}" for name in inside} <= set(names)


@pytest.mark.parametrize("name", ["demo", "calibrate", "evaluate", "plugins new"])
def test_every_option_of_the_help_is_there(commands: list[help_tree.Command], name: str) -> None:
    (one,) = (each for each in commands if each.name == f"plausibly {name}")
    help_text = run(*name.split(), "--help").out
    shown = set(re.findall(r"^ +(?:-\w, )?(--[a-z-]+)", help_text, re.M))
    written = {flag for row in one.options for flag in re.findall(r"--[a-z-]+", row.written)}
    assert shown == written
    for row in one.options:
        assert row.about


def test_what_options_take() -> None:
    page = help_tree.page()
    for row in (
        "| `-p, --predictions FILE` | What the model said: CSV, Parquet, npy, npz or netCDF. "
        "[required] |",
        r"| `--ties first\|random\|fractional\|any\|all` | What covers a vote that is tied. "
        "[default: first] |",
        "| `--seed N` | Of everything that is drawn. [default: 0] |",
    ):
        assert row in page


def test_the_man_page_can_be_read() -> None:
    groff = shutil.which("groff")
    if groff is None:
        pytest.skip("needs groff")
    done = subprocess.run(
        [groff, "-man", "-ww", "-Tascii", str(help_tree.MANUAL)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    plain = re.sub(r"\x1b\[\d*m|.\x08", "", done.stdout)
    assert "plausibly predict predictor.nc -p new.csv --alpha 0.1 -o sets.csv" in plain
    assert "--combiner '{name = \"ecdf\", delta = 0.01}'" in plain
