"""``plausibly init``: the settings file that fits the files of a folder."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest

from cli_world import World, done, refused, run

STEPS = ("agreement", "aggregate", "calibrate", "predict", "evaluate", "report -o r.html")


def written() -> dict[str, Any]:  # Any: what TOML holds
    return tomllib.loads(Path("plausibly.toml").read_text("utf-8"))


def check_steps(guesses: int) -> None:
    ran = done("init")
    assert f'check the {guesses} lines marked "guess"' in ran.text
    tables = written()
    assert set(tables["new"]) == {"predictions", "annotations", "examples"}
    assert tables["examples"]["cluster"] == "patient"
    assert "site" in tables["evaluation"]["by"]
    for step in STEPS:
        assert run(*step.split()).code == 0
    # The predictor remembers the columns, so that the file is not needed for it.
    done(f"predict -p {tables['new']['predictions']} --config none -o again.csv")
    assert Path("again.csv").read_bytes() == Path("sets.csv").read_bytes()


def test_commands_run_with_the_file_alone(world: World) -> None:
    for path in world.folder.glob("*.csv"):
        text = path.read_text("utf-8").replace("task,worker,label", "image,rater,answer")
        world.write(path.name, text.replace("example,", "image,", 1))
    world.path("votes.csv").rename("marks.csv")
    check_steps(2)


@pytest.mark.realdata
def test_the_files_of_the_example(
    shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in (shared / "example").glob("*.csv"):
        shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    check_steps(2)


def test_an_existing_file_is_left_as_it_is(world: World) -> None:
    world.write("plausibly.toml", "seed = 3\n")
    refused("init", "output-exists", "plausibly.toml")
    assert written() == {"seed": 3}


def test_nothing_to_recognise(world: World) -> None:
    world.write("notes.txt", "hello\n")
    refused("init notes.txt", "files-unrecognised", "notes.txt")
    refused("init missing.csv", "file-missing", "missing.csv")


def test_files_of_other_kinds_are_named_and_a_dry_run_writes_nothing(world: World) -> None:
    world.write("labels.txt", "cat\ndog\nfox\n")
    world.write("notes.txt", "hello\n")
    world.edit("votes.csv", "c00,w0,cat", "c00,w0,cat\nc00,w0,dog")
    found = run("init", "--dry-run", "--json").document
    assert found["not_used"] == ["notes.txt", "votes.csv (response-twice)"]
    assert found["recognised"]["labels"] == "labels.txt: 3 labels"
    assert not world.path("plausibly.toml").exists()


def test_logits_of_some_examples_with_known_labels(world: World) -> None:
    for name in ("new.csv", "new_votes.csv", "new_patients.csv"):
        world.path(name).unlink()
    lines = world.path("probabilities.csv").read_text("utf-8").replace("0.", "-0.").splitlines()
    world.write("probabilities.csv", "\n".join(lines[:20]) + "\n")
    done("init")
    tables = written()
    assert tables["predictions"]["scale"] == "logit"
    assert tables["examples"]["only_common"] is True
    assert "new" not in tables
    done("calibrate")
