"""plausibly convert and aggregate: tables of annotations, plausibilities and draws as files."""

from __future__ import annotations

import pytest
import xarray as xr

import plausibly
from cli_world import World, done, typed


@pytest.mark.parametrize("ending", ["csv", "nc"])
def test_a_table_stands_for_the_export(world: World, ending: str) -> None:
    done("convert", "-a", "votes.csv", "-o", f"table.{ending}")
    there = plausibly.read_annotations(f"table.{ending}")
    here = plausibly.read_annotations("votes.csv")
    assert there.attrs["reader"] == "annotation-table"
    assert there.attrs["source"] == f"table.{ending}"
    assert there.assign_attrs(here.attrs).identical(here)


def test_labels_and_columns_are_those_of_the_user(world: World) -> None:
    world.write("labels.txt", "fox\nowl\ndog\ncat\n")
    world.edit("votes.csv", "task,worker,label", "item,who,dx")
    words = "convert -a votes.csv --columns example=item,annotator=who,label=dx --labels labels.txt"
    done(words, "-o", "table.csv")
    table = plausibly.read_annotations("table.csv")
    assert table["label"].values.tolist() == ["fox", "owl", "dog", "cat"]
    assert table.attrs["labels_declared"] == 1


def test_rows_that_were_edited(world: World) -> None:
    done("convert -a votes.csv -o table.csv")
    world.edit("table.csv", "1,c00,w1,cat", "1,c00,w1,owl")
    ran = typed("convert -a table.csv -o again.csv")
    assert ran.code == 2
    assert ran.err.startswith("error table-changed: table.csv has other rows than were written")
    done("convert -a table.csv --set annotations.kind=single-label -o again.csv")
    assert "owl" in plausibly.read_annotations("again.csv")["label"].values


def test_draws_stand_for_the_annotations(world: World) -> None:
    draws = typed("aggregate -a votes.csv --aggregator bootstrap -o draws.parquet --json")
    assert draws.document["draws"] == 10
    table = plausibly.read_annotations("votes.csv")
    xr.testing.assert_identical(
        plausibly.read_plausibilities("draws.parquet"), plausibly.aggregate(table, "bootstrap")
    )
    words = "-p probabilities.csv -o predictor.nc --calibrator monte-carlo --json"
    drawn = typed("calibrate --plausibilities draws.parquet", *words.split()).document
    direct = typed("calibrate -a votes.csv --aggregator bootstrap", *words.split()).document
    assert drawn["fingerprint"] == direct["fingerprint"]
    assert drawn["plausibilities"]["draws"] == 10
    study = (
        'alphas = [0.2]\n[plausibilities]\npath = "draws.parquet"\n'
        '[predictions]\npath = "probabilities.csv"\n[examples]\npath = "patients.csv"\n'
        "[[methods]]\n[splits]\ncount = 2\n"
    )
    world.write("study.toml", study)
    ran = typed("run study.toml --json --no-report")
    assert ran.code == 0, ran.err


def test_a_long_table(world: World) -> None:
    done("aggregate -a votes.csv -o long.csv --form long")
    first = world.path("long.csv").read_text(encoding="utf-8").split("\n")[0]
    assert first == "example,label,plausibility,denominator,about"
    table = plausibly.read_annotations("votes.csv")
    xr.testing.assert_identical(
        plausibly.read_plausibilities("long.csv"), plausibly.aggregate(table)
    )
    ran = typed("aggregate -a votes.csv -o long.npz --form long")
    assert ran.code == 2
    assert ran.err.startswith("error option-unfit: long.npz")
