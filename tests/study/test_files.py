"""The files of a study: all are written, or none; none that was read is overwritten."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path

import pytest

from cli_world import World, run
from plausibly.conformal.load import load_predictor
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.errors import InputError, MissingExtra
from plausibly.evaluation import Study
from plausibly.study import prepare, run as files, run_study, write_study
from study_world import SMALLEST, Wrapped, rows, studied, with_more_components, written

FULL = OSError(28, "No space left on device")


def full(*arguments: object, **options: object) -> None:
    raise FULL


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*"))


def test_nothing_is_half_written(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    measured = studied("study.toml")
    write_study(measured)
    world.write("out/mine.txt", "kept")
    first = written(world.path("out"))
    for owner, function in (
        (Study, "save"),
        (files, "write_sets"),
        (files, "resolved_text"),
        (ConformalPredictor, "save"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(owner, function, full)
            with pytest.raises((InputError, OSError), match="o space left"):
                write_study(measured)
        assert written(world.path("out")) == first


def test_nothing_of_others_is_replaced(world: World) -> None:
    world.path("out/results.nc").mkdir(parents=True)
    world.write("out/results.nc/mine.txt", "kept")
    ran = run("run", "study.toml")
    assert ran.code == 2
    assert "error output-occupied" in ran.err
    assert names(world.path("out")) == ["mine.txt", "results.nc"]
    ran = run("run", "study.toml", "-o", "study.toml/out")
    assert ran.code == 2
    assert ran.err.startswith("error output-unwritable: cannot write study.toml/out")
    world.path("probabilities.csv").rename(world.path("sets.csv"))
    world.edit("study.toml", "probabilities.csv", "sets.csv")
    ran = run("run", "study.toml", "-o", ".")
    assert ran.code == 2
    assert "output-is-input: sets.csv would overwrite what study.toml reads\n" in ran.err
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


# ---- components


@pytest.fixture(autouse=True)
def components(monkeypatch: pytest.MonkeyPatch) -> None:
    with_more_components(monkeypatch)


def test_files_of_components_start_where_the_study_file_lies(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = SMALLEST + "calibrator = { name = 'wrapped', file = 'w.bin' }\n[splits]\ncount = 2\n"
    world.write("study.toml", text)
    world.path("deep").mkdir()
    monkeypatch.chdir(world.path("deep"))
    ready = prepare("../study.toml")
    assert ready.study.methods[0].calibrator == Wrapped(file=Path("../w.bin"))
    result = run_study(ready)
    write_study(result)
    text = world.path("plausibly-out/resolved.toml").read_text()
    assert 'calibrator.file = "../w.bin"' in text


def test_mistakes_inside_nested_components_have_their_path(world: World) -> None:
    inner = "many = [{ name = 'monte-carlo', draw = 1 }]"
    assert rows(f"{SMALLEST}calibrator = {{ name = 'wrapped', {inner} }}\n") == [
        '6 methods[0].calibrator.many[0].draw: no such parameter; did you mean "draws"?'
    ]
    assert rows(f"{SMALLEST}calibrator = {{ name = 'wrapped', inner = 'majorty-vote' }}\n") == [
        '6 methods[0].calibrator.inner: no calibrator "majorty-vote"; did you mean '
        '"majority-vote"? '
        "All: plausibly plugins list --kind calibrator"
    ]


def test_a_missing_extra_is_reported_alone_or_among_mistakes(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(*arguments: object, **options: object) -> None:
        raise MissingExtra("extra-missing", "p.parquet needs pyarrow", hint="pip install it")

    monkeypatch.setattr(import_module("plausibly.study.reading"), "read_predictions", refuses)
    world.write("study.toml", SMALLEST)
    with pytest.raises(MissingExtra):
        prepare("study.toml")
    world.write("study.toml", f"sede = 1\n{SMALLEST}")
    with pytest.raises(InputError) as caught:
        prepare("study.toml")
    assert " p.parquet needs pyarrow; pip install it\n" in str(caught.value)


def test_paths_on_another_drive_are_absolute(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.write("study.toml", f"{SMALLEST}[splits]\ncount = 1\n")
    measured = run_study("study.toml")

    def elsewhere(*arguments: object) -> str:
        raise ValueError("path is on mount 'C:', start on mount 'D:'")

    monkeypatch.setattr(os.path, "relpath", elsewhere)
    text = files.resolved_text(measured.prepared, Path("plausibly-out"))
    assert f'path = "{world.path("votes.csv").resolve().as_posix()}"' in text


def test_pairs_without_a_guarantee_are_refused_or_allowed_by_a_key(world: World) -> None:
    """The key goes through to the study, the predictor and the resolved file."""
    merged = SMALLEST + 'calibrator = "monte-carlo"\ncombiner = "cauchy"\n'
    world.write("study.toml", merged + "[splits]\ncount = 2\n")
    with pytest.raises(InputError) as refused:
        prepare("study.toml")
    text = " ".join(str(refused.value).split())
    assert "methods[0]" in text
    assert "allow_no_guarantee = true" in text
    assert "--allow" not in text

    world.write("study.toml", merged + "allow_no_guarantee = true\n[splits]\ncount = 2\n")
    result = run_study("study.toml")
    assert result.compared["guaranteed"].values.ravel().tolist() == ["no guarantee"]
    write_study(result)
    resolved = Path("plausibly-out/resolved.toml").read_text()
    assert "allow_no_guarantee = true" in resolved
    assert prepare("plausibly-out/resolved.toml").study.methods[0].allow_no_guarantee
    predictor = load_predictor("plausibly-out/predictor.nc")
    assert predictor.guarantee("0.1").level is None
