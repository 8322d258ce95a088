"""The command as a process: what it imports, pipes, terminals, colours, progress."""

from __future__ import annotations

import ast
import io
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cli_world import Terminal, World, run
from plausibly.cli import layout, output

HEAVY = ("numpy", "xarray", "rich", "attrs", "attr", "pluggy", "cattrs", "scipy", "pandas")


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
    "words",
    [
        "--help",
        "--version",
        "demo --help",
        "plugins --help",
        "plugins list --help",
    ],
)
def test_help_imports_nothing_heavy(words: str) -> None:
    ran = python("-c", IMPORTED, *words.split())
    assert ran.returncode == 0
    assert ran.stderr == "[]\n"
    assert ran.stdout


@pytest.mark.parametrize("words", ["aggregate", "calibrate", "predict", "evaluate"])
def test_help_of_flags_imports_the_classes_of_settings_alone(words: str) -> None:
    ran = python("-c", IMPORTED, words, "--help")
    assert ran.returncode == 0
    assert set(ast.literal_eval(ran.stderr)) <= {"attrs", "attr", "cattrs", "pluggy"}


def test_listing_plugins_imports_neither_numpy_nor_xarray() -> None:
    ran = python("-c", IMPORTED, "plugins", "list")
    assert ran.returncode == 0
    assert "numpy" not in ran.stderr
    assert "xarray" not in ran.stderr


def test_python_m_plausibly_is_the_command(world: World) -> None:
    words = ["calibrate", "-a", "votes.csv", "-p", "probabilities.csv", "-o", "predictor.nc"]
    ran = python("-m", "plausibly", *words)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == run(*words).out
    assert "\x1b" not in ran.stdout
    ran = python("-m", "plausibly", "calibrate", "-a", "x.csv")
    assert ran.returncode == 2
    assert ran.stderr.startswith("error usage: plausibly calibrate: missing option")


def test_the_script_is_the_command() -> None:
    script = Path(sys.executable).with_name("plausibly")
    ran = subprocess.run([script, "--version"], capture_output=True, encoding="utf-8", timeout=60)
    assert ran.stdout == python("-m", "plausibly", "--version").stdout


def test_a_stream_that_lacks_a_character_gets_another(world: World) -> None:
    ran = python(
        *("-m", "plausibly", "calibrate", "-a", "no.csv", "-p", "zzzzzz", "-o", "x.nc"),
        PYTHONIOENCODING="ascii",
    )
    assert ran.returncode == 2
    assert "new_votes.csv, ... (6\n" in ran.stderr
    world.write("votes.csv", world.path("votes.csv").read_text().replace("dog", "loup-garou é"))
    words = "aggregate -a votes.csv -o lam.csv --json"
    ran = python("-m", "plausibly", *words.split(), PYTHONIOENCODING="ascii")
    assert '"loup-garou \\u00e9"' in ran.stdout
    assert '"loup-garou é"' in python("-m", "plausibly", *words.split()).stdout


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
    said = process.stderr.read()
    process.stderr.close()
    assert (process.wait(timeout=60), said) == (0, "")
    assert world.path("lam.csv").exists()


# ---- terminals


def shown(
    monkeypatch: pytest.MonkeyPatch, *, no_color: str = "", terminal: io.StringIO | None = None
) -> str:
    """Return what an output prints on a stream for a title line and a warning."""
    stream = Terminal() if terminal is None else terminal
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.setattr(sys, "stdout", stream)
    output.Output("predict").show("saved  sets.csv [bold]\nerror some-name: text")
    return stream.getvalue()


def test_titles_are_bold_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = "saved  sets.csv [bold]\nerror some-name: text\n"
    assert shown(monkeypatch) == (
        "\x1b[1msaved\x1b[0m  sets.csv [bold]\n\x1b[1;31merror some-name\x1b[0m: text\n"
    )
    assert shown(monkeypatch, no_color="1") == plain
    assert shown(monkeypatch, terminal=io.StringIO()) == plain


def test_progress_is_said_on_a_terminal_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr(output, "PATIENCE", 0.01)
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    with output.Output("predict").working("reading votes.csv") as tick:
        tick(3, 7)
        for _ in range(200):
            if "reading votes.csv" in stream.getvalue():
                break
            time.sleep(0.05)
        tick(5, 7)
    assert "reading votes.csv" in stream.getvalue()
    assert "3/7" in stream.getvalue()


@pytest.mark.parametrize("case", ["quick", "quiet", "piped"])
def test_progress_is_silent(monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    monkeypatch.setattr(output, "PATIENCE", 60.0 if case == "quick" else 0.0)
    stream = io.StringIO() if case == "piped" else Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    with output.Output("predict", quiet=case == "quiet").working("reading") as tick:
        tick(1, 2)
        time.sleep(0.05)
    assert stream.getvalue() == ""


# ---- layout


def test_commands_can_be_pasted() -> None:
    lines = layout.command_line(["plausibly", "predict", "my predictor.nc", "-p", "a b.csv"])
    assert lines == ["plausibly predict 'my predictor.nc' -p 'a b.csv'"]
    long = "x" * 40 + ".csv"
    lines = layout.command_line(["plausibly", "evaluate", long, "-a", long, "--json"], indent=6)
    assert lines == [f"plausibly evaluate {long} \\", f"  -a {long} --json"]
