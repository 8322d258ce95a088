"""``plausibly init``: the settings file that fits the files of a folder."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from cli_world import World, done, run


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
