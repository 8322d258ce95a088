"""plausibly run: on from where an interrupted run stopped."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from cli_world import World, run
from plausibly.cli import run as command
from plausibly.evaluation.design import Design, Outcome
from study_world import written


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "PATIENCE", 0.0)


@pytest.fixture
def stopping(monkeypatch: pytest.MonkeyPatch) -> Callable[[int | None], list[int]]:
    """Stops before a split as Ctrl-C does, and returns the splits that were computed."""
    compute = Design.run

    def stop_at(last: int | None) -> list[int]:
        numbers: list[int] = []

        def runs(self: Design, number: int) -> Outcome:
            if number == last:
                raise KeyboardInterrupt
            numbers.append(number)
            return compute(self, number)

        monkeypatch.setattr(Design, "run", runs)
        return numbers

    return stop_at


def test_an_interrupted_run_goes_on(
    world: World, stopping: Callable[[int | None], list[int]]
) -> None:
    stopping(4)
    told = run("run", "study.toml", "--no-report")
    assert told.code == 130
    assert told.err.startswith("error interrupted: ")
    assert "  found     4, which are kept in out/unfinished\n" in told.err
    assert sorted(path.name for path in world.path("out").iterdir()) == ["unfinished"]
    computed = stopping(None)
    told = run("run", "study.toml", "--no-report")
    assert told.code == 0
    assert computed == [4, 5]
    assert "kept         4 of 6 splits, from an interrupted run\n\nStudy: 6 splits " in told.out
    resumed = written(world.path("out"))
    computed = stopping(None)
    told = run("run", "study.toml", "-o", "whole", "--json", "--no-report")
    assert told.document["kept"] == 0
    assert computed == list(range(6))
    whole = written(world.path("whole"))
    assert list(resumed) == list(whole)
    for name, content in whole.items():
        assert name == "resolved.toml" or resumed[name] == content
    assert not world.path("out/unfinished").exists()


@pytest.mark.parametrize("fresh", [False, True])
def test_another_study_and_a_fresh_run_start_anew(
    world: World, stopping: Callable[[int | None], list[int]], fresh: bool
) -> None:
    stopping(3)
    assert run("run", "study.toml", "--no-report").code == 130
    if not fresh:
        world.edit("study.toml", "seed = 1", "seed = 2")
    computed = stopping(None)
    told = run("run", "study.toml", "--no-report", *["--fresh"] * fresh)
    assert (told.code, computed) == (0, list(range(6)))
    reason = "nothing: the interrupted run was of another study (seed 2, was 1)\n"
    assert (f"kept         {reason}" in told.out) is not fresh


def test_a_run_that_was_stopped_at_once_leaves_nothing(
    world: World, stopping: Callable[[int | None], list[int]]
) -> None:
    stopping(0)
    told = run("run", "study.toml")
    assert told.code == 130
    assert "hint      run it again; every file is whole, or as it was\n" in told.err
    assert not world.path("out").exists()


def test_a_folder_of_that_name_is_not_touched(world: World) -> None:
    world.path("out/unfinished").mkdir(parents=True)
    world.write("out/unfinished/mine.txt", "kept")
    told = run("run", "study.toml")
    assert told.code == 2
    assert "error checkpoint-unknown: out/unfinished is no folder of finished" in told.err
    assert told.err.endswith("  hint      -o elsewhere, or move out/unfinished away\n")
    assert world.path("out/unfinished/mine.txt").read_text() == "kept"
