"""What others bring: components that print or exit, names that steer a terminal, odd paths."""

from __future__ import annotations

import io
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar, Literal

import attrs
import pytest
import xarray as xr

import plausibly
from cli_world import Terminal, World, run, typed
from plausibly import progress, registry
from plausibly.errors import InputError, PlausiblyWarning, visible
from plausibly.kernels.types import Floats
from plausibly.plugin import READER, SCORE, Reader, ScoreFunction

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


@attrs.frozen
class Slow(Reader):
    """A reader that takes its time to say no, or exits."""

    exits: bool = False

    def recognises(self, path: Path, head: bytes) -> bool:
        if self.exits:
            raise SystemExit(3)
        time.sleep(0.5)
        return False

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


def test_a_class_that_exits_when_it_is_made_is_named(world: World) -> None:
    @attrs.frozen
    class Exits(Loud):
        def __attrs_post_init__(self) -> None:
            raise SystemExit(3)

    plausibly.register(SCORE, "exits", Exits)
    ran = run("calibrate", *FILES, "--score", "exits", "-o", "p.nc")
    assert (ran.code, ran.err.splitlines()[0].split(":")[0]) == (2, "error component-parameter")
    assert 'score "exits"' in ran.err
    assert "SystemExit" in ran.err


def test_a_reader_that_exits_is_named_and_the_others_asked(world: World) -> None:
    plausibly.register(READER, "exits", lambda: Slow(exits=True))
    with pytest.warns(PlausiblyWarning, match="reader-failed") as heard:
        assert plausibly.read_annotations("votes.csv").sizes["example"] == 30
    (message,) = [one.message for one in heard]
    assert isinstance(message, PlausiblyWarning)
    assert (message.source, message.found) == ("Slow", "SystemExit: 3")


def test_a_slow_reader_is_named_on_a_terminal(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    plausibly.register(READER, "slow", Slow)
    monkeypatch.setattr(progress, "PATIENCE", 0.1)
    for stream, named in ((Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr(sys, "stderr", stream)
        plausibly.read_annotations("votes.csv")
        assert ("reader slow looks at votes.csv" in stream.getvalue()) == named


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


def test_messages_in_python_are_visible_and_what_is_no_control_stays() -> None:
    error = InputError("rows-do-not-sum", f"row {STEERS}", found=STEERS, hint=STEERS)
    assert str(error).count(SHOWN) == 3
    assert error.found == STEERS
    for text in ("two\nlines", "naïve 猫", "👩\u200d🔬", "\u0645\u06cc\u200c\u062e"):
        assert visible(text) == text


# ---- streams and paths


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")
def test_a_closed_output_stops_nothing(world: World) -> None:
    command = f'"{sys.executable}" -m plausibly aggregate -a votes.csv -o lam.csv >&-'
    ran = subprocess.run(command, shell=True, capture_output=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert world.path("lam.csv").read_text().startswith("example,")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")
def test_without_docstrings_and_without_a_place_for_errors() -> None:
    command = f'PYTHONOPTIMIZE=2 "{sys.executable}" -m plausibly config schema 2>&-'
    ran = subprocess.run(command, shell=True, capture_output=True, check=False)
    assert (ran.returncode, ran.stdout[:1]) == (0, b"{")


@pytest.mark.parametrize("out", [".", "", "..", "x" * 300 + ".csv"])
def test_outputs_that_are_no_file(sets: World, out: str) -> None:
    for command in ("aggregate -a votes.csv", "predict predictor.nc -p new.csv"):
        ran = typed(f"{command} --json", "-o", out)
        assert (ran.code, ran.document["error"]["name"]) == (2, "output-unwritable")


@pytest.mark.parametrize("path", ["x" * 5000, "/dev/zero"])
def test_inputs_that_are_no_file(world: World, path: str) -> None:
    if not (len(path) > 255 or Path(path).exists()):
        pytest.skip("no such device")
    for command in ("agreement --json -a", "calibrate --json -a votes.csv -p"):
        ran = typed(command, path)
        assert (ran.code, ran.document["error"]["name"]) == (2, "file-unreadable")
