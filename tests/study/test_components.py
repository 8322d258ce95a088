"""Components of a study: made in this process, needing more, or with files of their own."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path

import pytest

from cli_world import World
from plausibly.conformal.load import load_predictor
from plausibly.errors import InputError, MissingExtra
from plausibly.study import prepare, run, run_study, write_study
from study_world import SMALLEST, Wrapped, rows, with_more_components


@pytest.fixture(autouse=True)
def components(monkeypatch: pytest.MonkeyPatch) -> None:
    with_more_components(monkeypatch)


def test_nested_components_run_as_the_inner_ones_alone(world: World) -> None:
    inner = "{ name = 'wrapped', inner = 'majority-vote' }"
    nested = f"name = 'nested'\ncalibrator = {{ name = 'wrapped', inner = {inner} }}\n"
    alone = "[[methods]]\nname = 'alone'\ncalibrator = 'majority-vote'\n[splits]\ncount = 3\n"
    world.write("study.toml", SMALLEST + nested + alone)
    result = run_study("study.toml")
    sizes = result.compared["set_size"].values
    assert sizes[0].tolist() == sizes[1].tolist()
    write_study(result)
    text = Path("plausibly-out/resolved.toml").read_text()
    assert 'calibrator.inner.inner.name = "majority-vote"\n' in text
    again = prepare("plausibly-out/resolved.toml").study.methods[0].calibrator
    assert again == result.prepared.study.methods[0].calibrator


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


def test_what_is_wrong_inside_nested_components_has_its_path(world: World) -> None:
    many = "many = [{ name = 'monte-carlo', draw = 1 }]"
    assert rows(f"{SMALLEST}calibrator = {{ name = 'wrapped', {many} }}\n") == [
        '6 methods[0].calibrator.many[0].draw: no such parameter; did you mean "draws"?'
    ]
    assert rows(f"{SMALLEST}calibrator = {{ name = 'wrapped', inner = 'majorty-vote' }}\n") == [
        '6 methods[0].calibrator.inner: no calibrator "majorty-vote"; did you mean '
        '"majority-vote"? '
        "All: plausibly plugins list --kind calibrator"
    ]


def test_a_file_that_needs_an_extra_is_said_alone_or_among_others(
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
    assert " predictions.path: p.parquet needs pyarrow; pip install it\n" in str(caught.value)


def test_paths_on_another_drive_are_absolute(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.write("study.toml", f"{SMALLEST}[splits]\ncount = 1\n")
    found = run_study("study.toml")

    def elsewhere(*arguments: object) -> str:
        raise ValueError("path is on mount 'C:', start on mount 'D:'")

    monkeypatch.setattr(os.path, "relpath", elsewhere)
    text = run.resolved_text(found.prepared, Path("plausibly-out"))
    assert f'path = "{world.path("votes.csv").resolve().as_posix()}"' in text


def test_a_writer_that_cannot_is_about_the_folder_that_was_named(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.write("study.toml", f"{SMALLEST}[splits]\ncount = 1\n")
    found = run_study("study.toml")

    def refuses(_: object, path: Path) -> None:
        raise InputError(
            "output-unwritable", f"cannot write {path}", found='"full"', source=str(path)
        )

    monkeypatch.setattr(run, "write_sets", refuses)
    with pytest.raises(InputError) as caught:
        write_study(found)
    assert caught.value.what == "cannot write plausibly-out/sets.csv"
    assert (caught.value.found, caught.value.hint) == ('"full"', "-o elsewhere")
    assert not world.path("plausibly-out").exists()


def test_pairs_without_a_guarantee_are_refused_or_allowed_by_a_key(world: World) -> None:
    """The key goes through to the study, the predictor and the resolved file."""
    merged = SMALLEST + 'calibrator = "monte-carlo"\ncombiner = "cauchy"\n'
    world.write("study.toml", merged + "[splits]\ncount = 2\n")
    with pytest.raises(InputError) as refused:
        prepare("study.toml")
    said = " ".join(str(refused.value).split())
    assert "methods[0]" in said
    assert "allow_no_guarantee = true" in said
    assert "--allow" not in said

    world.write("study.toml", merged + "allow_no_guarantee = true\n[splits]\ncount = 2\n")
    result = run_study("study.toml")
    assert result.compared["guaranteed"].values.ravel().tolist() == ["no guarantee"]
    write_study(result)
    resolved = Path("plausibly-out/resolved.toml").read_text()
    assert "allow_no_guarantee = true" in resolved
    assert prepare("plausibly-out/resolved.toml").study.methods[0].allow_no_guarantee
    predictor = load_predictor("plausibly-out/predictor.nc")
    assert predictor.guarantee("0.1").level is None
