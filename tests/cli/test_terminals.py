"""Commands in a real pseudo-terminal: colours, widths, and terminals that lack characters."""

from __future__ import annotations

import io
import os
import re
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from cli_world import EVALUATE, World, make, run, typed
from plausibly.cli import layout

if sys.platform == "win32":
    pytest.skip("no pseudo-terminals here", allow_module_level=True)

import fcntl
import pty
import termios

ESCAPE = "\x1b["
_CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    made = make(tmp_path_factory.mktemp("terminals"))
    here = Path.cwd()
    os.chdir(made.folder)
    try:
        files = ("-a", "votes.csv", "-p", "probabilities.csv")
        assert run("calibrate", *files, "-o", "predictor.nc").code == 0
    finally:
        os.chdir(here)
    return made


def told(environment: dict[str, str]) -> dict[str, str]:
    ours = {"NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "PYTHONIOENCODING"}
    kept = {name: value for name, value in os.environ.items() if name not in ours}
    return {**kept, "TERM": "xterm-256color", **environment}


def in_terminal(
    world: World, *words: str, columns: int = 80, environment: dict[str, str] | None = None
) -> tuple[int, str]:
    """Return the exit code of a command, and what it sent to a terminal of so many columns.

    What a slow machine says of progress would stand there too: messages alone come with --quiet.
    """
    main, other = pty.openpty()
    fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-m", "plausibly", *words],
        stdin=other,
        stdout=other,
        stderr=other if "--quiet" in words else subprocess.DEVNULL,
        cwd=world.folder,
        env=told(environment or {}),
    )
    os.close(other)
    found = bytearray()
    while True:
        try:
            part = os.read(main, 65_536)
        except OSError:  # how Linux says that the other side is closed
            break
        if not part:
            break
        found += part
    os.close(main)
    return process.wait(timeout=60), found.decode("utf-8", "replace").replace("\r\n", "\n")


def piped(world: World, *words: str, **environment: str) -> str:
    ran = subprocess.run(
        [sys.executable, "-m", "plausibly", *words],
        capture_output=True,
        cwd=world.folder,
        env=told(environment),
        check=False,
    )
    return (ran.stdout + ran.stderr).decode("utf-8")


PREDICT = ("predict", "predictor.nc", "-p", "new.csv", "-o", "sets.csv")
INFO = ("plugins", "list", "--kind", "combiner")
NEW = ("plugins", "new", "thesis-pl", "--kind", "aggregator", "--dry-run")
WRONG = ("plugins", "list", "--kind", "combinr", "--quiet")


