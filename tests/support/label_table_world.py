"""The made world of the command line, whose annotators use other names and a label above others."""

from __future__ import annotations

from pathlib import Path

import cli_world
from cli_world import World

LABELS = """\
label,order,parent,risk,alias
cat,1,pet,0.1,Katze | feline
dog,2,pet,0.2,
fox,3,,1,
pet,,,,
"""
STUDY = """\
[annotations]
path = "said.csv"
[predictions]
path = "model.csv"
[labels]
path = "labels.csv"
[aggregator]
name = "spread"
[[calibrations]]
[splits]
count = 3
"""


def make(folder: Path) -> World:
    """Write votes of which 12 say ``Katze`` and one says ``pet``, and a model with ``Katze``."""
    world = cli_world.make(folder)
    world.write("labels.csv", LABELS)
    votes = world.path("votes.csv").read_text(encoding="utf-8")
    votes = votes.replace(",w0,cat\n", ",w0,Katze\n").replace("c03,w1,fox", "c03,w1,pet")
    world.write("said.csv", votes)
    new = world.path("new_votes.csv").read_text(encoding="utf-8")
    world.write("new_said.csv", new.replace(",w0,cat\n", ",w0,feline\n"))
    model = world.path("probabilities.csv").read_text(encoding="utf-8")
    world.write("model.csv", model.replace("example,cat", "example,Katze"))
    world.write("study.toml", STUDY)
    return world
