"""Settings files: what commands read, what wins, and what init writes."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from cli_world import CALIBRATE, EVALUATE, PREDICT, World, done, run, typed

FILE = """\
alphas = [0.25]
[annotations]
path = "votes.csv"
[predictions]
path = "probabilities.csv"
[new]
predictions = "new.csv"
annotations = "new_votes.csv"
examples = "new_patients.csv"
[evaluation]
by = ["site"]
"""


def test_commands_run_without_arguments_where_the_file_says_all(world: World) -> None:
    done(CALIBRATE)
    done(f"{PREDICT} --alpha 0.25")
    by_flags = {name: world.path(name).read_bytes() for name in ("predictor.nc", "sets.csv")}
    measured = typed(f"{EVALUATE} -e new_patients.csv --by site --json").document["results"]
    for name in (*by_flags, "sets.json"):
        world.path(name).unlink()

    world.write("plausibly.toml", FILE)
    for command in ("calibrate", "predict"):
        assert "plausibly.toml" in done(command).out.splitlines()[0]
    assert {name: world.path(name).read_bytes() for name in by_flags} == by_flags
    result = done("evaluate", "--json").document
    assert (result["settings"], result["results"]) == ("plausibly.toml", measured)


def test_paths_start_from_the_file(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Typed ones start from the working folder, which is the only one searched for a file."""
    world.write("plausibly.toml", FILE)
    below = world.path("below")
    below.mkdir()
    monkeypatch.chdir(below)
    assert run("calibrate").code == 2
    done("calibrate --config ../plausibly.toml -o here.nc")
    assert (below / "here.nc").exists()


def test_report_and_evaluate_take_the_predictor_of_the_file(world: World) -> None:
    done(CALIBRATE)
    done(PREDICT)
    by_flags = typed(f"{EVALUATE} -p new.csv --predictor predictor.nc --json").document
    world.write("plausibly.toml", f"{FILE}[output]\npredictor = 'predictor.nc'\n")
    assert typed("evaluate --json").document["p_values"] == by_flags["p_values"]
    assert "--predictor predictor.nc" in done("report --dry-run").text


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
