"""``plausibly init``: the settings file that fits the files of a folder."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from cli_world import World, done, refused, run


def written() -> dict[str, Any]:  # Any: what TOML holds
    return tomllib.loads(Path("plausibly.toml").read_text("utf-8"))


@pytest.mark.parametrize("files", ["example", "made"])
def test_commands_run_with_the_file_alone(world: World, files: str) -> None:
    if files == "made":
        for path in world.folder.glob("*.csv"):
            text = path.read_text("utf-8").replace("task,worker,label", "image,rater,answer")
            world.write(path.name, text.replace("example,", "image,", 1))
        world.path("votes.csv").rename("marks.csv")
    else:
        for path in world.folder.glob("*.csv"):
            path.unlink()
        done("example")
    assert 'check the 2 lines marked "guess"' in done("init").text
    tables = written()
    assert set(tables["new"]) == {"predictions", "annotations", "examples"}
    assert tables["examples"]["cluster"] == "patient"
    assert "site" in tables["evaluation"]["by"]
    for step in ("agreement", "aggregate", "calibrate", "predict", "evaluate", "report -o r.html"):
        assert run(*step.split()).code == 0
    # The predictor remembers the columns, so that the file is not needed for it.
    done(f"predict -p {tables['new']['predictions']} --config none -o again.csv")
    assert Path("again.csv").read_bytes() == Path("sets.csv").read_bytes()


def test_existing_and_unrecognised_files(world: World) -> None:
    world.write("notes.txt", "hello\n")
    refused("init notes.txt", "files-unrecognised", "notes.txt")
    refused("init missing.csv", "file-missing", "missing.csv")
    world.write("labels.txt", "cat\ndog\nfox\n")
    world.edit("votes.csv", "c00,w0,cat", "c00,w0,cat\nc00,w0,dog")
    found = run("init", "--dry-run", "--json").document
    assert found["not_used"] == ["notes.txt", "votes.csv (response-twice)"]
    assert found["recognised"]["labels"] == "labels.txt: 3 labels"
    assert not world.path("plausibly.toml").exists()
    world.write("plausibly.toml", "seed = 3\n")
    refused("init", "output-exists", "plausibly.toml")
    assert written() == {"seed": 3}


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
