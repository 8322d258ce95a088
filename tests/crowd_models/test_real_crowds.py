"""Crowds that people published, to the figures that are known of them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import plausibly
from crowd_models_worlds import accuracy, likeliest, published, true_labels
from refusals import quiet

pytestmark = pytest.mark.realdata


@pytest.fixture(scope="module")
def crowds(shared: Path) -> dict[str, xr.Dataset]:
    return published(shared)


@pytest.mark.parametrize("smoothing", [0.0, 0.01, 0.1])
def test_five_by_five(crowds: dict[str, xr.Dataset], shared: Path, smoothing: float) -> None:
    """The majority is wrong on one task; the models are not."""
    toy = crowds["toy"]
    true = true_labels(shared, "gal_toy")
    vote = likeliest(plausibly.aggregate(toy, "majority-vote"))
    assert {task for task in true if vote[task] != true[task]} == {"url5"}
    assert likeliest(plausibly.aggregate(toy, "dawid-skene", smoothing=smoothing)) == true
    assert likeliest(plausibly.aggregate(toy, "one-coin")) == true
    plausibilities = plausibly.aggregate(toy, "dawid-skene", smoothing=smoothing)
    assert float(plausibilities.sel(example="url5", label="flagged")) < 1e-3


def test_an_annotator_with_opposite_answers_is_noticed(crowds: dict[str, xr.Dataset]) -> None:
    toy = crowds["toy"]
    report = plausibly.reliability(toy, "dawid-skene")
    fifth = report["confusion"].sel(annotator="worker5")
    for true, answers in (("clean", "flagged"), ("flagged", "clean")):
        assert float(fifth.sel(label=true, said=answers)) > 0.99
    assert str(report["note"].sel(annotator="worker5").values) == "right less often than a guess"
    first = report["confusion"].sel(annotator="worker1", said="flagged")
    assert (first > 0.99).all()
    strict = plausibly.reliability(toy, "dawid-skene", smoothing=0.0)["confusion"]
    flipped = strict.sel(annotator="worker5", label=["clean", "flagged"], said=["flagged", "clean"])
    assert flipped.values == pytest.approx(np.eye(2), abs=1e-9)


def test_mozafari(crowds: dict[str, xr.Dataset], shared: Path) -> None:
    """crowd-kit stops Dawid-Skene after three rounds and the one coin after 72: so do we here."""
    true, mozafari = true_labels(shared, "mozafari"), crowds["mozafari"]
    assert accuracy(plausibly.aggregate(mozafari), true) == pytest.approx(0.696)
    with quiet():
        stopped = plausibly.aggregate(mozafari, "dawid-skene", smoothing=0.0, iterations=3)
        coin = plausibly.aggregate(mozafari, "one-coin", right=0.0, wrong=0.0, iterations=72)
    assert accuracy(stopped, true) == pytest.approx(0.709)
    assert accuracy(coin, true) == pytest.approx(0.668)
    assert accuracy(plausibly.aggregate(mozafari, "dawid-skene"), true) == pytest.approx(0.712)
    assert accuracy(plausibly.aggregate(mozafari, "one-coin"), true) == pytest.approx(0.668)
    assert accuracy(plausibly.aggregate(mozafari, "worker-agreement"), true) == pytest.approx(0.696)


def test_temporal_order(crowds: dict[str, xr.Dataset]) -> None:
    temp = crowds["temp"]
    assert temp.sizes["response"] == 4_620
    assert (temp.sizes["example"], temp.sizes["annotator"]) == (462, 76)
    for smoothing in (0.0, 0.01):
        plausibilities = plausibly.aggregate(temp, "dawid-skene", smoothing=smoothing)
        result = list(likeliest(plausibilities).values())
        assert (result.count("before"), result.count("after")) == (252, 210)
        assert json.loads(plausibilities.attrs["convergence"])["iterations"] < 30
    vote = plausibly.aggregate(temp, "majority-vote")
    assert int((vote == 0.5).any("label").sum()) == 17
