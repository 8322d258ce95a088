"""The command as a process: what it imports, pipes, colours and progress."""

from __future__ import annotations

import ast
import io
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cli_world import CALIBRATE, Terminal, World, typed
from plausibly.cli import layout, output

HEAVY = ("numpy", "xarray", "rich", "attrs", "attr", "pluggy", "cattrs", "scipy", "pandas")
SETTINGS = {"attrs", "attr", "cattrs", "pluggy"}


def python(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Python in another process, with its streams piped."""
    env = {**os.environ, "PYTHONIOENCODING": "utf-8", **environment}
    return subprocess.run(
        [sys.executable, *words], env=env, capture_output=True, encoding="utf-8", timeout=120
    )


IMPORTED = f"""
import sys
from plausibly.cli.app import main
code = main()
print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)
sys.exit(code)
"""


@pytest.mark.parametrize(
    ("words", "allowed"),
    [
        ("--version", set()),
        ("demo --help", set()),
        ("plugins list --help", set()),
        ("calibrate --help", SETTINGS),
        ("evaluate --help", SETTINGS),
        ("plugins list", set(HEAVY) - {"numpy", "xarray"}),
    ],
)
def test_help_and_lists_import_nothing_heavy(words: str, allowed: set[str]) -> None:
    ran = python("-c", IMPORTED, *words.split())
    assert ran.returncode == 0
    assert ran.stdout
    assert set(ast.literal_eval(ran.stderr)) <= allowed


def test_python_m_plausibly_is_the_command(world: World) -> None:
    ran = python("-m", "plausibly", *CALIBRATE.split())
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == typed(CALIBRATE).out
    assert "\x1b" not in ran.stdout
    ran = python("-m", "plausibly", "calibrate", "-a", "x.csv")
    assert ran.returncode == 2
    assert ran.stderr.startswith("error usage: plausibly calibrate: missing option")
    script = Path(sys.executable).with_name("plausibly")
    named = subprocess.run([script, "--version"], capture_output=True, encoding="utf-8", timeout=60)
    assert named.stdout == python("-m", "plausibly", "--version").stdout


def test_a_stream_that_lacks_a_character_gets_another(world: World) -> None:
    ran = python(
        *("-m", "plausibly", "calibrate", "-a", "no.csv", "-p", "zzzzzz", "-o", "x.nc"),
        PYTHONIOENCODING="ascii",
    )
    assert ran.returncode == 2
    assert "new_votes.csv, ... (6\n" in ran.stderr
    world.replace("votes.csv", "dog", "loup-garou é")
    words = "aggregate -a votes.csv -o lam.csv --json"
    ran = python("-m", "plausibly", *words.split(), PYTHONIOENCODING="ascii")
    assert '"loup-garou \\u00e9"' in ran.stdout
    assert '"loup-garou é"' in typed(words).out


def test_a_reader_that_closed_the_pipe_is_no_error(world: World) -> None:
    words = ["aggregate", "-a", "votes.csv", "-o", "lam.csv", "--json"]
    process = subprocess.Popen(
        [sys.executable, "-m", "plausibly", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    shown = process.stderr.read()
    process.stderr.close()
    assert (process.wait(timeout=60), shown) == (0, "")
    assert world.path("lam.csv").exists()


# ---- terminals


@pytest.mark.parametrize("case", ["terminal", "NO_COLOR", "pipe"])
def test_titles_are_bold_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    stream = io.StringIO() if case == "pipe" else Terminal()
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("NO_COLOR", "1" * (case == "NO_COLOR"))
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.setattr(sys, "stdout", stream)
    output.Output("predict").show("saved  sets.csv [bold]\nerror some-name: text")
    bold = "\x1b[1msaved\x1b[0m  sets.csv [bold]\n\x1b[1;31merror some-name\x1b[0m: text\n"
    plain = "saved  sets.csv [bold]\nerror some-name: text\n"
    assert stream.getvalue() == (bold if case == "terminal" else plain)


@pytest.mark.parametrize("case", ["slow", "quick", "quiet", "piped"])
def test_progress_is_shown_on_a_terminal_after_a_while(
    monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr(output, "PATIENCE", 60.0 if case == "quick" else 0.01)
    stream = io.StringIO() if case == "piped" else Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    with output.Output("predict", quiet=case == "quiet").working("reading votes.csv") as tick:
        tick(3, 7)
        for _ in range(200 if case == "slow" else 2):
            if "reading votes.csv" in stream.getvalue():
                break
            time.sleep(0.05)
        tick(5, 7)
    if case == "slow":
        assert "reading votes.csv" in stream.getvalue()
        assert "3/7" in stream.getvalue()
    else:
        assert stream.getvalue() == ""


def test_commands_can_be_pasted() -> None:
    lines = layout.command_line(["plausibly", "predict", "my predictor.nc", "-p", "a b.csv"])
    assert lines == ["plausibly predict 'my predictor.nc' -p 'a b.csv'"]
    long = "x" * 40 + ".csv"
    lines = layout.command_line(["plausibly", "evaluate", long, "-a", long, "--json"], indent=6)
    assert lines == [f"plausibly evaluate {long} \\", f"  -a {long} --json"]
