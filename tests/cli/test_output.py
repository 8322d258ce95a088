"""Exit codes, streams, documents, progress; components that print or exit, and odd paths."""

from __future__ import annotations

import ast
import io
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar, Literal

import attrs
import numpy as np
import pytest
import xarray as xr

import plausibly
from cli_world import (
    CALIBRATE,
    EVALUATE,
    PREDICT,
    Ran,
    Terminal,
    World,
    asked,
    done,
    run,
    typed,
)
from plausibly import progress, registry
from plausibly.cli import layout, output
from plausibly.cli.app import SUMMARIES
from plausibly.cli.output import Output
from plausibly.errors import visible
from plausibly.kernels.types import Floats
from plausibly.plugin import READER, SCORE, Reader, ScoreFunction
from plausibly.study import reading


@pytest.mark.parametrize(
    ("raised", "code", "said"),
    [
        (ZeroDivisionError("by  0"), 1, "error unexpected: ZeroDivisionError: by 0"),
        (KeyboardInterrupt(), 130, "error interrupted: plausibly calibrate was stopped"),
    ],
)
def test_unforeseen_errors_and_interruptions(
    world: World, monkeypatch: pytest.MonkeyPatch, raised: BaseException, code: int, said: str
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise raised

    monkeypatch.setattr(reading, "read_predictions", broken)
    ran = typed(CALIBRATE)
    assert (ran.code, ran.out) == (code, "")
    assert ran.err.startswith(f"{said}\n")
    error = typed(CALIBRATE, "--json").document["error"]
    assert (f"error {error['name']}: {error['what']}", error["exit"]) == (said, code)
    debug = typed(CALIBRATE, "--debug")
    assert debug.code == code
    assert debug.err.startswith("Traceback (most recent call last):")
    assert debug.err.endswith(ran.err)


# ---- warnings, json and quiet


def test_warnings_are_in_the_document_and_on_stderr_once(world: World) -> None:
    ran = typed(CALIBRATE, "--alpha", "0.01", "--json")
    assert ran.err.startswith("warning guarantee-vacuous")
    (warning,) = ran.document["warnings"]
    assert (warning["name"], warning["found"]) == ("guarantee-vacuous", "30")
    assert ran.document["guarantees"][0]["threshold"] == "-inf"
    # Reading, thresholds and guarantees all look at alpha.
    assert typed(CALIBRATE, "--alpha", "0.6").err.count("warning alpha-large") == 1
    assert typed(CALIBRATE, "--alpha", "0.01", "--quiet") == Ran(0, "", "")
    ran = typed(CALIBRATE, "--alpha", "0.01", "--quiet", "--json")
    assert (ran.err, ran.document["warnings"]) == ("", [warning])


@pytest.mark.parametrize("command", [CALIBRATE, PREDICT, EVALUATE, "plugins list"])
def test_quiet_is_silent(sets: World, command: str) -> None:
    written = sets.path(command.split()[-1])
    if command in (CALIBRATE, PREDICT):
        written.unlink()
    assert typed(command, "--quiet") == Ran(0, "", "")
    assert written.exists() == (command != "plugins list")


def test_sizes_of_many_labels_are_ranges(world: World) -> None:
    labels = [f"k{number:02d}" for number in range(60)]
    world.write("labels.txt", "\n".join(labels) + "\n")
    rows, votes = [f"example,{','.join(labels)}"], ["task,worker,label"]
    for number in range(20):
        flat = ["0.01"] * 60
        flat[number] = "0.41"
        rows.append(f"e{number},{','.join(flat)}")
        votes.append(f"e{number},w,k{number + 20 if number % 2 else number:02d}")
    world.write("many.csv", "\n".join(rows) + "\n")
    world.write("votes.csv", "\n".join(votes) + "\n")
    typed("calibrate -a votes.csv -p many.csv --labels labels.txt -o predictor.nc")
    text = done("predict predictor.nc -p many.csv -o sets.csv --alpha 0.3").text
    assert "alpha 0.3: 100% with 51 to 60 labels, none empty; 60.00 labels per set" in text
    assert "note 20 of 20 examples calibrated this predictor; they cannot test it" in text


def test_without_a_command_help_is_printed() -> None:
    assert run() == run("--help")
    group = run("plugins")
    assert (group.code, group.out.strip()) == (0, run("plugins", "--help").out.strip())


# ---- documents and streams


def test_documents_hold_what_json_can(capsys: pytest.CaptureFixture[str]) -> None:
    output = Output("study", json=True)
    infinite = float("inf")
    output.document |= {
        "numbers": [np.float64("nan"), infinite, -infinite, np.int64(1), 0.5],
        "path": Path("a") / "b",
        "table": {1: ("x", None, True)},
    }
    assert output.run(lambda: None) == 0
    assert capsys.readouterr().out == (
        '{\n  "command": "study",\n  "numbers": [\n    null,\n    "inf",\n    "-inf",\n    1,\n'
        '    0.5\n  ],\n  "path": "a/b",\n  "table": {\n    "1": [\n      "x",\n      null,\n'
        '      true\n    ]\n  },\n  "warnings": []\n}\n'
    )


def test_warnings_of_others_go_where_they_always_go() -> None:
    def body() -> None:
        warnings.warn("not ours", RuntimeWarning, stacklevel=1)

    with pytest.warns(RuntimeWarning, match="not ours"):
        assert Output("study").run(body) == 0


HEAVY = {"numpy", "xarray", "rich", "attrs", "attr", "pluggy", "cattrs", "scipy", "pandas"}
SETTINGS = {"attrs", "attr", "cattrs", "pluggy"}
COMMANDS = {f"plausibly.cli.{name}" for name in SUMMARIES}


def python(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Python in another process, with its streams piped."""
    env = {**os.environ, "PYTHONIOENCODING": "utf-8", **environment}
    return subprocess.run(
        [sys.executable, *words], env=env, capture_output=True, encoding="utf-8", timeout=120
    )


IMPORTED = f"""
import sys
sys.argv[0] = "plausibly"
from plausibly.cli.app import main
try: main()
finally: print([name for name in {HEAVY | COMMANDS!r} if name in sys.modules], file=sys.stderr)
"""


@pytest.mark.parametrize(
    ("words", "allowed"),
    [
        ("--version", set()),
        ("--help", set()),
        ("demo --help", {"plausibly.cli.demo"}),
        ("calibrate --help", {*SETTINGS, "plausibly.cli.calibrate"}),
        ("plugins list", HEAVY - {"numpy", "xarray"} | {"plausibly.cli.plugins"}),
        ("calibrate --score prob", HEAVY - {"numpy", "xarray"} | {"plausibly.cli.calibrate"}),
    ],
)
def test_help_lists_and_completion_import_nothing_heavy(words: str, allowed: set[str]) -> None:
    # Of the last one a shell asks what may follow.
    environment = asked(f"plausibly {words}") if words.endswith("prob") else {}
    ran = python("-c", IMPORTED, *words.split(), **environment)
    assert (ran.returncode, bool(ran.stdout)) == (0, True)
    assert set(ast.literal_eval(ran.stderr)) <= allowed


def test_python_m_plausibly_is_the_command(world: World) -> None:
    ran = python("-m", "plausibly", *CALIBRATE.split())
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == typed(CALIBRATE).out
    assert "\x1b" not in ran.stdout
    script = Path(sys.executable).with_name("plausibly")
    words = [str(script), "calibrate", "-a", "x.csv"]
    ran = subprocess.run(words, capture_output=True, encoding="utf-8", timeout=60)
    assert ran.returncode == 2
    assert ran.stderr.startswith("error usage: plausibly calibrate: missing option")


def shell(line: str, before: str = "") -> subprocess.CompletedProcess[str]:
    """Run a command in a shell, as it is typed."""
    command = f'{before}"{sys.executable}" -m plausibly {line}'
    return subprocess.run(command, shell=True, capture_output=True, encoding="utf-8", timeout=60)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
@pytest.mark.parametrize("words", ["info", "info --json", "--help"])
def test_a_full_disk_is_an_error_like_others(words: str) -> None:
    ran = shell(f"{words} >/dev/full", "env -u PYTHONUNBUFFERED ")
    assert (ran.returncode, ran.stderr.split(":")[0]) == (2, "error file-unreadable")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")
@pytest.mark.parametrize(
    ("before", "words", "out"),
    [
        ("", "aggregate -a votes.csv -o lam.csv >&-", ""),
        # Nobody reads what comes.
        ("{ ", "aggregate -a votes.csv -o lam.csv --json || echo failed >&2; } | true", ""),
        # There are no docstrings either.
        ("PYTHONOPTIMIZE=2 ", "config schema 2>&-", "{"),
    ],
)
def test_closed_streams_stop_nothing(world: World, before: str, words: str, out: str) -> None:
    ran = shell(words, before)
    assert (ran.returncode, ran.stdout[:1], ran.stderr) == (0, out, "")
    assert world.path("lam.csv").exists() == (not out)


def test_a_path_is_named_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / ("many" * 20)

    def body() -> None:
        path.read_text()

    assert Output("study").run(body) == 2
    assert str(path) in capsys.readouterr().err


# ---- terminals


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
    assert lines == [f"plausibly evaluate {long} -a \\", f"  {long} --json"]


STEERS = "\x1b[31mred\u202e\u200b\t"
SHOWN = "\\x1b[31mred\\u202e\\u200b\\t"
FILES = ("-a", "votes.csv", "-p", "probabilities.csv")


@pytest.fixture(autouse=True)
def fresh_registry() -> Iterator[None]:
    registry.default.cache_clear()
    yield
    registry.default.cache_clear()


@attrs.frozen(kw_only=True)
class Loud(ScoreFunction):
    """A score that prints, and may exit."""

    exits: bool = False
    randomised: ClassVar[bool] = False
    reads: ClassVar[Literal["probability", "log-probability"]] = "probability"

    def score(self, probabilities: Floats, uniform: Floats | None) -> Floats:
        print("a word of mine")  # noqa: T201  # what the test is about
        if self.exits:
            raise SystemExit(3)
        return probabilities


class Exits(Reader):
    """A reader that exits after a while."""

    def recognises(self, path: Path, head: bytes) -> bool:
        time.sleep(0.3)
        raise SystemExit(3)

    def read(self, path: Path, labels: Sequence[str] | None) -> xr.Dataset:
        raise NotImplementedError


# ---- what components print, and how they end


def test_what_a_component_prints_is_no_result_and_its_exit_a_failure(world: World) -> None:
    plausibly.register(SCORE, "loud", Loud)
    ran = run("calibrate", *FILES, "--score", "loud", "-o", "p.nc", "--json")
    assert ran.code == 0
    assert ran.document["command"] == "calibrate"
    assert "a word of mine" in ran.err
    assert "a word of mine" not in run("calibrate", *FILES, "--score", "loud", "-o", "q.nc").out
    ran = run("calibrate", *FILES, "--score", '{ name = "loud", exits = true }', "-o", "x.nc")
    assert ran.code in (1, 2)
    assert "SystemExit" in ran.err
    assert not world.path("x.nc").exists()


@pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")
def test_a_slow_reader_is_named_on_a_terminal(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    plausibly.register(READER, "slow", Exits)
    monkeypatch.setattr(progress, "PATIENCE", 0.1)
    for stream, named in ((Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr(sys, "stderr", stream)
        plausibly.read_annotations("votes.csv")
        assert ("looks at votes.csv" in stream.getvalue()) == named


# ---- names that steer a terminal


def test_names_are_visible_and_documents_exact(world: World) -> None:
    world.edit("votes.csv", "cat", f'"cat{STEERS}"')
    table = typed("agreement -a votes.csv")
    assert SHOWN in table.out
    document = typed("agreement -a votes.csv --json")
    assert repr(STEERS)[1:-1] in str(document.document)
    error = typed("agreement -a", f"{STEERS}.csv")
    assert f'"{SHOWN}.csv"' in error.err
    for text in (table.out, error.err):
        assert not {"\x1b", "\u202e", "\u200b", "\t"} & set(text)
    assert STEERS in typed("agreement -a", f"{STEERS}.csv", "--json").document["error"]["what"]
    for text in ("two\nlines", "naïve 猫", "👩\u200d🔬", "\u0645\u06cc\u200c\u062e"):
        assert visible(text) == text


# ---- paths


OUT = ("aggregate -a votes.csv -o", "predict predictor.nc -p new.csv -o")
IN = ("agreement -a", "calibrate -a votes.csv -p")


@pytest.mark.parametrize(
    ("commands", "path", "name"),
    [
        *((OUT, path, "output-unwritable") for path in (".", "", "..", "x" * 300 + ".csv")),
        *((IN, path, "file-unreadable") for path in ("x" * 5000, "/dev/zero")),
    ],
)
def test_paths_that_are_no_file(
    sets: World, commands: tuple[str, ...], path: str, name: str
) -> None:
    if path == "/dev/zero" and not Path(path).exists():
        pytest.skip("no such device")
    for command in commands:
        ran = typed(command, path, "--json")
        assert (ran.code, ran.document["error"]["name"]) == (2, name)
