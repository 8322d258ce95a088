"""A plugin that pip installed, with a format of its own: in Python, commands, a study file."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from cli_world import LABELS, World, make

from .environments import PROJECT, SOURCES, Environment, build

pytestmark = pytest.mark.timeout(900)


@pytest.fixture(scope="session")
def good(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    wheels = tmp_path_factory.mktemp("wheels")
    build(wheels, PROJECT, SOURCES / "pairs_reader")
    made = Environment.made(tmp_path_factory.mktemp("good"))
    made.install(wheels, "pairs-reader")
    return made


@pytest.fixture
def pairs(tmp_path: Path) -> World:
    """Each vote becomes the comparisons of its label with the two others."""
    made = make(tmp_path)
    for votes, compared in (("votes.csv", "pairs.csv"), ("new_votes.csv", "new_pairs.csv")):
        lines = ["example,annotator,better,worse"]
        for row in made.path(votes).read_text("utf-8").splitlines()[1:]:
            task, worker, label = row.split(",")
            lines += [
                f"{task},{worker},{label},{another}" for another in LABELS if another != label
            ]
        made.write(compared, "\n".join(lines) + "\n")
    return made


def test_components_are_checked(good: Environment) -> None:
    ran = good.plausibly("plugins", "check")
    assert (ran.code, ran.err) == (0, "")
    assert [re.sub(r" +", " ", line) for line in ran.out.splitlines()] == [
        "ok pairs-reader 0.1 aggregator pairs:bradley-terry",
        "ok pairs-reader 0.1 annotation pairs:pairwise",
        "ok pairs-reader 0.1 reader pairs:pairwise",
        "ok 70 of plausibly's components",
        'EXTRA 8 of plausibly\'s components pip install "plausibly[crowd]"',
        'EXTRA 5 of plausibly\'s components pip install "plausibly[ranking]"',
        "plugins 13, 0 failed",
    ]


def test_components_keep_the_rules_of_the_kit(good: Environment) -> None:
    ran = good.plausibly("plugins", "check", "pairs", "--rules")
    assert (ran.code, ran.err) == (0, "")
    text = " ".join(ran.out.split())
    assert "aggregator pairs:bradley-terry: 18 of 19 rules hold, not run: 1 (a table of" in text
    assert "annotation pairs:pairwise: 18 of 18 rules hold" in text
    assert "reader pairs:pairwise: 5 of 13 rules hold, not run: 8 (there is no file" in text


LAZY = """
import sys
from plausibly.cli.start import main
sys.argv = ["plausibly", "--help"]
assert main() == 0
assert not {"numpy", "plausibly_builtins", "pairs_reader"} & set(sys.modules)
from plausibly import registry
from plausibly.plugin import AGGREGATOR, SCORE
registry.resolve(SCORE, "probability")
assert "pairs_reader" not in sys.modules
registry.resolve(AGGREGATOR, "bradley-terry")
assert "pairs_reader.bradley_terry" in sys.modules
assert "pairs_reader.reader" not in sys.modules
"""


def test_plugins_are_imported_when_they_are_first_used(good: Environment) -> None:
    ran = good.run("-W", "error", "-c", LAZY)
    assert ran.code == 0, ran.err


STUDY = """
alphas = [0.2]

[annotations]
path = "pairs.csv"
aggregator = { name = "bradley-terry", rounds = 20 }

[predictions]
path = "probabilities.csv"

[[methods]]
calibrator = { name = "expected" }

[splits]
count = 3
"""


def test_a_study_file_names_components_of_plugins(good: Environment, pairs: World) -> None:
    pairs.write("study.toml", STUDY)
    ran = good.plausibly("run", "study.toml", folder=pairs.folder)
    assert ran.code == 0, ran.err
    assert "pairs:bradley-terry (rounds 20, prior 0.1)" in " ".join(ran.out.split())
    resolved = tomllib.loads(pairs.path("plausibly-out/resolved.toml").read_text("utf-8"))
    named = {"name": "pairs:bradley-terry", "rounds": 20, "prior": 0.1}
    assert resolved["annotations"]["aggregator"] == named
    again = good.plausibly("run", "plausibly-out/resolved.toml", "-o", "again", folder=pairs.folder)
    assert again.code == 0, again.err
    first, second = pairs.path("plausibly-out/sets.csv"), pairs.path("again/sets.csv")
    assert first.read_bytes() == second.read_bytes()
