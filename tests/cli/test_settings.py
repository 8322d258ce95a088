"""The settings file of a folder, flags and ``--set``: what is read, and what wins."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli_world import CALIBRATE, EVALUATE, PREDICT, World, done, refused, run, typed

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


def levels() -> list[str]:
    return [one["level"] for one in json.loads(Path("sets.json").read_text())["guarantees"]]


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
    found = done("evaluate", "--json").document
    assert (found["settings"], found["results"]) == ("plausibly.toml", measured)


def test_what_is_typed_wins_over_the_file(world: World) -> None:
    world.write("plausibly.toml", FILE)
    done("calibrate")
    for words, expected in (
        ("", ["3/4"]),
        ("--alpha 0.1,0.15", ["9/10", "17/20"]),
        ("--set alphas=[0.1]", ["9/10"]),
    ):
        assert typed(f"predict {words}").code == 0
        assert levels() == expected
    refused("predict --alpha 0.1 --set alphas=[0.2]", "option-unfit", "--alpha", "--set alphas")
    refused("predict --set alphas=[0.2] --set alphas=[0.3]", "option-unfit", "--set alphas")


def test_another_file_or_none(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.write("plausibly.toml", FILE)
    assert run("calibrate", "--config", "none").code == 2
    assert run("calibrate", "--config", "missing.toml").code == 2
    world.write("other.toml", FILE.replace("0.25", "0.15"))
    done("calibrate --config other.toml")
    done("predict --config other.toml")
    assert levels() == ["17/20"]

    # Paths of a file start from it, typed ones from the working folder, the only one searched.
    below = world.path("below")
    below.mkdir()
    monkeypatch.chdir(below)
    assert run("calibrate").code == 2
    done("calibrate --config ../plausibly.toml -o here.nc")
    assert (below / "here.nc").exists()


def test_any_key_is_set_to_a_toml_value_or_to_text(world: World) -> None:
    world.replace("votes.csv", "task,worker,label", "item,rater,answer")
    keys = {"example": "item", "annotator": "rater", "label": "answer"}
    sets = [f"--set=annotations.columns.{key}={value}" for key, value in keys.items()]
    done(CALIBRATE, "--set", "annotations.reader=long-table", *sets)
    first = world.path("predictor.nc").read_bytes()
    table = "{ example = 'item', annotator = 'rater', label = 'answer' }"
    done(CALIBRATE, "--set", f"annotations.columns={table}")
    assert world.path("predictor.nc").read_bytes() == first


def test_a_slip_in_a_key_is_answered_with_the_right_one(world: World) -> None:
    for text, right in (
        ("anotations.path=x", "annotations"),
        ("annotations.colums.annotator=x", "annotations.columns"),
        ("seeds=1", "seed"),
    ):
        ran = refused(f"{CALIBRATE} --set {text}", "config-key")
        assert right in ran.err.partition("\n  hint ")[2].split()
    world.write("plausibly.toml", FILE.replace("[evaluation]\nby", "[evaluation]\nbye"))
    refused("calibrate", "config-key", "plausibly.toml line 11", "evaluation.bye is no key")
    world.write("plausibly.toml", FILE.replace("[evaluation]", "[evaluaton]"))
    refused("calibrate", "config-key", "evaluaton is no key", "hint write [evaluation]")


def test_keys_of_other_commands_are_checked_and_ignored(world: World) -> None:
    world.write("plausibly.toml", f"{FILE}[report]\ntitle = 'Sets'\n[plan]\nwithin = 0.02\n")
    done("calibrate")
    world.edit("plausibly.toml", "within = 0.02", "within = 'narrow'")
    refused("calibrate", "config-key", "plan.within")


def test_a_predictor_remembers_how_its_predictions_were_read(world: World) -> None:
    for name in ("probabilities.csv", "new.csv"):
        world.edit(name, "example,", "scan,")
    done(f"{CALIBRATE} --set predictions.example=scan")
    done(PREDICT)
    for column, words in (("scan", "--set predictions.example=case"), ("example", "")):
        world.edit("new.csv", "scan," if words else "case,", "case," if words else "example,")
        ran = typed(f"{PREDICT} {words}")
        assert (ran.code, "warning reading-differs" in ran.err) == (0, True), column


def test_report_and_evaluate_take_the_predictor_of_the_file(world: World) -> None:
    done(CALIBRATE)
    done(PREDICT)
    by_flags = typed(f"{EVALUATE} -p new.csv --predictor predictor.nc --json").document
    world.write("plausibly.toml", f"{FILE}[output]\npredictor = 'predictor.nc'\n")
    assert typed("evaluate --json").document["p_values"] == by_flags["p_values"]
    assert typed("report -o r.html").code == 0
    assert world.path("r.html").exists()
