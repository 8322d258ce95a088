"""Wrong input: the exit code is 2, the message names what is wrong, and nothing is written."""

from __future__ import annotations

from cli_world import CALIBRATE, PREDICT, World, done, refused, typed


def test_one_value_is_one_table(world: World) -> None:
    combiner = '{name = "ecdf"}\nscore = 3'
    refused(f"{CALIBRATE} --combiner '{combiner}'", "option-malformed", "--combiner")


def test_outputs_that_are_files_of_others(sets: World) -> None:
    sets.write("export.json", '[{"id": 1}]')
    refused(f"{PREDICT} -o export.csv", "output-occupied", "export.json", "-o export-sets.csv")
    assert sets.path("export.json").read_text() == '[{"id": 1}]'
    done(PREDICT)  # our own guarantee may be replaced
    sets.path("sets.json").unlink()
    sets.path("sets.json").mkdir()
    old = sets.path("sets.csv").read_bytes()
    assert typed(f"{PREDICT} --alpha 0.3").code == 2
    assert sets.path("sets.csv").read_bytes() == old
