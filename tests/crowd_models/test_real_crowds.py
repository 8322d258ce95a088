"""Crowds that people published, to the figures that are known of them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import plausibly
from crowd_models_worlds import quiet
from plausibly.plugin import ANNOTATION, resolve

pytestmark = pytest.mark.realdata

FIRST_WORKER = {"example": "2", "annotator": "1", "label": "3"}


@pytest.fixture(scope="module")
def folder(shared: Path) -> Path:
    return shared / "cases" / "annotations"


@pytest.fixture(scope="module")
def toy(folder: Path) -> xr.Dataset:
    return plausibly.read_annotations(folder / "long" / "gal_toy_crowdkit.csv")


@pytest.fixture(scope="module")
def mozafari(folder: Path) -> xr.Dataset:
    path = folder / "long" / "mozafari_worker_task_label.tsv"
    return plausibly.read_annotations(path, columns=FIRST_WORKER)


@pytest.fixture(scope="module")
def temp(folder: Path) -> xr.Dataset:
    """Items by annotators, without header; blank = not annotated."""
    text = (folder / "wide" / "temp_wide_noheader.csv").read_text(encoding="utf-8")
    rows = [row for row in csv.reader(text.splitlines()) if any(row)]
    records = [
        (f"item {item}", f"w{column}", said)
        for item, row in enumerate(rows)
        for column, said in enumerate(row)
        if said
    ]
    return resolve(ANNOTATION, "single-label").build(records, ["before", "after"])


def voted(lam: xr.DataArray) -> dict[str, str]:
    winners = lam["label"].values[lam.values.argmax(axis=1)]
    return dict(zip(lam["example"].values.tolist(), winners.tolist(), strict=True))


def truth(path: Path) -> dict[str, str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    pairs = (line.split("\t") for line in lines)
    return {task: label for task, label, *_ in pairs}


def accuracy(lam: xr.DataArray, true_label: dict[str, str]) -> float:
    return float(np.mean([true_label[example] == label for example, label in voted(lam).items()]))


@pytest.mark.parametrize("smoothing", [0.0, 0.01, 0.1])
def test_five_by_five(toy: xr.Dataset, folder: Path, smoothing: float) -> None:
    """The majority is wrong on one task; the models are not."""
    true = truth(folder / "long" / "gal_toy_truth.tsv")
    vote = voted(plausibly.aggregate(toy, "majority-vote"))
    assert {task for task in true if vote[task] != true[task]} == {"url5"}
    assert voted(plausibly.aggregate(toy, "dawid-skene", smoothing=smoothing)) == true
    assert voted(plausibly.aggregate(toy, "one-coin")) == true
    lam = plausibly.aggregate(toy, "dawid-skene", smoothing=smoothing)
    assert float(lam.sel(example="url5", label="flagged")) < 1e-3


def test_the_one_who_says_the_opposite(toy: xr.Dataset) -> None:
    told = plausibly.reliability(toy, "dawid-skene")
    fifth = told["confusion"].sel(annotator="worker5")
    for true, said in (("clean", "flagged"), ("flagged", "clean")):
        assert float(fifth.sel(label=true, said=said)) > 0.99
    assert str(told["note"].sel(annotator="worker5").values) == "right less often than a guess"
    first = told["confusion"].sel(annotator="worker1", said="flagged")
    assert (first > 0.99).all()
    strict = plausibly.reliability(toy, "dawid-skene", smoothing=0.0)["confusion"]
    flipped = strict.sel(annotator="worker5", label=["clean", "flagged"], said=["flagged", "clean"])
    assert flipped.values == pytest.approx(np.eye(2), abs=1e-9)


def test_mozafari(mozafari: xr.Dataset, folder: Path) -> None:
    """crowd-kit stops Dawid-Skene after three rounds and the one coin after 72: so do we here."""
    true = truth(folder / "long" / "mozafari_truth.tsv")
    assert accuracy(plausibly.aggregate(mozafari), true) == pytest.approx(0.696)
    with quiet():
        stopped = plausibly.aggregate(mozafari, "dawid-skene", smoothing=0.0, iterations=3)
        coin = plausibly.aggregate(mozafari, "one-coin", right=0.0, wrong=0.0, iterations=72)
    assert accuracy(stopped, true) == pytest.approx(0.709)
    assert accuracy(coin, true) == pytest.approx(0.668)
    assert accuracy(plausibly.aggregate(mozafari, "dawid-skene"), true) == pytest.approx(0.712)
    assert accuracy(plausibly.aggregate(mozafari, "one-coin"), true) == pytest.approx(0.668)
    assert accuracy(plausibly.aggregate(mozafari, "worker-agreement"), true) == pytest.approx(0.696)


def test_temporal_order(temp: xr.Dataset) -> None:
    assert temp.sizes["response"] == 4_620
    assert (temp.sizes["example"], temp.sizes["annotator"]) == (462, 76)
    for smoothing in (0.0, 0.01):
        lam = plausibly.aggregate(temp, "dawid-skene", smoothing=smoothing)
        found = list(voted(lam).values())
        assert (found.count("before"), found.count("after")) == (252, 210)
        assert json.loads(lam.attrs["convergence"])["iterations"] < 30
    vote = plausibly.aggregate(temp, "majority-vote")
    assert int((vote == 0.5).any("label").sum()) == 17
