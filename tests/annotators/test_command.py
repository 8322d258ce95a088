"""``plausibly agreement`` as people and pipes see it, and its words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import plausibly
from cli_world import World, make, run
from eval_said import check, said
from plausibly.annotators import Agreement

from .oracles import table


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.chdir(tmp_path)
    made = make(tmp_path)
    made.write("labels.csv", "label,risk\ncat,low\ndog,low\nfox,high\n")
    made.write("counts.csv", "example,a,b\ne1,3,1\ne2,0,2\ne3,1,0\n")
    return made


@said(__file__)
def test_each_command_prints_its_text(world: World, call: str, text: str) -> None:
    check(call, text, globals())


def test_json_equals_the_result_in_python(world: World) -> None:
    words = "agreement -a votes.csv -e patients.csv --by site --cluster patient --labels labels.csv"
    more = ("--set", "agreement.draws=20", "--risk", "risk", "--json")
    document = run(*words.split(), *more).document
    annotations = plausibly.read_annotations(world.path("votes.csv"))
    result = plausibly.agreement(annotations).data.set_index(measure="measure")
    for row in document["measures"]:
        assert row["value"] == float(result["value"].sel(measure=row["measure"]))
    assert document["clusters"] == 15
    assert set(document["certainty"]) >= {"draws", "mean", "level_mean", "by_example"}
    assert {row["group"] for row in document["by_group"]} == {"north", "south"}
    assert [row["label"] for row in document["by_label"]] == ["cat", "dog", "fox"]
    assert {"answers", "agreement", "low", "says"} <= set(document["by_annotator"][0])
    assert document["annotations"]["responses"] == 90


def test_many_groups_and_labels_are_cut() -> None:
    rng = np.random.default_rng(0)
    labels = [f"label {k:02d}" for k in range(30)]
    records = [
        (f"e{i}", w, labels[i % 30 if rng.random() < 0.6 else int(rng.integers(30))])
        for i in range(120)
        for w in "xyz"
    ]
    ann = table(records, labels)
    ann = ann.assign_coords(patient=("example", [f"p{i // 4}" for i in range(120)]))
    text = "\n".join(Agreement(plausibly.agreement(ann, by="patient", resamples=0).data).lines())
    assert "agreement by label, the 12 most frequent of 30: " in " ".join(text.split())
    assert "by patient: the 10 of 30 with the lowest agreement" in text
    assert all(len(line) <= 80 for line in text.splitlines())
