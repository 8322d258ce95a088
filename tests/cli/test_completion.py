"""Completion, as shells ask for it: through environment variables; nothing goes into a home."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from cli_world import World
from plausibly.cli.app import app

SHELLS = ("bash", "zsh", "fish")


def asked(words: str, shell: str = "bash") -> dict[str, str]:
    """Return the environment in which a shell asks for what may follow."""
    return {
        "_PLAUSIBLY_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split(" ")) - 1),
        "_TYPER_COMPLETE_ARGS": words,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }


def offered(words: str) -> list[str]:
    """Return what is offered for the last of the words, in this process."""
    result = CliRunner().invoke(app, [], env=asked(f"plausibly {words}"), prog_name="plausibly")
    assert (result.exit_code, result.stderr) == (0, "")
    return [line for line in result.stdout.splitlines() if line]


@pytest.mark.parametrize("shell", SHELLS)
def test_each_shell_gets_its_answer(shell: str) -> None:
    words = "plausibly calibrate --calibrator mon"
    result = CliRunner().invoke(app, [], env=asked(words, shell), prog_name="plausibly")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "monte-carlo" in result.stdout
    assert "mondrian" in result.stdout
    assert "expected" not in result.stdout
    if shell != "bash":
        assert "draw labels from the plausibilities" in result.stdout


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("cal", ["calibrate"]),
        ("plugins ", ["list", "info", "check", "new"]),
        ("calibrate --combiner held", ["held-out-rank"]),
        ("calibrate --score prob", ["probability"]),
        ("calibrate --aggregator pl", ["plackett-luce"]),
        ("sensitivity --aggregator label-f", ["label-frequency"]),
        ("aggregate --reader long", ["long-table"]),
        ("aggregate --form s", ["sparse"]),
        ("plugins new --kind comb", ["combiner"]),
        ("plugins info monte", ["monte-carlo"]),
        ("plugins check soft", ["soft-label", "soft-label"]),
        ("--disable-plugin crowd-k", ["crowd-kit"]),
        ("reproduce maj", ["majority-vote-undercovers"]),
        ("demo --data t", ["toy"]),
        ("aggregate --dry", ["--dry-run"]),
    ],
)
def test_values(words: str, expected: list[str]) -> None:
    found = offered(words)
    assert set(expected) <= set(found)
    assert all(value.startswith(words.split(" ")[-1]) for value in found)


def test_columns_of_a_table_that_was_named(world: World) -> None:
    assert offered("evaluate -e patients.csv --cluster pa") == ["patient"]
    assert offered("evaluate sets.csv -e patients.csv --by s") == ["site"]
    assert offered("evaluate sets.csv --examples patients.csv --true-label d") == ["diagnosis"]
    world.write("t.tsv", '\ufeffexample\t"the site"\tward\n1\t2\t3\n')
    assert offered("agreement -e t.tsv --by ") == ["example", "the site", "ward"]


def test_nothing_is_offered_where_nothing_is_known(world: World) -> None:
    world.path("binary.csv").write_bytes(b"\xff\xfe\x00")
    for words in (
        "evaluate --cluster ",
        "evaluate -e nowhere.csv --cluster ",
        "evaluate -e binary.csv --cluster ",
        "evaluate -e patients.parquet --cluster ",
        'calibrate --score {name="',
    ):
        assert offered(words) == []


def test_no_heavy_library_is_imported() -> None:
    code = (
        "import sys\n"
        "sys.argv = ['plausibly']\n"
        "from plausibly.cli.start import main\n"
        "try: main()\n"
        "finally: print([m for m in ('numpy', 'xarray') if m in sys.modules], file=sys.stderr)"
    )
    found = os.environ | asked("plausibly calibrate --score prob")
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=found, check=True
    )
    assert done.stdout == "probability\n"
    assert done.stderr.splitlines()[-1] == "[]"
