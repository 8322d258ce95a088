"""Commands in a real pseudo-terminal: colours, widths, and terminals that lack characters."""

from __future__ import annotations

import os
import re
import struct
import subprocess
import sys
from collections.abc import Mapping

import pytest

from cli_world import PREDICT, World, done

if sys.platform == "win32":
    pytest.skip("no pseudo-terminals here", allow_module_level=True)

import fcntl
import pty
import termios

ESCAPE = "\x1b["
BOLD, END = f"{ESCAPE}1m", f"{ESCAPE}0m"
_CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
INFO = ("plugins", "list", "--kind", "combiner")
NEW = ("plugins", "new", "thesis-pl", "--kind", "aggregator", "--dry-run")
WRONG = ("plugins", "list", "--kind", "combinr", "--quiet")


def in_terminal(
    *words: str, columns: int = 80, environment: Mapping[str, str] | None = None
) -> tuple[int, str]:
    """Return the exit code of a command, and what it sent to a terminal of so many columns.

    What a slow machine says of progress would stand there too: messages alone come with --quiet.
    """
    main, another = pty.openpty()
    fcntl.ioctl(another, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-m", "plausibly", *words],
        stdin=another,
        stdout=another,
        stderr=another if "--quiet" in words else subprocess.DEVNULL,
        env=variables(dict(environment or {})),
    )
    os.close(another)
    result = bytearray()
    while True:
        try:
            part = os.read(main, 65_536)
        except OSError:  # how Linux says that the other side is closed
            break
        if not part:
            break
        result += part
    os.close(main)
    return process.wait(timeout=60), result.decode("utf-8", "replace").replace("\r\n", "\n")


def piped(*words: str, **environment: str) -> str:
    ran = subprocess.run(
        [sys.executable, "-m", "plausibly", *words],
        capture_output=True,
        env=variables(environment),
        check=False,
    )
    return (ran.stdout + ran.stderr).decode("utf-8")


def variables(environment: dict[str, str]) -> dict[str, str]:
    ours = {"NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "PYTHONIOENCODING"}
    kept = {name: value for name, value in os.environ.items() if name not in ours}
    return {**kept, "TERM": "xterm-256color", **environment}


def test_a_terminal_has_colours_and_the_same_words(sets: World) -> None:
    code, shown = in_terminal(*PREDICT.split())
    assert code == 0
    plain = done(PREDICT).out
    assert ESCAPE not in plain
    assert _CODES.sub("", shown) == plain
    assert shown.startswith(f"{BOLD}predictions")
    assert f"\n{BOLD}sets{END} " in shown
    assert f"{BOLD}next{END}" in shown
    assert f"{ESCAPE}36mplausibly evaluate sets.csv -a VOTES{END}" in shown


def test_colours_are_left_out_and_forced_by_the_environment() -> None:
    for environment in ({"TERM": "dumb"}, {"NO_COLOR": "1", "FORCE_COLOR": "1"}):
        shown = in_terminal(*INFO, environment=environment)[1]
        assert ESCAPE not in shown
        assert "average" in shown
    assert ESCAPE not in in_terminal(*INFO, "--json")[1]
    assert ESCAPE not in piped(*INFO, FORCE_COLOR="0")
    assert f"{ESCAPE}1;31merror usage{END}" in piped(*WRONG, FORCE_COLOR="1")


@pytest.mark.parametrize(("columns", "words"), [(40, INFO), (200, NEW)])
def test_lines_are_as_long_as_the_terminal_is_wide(columns: int, words: tuple[str, ...]) -> None:
    lines = _CODES.sub("", in_terminal(*words, columns=columns)[1]).split("\n")
    longest = max(len(line.rstrip()) for line in lines)
    assert (80, 25)[columns == 40] < longest <= (120, 40)[columns == 40]


def test_a_terminal_that_has_ascii_alone() -> None:
    words = ("plugins", "new", "é…", "--kind", "score", "--quiet")
    ascii_alone = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "1"}
    for text in (in_terminal(*words, environment=ascii_alone)[1], piped(*words, **ascii_alone)):
        assert "Traceback" not in text
        assert text.isascii()
        assert 'a plugin cannot be called "??"' in _CODES.sub("", text)
