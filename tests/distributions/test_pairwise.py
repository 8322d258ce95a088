"""A format that plausibly has never heard of, from file to prediction sets, by a plugin alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli_world import LABELS, World, make

from .environments import Environment, Ran

pytestmark = pytest.mark.timeout(900)


@pytest.fixture
def world(tmp_path: Path) -> World:
    """Each vote becomes the comparisons of its label with the two others."""
    made = make(tmp_path)
    for votes, pairs in (("votes.csv", "pairs.csv"), ("new_votes.csv", "new_pairs.csv")):
        lines = ["example,annotator,better,worse"]
        for row in made.path(votes).read_text("utf-8").splitlines()[1:]:
            task, worker, label = row.split(",")
            lines += [f"{task},{worker},{label},{other}" for other in LABELS if other != label]
        made.write(pairs, "\n".join(lines) + "\n")
    return made


def well(ran: Ran) -> str:
    assert (ran.code, ran.err) == (0, "")
    return " ".join(ran.out.split())


def test_on_the_command_line(good: Environment, world: World) -> None:
    def run(*words: str) -> Ran:
        return good.plausibly(*words, folder=world.folder)

    by = ["--aggregator", "bradley-terry"]
    said = well(run("calibrate", "-a", "pairs.csv", *by, "-p", "probabilities.csv", "-o", "p.nc"))
    assert "pairs.csv (pairs:pairwise, pairwise): 30 examples, 3 annotators, 90 answers" in said
    assert "aggregator pairs:bradley-terry" in said
    assert "guarantee alpha 0.1: on average, a set contains an annotator" in said
    well(run("predict", "p.nc", "-p", "new.csv", "-o", "sets.csv"))
    about = json.loads(world.path("sets.json").read_text("utf-8"))
    assert [guarantee["level"] for guarantee in about["guarantees"]] == ["9/10"]
    said = well(run("evaluate", "sets.csv", "-a", "new_pairs.csv", *by))
    assert "alpha 0.1 examples coverage 95% interval set size all answers 20 " in said


PYTHON = """
import numpy as np
import plausibly
table = plausibly.read_annotations("pairs.csv")
print(table)
lam = plausibly.aggregate(table, "bradley-terry")
some = plausibly.select_annotations(table, example=["c03", "c01"])
np.testing.assert_array_equal(
    plausibly.aggregate(some, "bradley-terry").sel(example="c03"), lam.sel(example="c03")
)
from plausibly import registry
from plausibly.plugin import ANNOTATION
kind = registry.resolve(ANNOTATION, "pairwise")
built = kind.build([("e", "w", [("a", "b"), ("a", "c")]), ("f", "w", [("b", "c")])], None)
kind.validate(built)
print(built.mention_block.values.tolist())
try:
    kind.build([("e", "w", [("a", "a")])], None)
except plausibly.InputError as error:
    print(error.what)
"""


def test_in_python(good: Environment, world: World) -> None:
    ran = good.run("-W", "error", "-c", PYTHON, folder=world.folder)
    assert ran.code == 0, ran.err
    assert ran.out.splitlines()[-2:] == [
        "[1, 2, 3, 4, 1, 2]",
        'example e, annotator w compares "a" with itself',
    ]
    assert ran.out.startswith("annotations  30 examples, 3 annotators, 90 answers (3 per example)")
