"""Output of the commands for a small made world; whole screens are in `test_screens`."""

from __future__ import annotations

import re

import pytest

from cli_world import CALIBRATE, EVALUATE, PREDICT, Ran, World, done, run, typed


def plain(ran: Ran) -> str:
    """Return what was printed on stdout; sizes of files depend on versions and compression."""
    assert ran.code == 0, ran.err
    assert ran.err == ""
    return re.sub(r"\(\d+\.\d [kM]B", "(SIZE", ran.out)


def test_no_line_is_longer_than_80_columns(sets: World) -> None:
    for words in (
        "aggregate -a votes.csv -o lam.csv",
        f"{CALIBRATE} --alpha 0.01",
        f"{PREDICT} --alpha 0.001 --alpha 0.333333",
        EVALUATE,
        "plugins list",
        "plugins list --kind nothing",
    ):
        assert typed(words).width <= 80, words


@pytest.mark.parametrize(
    "command",
    ["", "demo", "run", "config check", "config show", "predict", "evaluate", "plugins list"],
)
def test_help_fits_and_has_examples(command: str) -> None:
    ran = done(command, "--help")
    assert ran.width <= 80
    assert command == "" or ran.out.count("\n    plausibly ") >= 2
    assert typed(command, "-h").out == ran.out


def test_without_a_command_help_is_printed() -> None:
    assert run() == run("--help")
    assert run("plugins").out.strip() == typed("plugins --help").out.strip()
    assert run("plugins").code == 0


def test_sizes_of_many_labels_are_given_as_ranges(world: World) -> None:
    labels = [f"k{number:02d}" for number in range(60)]
    world.write("labels.txt", "\n".join(labels) + "\n")
    rows, votes = [f"example,{','.join(labels)}"], ["task,worker,label"]
    for number in range(20):
        flat = ["0.01"] * 60
        flat[number] = "0.41"
        rows.append(f"e{number},{','.join(flat)}")
        votes.append(f"e{number},w,k{number + 20 if number % 2 else number:02d}")
    world.write("many.csv", "\n".join(rows) + "\n")
    world.write("votes.csv", "\n".join(votes) + "\n")
    words = "calibrate -a votes.csv -p many.csv --labels labels.txt -o predictor.nc"
    assert typed(words).code == 0
    out = plain(typed("predict predictor.nc -p many.csv -o sets.csv --alpha 0.3"))
    text = " ".join(out.split())
    assert "alpha 0.3: 100% with 51 to 60 labels, none empty; 60.00 labels per set" in text
    assert "note 20 of 20 examples calibrated this predictor; they cannot test it" in text