def test_a_terminal_has_colours_and_the_same_words(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, shown = in_terminal(world, *PREDICT)
    assert code == 0
    monkeypatch.chdir(world.folder)
    plain = run(*PREDICT).out
    assert ESCAPE not in plain
    assert _CODES.sub("", shown) == plain
    assert shown.startswith(f"{ESCAPE}1mpredictions")
    assert f"\n{ESCAPE}1msets{ESCAPE}0m " in shown
    assert f"{ESCAPE}1mnext{ESCAPE}0m" in shown
    assert f"{ESCAPE}36mplausibly evaluate sets.csv -a VOTES{ESCAPE}0m" in shown


@pytest.mark.parametrize("why", ["TERM=dumb", "NO_COLOR=1 FORCE_COLOR=1"])
def test_terminals_without_colours(world: World, why: str) -> None:
    environment = dict(part.split("=") for part in why.split())
    _, shown = in_terminal(world, *INFO, environment=environment)
    assert ESCAPE not in shown
    assert "average" in shown


def test_colours_may_be_forced_into_a_pipe(world: World) -> None:
    assert f"{ESCAPE}1;31merror kind-unknown{ESCAPE}0m" in piped(world, *WRONG, FORCE_COLOR="1")
    assert ESCAPE not in piped(world, *INFO, FORCE_COLOR="0")


def test_a_document_is_never_coloured(world: World) -> None:
    _, shown = in_terminal(world, *INFO, "--json")
    assert ESCAPE not in shown


@pytest.mark.parametrize(("columns", "words"), [(40, INFO), (40, WRONG), (200, NEW)])
def test_lines_are_as_long_as_the_terminal_is_wide(
    world: World, columns: int, words: tuple[str, ...]
) -> None:
    lines = _CODES.sub("", in_terminal(world, *words, columns=columns)[1]).split("\n")
    longest = max(len(line.rstrip()) for line in lines)
    if columns == 200:
        assert 80 < longest <= 120
    else:
        assert 25 < longest <= 40


def test_the_lines_of_an_evaluation_fit_a_narrow_terminal(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(world.folder)
    assert run(*PREDICT).code == 0
    text = typed(EVALUATE).out
    narrow = layout.narrowed(text, 40)
    assert max(map(len, narrow.split("\n"))) <= 40 < max(map(len, text.split("\n")))
    assert narrow.split() == text.split()


def test_a_terminal_that_has_ascii_alone(world: World) -> None:
    words = ("plugins", "new", "é…", "--kind", "score", "--quiet")
    ascii_alone = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "1"}
    for text in (
        in_terminal(world, *words, environment=ascii_alone)[1],
        piped(world, *words, **ascii_alone),
    ):
        assert "Traceback" not in text
        assert text.isascii()
        assert 'a plugin cannot be called "?..."' in _CODES.sub("", text)


def test_heads_of_tables_are_told_from_their_rows() -> None:
    lines = [
        "alpha 0.1            examples  coverage  95% interval      set size",
        "all answers                20     0.933  0.869 to 0.997        2.10",
        "  0.5 to 0.8               12     0.889  0.785 to 0.993        2.33",
        "split 0                     1     2     3",
        "north                     20%   50%   30%",
        "south                     80%   20%    0%",
        "verdict      Consistent with the guarantee: 0.90 on average, measured 0.933.",
        "saved  sets.csv",
    ]
    stream = io.StringIO()
    layout.print_styled("\n".join(lines), stream)
    head, *rest = stream.getvalue().splitlines()
    assert head == f"{ESCAPE}1m{lines[0]}{ESCAPE}0m"
    assert rest[0] == lines[1].replace("all answers", f"{ESCAPE}1mall answers{ESCAPE}0m")
    assert rest[1] == lines[2]
    assert rest[2] == f"{ESCAPE}1m{lines[3]}{ESCAPE}0m"
    assert rest[3] == lines[4].replace("north", f"{ESCAPE}1mnorth{ESCAPE}0m")
    assert rest[-1] == f"{ESCAPE}1msaved{ESCAPE}0m  sets.csv"


def test_marks_have_colours() -> None:
    stream = io.StringIO()
    layout.print_styled("voted 0.844 ✗ nothing\nwarning guarantee-vacuous: x, vacuous", stream)
    assert stream.getvalue() == (
        f"voted 0.844 {ESCAPE}31m✗{ESCAPE}0m nothing\n"
        f"{ESCAPE}1;33mwarning guarantee-vacuous{ESCAPE}0m: x, {ESCAPE}33mvacuous{ESCAPE}0m\n"
    )


def test_letters_that_others_stand_for() -> None:
    text = "a … ± ✗ é".encode("ascii", "plausibly") if registered() else b""
    assert text == b"a ... +- x ?"


def registered() -> bool:
    layout.tolerate()
    return True


def test_long_lines_go_on_under_their_text() -> None:
    line = "written  results.nc and some more words that follow"
    assert layout.narrowed(line, 31) == (
        "written  results.nc and some\n         more words that follow"
    )
    assert layout.narrowed("  of several words", 12) == "  of several\n  words"
    assert layout.narrowed("short\n\nlines", 12) == "short\n\nlines"
    word = "x" * 50
    assert layout.narrowed(word, 12) == word
