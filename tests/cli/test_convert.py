"""plausibly convert and aggregate: tables of annotations, plausibilities and draws as files."""

from __future__ import annotations

import pytest
import xarray as xr

import plausibly
from cli_world import World, done, typed


@pytest.mark.parametrize("ending", ["csv", "parquet", "npz", "nc"])
def test_a_table_stands_for_the_export(world: World, ending: str) -> None:
    ran = done("convert", "-a", "votes.csv", "-o", f"table.{ending}")
    size = ran.out.split("(")[-1].split(")")[0]
    assert (
        ran.out
        == (
            "annotations  votes.csv (long-table): 30 examples, 3 annotators, 90 answers (3\n"
            "             per example), 3 labels; annotators disagree on 70% of the examples\n"
            f"saved        table.{ending} ({size})\n"
            f"next         plausibly aggregate -a table.{ending} -o plausibilities.parquet\n"
        )
        or ending == "parquet"
    )  # whose longer name wraps the last line
    there = plausibly.read_annotations(f"table.{ending}")
    here = plausibly.read_annotations("votes.csv")
    assert there.attrs["reader"] == "annotation-table"
    assert there.attrs["source"] == f"table.{ending}"
    assert there.assign_attrs(here.attrs).identical(here)


def test_one_document_for_programs(world: World) -> None:
    document = typed("convert -a votes.csv -o table.csv --json").document
    assert set(document) == {"command", "annotations", "saved", "warnings"}
    assert document["annotations"]["responses"] == 90
    assert document["annotations"]["reader"] == "long-table"
    assert document["saved"] == "table.csv"


def test_labels_and_columns_are_those_of_the_user(world: World) -> None:
    world.write("labels.txt", "fox\nowl\ndog\ncat\n")
    world.edit("votes.csv", "task,worker,label", "item,who,dx")
    words = "convert -a votes.csv --columns example=item,annotator=who,label=dx --labels labels.txt"
    assert typed(words, "-o", "table.csv").code == 0
    table = plausibly.read_annotations("table.csv")
    assert table["label"].values.tolist() == ["fox", "owl", "dog", "cat"]
    assert table.attrs["labels_declared"] == 1


def test_rows_that_were_edited(world: World) -> None:
    typed("convert -a votes.csv -o table.csv")
    world.edit("table.csv", "1,c00,w1,cat", "1,c00,w1,owl")
    ran = typed("convert -a table.csv -o again.csv")
    assert ran.code == 2
    assert ran.err.startswith("error table-changed: table.csv has other rows than were written")
    ran = typed("convert -a table.csv --set annotations.kind=single-label -o again.csv")
    assert ran.code == 0, ran.err
    assert "owl" in plausibly.read_annotations("again.csv")["label"].values


@pytest.mark.parametrize("ending", ["csv", "parquet", "npz", "nc"])
def test_draws_are_written(world: World, ending: str) -> None:
    words = f"aggregate -a votes.csv --aggregator bootstrap -o draws.{ending}"
    ran = typed(words)
    assert ran.code == 0, ran.err
    assert "30 examples, 3 labels, 10 draws of each; in their mean" in " ".join(ran.out.split())
    table = plausibly.read_annotations("votes.csv")
    xr.testing.assert_identical(
        plausibly.read_plausibilities(f"draws.{ending}"), plausibly.aggregate(table, "bootstrap")
    )
    assert typed(words, "--json").document["draws"] == 10


def test_draws_calibrate_as_they_do_from_annotations(world: World) -> None:
    typed("aggregate -a votes.csv --aggregator bootstrap -o draws.parquet")
    words = "-p probabilities.csv -o predictor.nc --calibrator monte-carlo --json"
    given = typed("calibrate --plausibilities draws.parquet", *words.split()).document
    voted = typed("calibrate -a votes.csv --aggregator bootstrap", *words.split())
    assert given["fingerprint"] == voted.document["fingerprint"]
    assert given["plausibilities"]["draws"] == 10


def test_a_long_table(world: World) -> None:
    assert typed("aggregate -a votes.csv -o long.csv --form long").code == 0
    first = world.path("long.csv").read_text(encoding="utf-8").split("\n")[0]
    assert first == "example,label,plausibility,denominator,about"
    table = plausibly.read_annotations("votes.csv")
    xr.testing.assert_identical(
        plausibly.read_plausibilities("long.csv"), plausibly.aggregate(table)
    )
    ran = typed("aggregate -a votes.csv -o long.npz --form long")
    assert ran.code == 2
    assert ran.err.startswith("error option-unfit: long.npz")


def test_a_study_of_draws(world: World) -> None:
    """Groups are judged by the mean over draws, like everything else in a study."""
    table = {"name": "bootstrap", "draws": 3}
    plausibly.write_plausibilities(
        plausibly.aggregate(plausibly.read_annotations("votes.csv"), table), "draws.parquet"
    )
    study = (
        'alphas = [0.2]\n[plausibilities]\npath = "draws.parquet"\n'
        '[predictions]\npath = "probabilities.csv"\n[examples]\npath = "patients.csv"\n'
        "[[methods]]\n[splits]\ncount = 2\n"
    )
    world.write("study.toml", study)
    ran = typed("run study.toml --json")
    assert ran.code == 0, ran.err
    assert world.path("plausibly-out/results.nc").exists()
