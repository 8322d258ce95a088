"""The table of labels in commands and study files, beside their screens in ``cli/screens``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import cli_world
import plausibly
from cli_world import World, done
from plausibly.data.names import name_texts
from plausibly.plugin import ANNOTATION, resolve
from plausibly.study import prepare
from study_world import SMALLEST

TABLE = """\
label,order,parent,risk,alias
cat,1,pet,0.1,Katze | feline
dog,2,pet,0.2,
fox,3,,1,
pet,,,,
"""
STUDY = (
    SMALLEST.replace("votes.csv", "said.csv")
    .replace("[predictions]", 'aggregator = "spread"\n[predictions]')
    .replace("probabilities.csv", "model.csv")
    + '[labels]\npath = "labels.csv"\n[splits]\ncount = 1\n'
)


def make(folder: Path) -> World:
    """Write votes of which 12 say ``Katze`` and one says ``pet``, and a model with ``Katze``."""
    world = cli_world.make(folder)
    world.write("labels.csv", TABLE)
    votes = world.path("votes.csv").read_text(encoding="utf-8")
    votes = votes.replace(",w0,cat\n", ",w0,Katze\n").replace("c03,w1,fox", "c03,w1,pet")
    world.write("said.csv", votes)
    new = world.path("new_votes.csv").read_text(encoding="utf-8")
    world.write("new_said.csv", new.replace(",w0,cat\n", ",w0,feline\n"))
    model = world.path("probabilities.csv").read_text(encoding="utf-8")
    world.write("model.csv", model.replace("example,cat", "example,Katze"))
    world.write("study.toml", STUDY)
    return world


LABELS = ("--labels", "labels.csv")
SPREAD = ("--aggregator", "spread")


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.chdir(tmp_path)
    return make(tmp_path)


def test_calibrate_predict_and_evaluate(world: World) -> None:
    data = ("-a", "said.csv", "-p", "model.csv", *LABELS)
    document = done("calibrate", *data, *SPREAD, "-o", "p.nc", "--json").document
    assert document["annotations"]["merged"] == {"Katze": 12}
    assert plausibly.load_predictor("p.nc").labels == ("cat", "dog", "fox")
    done("predict", "p.nc", "-p", "new.csv", "--alpha", "0.1", "-o", "sets.csv")
    plain = done("evaluate", "sets.csv", "-a", "new_votes.csv", "--json").document
    same = done("evaluate", "sets.csv", "-a", "new_said.csv", *LABELS, "--json").document
    for item in same["results"]:  # the table of labels gives them an order
        for name in ("ordinal_gap", "share_missed_by_empty", "share_with_holes"):
            item.pop(name)
    assert {**same, "annotations": plain["annotations"]} == plain


def test_columns_without_names_are_those_below(world: World) -> None:
    model = plausibly.read_predictions("model.csv", labels="labels.csv")
    np.save("model.npy", model.values)
    result = plausibly.read_predictions("model.npy", labels="labels.csv")
    assert name_texts(result["label"].values) == ["cat", "dog", "fox"]
    np.testing.assert_array_equal(result.values, model.values)
    assert result["risk"].values.tolist() == [0.1, 0.2, 1]
    np.save("wide.npy", np.full((2, 4), 0.25))
    wide = plausibly.read_predictions("wide.npy", labels="labels.csv")
    assert name_texts(wide["label"].values) == ["cat", "dog", "fox", "pet"]


def test_calibrating_by_risk(world: World) -> None:
    """Risks of the labels of the model are numbers, though that of the parent is empty."""
    model = plausibly.read_predictions("model.csv", labels="labels.csv")
    table = plausibly.read_annotations("said.csv", labels="labels.csv")
    plausibilities = plausibly.aggregate(table, "spread")
    assert plausibilities["risk"].values.tolist() == [0.1, 0.2, 1]
    predictor = plausibly.calibrate(
        model, plausibilities, calibrator={"name": "risk", "by": "risk"}
    )
    bare = model.drop_vars(["risk", "order", "parent"]).assign_coords(risk=("label", [0.1, 0.2, 1]))
    plain = plausibly.calibrate(
        bare, plausibilities.drop_vars("risk"), calibrator={"name": "risk", "by": "risk"}
    )
    assert predictor.threshold(0.2).item() == plain.threshold(0.2).item()


def test_an_order_may_lack_unused_labels() -> None:
    table = resolve(ANNOTATION, "single-label").build(
        [("e", "v", "low"), ("e", "w", "high"), ("f", "v", "low"), ("f", "w", "low")],
        ["high", "unsaid", "low"],
    )
    order = xr.Variable("label", [3.0, np.nan, 1.0])
    result = plausibly.agreement(table.assign_coords(order=order), resamples=0).data
    same = plausibly.agreement(table, order=["low", "high"], resamples=0).data
    xr.testing.assert_equal(result.drop_vars("order", errors="ignore"), same)
    empty = table.assign_coords(order=("label", [np.nan] * 3))
    assert "neighbouring" not in plausibly.agreement(empty, resamples=0)["measure"].values


def test_a_study(world: World) -> None:
    ready = prepare("study.toml")
    assert name_texts(ready.plausibilities["label"].values) == ["cat", "dog", "fox"]
    assert ready.plausibilities.attrs["parents"] == "uniform"
    assert name_texts(ready.predictions["label"].values) == ["cat", "dog", "fox"]
    ran = done("run", "study.toml", "-o", "out")
    assert 'under another name: 12 (12 as "Katze")' in ran.text
    again = prepare("out/resolved.toml")
    xr.testing.assert_identical(again.plausibilities, ready.plausibilities)
