"""The files of a study: all are written, or none; none that was read is overwritten."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from cli_world import World, run
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.errors import InputError, PlausiblyWarning
from plausibly.evaluation import Study
from plausibly.study import StudyResult, run as files, run_study, write_study
from study_world import written


def result() -> StudyResult:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlausiblyWarning)
        return run_study("study.toml")


FULL = OSError(28, "No space left on device")


def full(*arguments: object, **options: object) -> None:
    """Write nothing: the disk is full."""
    raise FULL


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*"))


def test_nothing_is_half_written(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    found = result()
    before = names(world.folder)
    monkeypatch.setattr(ConformalPredictor, "save", full)
    with pytest.raises(InputError) as caught:
        write_study(found)
    assert caught.value.what == "cannot write out"
    assert (caught.value.found, caught.value.hint) == ('"no space left on device"', "-o elsewhere")
    assert names(world.folder) == before
    world.path("deep").mkdir()
    told = run("run", "study.toml", "-o", "deep/er/out")
    assert told.code == 2
    assert names(world.path("deep")) == []


def test_the_old_files_stay_where_new_ones_cannot_be_written(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = result()
    write_study(found)
    world.write("out/mine.txt", "kept")
    first = written(world.path("out"))
    for owner, function in (
        (Study, "save"),
        (files, "write_sets"),
        (files, "resolved_text"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(owner, function, full)
            with pytest.raises((InputError, OSError)):
                write_study(found)
        assert written(world.path("out")) == first
    monkeypatch.setattr(ConformalPredictor, "save", full)
    with pytest.raises(InputError) as caught:
        write_study(found)
    assert caught.value.hint == "-o elsewhere; all old files are as they were"


def test_a_move_that_fails_half_way_is_taken_back(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = result()
    write_study(found)
    for path in world.path("out").iterdir():
        path.write_bytes(path.read_bytes() + b" \n")
    world.path("out/sets.csv").unlink()
    first = written(world.path("out"))
    moved: list[Path] = []
    replace = Path.replace

    def stops(self: Path, target: Path) -> Path:
        if self.parent.name == "going" and target.parent.name == "out":
            raise FULL
        moved.append(target)
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", stops)
    with pytest.raises(InputError, match="no space left"):
        write_study(found)
    assert len(moved) > 3
    assert written(world.path("out")) == first


def test_nothing_of_others_is_replaced(world: World) -> None:
    world.path("out/results.nc").mkdir(parents=True)
    world.write("out/results.nc/mine.txt", "kept")
    told = run("run", "study.toml")
    assert told.code == 2
    assert "error output-occupied" in told.err
    assert names(world.path("out")) == ["mine.txt", "results.nc"]
    assert run("run", "study.toml", "-o", "done", "--no-report").code == 0
    world.edit("done/resolved.toml", "count = 6", "count = 6  # enough")
    told = run("run", "done/resolved.toml")
    assert told.code == 2
    assert "output-is-input: done/resolved.toml would overwrite the study file\n" in told.err
    world.path("probabilities.csv").rename(world.path("sets.csv"))
    world.edit("study.toml", "probabilities.csv", "sets.csv")
    told = run("run", "study.toml", "-o", ".")
    assert told.code == 2
    assert "output-is-input: sets.csv would overwrite what study.toml reads\n" in told.err
    assert not world.path("results.nc").exists()


def test_the_resolved_study_finds_its_files_from_wherever_it_lies(world: World) -> None:
    world.path("data").mkdir()
    for name in ("votes.csv", "probabilities.csv", "patients.csv"):
        world.path(name).rename(world.path(f"data/{name}"))
    world.path("linked").symlink_to(world.path("data"), target_is_directory=True)
    world.path("data/alias.csv").symlink_to(world.path("data/votes.csv"))
    for name in ("probabilities.csv", "patients.csv"):
        world.edit("study.toml", f'"{name}"', f'"linked/{name}"')
    world.edit("study.toml", '"votes.csv"', f'"{world.path("linked/alias.csv").as_posix()}"')
    world.path("a/b").mkdir(parents=True)
    world.path("far").symlink_to(world.path("a/b"), target_is_directory=True)
    assert run("run", "study.toml", "-o", "far/out", "--no-report").code == 0
    text = world.path("a/b/out/resolved.toml").read_text()
    assert 'path = "../../../data/alias.csv"' in text
    assert 'folder = "."' in text
    first = written(world.path("far/out"))
    assert run("run", "a/b/out/resolved.toml", "--no-report").code == 0
    assert written(world.path("far/out")) == first
